/* Lines with several sources, `concat(source, ...)` and `mix(source, ..., weights = [...])`: a line for each source,
 * with the same fields and stages, whose last call says that they are the parts of one. */
#include <string.h>
#include "elaborate/core/report.h"
#include "elaborate/eval/evaluate.h"
#include "elaborate/sections/data.h"
#include "support/names.h"

static bool is_mix(const char *function) { return !strcmp(function, "mix"); }

static bool is_joint_name(const char *function) {
  return !strcmp(function, "concat") || is_mix(function);
}

static const AstExpr *find_joint(const AstEntry *entry) {
  const AstExpr *value = entry->value;
  bool is_call = value->kind == AST_CALL && value->call.callee->kind == AST_NAME;
  return is_call && is_joint_name(value->call.callee->name) ? value : NULL;
}

const DataCall *data_joint_call(const DataPipeline *pipeline) {
  const DataCall *last =
      pipeline->call_count > 1 ? &pipeline->calls[pipeline->call_count - 1] : NULL;
  return last && is_joint_name(last->function) ? last : NULL;
}

bool data_follows_part(const DataSet *set, int line) {
  return line > 0 && set->pipelines[line].fields == set->pipelines[line - 1].fields;
}

int data_count_parts(const AstEntry *entry) {
  const AstExpr *joint = find_joint(entry);
  int count = 0;
  for (int i = 0; joint && i < joint->call.arguments.count; i++)
    count += !joint->call.arguments.items[i].name.text;
  return count > 0 ? count : 1;
}

/* ---- arguments ---- */

static bool read_weights(Elaborator *e, const AstArgument *argument, int count, DataCall *call) {
  Value value = evaluate_expr(e, argument->value);
  if (value.kind == VALUE_ERROR) return false;
  bool fits = (value.kind == VALUE_LIST || value.kind == VALUE_TUPLE) &&
              value_sequence_length(value) == count;
  DataValue *items = ARENA_ARRAY(e->arena, DataValue, count);
  for (int i = 0; fits && i < count; i++) {
    Value item = value_sequence_item(value, i);
    bool is_number = item.kind == VALUE_INT || item.kind == VALUE_FLOAT;
    double number = is_number ? value_number(item) : 0;
    fits = number > 0 && number <= 1e9;
    items[i] = (DataValue){.kind = DATA_NUMBER, .number = number};
  }
  if (!fits)
    return report_failure(e, argument->span,
                          "'weights' is a list of numbers above 0, one for each of the %d source%s",
                          count, count == 1 ? "" : "s");
  call->arguments = ARENA_ARRAY(e->arena, DataArgument, 1);
  call->arguments[call->argument_count++] = (DataArgument){
      .name = name_intern("weights"), .value = {.kind = DATA_LIST, .count = count, .items = items}};
  return true;
}

/* The last call of each part. */
static bool read_joint(Elaborator *e, const AstExpr *joint, int count, DataCall *call) {
  const AstArguments *arguments = &joint->call.arguments;
  bool has_weights = false, fits = true;
  *call = (DataCall){.function = name_intern(joint->call.callee->name), .span = joint->span};
  for (int i = 0; i < arguments->count; i++) {
    const AstArgument *argument = &arguments->items[i];
    if (!argument->name.text) continue;
    if (is_mix(call->function) && argument->name.text == name_intern("weights") && !has_weights) {
      has_weights = true;
      fits = read_weights(e, argument, count, call) && fits;
    } else {
      Diagnostic *d = report_error(e, argument->name.span, "'%s' takes sources%s", call->function,
                                   is_mix(call->function) ? " and their weights" : "");
      diag_help(d, is_mix(call->function)
                       ? "mix(npy(\"a.npy\"), npy(\"b.npy\"), weights = [0.7, 0.3])"
                       : "concat(npy(\"a.npy\"), npy(\"b.npy\"))");
      fits = false;
    }
  }
  if (arguments->count - has_weights < 2 && fits)
    return report_failure(e, joint->span, "'%s' joins two sources or more", call->function);
  if (is_mix(call->function) && !has_weights && fits)
    return report_failure(e, joint->span, "'mix' needs the argument 'weights'");
  return fits;
}

