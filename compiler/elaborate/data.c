/* Data blocks: pipelines of source and stages, checked against the vocabulary of docs/data.md.
 *
 * The tables below are that vocabulary. Arguments are evaluated to plain values (numbers, strings,
 * lists, names of fields) and given to the runtime by formal name; what is not given keeps the
 * runtime's default. A field feeds the input of its name. */
#include <math.h>
#include <string.h>
#include "elaborate/elaborator.h"
#include "support/names.h"

/* ---- vocabulary --------------------------------------------------------------------------- */

enum {
  NUMBER = 1 << DATA_NUMBER,
  STRING = 1 << DATA_STRING,
  BOOL = 1 << DATA_BOOL,
  LIST = 1 << DATA_LIST,
  FIELD = 1 << DATA_NAME
};

typedef struct DataFormal {
  const char *name;
  int kinds;
  bool is_required, is_variadic; /* variadic: any number of positional ones, named "" */
} DataFormal;

typedef struct DataWord {
  const char *name;
  bool is_available;
  DataFormal formals[6];
} DataWord;

static const DataWord sources[] = {
    {"idx", true, {{"file", STRING, true, true}}},
    {"csv",
     true,
     {{"file", STRING, true, false},
      {"columns", LIST, false, false},
      {"header", BOOL, false, false},
      {"separator", STRING, false, false},
      {"missing", LIST, false, false}}},
    {"npy", true, {{"file", STRING, true, true}}},
    {"text",
     true,
     {{"file", STRING, true, false},
      {"length", NUMBER, true, false},
      {"stride", NUMBER, false, false},
      {"from", NUMBER, false, false},
      {"to", NUMBER, false, false},
      {"unit", STRING, false, false}}},
    {"token_stream",
     true,
     {{"file", STRING, true, false},
      {"length", NUMBER, true, false},
      {"stride", NUMBER, false, false},
      {"from", NUMBER, false, false},
      {"to", NUMBER, false, false},
      {"type", STRING, false, false}}},
    {"image_folder", true, {{"folder", STRING, true, false}, {"workers", NUMBER, false, false}}},
    {"copy_task",
     true,
     {{"words", NUMBER, true, false},
      {"bits", NUMBER, true, false},
      {"count", NUMBER, false, false},
      {"least", NUMBER, false, false},
      {"seed", NUMBER, false, false}}},
    {"files", false, {{0}}},
    {"counter", false, {{0}}},
    {"constant", false, {{0}}},
};
enum { SOURCE_COUNT = sizeof sources / sizeof sources[0] };

static const DataWord stages[] = {
    {"split",
     true,
     {{"from", NUMBER, true, false}, {"to", NUMBER, true, false}, {"seed", NUMBER, false, false}}},
    {"shuffle", true, {{"seed", NUMBER, false, false}}},
    {"standardize", true, {{"field", FIELD, false, true}}},
    {"impute", true, {{"field", FIELD, true, true}, {"with", NUMBER | STRING, false, false}}},
    {"categories", true, {{"field", FIELD, true, true}}},
    {"batch", true, {{"size", NUMBER, true, false}}},
    {"prefetch", true, {{"count", NUMBER, false, false}}},
    {"resize", true, {{"height", NUMBER, true, false}, {"width", NUMBER, false, false}}},
    {"center_crop", true, {{"height", NUMBER, true, false}, {"width", NUMBER, false, false}}},
    {"random_crop", true, {{"height", NUMBER, true, false}, {"width", NUMBER, false, false}}},
    {"random_flip", true, {{"probability", NUMBER, false, false}}},
};
enum { STAGE_COUNT = sizeof stages / sizeof stages[0] };

static const char *kinds_text(int kinds) {
  if (kinds == NUMBER) return "a number";
  if (kinds == STRING) return "a string";
  if (kinds == BOOL) return "true or false";
  if (kinds == LIST) return "a list";
  if (kinds == FIELD) return "the name of a field of this line";
  return "a number or a string";
}

static const DataFormal *find_formal(const DataWord *word, const char *name) {
  for (int i = 0; i < 6 && word->formals[i].name; i++)
    if (!word->formals[i].is_variadic && !strcmp(word->formals[i].name, name))
      return &word->formals[i];
  return NULL;
}

/* ---- values ------------------------------------------------------------------------------- */

static bool data_value(Elaborator *e, Value value, Span at, DataValue *result);

