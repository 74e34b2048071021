/* Lines of a data block: a source and stages, checked against the vocabulary of docs/data.md.
 *
 * The tables of data_words.c are that vocabulary. Arguments are evaluated to plain values (numbers, strings,
 * lists, names of fields) and given to the runtime by formal name; what is not given keeps the
 * runtime's default. */
#include <math.h>
#include <string.h>
#include "elaborate/core/report.h"
#include "elaborate/eval/evaluate.h"
#include "elaborate/eval/option.h"
#include "elaborate/sections/data_words.h"
#include "support/names.h"

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
  bool is_elsewhere = (formal->kinds & ELSEWHERE) != 0; /* data_with.c finds it */
  if (formal->kinds & FIELD && expr->kind == AST_NAME) {
    if (is_elsewhere || data_has_field(pipeline, expr->name)) {
      *result = (DataValue){.kind = DATA_NAME, .string = expr->name};
      return true;
    }
    Diagnostic *d = report_error(e, expr->span, "'%s' is no field of this line", expr->name);
    report_suggest(d, expr->name, pipeline->fields, pipeline->field_count);
    return false;
  }
  Value value = evaluate_expr(e, expr);
  const RunOption *option = formal->kinds & OPTION ? option_of(e, value) : NULL;
  if (option) {
    *result = (DataValue){.kind = DATA_OPTION, .number = option->start, .string = option->name};
    return true;
  }
  if (!data_value(e, value, expr->span, result)) return false;
  if (formal->kinds & 1 << result->kind) return true;
  return report_failure(e, expr->span, "'%s' must be %s, found %s", formal->name,
                        is_elsewhere ? "the name of a field of another line"
                                     : data_words_kinds_text(formal->kinds & KINDS),
                        value_describe(e->arena, value));
}

/* ---- calls -------------------------------------------------------------------------------- */

static const DataFormal *place_argument(Elaborator *e, const DataWord *word,
                                        const AstArgument *argument, int position) {
  if (argument->name.text) {
    const DataFormal *formal = data_words_find_formal(word, argument->name.text);
    if (formal) return formal;
    const char *names[MOST_FORMALS];
    int count = data_words_formal_count(word);
    for (int i = 0; i < count; i++) names[i] = word->formals[i].name;
    Diagnostic *d = report_error(e, argument->name.span, "'%s' has no argument '%s'", word->name,
                                 argument->name.text);
    report_suggest(d, argument->name.text, names, count);
    if (count == 0) diag_help(d, "'%s' takes none", word->name);
    else diag_help(d, "it takes %s", data_words_join_names(e->arena, names, count));
    return NULL;
  }
  if (word->formals[0].kinds & REPEATED) return &word->formals[0];
  if (position < data_words_formal_count(word)) return &word->formals[position];
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
    const char *name = formal->kinds & REPEATED ? "" : name_intern(formal->name);
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
    if (formal->kinds & REPEATED ? !call->arguments[i].name[0]
                                 : !strcmp(call->arguments[i].name, formal->name))
      return true;
  return false;
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
  bool is_files = !strcmp(call->function, "idx") || !strcmp(call->function, "npy") ||
                  !strcmp(call->function, "raw");
  int count = 0;
  for (int i = 0; i < call->argument_count; i++) count += !call->arguments[i].name[0];
  if (!is_files || count == pipeline->field_count) return true;
  return report_failure(e, call->span, "%d fields from %d file%s: '%s' gives one field a file",
                        pipeline->field_count, count, count == 1 ? "" : "s", call->function);
}

/* Sources whose fields have a meaning by their place. */
static bool check_field_count(Elaborator *e, const DataPipeline *pipeline, const DataCall *call,
                              const DataWord *word) {
  static const char *const counts[][4] = {
      {"", "one field", "one or two fields", "one to three fields"}, {"", "", "", "three fields"}};
  int count = pipeline->field_count;
  if (!word->fields.text || (count >= word->fields.least && count <= word->fields.most))
    return true;
  return report_failure(e, call->span, "'%s' gives %s (%s), not %d", word->name,
                        counts[word->fields.least == 3][word->fields.most], word->fields.text,
                        count);
}

/* 0 / 0 is -nan for printf. */
static double for_print(double number) { return isnan(number) ? fabs(number) : number; }

