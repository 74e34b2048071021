/* Data blocks: the fields that their lines give (data_calls.c), against each other and against the
 * inputs. A field feeds the input of its name. */
#include <string.h>
#include "elaborate/core/report.h"
#include "elaborate/eval/evaluate.h"
#include "elaborate/sections/data.h"
#include "support/names.h"

const DataSet *data_find_set(const Module *module, const char *name) {
  for (int i = 0; i < module->data_sets.count; i++)
    if (!strcmp(module->data_sets.items[i].name, name)) return &module->data_sets.items[i];
  return NULL;
}

/* ---- blocks ------------------------------------------------------------------------------- */

/* order = within(count). */
static void read_within(Elaborator *e, const AstExpr *value, DataSet *set) {
  const AstArguments *arguments = &value->call.arguments;
  set->order = DATA_ORDER_WITHIN;
  bool is_one = arguments->count == 1 && !arguments->items[0].name.text;
  Value count = is_one ? evaluate_expr(e, arguments->items[0].value) : (Value){.kind = VALUE_ERROR};
  if (is_one && count.kind == VALUE_ERROR) return; /* told */
  if (is_one && count.kind == VALUE_INT && count.integer >= 1 && count.integer <= DATA_MOST_WITHIN)
    set->within = count.integer;
  else
    report_error(
        e, value->span,
        "'within' takes how many examples are shuffled at a time, a whole number from 1 to "
        "%d",
        DATA_MOST_WITHIN);
}

/* order = file | streams | within(count), tail = wrap: words, not fields. */
static bool read_option(Elaborator *e, const AstEntry *entry, DataSet *set) {
  static const char *const orders[DATA_ORDER_COUNT] = {"", "file", "streams", "within"};
  if (entry->names.count != 1 || entry->stages.count > 0) return false;
  const AstExpr *value = entry->value;
  bool is_order = entry->names.items[0].text == name_intern("order");
  bool is_tail = entry->names.items[0].text == name_intern("tail");
  const char *called = value->kind == AST_CALL && value->call.callee->kind == AST_NAME
                           ? value->call.callee->name
                           : NULL;
  if (is_order && called && called == name_intern(orders[DATA_ORDER_WITHIN])) {
    read_within(e, value, set);
    return true;
  }
  if ((!is_order && !is_tail) || value->kind == AST_CALL) return false;
  const char *word = value->kind == AST_NAME ? value->name : "";
  for (int i = 1; is_order && i < DATA_ORDER_WITHIN; i++)
    if (word == name_intern(orders[i])) {
      set->order = (DataOrder)i;
      return true;
    }
  if (is_tail && word == name_intern("wrap")) set->wrap_tail = true;
  else
    report_error(e, value->span,
                 is_order ? "the values of 'order' are file, streams and within(8192)"
                          : "the only value of 'tail' is wrap");
  return true;
}

/* Evaluation reads each example once, in the order of the files. */
static void warn_not_trained(Elaborator *e, const AstEntry *entry, const DataSet *set) {
  if (strcmp(set->name, "train") == 0) return;
  Span at = entry->names.items[0].span;
  if (set->wrap_tail && entry->names.items[0].text == name_intern("tail"))
    diag_help(report_warning(e, at, "'tail = wrap' does nothing in 'data %s'", set->name),
              "it is of 'data train': evaluation takes each example once, those of the last, "
              "incomplete minibatch too");
  if (set->order == DATA_ORDER_WITHIN && entry->names.items[0].text == name_intern("order"))
    diag_help(report_warning(e, at, "'order = within' does nothing in 'data %s'", set->name),
              "it is of 'data train': evaluation shuffles nothing");
}

static bool set_has_field(const DataSet *set, const char *name) {
  for (int i = 0; i < set->pipeline_count; i++)
    if (data_has_field(&set->pipelines[i], name)) return true;
  return false;
}

static bool check_fields(Elaborator *e, const DataSet *set, const AstEntry *entry) {
  for (int i = 0; i < entry->names.count; i++) {
    bool twice = set_has_field(set, entry->names.items[i].text);
    for (int k = 0; k < i; k++)
      twice = twice || entry->names.items[k].text == entry->names.items[i].text;
    if (!twice) continue;
    return report_failure(e, entry->names.items[i].span, "the field '%s' is given twice",
                          entry->names.items[i].text);
  }
  return true;
}