static bool data_list(Elaborator *e, Value value, Span at, DataValue *result) {
  int64_t count = value_sequence_length(value);
  result->kind = DATA_LIST;
  result->count = (int)count;
  result->items = ARENA_ARRAY(e->arena, DataValue, count);
  for (int64_t i = 0; i < count; i++)
    if (!data_value(e, value_sequence_item(value, i), at, &result->items[i])) return false;
  return true;
}

static bool data_value(Elaborator *e, Value value, Span at, DataValue *result) {
  *result = (DataValue){.kind = DATA_NUMBER};
  switch (value.kind) {
  case VALUE_ERROR: return false;
  case VALUE_INT:
  case VALUE_FLOAT: result->number = value_number(value); return true;
  case VALUE_BOOL:
    result->kind = DATA_BOOL;
    result->number = value.boolean;
    return true;
  case VALUE_STRING:
    result->kind = DATA_STRING;
    result->string = value.string;
    return true;
  case VALUE_TUPLE:
  case VALUE_LIST:
  case VALUE_RANGE: return data_list(e, value, at, result);
  default:
    report_kind(e, at, "an argument of a data source or stage", "a number, a string or a list",
                value);
    return false;
  }
}

static bool is_field(const DataPipeline *pipeline, const char *name) {
  for (int i = 0; i < pipeline->field_count; i++)
    if (pipeline->fields[i] == name) return true;
  return false;
}

static bool read_value(Elaborator *e, const DataPipeline *pipeline, const DataFormal *formal,
                       const AstExpr *expr, DataValue *result) {
  if (formal->kinds & FIELD && expr->kind == AST_NAME) {
    if (is_field(pipeline, expr->name)) {
      *result = (DataValue){.kind = DATA_NAME, .string = expr->name};
      return true;
    }
    Diagnostic *d = report_error(e, expr->span, "'%s' is no field of this line", expr->name);
    report_suggest(d, expr->name, pipeline->fields, pipeline->field_count);
    return false;
  }
  Value value = evaluate(e, expr);
  if (!data_value(e, value, expr->span, result)) return false;
  if (formal->kinds & 1 << result->kind) return true;
  report_error(e, expr->span, "'%s' must be %s, found %s", formal->name, kinds_text(formal->kinds),
               value_describe(e->arena, value));
  return false;
}

/* ---- calls -------------------------------------------------------------------------------- */

static const DataWord *find_word(Elaborator *e, const DataWord *words, int count,
                                 const DataWord *others, int other_count, const char *name, Span at,
                                 bool is_source) {
  const char *names[SOURCE_COUNT + STAGE_COUNT];
  for (int i = 0; i < count; i++) {
    names[i] = words[i].name;
    if (name != name_intern(words[i].name)) continue;
    if (words[i].is_available) return &words[i];
    report_error(e, at, "the %s '%s' is not available in this version of nnc",
                 is_source ? "source" : "stage", name);
    return NULL;
  }
  for (int i = 0; i < other_count; i++) {
    if (name != name_intern(others[i].name)) continue;
    report_error(e, at,
                 is_source ? "'%s' is a stage; a line begins with a source"
                           : "'%s' is a source; behind | stand stages",
                 name);
    return NULL;
  }
  Diagnostic *d = report_error(e, at, "unknown %s '%s'", is_source ? "source" : "stage", name);
  report_suggest(d, name, names, count);
  return NULL;
}

static const DataFormal *place_argument(Elaborator *e, const DataWord *word,
                                        const AstArgument *argument, int position) {
  if (argument->name.text) {
    const DataFormal *formal = find_formal(word, argument->name.text);
    if (formal) return formal;
    const char *names[6];
    int count = 0;
    for (; count < 6 && word->formals[count].name; count++)
      names[count] = word->formals[count].name;
    Diagnostic *d = report_error(e, argument->name.span, "'%s' has no argument '%s'", word->name,
                                 argument->name.text);
    report_suggest(d, argument->name.text, names, count);
    return NULL;
  }
  if (word->formals[0].is_variadic) return &word->formals[0];
  if (position < 6 && word->formals[position].name) return &word->formals[position];
  report_error(e, argument->span, "'%s' has too many arguments", word->name);
  return NULL;
}

static bool read_arguments(Elaborator *e, const DataPipeline *pipeline, const DataWord *word,
                           const AstArguments *arguments, DataCall *call) {
  bool fits = true;
  call->arguments = ARENA_ARRAY(e->arena, DataArgument, arguments->count);
  for (int i = 0; i < arguments->count; i++) {
    const AstArgument *argument = &arguments->items[i];
    const DataFormal *formal = place_argument(e, word, argument, i);
    if (!formal) return false;
    const char *name = formal->is_variadic ? "" : name_intern(formal->name);
    for (int k = 0; k < call->argument_count; k++)
      if (name[0] && call->arguments[k].name == name) {
        report_error(e, argument->span, "the argument '%s' is given twice", formal->name);
        fits = false;
      }
    DataArgument *result = &call->arguments[call->argument_count++];
    result->name = name;
    fits = read_value(e, pipeline, formal, argument->value, &result->value) && fits;
  }
  return fits;
}