/* NaN fits no range. */
static bool check_range(Elaborator *e, const DataCall *call, const DataFormal *formal,
                        const DataValue *value) {
  bool is_whole = (formal->kinds & WHOLE) == WHOLE;
  if (!(formal->kinds & RANGED) || value->kind != DATA_NUMBER) return true;
  bool fits = value->number >= formal->least && value->number <= formal->most;
  if (fits && (!is_whole || value->number == floor(value->number))) return true;
  int digits = formal->most == floor(formal->most) ? 0 : 1;
  return report_failure(e, call->span, "'%s' must be a %s from %.0f to %.*f, found %g",
                        formal->name, is_whole ? "whole number" : "number", formal->least, digits,
                        formal->most, for_print(value->number));
}

static bool check_fractions(Elaborator *e, const DataCall *call) {
  double from = data_argument_number(call, "from", 0), to = data_argument_number(call, "to", 1);
  if (from >= 0 && from < to && to <= 1) return true;
  return report_failure(e, call->span,
                        "%s takes fractions with 0 <= from < to <= 1, found %g and %g",
                        call->function, from, to);
}

static bool check_classes(Elaborator *e, const DataPipeline *pipeline, const DataCall *call) {
  if (strcmp(call->function, "cifar") != 0) return true;
  double classes = data_argument_number(call, "classes", 10);
  if (classes != 10 && classes != 100)
    return report_failure(e, call->span, "cifar has 10 or 100 classes, found %g", classes);
  if (classes == 100 || pipeline->field_count < 3) return true;
  return report_failure(e, call->span,
                        "the pictures of CIFAR-10 are in no groups: a third field needs "
                        "classes = 100");
}

/* The names of an archive's arrays, one a field. */
static bool check_arrays(Elaborator *e, const DataPipeline *pipeline, const DataCall *call) {
  const DataArgument *arrays = data_find_argument(call, "arrays");
  if (!arrays) return true;
  bool are_names = arrays->value.count == pipeline->field_count;
  for (int i = 0; i < arrays->value.count; i++)
    are_names = are_names && arrays->value.items[i].kind == DATA_STRING;
  if (are_names) return true;
  return report_failure(
      e, call->span, "'arrays' of npz is a list with a name in quotes for each of the %d field%s",
      pipeline->field_count, pipeline->field_count == 1 ? "" : "s");
}

/* One file, or two; what its tokens are it says itself. */
static bool check_vocabulary(Elaborator *e, const DataCall *call) {
  const DataArgument *files = data_find_argument(call, "vocabulary");
  if (!files) return true;
  bool is_pair = files->value.kind == DATA_LIST && files->value.count == 2 &&
                 files->value.items[0].kind == DATA_STRING &&
                 files->value.items[1].kind == DATA_STRING;
  if (!is_pair && files->value.kind != DATA_STRING)
    return report_failure(e, call->span,
                          "'vocabulary' is a file in quotes, \"tokenizer.json\", or a list of two, "
                          "[\"vocab.json\", \"merges.txt\"]");
  if (!data_find_argument(call, "unit")) return true;
  return report_failure(
      e, call->span, "'unit' does not stand beside 'vocabulary', which says what its tokens are");
}

/* What replaces a missing value is a value itself. */
static bool check_replacement(Elaborator *e, const DataCall *call) {
  double with = data_argument_number(call, "with", 0);
  if (strcmp(call->function, "impute") != 0 || isfinite(with)) return true;
  return report_failure(e, call->span,
                        "impute replaces missing values by a finite number, not by %g",
                        for_print(with));
}

/* Two numbers: from which to which an area is drawn, as a part of the picture's, and a ratio. */
static bool check_pair(Elaborator *e, const DataCall *call, const char *name, double most) {
  const DataArgument *argument = data_find_argument(call, name);
  if (!argument) return true;
  const DataValue *value = &argument->value;
  bool fits = value->kind == DATA_LIST && value->count == 2 &&
              value->items[0].kind == DATA_NUMBER && value->items[1].kind == DATA_NUMBER;
  if (fits && value->items[0].number > 0 && value->items[0].number <= value->items[1].number &&
      value->items[1].number <= most)
    return true;
  return report_failure(e, call->span,
                        "'%s' is a list of two numbers, the least and the most, above 0 and up to "
                        "%g",
                        name, most);
}

static bool check_words(Elaborator *e, const DataCall *call, const DataFormal *formal,
                        const DataValue *value) {
  bool fits = !formal->text || value->kind != DATA_STRING;
  for (int w = 0; w < 12 && formal->words[w]; w++)
    fits = fits || !strcmp(value->string, formal->words[w]);
  if (fits) return true;
  return report_failure(e, call->span, "%s takes %s = %s, not \"%s\"", call->function, formal->name,
                        formal->text, value->string);
}

