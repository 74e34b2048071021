/* Lines of a data block: a source and stages, checked against the vocabulary of docs/data.md.
 *
 * The tables below are that vocabulary. Arguments are evaluated to plain values (numbers, strings,
 * lists, names of fields) and given to the runtime by formal name; what is not given keeps the
 * runtime's default. */
#include <string.h>
#include "elaborate/core/report.h"
#include "elaborate/eval/evaluate.h"
#include "elaborate/sections/data.h"
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

enum { MOST_FORMALS = 6 };

typedef struct DataWord {
  const char *name;
  DataFormal formals[MOST_FORMALS];
} DataWord;

static const DataWord sources[] = {
    {"idx", {{"file", STRING, true, true}}},
    {"csv",
     {{"file", STRING, true, false},
      {"columns", LIST, false, false},
      {"header", BOOL, false, false},
      {"separator", STRING, false, false},
      {"missing", LIST, false, false}}},
    {"npy", {{"file", STRING, true, true}}},
    {"text",
     {{"file", STRING, true, false},
      {"length", NUMBER, true, false},
      {"stride", NUMBER, false, false},
      {"from", NUMBER, false, false},
      {"to", NUMBER, false, false},
      {"unit", STRING, false, false}}},
    {"token_stream",
     {{"file", STRING, true, false},
      {"length", NUMBER, true, false},
      {"stride", NUMBER, false, false},
      {"from", NUMBER, false, false},
      {"to", NUMBER, false, false},
      {"type", STRING, false, false}}},
    {"image_folder", {{"folder", STRING, true, false}, {"workers", NUMBER, false, false}}},
    {"files", {{"workers", NUMBER, false, false}}},
    {"copy_task",
     {{"words", NUMBER, true, false},
      {"bits", NUMBER, true, false},
      {"count", NUMBER, false, false},
      {"least", NUMBER, false, false},
      {"seed", NUMBER, false, false}}},
    {"counter", {{0}}},
    {"constant", {{"value", NUMBER | BOOL | LIST, true, false}}},
};
enum { SOURCE_COUNT = sizeof sources / sizeof sources[0] };

static const DataWord stages[] = {
    {"split",
     {{"from", NUMBER, true, false}, {"to", NUMBER, true, false}, {"seed", NUMBER, false, false}}},
    {"shuffle", {{"seed", NUMBER, false, false}}},
    {"standardize", {{"field", FIELD, false, true}}},
    {"impute", {{"field", FIELD, true, true}, {"with", NUMBER | STRING, false, false}}},
    {"categories", {{"field", FIELD, true, true}}},
    {"batch", {{"size", NUMBER, true, false}}},
    {"prefetch", {{"count", NUMBER, false, false}}},
    {"resize", {{"height", NUMBER, true, false}, {"width", NUMBER, false, false}}},
    {"center_crop", {{"height", NUMBER, true, false}, {"width", NUMBER, false, false}}},
    {"random_crop", {{"height", NUMBER, true, false}, {"width", NUMBER, false, false}}},
    {"random_flip", {{"probability", NUMBER, false, false}}},
};
enum { STAGE_COUNT = sizeof stages / sizeof stages[0] };

static const char *kinds_text(int kinds) {
  if (kinds == NUMBER) return "a number";
  if (kinds == STRING) return "a string";
  if (kinds == BOOL) return "true or false";
  if (kinds == LIST) return "a list";
  if (kinds == FIELD) return "the name of a field of this line";
  if (kinds & LIST) return "a number, true or false, or a list of them";
  return "a number or a string";
}

static int formal_count(const DataWord *word) {
  int count = 0;
  while (count < MOST_FORMALS && word->formals[count].name) count++;
  return count;
}