static bool has_argument(const DataCall *call, const DataFormal *formal) {
  for (int i = 0; i < call->argument_count; i++)
    if (formal->is_variadic ? !call->arguments[i].name[0]
                            : !strcmp(call->arguments[i].name, formal->name))
      return true;
  return false;
}

/* A call, or a stage's bare name. */
static bool read_call(Elaborator *e, const DataPipeline *pipeline, const AstExpr *expr,
                      bool is_source, DataCall *call) {
  static const AstArguments none = {0};
  const AstExpr *callee = expr->kind == AST_CALL ? expr->call.callee : expr;
  if (callee->kind != AST_NAME) {
    report_error(e, expr->span, "a %s of data is a name with arguments",
                 is_source ? "source" : "stage");
    return false;
  }
  const DataWord *word = is_source ? find_word(e, sources, SOURCE_COUNT, stages, STAGE_COUNT,
                                               callee->name, callee->span, true)
                                   : find_word(e, stages, STAGE_COUNT, sources, SOURCE_COUNT,
                                               callee->name, callee->span, false);
  if (!word) return false;
  *call = (DataCall){.function = name_intern(word->name), .span = expr->span};
  const AstArguments *arguments = expr->kind == AST_CALL ? &expr->call.arguments : &none;
  if (!read_arguments(e, pipeline, word, arguments, call)) return false;
  for (int i = 0; i < 6 && word->formals[i].name; i++) {
    const DataFormal *formal = &word->formals[i];
    if (!formal->is_required || has_argument(call, formal)) continue;
    report_error(e, expr->span, "'%s' needs the argument '%s'", word->name, formal->name);
    return false;
  }
  return true;
}

/* ---- rules of single words ---------------------------------------------------------------- */

static double argument_number(const DataCall *call, const char *name, double fallback) {
  for (int i = 0; i < call->argument_count; i++)
    if (!strcmp(call->arguments[i].name, name)) return call->arguments[i].value.number;
  return fallback;
}

static bool check_file_count(Elaborator *e, const DataPipeline *pipeline, const DataCall *call) {
  bool is_files = !strcmp(call->function, "idx") || !strcmp(call->function, "npy");
  if (!is_files || call->argument_count == pipeline->field_count) return true;
  report_error(e, call->span, "%d fields from %d file%s: '%s' gives one field a file",
               pipeline->field_count, call->argument_count, call->argument_count == 1 ? "" : "s",
               call->function);
  return false;
}

/* Sources whose fields have a meaning by their place. */
static bool check_field_count(Elaborator *e, const DataPipeline *pipeline, const DataCall *call) {
  static const struct {
    const char *source;
    int least, most;
    const char *text;
  } rows[] = {{"text", 1, 2, "a window and what follows it"},
              {"token_stream", 1, 2, "a window and what follows it"},
              {"image_folder", 1, 2, "a picture and its class"},
              {"copy_task", 3, 3, "source, target and mask"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (strcmp(call->function, rows[i].source) != 0) continue;
    if (pipeline->field_count >= rows[i].least && pipeline->field_count <= rows[i].most) continue;
    report_error(e, call->span, "'%s' gives %s (%s), not %d", rows[i].source,
                 rows[i].least == 3 ? "three fields" : "one or two fields", rows[i].text,
                 pipeline->field_count);
    return false;
  }
  return true;
}

static bool check_part(Elaborator *e, const DataCall *call) {
  double from = argument_number(call, "from", 0), to = argument_number(call, "to", 1);
  if (from >= 0 && from < to && to <= 1) return true;
  report_error(e, call->span, "%s takes fractions with 0 <= from < to <= 1, found %g and %g",
               call->function, from, to);
  return false;
}

/* Arguments that count something, and the least that makes sense. */
static bool check_counts(Elaborator *e, const DataCall *call) {
  static const struct {
    const char *name;
    double least;
  } counts[] = {{"seed", 0},    {"size", 0},   {"count", 0}, {"length", 1},
                {"stride", 1},  {"words", 1},  {"bits", 1},  {"least", 1},
                {"workers", 0}, {"height", 1}, {"width", 1}};
  for (int i = 0; i < call->argument_count; i++)
    for (size_t k = 0; k < sizeof counts / sizeof counts[0]; k++) {
      double number = call->arguments[i].value.number;
      if (strcmp(call->arguments[i].name, counts[k].name) != 0) continue;
      if (number >= counts[k].least && number == floor(number)) continue;
      report_error(e, call->span, "'%s' must be a whole number%s, found %g", counts[k].name,
                   counts[k].least > 0 ? " above 0" : "", number);
      return false;
    }
  return true;
}

/* A word where only some make sense: impute's `with`, the unit of a text, the type of tokens. */
static bool check_words(Elaborator *e, const DataCall *call) {
  static const struct {
    const char *function, *argument, *words[4], *text;
  } rows[] = {
      {"impute", "with", {"mean", "median"}, "\"mean\", \"median\" or a number"},
      {"text", "unit", {"character", "byte", "word"}, "\"character\", \"byte\" or \"word\""},
      {"token_stream", "type", {"u16", "u32"}, "\"u16\" or \"u32\""}};
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++)
    for (int i = 0; i < call->argument_count; i++) {
      const DataValue *value = &call->arguments[i].value;
      bool fits = strcmp(call->function, rows[r].function) != 0 ||
                  strcmp(call->arguments[i].name, rows[r].argument) != 0 ||
                  value->kind != DATA_STRING;
      for (int w = 0; w < 4 && rows[r].words[w]; w++)
        fits = fits || !strcmp(value->string, rows[r].words[w]);
      if (fits) continue;
      report_error(e, call->span, "%s takes %s = %s, not \"%s\"", rows[r].function,
                   rows[r].argument, rows[r].text, value->string);
      return false;
    }
  return true;
}