/* How often training reads an example is said once. */
static bool check_stages(Elaborator *e, const DataPipeline *pipeline, const DataCall *joint) {
  for (int c = 1; c < pipeline->call_count && is_mix(joint->function); c++) {
    const DataCall *call = &pipeline->calls[c];
    if (strcmp(call->function, "balance") != 0 && strcmp(call->function, "weigh") != 0) continue;
    Diagnostic *d =
        report_error(e, call->span, "'%s' and 'mix' both say how often training reads an example",
                     call->function);
    diag_note(d, joint->span, "mix");
    diag_help(d, "concat(...) | %s(...) reads the rows of all sources as the field says",
              call->function);
    return false;
  }
  return true;
}

void data_read_line(Elaborator *e, const AstEntry *entry, DataPipeline *parts) {
  const AstExpr *joint = find_joint(entry);
  if (!joint) {
    data_read_pipeline(e, entry, entry->value, NULL, parts);
    return;
  }
  int count = data_count_parts(entry), part = 0;
  DataCall last;
  bool fits = read_joint(e, joint, count, &last);
  parts[0] = (DataPipeline){.span = entry->span, .is_wrong = true};
  for (int i = 0; i < joint->call.arguments.count; i++) {
    const AstArgument *argument = &joint->call.arguments.items[i];
    if (argument->name.text) continue;
    DataPipeline *pipeline = &parts[part];
    fits = data_read_pipeline(e, entry, argument->value, part ? parts : NULL, pipeline) && fits;
    part++;
  }
  fits = fits && check_stages(e, &parts[0], &last);
  for (int p = 0; p < part; p++) {
    parts[p].fields = parts[0].fields;
    if (parts[p].call_count > 0 && fits) parts[p].calls[parts[p].call_count++] = last;
    parts[p].is_wrong = !fits;
  }
}

/* ---- the set ---- */

static int count_from(const DataSet *set, int line) {
  int count = 1;
  while (line + count < set->pipeline_count && data_follows_part(set, line + count)) count++;
  return count;
}

static bool same_weights(const DataCall *a, const DataCall *b) {
  if (a->function != b->function || a->argument_count != b->argument_count) return false;
  for (int i = 0; a->argument_count && i < a->arguments[0].value.count; i++)
    if (a->arguments[0].value.items[i].number != b->arguments[0].value.items[i].number)
      return false;
  return true;
}

/* Lines are matched row by row, so the sources of each must be as many, and drawn alike. */
void data_check_joints(Elaborator *e, const DataSet *set) {
  int first = -1;
  for (int p = 0; p < set->pipeline_count; p++) {
    const DataPipeline *line = &set->pipelines[p];
    if (data_follows_part(set, p) || line->is_wrong || line->call_count == 0 ||
        data_follows_rows(&line->calls[0]))
      continue;
    const DataCall *joint = data_joint_call(line);
    if (joint && set->order == DATA_ORDER_STREAMS) {
      report_error(e, joint->span, "order = streams goes through one source, '%s' has several",
                   joint->function);
    } else if (joint && is_mix(joint->function) && strcmp(set->name, "train") != 0) {
      Diagnostic *d = report_error(e, joint->span,
                                   "'mix' says how often training reads an example; it stands in "
                                   "'data train' alone");
      diag_help(d, "concat(...) reads each example once");
    } else if (first >= 0) {
      const DataPipeline *other = &set->pipelines[first];
      const DataCall *its = data_joint_call(other);
      bool agree =
          !joint == !its &&
          (!joint || (same_weights(joint, its) && count_from(set, p) == count_from(set, first)));
      if (agree) continue;
      Diagnostic *d = report_error(e, joint ? joint->span : line->span,
                                   "'%s' and '%s' are matched row by row, so they must be of as "
                                   "many sources, joined alike",
                                   other->fields[0], line->fields[0]);
      diag_note(d, its ? its->span : other->span, "the other line");
    } else {
      first = p;
    }
  }
}