void data_evaluate(Elaborator *e, const AstStmt *stmt) {
  if (e->trace->entry != ENTRY_TRAIN) return; /* the same in every trace */
  const char *name = stmt->section.name.text;
  const DataSet *first = data_find_set(e->module, name);
  if (first) {
    Diagnostic *d = report_error(e, stmt->section.name.span, "there is a second 'data %s'", name);
    diag_note(d, first->span, "the first");
    return;
  }
  DataSet set = {.name = name, .span = stmt->section.name.span};
  int line_count = 0;
  for (int i = 0; i < stmt->section.entries.count; i++)
    line_count += data_count_parts(&stmt->section.entries.items[i]);
  set.pipelines = ARENA_ARRAY(e->arena, DataPipeline, line_count);
  for (int i = 0; i < stmt->section.entries.count; i++) {
    const AstEntry *entry = &stmt->section.entries.items[i];
    if (entry->kind == AST_ENTRY_PARAMS) {
      report_error(e, entry->span, "groups of parameters belong in train");
      continue;
    }
    bool is_option = read_option(e, entry, &set);
    if (is_option) warn_not_trained(e, entry, &set);
    if (is_option || !check_fields(e, &set, entry)) continue;
    /* With a mistake in it the line still feeds its inputs. */
    data_read_line(e, entry, &set.pipelines[set.pipeline_count]);
    set.pipeline_count += data_count_parts(entry);
  }
  data_expand_with(e, &set);
  data_check_sources(e, &set);
  vec_push(e->arena, &e->module->data_sets, set);
}

/* ---- fields and inputs -------------------------------------------------------------------- */

static void report_unfed(Elaborator *e, const DataSet *set, const InputInfo *input) {
  Diagnostic *d = report_error(e, input->span, "no field of 'data %s' feeds the input '%s'",
                               set->name, input->name);
  diag_note(d, set->span, "the data set");
  VEC(const char *) names = {0};
  for (int i = 0; i < set->pipeline_count; i++)
    for (int k = 0; k < set->pipelines[i].field_count; k++)
      vec_push(e->arena, &names, set->pipelines[i].fields[k]);
  report_suggest(d, input->name, names.items, names.count);
  bool is_elsewhere = false;
  for (int i = 0; i < e->module->data_sets.count; i++)
    is_elsewhere = is_elsewhere || set_has_field(&e->module->data_sets.items[i], input->name);
  if (is_elsewhere)
    diag_help(
        d, "a set whose files have none of it gives the same value to each row: %s = constant(0)",
        input->name);
}

static void warn_unused_fields(Elaborator *e, const DataSet *set) {
  for (int i = 0; i < set->pipeline_count; i++) {
    const DataPipeline *pipeline = &set->pipelines[i];
    for (int k = 0; k < pipeline->field_count && !data_follows_part(set, i); k++) {
      const char *field = pipeline->fields[k];
      if (field[0] == '_' || module_find_input(e->module, field)) continue;
      Diagnostic *d = report_warning(e, pipeline->span, "no input is fed by the field '%s'", field);
      VEC(const char *) names = {0};
      for (int n = 0; n < e->module->inputs.count; n++)
        vec_push(e->arena, &names, e->module->inputs.items[n].name);
      report_suggest(d, field, names.items, names.count);
      if (!report_meant(field, names.items, names.count))
        diag_help(d, "'_%s' says that it is not used", field);
    }
  }
}

/* `batch(size)` of a pipeline says again what the inputs say. */
static void check_batch_stage(Elaborator *e, const DataSet *set) {
  for (int i = 0; i < set->pipeline_count; i++)
    for (int k = 0; k < set->pipelines[i].call_count; k++) {
      const DataCall *call = &set->pipelines[i].calls[k];
      if (strcmp(call->function, "batch") != 0) continue;
      double size = data_argument_number(call, "size", 0);
      if (size == (double)e->module->run.batch) continue;
      report_error(e, call->span, "the stage says batches of %g, the inputs begin with %lld", size,
                   (long long)e->module->run.batch);
    }
}

/* The first result that is computed of the input; NULL. */
static const Output *find_reader(Elaborator *e, const Graph *graph, const char *input) {
  for (int i = 0; i < graph->outputs.count; i++) {
    bool *is_used = ARENA_ARRAY(e->arena, bool, graph->next_id);
    if (graph->outputs.items[i].kind != OUTPUT_RESULT) continue;
    is_used[graph->outputs.items[i].node->id] = true;
    region_mark_needed(graph, is_used);
    for (int k = 0; k < graph->nodes.count; k++) {
      const Node *node = graph->nodes.items[k];
      if (is_used[node->id] && node->op == OP_INPUT && node_string(node, ATTR_NAME) == input)
        return &graph->outputs.items[i];
    }
  }
  return NULL;
}