static bool check_call(Elaborator *e, const DataPipeline *pipeline, const DataCall *call) {
  return check_file_count(e, pipeline, call) && check_field_count(e, pipeline, call) &&
         check_part(e, call) && check_counts(e, call) && check_words(e, call);
}

/* ---- blocks ------------------------------------------------------------------------------- */

static bool read_pipeline(Elaborator *e, const AstEntry *entry, DataPipeline *pipeline) {
  pipeline->span = entry->span;
  pipeline->field_count = entry->names.count;
  pipeline->fields = ARENA_ARRAY(e->arena, const char *, entry->names.count);
  for (int i = 0; i < entry->names.count; i++) pipeline->fields[i] = entry->names.items[i].text;
  int count = 1 + entry->stages.count;
  pipeline->calls = ARENA_ARRAY(e->arena, DataCall, count);
  bool fits = true;
  for (int i = 0; i < count; i++) {
    const AstExpr *expr = i == 0 ? entry->value : entry->stages.items[i - 1];
    DataCall *call = &pipeline->calls[pipeline->call_count];
    bool good = read_call(e, pipeline, expr, i == 0, call) && check_call(e, pipeline, call);
    if (good) pipeline->call_count++;
    fits = fits && good;
  }
  return fits;
}

/* order = file | streams, tail = wrap: words, not fields. */
static bool read_option(Elaborator *e, const AstEntry *entry, DataSet *set) {
  static const char *const orders[DATA_ORDER_COUNT] = {"", "file", "streams"};
  if (entry->names.count != 1 || entry->stages.count > 0) return false;
  const AstExpr *value = entry->value;
  bool is_order = entry->names.items[0].text == name_intern("order");
  bool is_tail = entry->names.items[0].text == name_intern("tail");
  if ((!is_order && !is_tail) || value->kind == AST_CALL) return false;
  const char *word = value->kind == AST_NAME ? value->name : "";
  for (int i = 1; is_order && i < DATA_ORDER_COUNT; i++)
    if (word == name_intern(orders[i])) {
      set->order = (DataOrder)i;
      return true;
    }
  if (is_tail && word == name_intern("wrap")) set->wrap_tail = true;
  else
    report_error(e, value->span,
                 is_order ? "the values of 'order' are file and streams"
                          : "the only value of 'tail' is wrap");
  return true;
}

static bool set_has_field(const DataSet *set, const char *name) {
  for (int i = 0; i < set->pipeline_count; i++)
    if (is_field(&set->pipelines[i], name)) return true;
  return false;
}

static bool check_fields(Elaborator *e, const DataSet *set, const AstEntry *entry) {
  for (int i = 0; i < entry->names.count; i++) {
    bool twice = set_has_field(set, entry->names.items[i].text);
    for (int k = 0; k < i; k++)
      twice = twice || entry->names.items[k].text == entry->names.items[i].text;
    if (!twice) continue;
    report_error(e, entry->names.items[i].span, "the field '%s' is given twice",
                 entry->names.items[i].text);
    return false;
  }
  return true;
}

