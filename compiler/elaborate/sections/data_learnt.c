/* Stages learn from the fields that training reads; what else needs their numbers is told here. */
#include "elaborate/core/report.h"
#include "elaborate/sections/data.h"

static bool is_read(const Graph *graph, const bool *live, const char *field) {
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (node->op == OP_INPUT && live[node->id] && node_string(node, ATTR_NAME) == field)
      return true;
  }
  return false;
}

/* A field that is predicted from, or with, and that nothing has learnt of. */
static void check_predicted(Elaborator *e, const DataPipeline *pipeline, const char *field) {
  for (int c = 1; c < pipeline->call_count; c++) {
    const DataCall *call = &pipeline->calls[c];
    if (!data_learns(call) || !data_call_names_field(call, field)) continue;
    Diagnostic *d = report_error(e, call->span,
                                 "'%s' learns nothing of '%s', which 'predict' reads: neither the "
                                 "loss nor a metric reads it, so training does not load it",
                                 call->function, field);
    diag_help(d, "use '%s' in the loss or in a metric, or leave it out of 'predict'", field);
    return;
  }
}

static void check_units(Elaborator *e, const Graph *train, const bool *live) {
  for (int i = 0; i < e->module->variables.count; i++) {
    const Variable *scores = &e->module->variables.items[i];
    if (scores->kind != VARIABLE_FITTED) continue;
    const char *field = data_field_of_scores(e, scores);
    if (is_read(train, live, field)) continue;
    Diagnostic *d = report_error(e, scores->span,
                                 "'unstandardize' knows no units of '%s': neither the loss nor a "
                                 "metric reads it, so training does not load it",
                                 field);
    diag_help(d, "the field whose units are meant is what the prediction is compared with");
  }
}

void data_check_learnt(Elaborator *e) {
  const Graph *train = e->module->entries[ENTRY_TRAIN],
              *predict = e->module->entries[ENTRY_PREDICT];
  const bool *live = graph_live_nodes(e->arena, train);
  check_units(e, train, live);
  const DataSet *set = data_find_set(e->module, "train");
  if (!predict || !set) return;
  const bool *predicted = graph_live_nodes(e->arena, predict);
  for (int p = 0; p < set->pipeline_count; p++)
    for (int f = 0; f < set->pipelines[p].field_count; f++) {
      const char *field = set->pipelines[p].fields[f];
      if (is_read(predict, predicted, field) && !is_read(train, live, field))
        check_predicted(e, &set->pipelines[p], field);
    }
}