typedef bool ArgumentCheck(Elaborator *e, const DataCall *call, const DataFormal *formal,
                           const DataValue *value);

static bool check_arguments(Elaborator *e, const DataCall *call, const DataWord *word,
                            ArgumentCheck *check) {
  for (int i = 0; i < call->argument_count; i++) {
    const DataFormal *formal = data_words_find_formal(word, call->arguments[i].name);
    if (formal && !check(e, call, formal, &call->arguments[i].value)) return false;
  }
  return true;
}

static bool check_call(Elaborator *e, const DataPipeline *pipeline, const DataCall *call,
                       const DataWord *word) {
  return check_file_count(e, pipeline, call) && check_field_count(e, pipeline, call, word) &&
         check_arguments(e, call, word, check_range) && check_fractions(e, call) &&
         check_replacement(e, call) && check_classes(e, pipeline, call) &&
         check_arrays(e, pipeline, call) && check_vocabulary(e, call) &&
         check_pair(e, call, "scale",
                    strcmp(call->function, "random_affine") ? 1 : DATA_MOST_FACTOR) &&
         check_pair(e, call, "ratio", DATA_MOST_RATIO) &&
         check_arguments(e, call, word, check_words);
}

/* ---- lines -------------------------------------------------------------------------------- */

/* A call, or a stage's bare name. */
static bool read_call(Elaborator *e, const DataPipeline *pipeline, const AstExpr *expr,
                      bool is_source, DataCall *call) {
  static const AstArguments none = {0};
  const AstExpr *callee = expr->kind == AST_CALL ? expr->call.callee : expr;
  if (callee->kind != AST_NAME)
    return report_failure(e, expr->span, "a %s of data is a name with arguments",
                          is_source ? "source" : "stage");
  const DataWord *word = data_words_find(e, callee, is_source);
  if (!word) return false;
  *call = (DataCall){.function = name_intern(word->name), .span = expr->span};
  const AstArguments *arguments = expr->kind == AST_CALL ? &expr->call.arguments : &none;
  if (!read_arguments(e, pipeline, word, arguments, call)) return false;
  for (int i = 0; i < data_words_formal_count(word); i++) {
    const DataFormal *formal = &word->formals[i];
    if (!(formal->kinds & NEEDED) || has_argument(call, formal)) continue;
    return report_failure(e, expr->span, "'%s' needs the argument '%s'", word->name, formal->name);
  }
  return check_call(e, pipeline, call, word) && (is_source || data_check_stage(e, pipeline, call));
}

/* A stage of another part of the line, whose source must give what it acts on, too. */
static bool copy_call(Elaborator *e, const DataPipeline *pipeline, const DataCall *stage,
                      DataCall *call) {
  *call = *stage;
  return data_check_stage(e, pipeline, call);
}

bool data_read_pipeline(Elaborator *e, const AstEntry *entry, const AstExpr *source,
                        const DataPipeline *first, DataPipeline *pipeline) {
  *pipeline = (DataPipeline){.span = entry->span, .field_count = entry->names.count};
  pipeline->fields = ARENA_ARRAY(e->arena, const char *, entry->names.count);
  for (int i = 0; i < entry->names.count; i++) pipeline->fields[i] = entry->names.items[i].text;
  int count = first ? first->call_count : 1 + entry->stages.count;
  if (first && count > 1 && !strcmp(first->calls[count - 1].function, "match")) count--;
  pipeline->calls =
      ARENA_ARRAY(e->arena, DataCall, count + 3); /* and patterns, and what joins parts */
  bool fits = true, has_source = false; /* without it nothing can be said of the stages together */
  for (int i = 0; i < count || i == 0; i++) {
    const AstExpr *expr = i == 0 ? source : entry->stages.items[i - 1];
    DataCall *call = &pipeline->calls[pipeline->call_count];
    bool good = first && i > 0 ? copy_call(e, pipeline, &first->calls[i], call)
                               : read_call(e, pipeline, expr, i == 0, call);
    if (i == 0) has_source = good;
    if (good && has_source) pipeline->call_count++;
    fits = fits && good;
  }
  if (fits) fits = data_add_match(e, pipeline);
  pipeline->is_wrong = !fits;
  return fits;
}