void evaluate_data(Elaborator *e, const AstStmt *stmt) {
  if (e->walk->entry != ENTRY_TRAIN) return; /* the same in every walk */
  const char *name = stmt->section.name.text;
  for (int i = 0; i < e->module->data_sets.count; i++)
    if (e->module->data_sets.items[i].name == name) {
      Diagnostic *d = report_error(e, stmt->section.name.span, "there is a second 'data %s'", name);
      diag_note(d, e->module->data_sets.items[i].span, "the first");
      return;
    }
  DataSet set = {.name = name, .span = stmt->section.name.span};
  set.pipelines = ARENA_ARRAY(e->arena, DataPipeline, stmt->section.entries.count);
  for (int i = 0; i < stmt->section.entries.count; i++) {
    const AstEntry *entry = &stmt->section.entries.items[i];
    if (entry->kind == AST_ENTRY_PARAMS) {
      report_error(e, entry->span, "groups of parameters belong in train");
      continue;
    }
    if (read_option(e, entry, &set) || !check_fields(e, &set, entry)) continue;
    /* With a mistake in it the line still feeds its inputs. */
    read_pipeline(e, entry, &set.pipelines[set.pipeline_count++]);
  }
  vec_push(e->arena, &e->module->data_sets, set);
}

/* ---- fields and inputs -------------------------------------------------------------------- */

static const DataSet *find_set(const Module *module, const char *name) {
  for (int i = 0; i < module->data_sets.count; i++)
    if (!strcmp(module->data_sets.items[i].name, name)) return &module->data_sets.items[i];
  return NULL;
}

static void report_unfed(Elaborator *e, const DataSet *set, const InputInfo *input) {
  Diagnostic *d = report_error(e, input->span, "no field of 'data %s' feeds the input '%s'",
                               set->name, input->name);
  diag_note(d, set->span, "the data set");
  VEC(const char *) names = {0};
  for (int i = 0; i < set->pipeline_count; i++)
    for (int k = 0; k < set->pipelines[i].field_count; k++)
      vec_push(e->arena, &names, set->pipelines[i].fields[k]);
  report_suggest(d, input->name, names.items, names.count);
}

static void warn_unused_fields(Elaborator *e, const DataSet *set) {
  for (int i = 0; i < set->pipeline_count; i++) {
    const DataPipeline *pipeline = &set->pipelines[i];
    for (int k = 0; k < pipeline->field_count; k++) {
      const char *field = pipeline->fields[k];
      if (field[0] == '_' || module_find_input(e->module, field)) continue;
      Diagnostic *d = report_warning(e, pipeline->span, "no input is fed by the field '%s'", field);
      VEC(const char *) names = {0};
      for (int n = 0; n < e->module->inputs.count; n++)
        vec_push(e->arena, &names, e->module->inputs.items[n].name);
      report_suggest(d, field, names.items, names.count);
    }
  }
}

/* `batch(size)` of a pipeline says again what the inputs say. */
static void check_batch_stage(Elaborator *e, const DataSet *set) {
  for (int i = 0; i < set->pipeline_count; i++)
    for (int k = 0; k < set->pipelines[i].call_count; k++) {
      const DataCall *call = &set->pipelines[i].calls[k];
      if (strcmp(call->function, "batch") != 0) continue;
      double size = argument_number(call, "size", 0);
      if (size == (double)e->module->run.batch) continue;
      report_error(e, call->span, "the stage says batches of %g, the inputs begin with %lld", size,
                   (long long)e->module->run.batch);
    }
}

void check_data(Elaborator *e) {
  Module *module = e->module;
  bool complete = e->errors == 0; /* else an input may be missing */
  const DataSet *train = find_set(module, "train");
  if (!train && e->walk->train && module->inputs.count > 0) {
    Diagnostic *d = report_error(e, module->inputs.items[0].span,
                                 "there is no 'data train' to feed the inputs");
    diag_help(d, "data train { %s = idx(\"file\") }", module->inputs.items[0].name);
  }
  for (int i = 0; i < module->data_sets.count; i++) {
    const DataSet *set = &module->data_sets.items[i];
    bool feeds_all = strcmp(set->name, "predict") != 0; /* predict needs some of them only */
    for (int k = 0; k < module->inputs.count && feeds_all; k++)
      if (!set_has_field(set, module->inputs.items[k].name))
        report_unfed(e, set, &module->inputs.items[k]);
    if (complete) warn_unused_fields(e, set);
    check_batch_stage(e, set);
  }
}