static const DataFormal *find_formal(const DataWord *word, const char *name) {
  for (int i = 0; i < formal_count(word); i++)
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

bool data_has_field(const DataPipeline *pipeline, const char *name) {
  for (int i = 0; i < pipeline->field_count; i++)
    if (pipeline->fields[i] == name) return true;
  return false;
}

static bool read_value(Elaborator *e, const DataPipeline *pipeline, const DataFormal *formal,
                       const AstExpr *expr, DataValue *result) {
  if (formal->kinds & FIELD && expr->kind == AST_NAME) {
    if (data_has_field(pipeline, expr->name)) {
      *result = (DataValue){.kind = DATA_NAME, .string = expr->name};
      return true;
    }
    Diagnostic *d = report_error(e, expr->span, "'%s' is no field of this line", expr->name);
    report_suggest(d, expr->name, pipeline->fields, pipeline->field_count);
    return false;
  }
  Value value = evaluate_expr(e, expr);
  if (!data_value(e, value, expr->span, result)) return false;
  if (formal->kinds & 1 << result->kind) return true;
  return report_failure(e, expr->span, "'%s' must be %s, found %s", formal->name,
                        kinds_text(formal->kinds), value_describe(e->arena, value));
}

/* ---- calls -------------------------------------------------------------------------------- */

static const DataWord *find_word(Elaborator *e, const AstExpr *callee, bool is_source) {
  const DataWord *words = is_source ? sources : stages, *others = is_source ? stages : sources;
  int count = is_source ? SOURCE_COUNT : STAGE_COUNT;
  int other_count = SOURCE_COUNT + STAGE_COUNT - count;
  const char *name = callee->name;
  Span at = callee->span;
  const char *names[SOURCE_COUNT + STAGE_COUNT];
  for (int i = 0; i < count; i++) {
    names[i] = words[i].name;
    if (name == name_intern(words[i].name)) return &words[i];
  }
  for (int i = 0; i < other_count; i++) {
    if (name != name_intern(others[i].name)) continue;
    return report_failure(e, at,
                          is_source ? "'%s' is a stage; a line begins with a source"
                                    : "'%s' is a source; behind | stand stages",
                          name);
  }
  Diagnostic *d = report_error(e, at, "unknown %s '%s'", is_source ? "source" : "stage", name);
  report_suggest(d, name, names, count);
  Text list = {0};
  for (int i = 0; i < count; i++) text_printf(&list, "%s%s", i > 0 ? ", " : "", names[i]);
  diag_help(d, "the %s are %s", is_source ? "sources" : "stages", list.data);
  text_free(&list);
  return NULL;
}

static const DataFormal *place_argument(Elaborator *e, const DataWord *word,
                                        const AstArgument *argument, int position) {
  if (argument->name.text) {
    const DataFormal *formal = find_formal(word, argument->name.text);
    if (formal) return formal;
    const char *names[MOST_FORMALS];
    int count = formal_count(word);
    for (int i = 0; i < count; i++) names[i] = word->formals[i].name;
    Diagnostic *d = report_error(e, argument->name.span, "'%s' has no argument '%s'", word->name,
                                 argument->name.text);
    report_suggest(d, argument->name.text, names, count);
    return NULL;
  }
  if (word->formals[0].is_variadic) return &word->formals[0];
  if (position < formal_count(word)) return &word->formals[position];
  return report_failure(e, argument->span, "'%s' has too many arguments", word->name);
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
  if (callee->kind != AST_NAME)
    return report_failure(e, expr->span, "a %s of data is a name with arguments",
                          is_source ? "source" : "stage");
  const DataWord *word = find_word(e, callee, is_source);
  if (!word) return false;
  *call = (DataCall){.function = name_intern(word->name), .span = expr->span};
  const AstArguments *arguments = expr->kind == AST_CALL ? &expr->call.arguments : &none;
  if (!read_arguments(e, pipeline, word, arguments, call)) return false;
  for (int i = 0; i < formal_count(word); i++) {
    const DataFormal *formal = &word->formals[i];
    if (!formal->is_required || has_argument(call, formal)) continue;
    return report_failure(e, expr->span, "'%s' needs the argument '%s'", word->name, formal->name);
  }
  return true;
}

/* ---- rules of single words ---------------------------------------------------------------- */

const DataArgument *data_find_argument(const DataCall *call, const char *name) {
  for (int i = 0; i < call->argument_count; i++)
    if (!strcmp(call->arguments[i].name, name)) return &call->arguments[i];
  return NULL;
}

double data_argument_number(const DataCall *call, const char *name, double fallback) {
  const DataArgument *argument = data_find_argument(call, name);
  return argument ? argument->value.number : fallback;
}

bool data_follows_rows(const DataCall *source) {
  return !(data_gives(source->function) & GIVES_ROWS);
}

static bool check_file_count(Elaborator *e, const DataPipeline *pipeline, const DataCall *call) {
  bool is_files = !strcmp(call->function, "idx") || !strcmp(call->function, "npy");
  if (!is_files || call->argument_count == pipeline->field_count) return true;
  return report_failure(e, call->span, "%d fields from %d file%s: '%s' gives one field a file",
                        pipeline->field_count, call->argument_count,
                        call->argument_count == 1 ? "" : "s", call->function);
}

/* Sources whose fields have a meaning by their place. */
static bool check_field_count(Elaborator *e, const DataPipeline *pipeline, const DataCall *call) {
  static const char *const counts[] = {"", "one field", "one or two fields", "three fields"};
  static const struct {
    const char *source;
    int least, most;
    const char *text;
  } rows[] = {{"text", 1, 2, "a window and what follows it"},
              {"token_stream", 1, 2, "a window and what follows it"},
              {"image_folder", 1, 2, "a picture and its class"},
              {"files", 1, 1, "a picture"},
              {"copy_task", 3, 3, "source, target and mask"},
              {"counter", 1, 1, "the number of the row"},
              {"constant", 1, 1, "its value"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (strcmp(call->function, rows[i].source) != 0) continue;
    if (pipeline->field_count >= rows[i].least && pipeline->field_count <= rows[i].most) continue;
    return report_failure(e, call->span, "'%s' gives %s (%s), not %d", rows[i].source,
                          counts[rows[i].most], rows[i].text, pipeline->field_count);
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
      return report_failure(e, call->span, "%s takes %s = %s, not \"%s\"", rows[r].function,
                            rows[r].argument, rows[r].text, value->string);
    }
  return true;
}

static bool check_call(Elaborator *e, const DataPipeline *pipeline, const DataCall *call,
                       bool is_source) {
  return check_file_count(e, pipeline, call) && check_field_count(e, pipeline, call) &&
         data_check_ranges(e, call) && check_words(e, call) &&
         (is_source || data_check_stage(e, pipeline, call));
}

/* ---- lines -------------------------------------------------------------------------------- */

bool data_read_pipeline(Elaborator *e, const AstEntry *entry, DataPipeline *pipeline) {
  pipeline->span = entry->span;
  pipeline->field_count = entry->names.count;
  pipeline->fields = ARENA_ARRAY(e->arena, const char *, entry->names.count);
  for (int i = 0; i < entry->names.count; i++) pipeline->fields[i] = entry->names.items[i].text;
  int count = 1 + entry->stages.count;
  pipeline->calls = ARENA_ARRAY(e->arena, DataCall, count);
  bool fits = true, has_source = false; /* without it nothing can be said of the stages together */
  for (int i = 0; i < count; i++) {
    const AstExpr *expr = i == 0 ? entry->value : entry->stages.items[i - 1];
    DataCall *call = &pipeline->calls[pipeline->call_count];
    bool good = read_call(e, pipeline, expr, i == 0, call) && check_call(e, pipeline, call, i == 0);
    if (i == 0) has_source = good;
    if (good && has_source) pipeline->call_count++;
    fits = fits && good;
  }
  pipeline->is_wrong = !fits;
  return fits;
}
