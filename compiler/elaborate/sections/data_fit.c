/* Whether the lines of a data set fit what they feed, as far as the program tells: stages and what
 * they act on (runtime/data/words.h), stages that learn against those of `data train`, and the
 * shapes and types of inputs against what a source makes. What a file holds is known when it is
 * read. */
#include <string.h>
#include "elaborate/core/report.h"
#include "elaborate/eval/convert.h"
#include "elaborate/sections/data.h"
#include "support/panic.h"

/* ---- what sources give and stages act on --------------------------------------------------- */

int data_gives(const char *source) {
  int gives = data_source_gives(source);
  if (gives < 0) panic("the source '%s' is missing in runtime/data/words.h", source);
  return gives;
}

int data_acts_on(const char *stage) {
  /* data_joint.c, data_match.c */
  if (!strcmp(stage, "concat") || !strcmp(stage, "mix") || !strcmp(stage, "match"))
    return GIVES_ROWS;
#define FIND_STAGE(name, kind)                                                                     \
  if (!strcmp(stage, #name)) return DATA_ACTS_ON_##name;
  DATA_STAGES(FIND_STAGE)
#undef FIND_STAGE
  panic("the stage '%s' is missing in runtime/data/words.h", stage);
}

static void add_word(Text *text, const char *word) {
  text_printf(text, "%s%s", text->length ? ", " : "", word);
}

/* The stages that may stand after the source; the sources before the stage. */
static void help_fitting(Diagnostic *d, int gives, const char *source, int kind) {
  Text stages = {0}, sources = {0};
#define ADD_STAGE(name, acts_on)                                                                   \
  if (gives & (acts_on)) add_word(&stages, #name);
#define ADD_SOURCE(name, its)                                                                      \
  if ((its)&kind) add_word(&sources, #name);
  DATA_STAGES(ADD_STAGE)
  DATA_SOURCES(ADD_SOURCE)
#undef ADD_STAGE
#undef ADD_SOURCE
  diag_help(d, "after '%s' may stand %s; %s come from %s", source, stages.data,
            data_kind_text(kind), sources.data);
  text_free(&stages);
  text_free(&sources);
}

bool data_check_stage(Elaborator *e, const DataPipeline *pipeline, const DataCall *stage) {
  if (pipeline->call_count == 0) return true; /* the source is wrong, or this is one */
  const char *source = pipeline->calls[0].function;
  int gives = data_gives(source), kind = data_acts_on(stage->function);
  if (gives & kind) return true;
  if (gives == 0)
    return report_failure(e, stage->span,
                          "no stages after '%s': it has the rows of the other lines", source);
  Diagnostic *d = report_error(e, stage->span, "'%s' acts on %s, which '%s' does not give",
                               stage->function, data_kind_text(kind), source);
  help_fitting(d, gives, source, kind);
  return false;
}

/* ---- stages that learn ---------------------------------------------------------------------- */

bool data_learns(const DataCall *stage) {
  return (data_acts_on(stage->function) & (GIVES_NUMBERS | GIVES_TEXT)) != 0;
}

bool data_call_names_field(const DataCall *call, const char *field) {
  for (int i = 0; i < call->argument_count; i++)
    if (call->arguments[i].value.kind == DATA_NAME && call->arguments[i].value.string == field)
      return true;
  return false;
}

bool data_call_is_nameless(const DataCall *call) {
  for (int i = 0; i < call->argument_count; i++)
    if (call->arguments[i].value.kind == DATA_NAME) return false;
  return data_learns(call);
}

const DataPipeline *data_find_pipeline(const DataSet *set, const char *field) {
  for (int i = 0; set && i < set->pipeline_count; i++)
    if (data_has_field(&set->pipelines[i], field)) return &set->pipelines[i];
  return NULL;
}

/* The stage of that name in the line that names the field, or one that names none. */
static const DataCall *find_stage(const DataPipeline *pipeline, const char *stage,
                                  const char *field) {
  for (int c = 1; pipeline && c < pipeline->call_count; c++) {
    const DataCall *call = &pipeline->calls[c];
    if (strcmp(call->function, stage) != 0) continue;
    if (data_call_names_field(call, field) || data_call_is_nameless(call)) return call;
  }
  return NULL;
}

void data_check_repeated(Elaborator *e, const DataSet *train, const DataCall *call,
                         const char *field) {
  if (find_stage(data_find_pipeline(train, field), call->function, field)) return;
  Diagnostic *d = report_error(e, call->span,
                               "%s(%s) takes its values from the training set, but 'data train' "
                               "does not state it for '%s'",
                               call->function, field, field);
  if (train) diag_note(d, train->span, "the training set");
}

/* What impute puts in the place of missing values is of the input's type; integers have none. */
static void check_replacement(Elaborator *e, const DataCall *call, const InputInfo *input) {
  double with = data_argument_number(call, "with", 0);
  if (!strcmp(call->function, "impute") && dtype_is_float(input->type.dtype))
    convert_fits(e, value_float(with), input->type.dtype, call->span);
}

/* A stage that names a field of which the text has not become numbers yet, or twice. */
static void check_order(Elaborator *e, const DataPipeline *pipeline, int index, const char *field) {
  const DataCall *call = &pipeline->calls[index];
  for (int c = 1; c < pipeline->call_count; c++) {
    const DataCall *other = &pipeline->calls[c];
    if (c == index || !data_learns(other) || !data_call_names_field(other, field)) continue;
    bool is_same = !strcmp(other->function, call->function);
    bool is_text = data_acts_on(other->function) == GIVES_TEXT;
    if (is_same && c < index) {
      Diagnostic *d =
          report_error(e, call->span, "%s(%s) stands here twice", call->function, field);
      diag_note(d, other->span, "the first");
    } else if (!is_same && c > index && is_text) {
      Diagnostic *d =
          report_error(e, call->span, "%s(%s): '%s' is text; categories(%s) must come first",
                       call->function, field, field, field);
      diag_note(d, other->span, "categories");
    }
  }
}

static void check_learning(Elaborator *e, const DataPipeline *pipeline, int index,
                           const char *field) {
  const DataCall *call = &pipeline->calls[index];
  const InputInfo *input = module_find_input(e->module, field);
  check_order(e, pipeline, index, field);
  bool is_float = input && dtype_is_float(input->type.dtype);
  if (input) check_replacement(e, call, input);
  if (!input || (input->is_batched && (is_float || strcmp(call->function, "standardize")))) return;
  Diagnostic *d =
      input->is_batched
          ? report_error(e, call->span,
                         "standardize(%s): the input '%s' is %s; standard scores need a float type",
                         field, field, type_text(e->arena, input->type))
          : report_error(e, call->span, "%s(%s): the input '%s' has no axis of examples",
                         call->function, field, field);
  diag_note(d, input->span, "the input");
}

/* Rows that stay on disk are not changed, in no set that has the field. */
static void check_on_disk(Elaborator *e, const DataSet *train, const DataPipeline *pipeline) {
  const DataCall *disk = NULL;
  for (int c = 1; c < pipeline->call_count; c++)
    if (!strcmp(pipeline->calls[c].function, "on_disk")) disk = &pipeline->calls[c];
  for (int f = 0; disk && f < pipeline->field_count; f++) {
    const DataPipeline *trained = data_find_pipeline(train, pipeline->fields[f]);
    for (int c = 1; trained && c < trained->call_count; c++) {
      const DataCall *call = &trained->calls[c];
      if (!data_learns(call) || !data_call_names_field(call, pipeline->fields[f])) continue;
      Diagnostic *d = report_error(e, disk->span,
                                   "%s(%s) changes all rows, which 'on_disk' leaves in their file",
                                   call->function, pipeline->fields[f]);
      diag_note(d, call->span, "the stage");
      diag_help(d, "a layer can do it: batch_norm learns means and deviations, and "
                   "(x - mean) / deviation takes known ones");
      return;
    }
  }
}

/* What `data train` says of a field holds in this set, whose source must give what it acts on. */
static void check_applied(Elaborator *e, const DataSet *train, const DataPipeline *pipeline,
                          const char *field) {
  const DataPipeline *trained = data_find_pipeline(train, field);
  int gives = pipeline->call_count > 0 ? data_gives(pipeline->calls[0].function) : ~0;
  for (int c = 1; trained && c < trained->call_count; c++) {
    const DataCall *call = &trained->calls[c];
    int kind = data_acts_on(call->function);
    if (!data_learns(call) || (gives & kind) || !data_call_names_field(call, field)) continue;
    Diagnostic *d = report_error(
        e, pipeline->calls[0].span, "%s(%s) of 'data train' acts on %s, which '%s' does not give",
        call->function, field, data_kind_text(kind), pipeline->calls[0].function);
    diag_note(d, call->span, "the stage, which holds for '%s' in every set", field);
  }
}

/* Classes that a source makes itself are learnt from the training set. */
static void check_classes(Elaborator *e, const DataSet *train, const DataPipeline *pipeline) {
  const DataCall *source = &pipeline->calls[0];
  bool is_folder =
      !strcmp(source->function, "image_folder") || !strcmp(source->function, "wav_folder");
  const DataArgument *unit = data_find_argument(source, "unit");
  bool is_text =
      !strcmp(source->function, "text") && !(unit && !strcmp(unit->value.string, "byte"));
  if (!is_text && !(is_folder && pipeline->field_count > 1)) return;
  const char *field = pipeline->fields[is_folder ? 1 : 0];
  if (is_folder && !module_find_input(e->module, field)) return;
  const DataPipeline *trained = data_find_pipeline(train, field);
  bool is_learnt = !trained || trained->call_count == 0;
  if (!is_learnt) {
    const DataArgument *its = data_find_argument(&trained->calls[0], "unit");
    is_learnt = !strcmp(trained->calls[0].function, source->function) &&
                !(its && !strcmp(its->value.string, "byte"));
    is_learnt = is_learnt || (is_folder && find_stage(trained, "categories", field));
  }
  if (is_learnt) return;
  Diagnostic *d = report_error(e, source->span,
                               "the classes of '%s' come from the training set, but "
                               "'%s' of 'data train' gives none",
                               field, trained->calls[0].function);
  diag_note(d, trained->calls[0].span, "the source in the training set");
  if (is_folder && !strcmp(trained->calls[0].function, "shards"))
    diag_note(d, source->span,
              "'nnc-data shards' packs this folder, too, with classes as numbers; read it with "
              "'shards'");
  else diag_note(d, source->span, "read both sets with one source");
}

static void check_stages(Elaborator *e, const DataSet *train, const DataSet *set) {
  for (int i = 0; i < set->pipeline_count; i++) {
    const DataPipeline *pipeline = &set->pipelines[i];
    if (pipeline->call_count == 0) continue;
    bool is_first = !data_follows_part(set, i); /* all sources of a line have its stages */
    for (int c = 1; c < pipeline->call_count && is_first; c++)
      for (int f = 0; f < pipeline->field_count && data_learns(&pipeline->calls[c]); f++) {
        if (!data_call_names_field(&pipeline->calls[c], pipeline->fields[f])) continue;
        check_learning(e, pipeline, c, pipeline->fields[f]);
        if (set != train) data_check_repeated(e, train, &pipeline->calls[c], pipeline->fields[f]);
      }
    if (is_first) check_on_disk(e, train, pipeline);
    if (is_first) data_check_boxes(e, train, set, pipeline);
    if (set == train) continue;
    for (int f = 0; f < pipeline->field_count; f++)
      if (module_find_input(e->module, pipeline->fields[f]))
        check_applied(e, train, pipeline, pipeline->fields[f]);
    if (strcmp(set->name, "predict") != 0) check_classes(e, train, pipeline);
  }
}

/* ---- the rows of lines side by side --------------------------------------------------------- */

static bool feeds_rows(Elaborator *e, const DataPipeline *pipeline) {
  if (pipeline->call_count == 0 || !(data_gives(pipeline->calls[0].function) & GIVES_ROWS))
    return false;
  for (int f = 0; f < pipeline->field_count; f++) {
    const InputInfo *input = module_find_input(e->module, pipeline->fields[f]);
    if (input && input->is_batched) return true;
  }
  return false;
}

const DataCall *data_next_choice(const DataPipeline *pipeline, int *at) {
  while (*at < pipeline->call_count) {
    const DataCall *call = &pipeline->calls[(*at)++];
    if (!strcmp(call->function, "split") || !strcmp(call->function, "shuffle") ||
        !strcmp(call->function, "fold") || !strcmp(call->function, "window"))
      return call;
  }
  return NULL;
}

/* The option that gives the argument; NULL. */
static const char *option_of_argument(const DataCall *call, const char *name) {
  const DataArgument *argument = data_find_argument(call, name);
  return argument && argument->value.kind == DATA_OPTION ? argument->value.string : NULL;
}

bool data_same_choice(const DataCall *a, const DataCall *b) {
  if (!a || !b || a->function != b->function) return a == b;
  if (option_of_argument(a, "number") != option_of_argument(b, "number")) return false;
  const DataArgument *by = data_find_argument(a, "by"), *its = data_find_argument(b, "by");
  const DataArgument *group = data_find_argument(a, "group");
  const DataArgument *others = data_find_argument(b, "group");
  return data_argument_number(a, "from", 0) == data_argument_number(b, "from", 0) &&
         data_argument_number(a, "to", 1) == data_argument_number(b, "to", 1) &&
         data_argument_number(a, "past", 0) == data_argument_number(b, "past", 0) &&
         data_argument_number(a, "future", 0) == data_argument_number(b, "future", 0) &&
         data_argument_number(a, "stride", 1) == data_argument_number(b, "stride", 1) &&
         data_argument_number(a, "number", 0) == data_argument_number(b, "number", 0) &&
         data_argument_number(a, "of", 5) == data_argument_number(b, "of", 5) &&
         data_argument_number(a, "seed", 0) == data_argument_number(b, "seed", 0) &&
         (by ? by->value.string : NULL) == (its ? its->value.string : NULL) &&
         (group ? group->value.string : NULL) == (others ? others->value.string : NULL);
}

/* The first choice of rows in which two lines differ: of `a`, where it has one. */
static const DataCall *find_difference(const DataPipeline *a, const DataPipeline *b, bool *of_a) {
  int i = 1, k = 1;
  for (;;) {
    const DataCall *x = data_next_choice(a, &i), *y = data_next_choice(b, &k);
    *of_a = x != NULL;
    if (!data_same_choice(x, y)) return x ? x : y;
    if (!x) return NULL;
  }
}

static void check_rows(Elaborator *e, const DataSet *set) {
  const DataPipeline *first = NULL;
  for (int i = 0; i < set->pipeline_count; i++) {
    const DataPipeline *pipeline = &set->pipelines[i];
    bool is_own;
    if (!feeds_rows(e, pipeline)) continue;
    const DataCall *call = first ? find_difference(pipeline, first, &is_own) : NULL;
    if (!first) first = pipeline;
    if (!call) continue;
    Diagnostic *d = report_error(e, call->span,
                                 "'%s' and '%s' are matched row by row, so they must "
                                 "go through the same stages that choose rows",
                                 first->fields[0], pipeline->fields[0]);
    diag_note(d, is_own ? first->span : pipeline->span, "the other line");
    return; /* one line that is wrong may differ from all others */
  }
}

/* ---- all sets ------------------------------------------------------------------------------- */

void data_check_fit(Elaborator *e, const DataSet *train) {
  for (int i = 0; i < e->module->data_sets.count; i++) {
    const DataSet *set = &e->module->data_sets.items[i];
    check_stages(e, train, set);
    check_rows(e, set);
    for (int p = 0; p < set->pipeline_count; p++) {
      int before = e->errors;
      if (set->pipelines[p].call_count == 0) continue;
      data_check_shapes(e, &set->pipelines[p]);
      if (e->errors == before) data_check_with(e, set, &set->pipelines[p]);
    }
  }
}