/* The set that predict reads files as where there is no 'data predict'; NULL. */
static const DataSet *find_first_evaluated(const Module *module) {
  for (int i = 0; i < module->data_sets.count; i++) {
    const char *name = module->data_sets.items[i].name;
    if (strcmp(name, "train") != 0 && strcmp(name, "predict") != 0)
      return &module->data_sets.items[i];
  }
  return NULL;
}

void data_check_predicted(Elaborator *e) {
  const Module *module = e->module;
  const Graph *predict = module->entries[ENTRY_PREDICT];
  const DataSet *set = data_find_set(module, "predict"), *other = find_first_evaluated(module);
  if (!predict || !set) return;
  for (int i = 0; i < module->inputs.count; i++) {
    const char *input = module->inputs.items[i].name;
    const Output *reader = set_has_field(set, input) ? NULL : find_reader(e, predict, input);
    if (!reader) continue;
    Diagnostic *d = diag_error(e->diagnostics, reader->span,
                               "the result '%s' reads the input '%s', which no field of 'data "
                               "predict' feeds",
                               reader->name, input);
    diag_note(d, set->span, "the data set");
    if (other && set_has_field(other, input))
      diag_help(d,
                "delete 'data predict', so that files are read as those of 'data %s', or leave "
                "'%s' out of the results",
                other->name, input);
    else diag_help(d, "give 'data predict' a field '%s', or leave it out of the results", input);
  }
}

/* Rows that go on with those of the minibatch before, and examples that do not. */
static void warn_shuffled_streams(Elaborator *e, const DataSet *train) {
  bool is_shuffled = train->order == DATA_ORDER_SHUFFLED || train->order == DATA_ORDER_WITHIN;
  for (int i = 0; i < e->module->variables.count && is_shuffled; i++) {
    const Variable *variable = &e->module->variables.items[i];
    const Shape *shape = &variable->type.shape;
    bool has_rows = shape->rank > 1 && shape->dim[0] > 1 && shape->dim[0] == e->module->run.batch;
    if (variable->kind != VARIABLE_STREAM || !has_rows) continue;
    Diagnostic *d = report_warning(e, variable->span,
                                   "the stream '%s' has a row for each example, but training "
                                   "shuffles them: no row goes on in the next minibatch",
                                   variable->path);
    diag_note(d, train->span, "the data set");
    diag_help(d, "data train { ...; order = streams }, and so in the sets that are evaluated");
    return; /* the others are alike */
  }
}

void data_check(Elaborator *e) {
  Module *module = e->module;
  bool complete = e->errors == 0; /* else an input may be missing */
  const DataSet *train = data_find_set(module, "train");
  if (!train && e->trace->train && module->inputs.count > 0) {
    Diagnostic *d = report_error(e, module->inputs.items[0].span,
                                 "there is no 'data train' to feed the inputs");
    diag_help(d, "data train { %s = idx(\"file\") }", module->inputs.items[0].name);
  }
  if (!e->trace->train && module->data_sets.count == 0 && module->inputs.count > 0) {
    Diagnostic *d = report_error(e, module->inputs.items[0].span,
                                 "there is no data block to say how the inputs are read");
    diag_help(d, "data predict { %s = npy(\"file\") }", module->inputs.items[0].name);
  }
  for (int i = 0; i < module->data_sets.count; i++) {
    const DataSet *set = &module->data_sets.items[i];
    bool feeds_all = strcmp(set->name, "predict") != 0; /* predict needs some of them only */
    for (int k = 0; k < module->inputs.count && feeds_all; k++)
      if (!set_has_field(set, module->inputs.items[k].name))
        report_unfed(e, set, &module->inputs.items[k]);
    if (complete) warn_unused_fields(e, set);
    check_batch_stage(e, set);
    data_check_values(e, set);
    data_check_choices(e, set);
    data_check_joints(e, set);
  }
  if (train && complete) warn_shuffled_streams(e, train);
  data_check_fit(e, train);
  data_check_vocabularies(e, train);
  data_check_palettes(e, train);
  data_check_overlap(e);
}
