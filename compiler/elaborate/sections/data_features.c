/* `standardize` without names: the fields that feed the network, not those that only the loss
 * compares with what comes out of it, since a prediction in standard scores would mean nothing.
 *
 * A field feeds the network when, on the way to a loss, a value that depends on it meets a parameter:
 * something that depends on parameters and on no input, as the weights of a layer do. A target meets
 * the network's output, which depends on other inputs as well. After that, single numbers do not
 * count: the penalty that is added to a loss, or a learnt weight of it, are parameters that every
 * target meets. */
#include <string.h>
#include "elaborate/core/report.h"
#include "elaborate/sections/data.h"
#include "elaborate/sections/train.h"

/* The nodes that the losses depend on; NULL without a loss. */
static bool *find_needed(Elaborator *e, const TrainPlan *plan) {
  const Graph *graph = e->trace->region.graph;
  bool *needed = ARENA_ARRAY(e->arena, bool, graph->next_id), found = false;
  for (int i = -1; i < plan->groups.count; i++) {
    const KeyValue *loss =
        i < 0 ? &plan->keys[KEY_MINIMIZE] : &plan->groups.items[i]->keys[KEY_MINIMIZE];
    if (!loss->expr || !value_is_tensor(loss->value)) continue;
    needed[loss->value.tensor.node->id] = found = true;
  }
  if (!found) return NULL;
  region_mark_needed(graph, needed);
  return needed;
}

/* Which nodes depend on an input; on a parameter; on parameters alone and not by a single number. */
typedef struct Reach {
  bool *of_input, *of_param, *of_weight;
} Reach;

static Reach find_weights(Elaborator *e) {
  const Graph *graph = e->trace->region.graph;
  Reach reach = {ARENA_ARRAY(e->arena, bool, graph->next_id),
                 ARENA_ARRAY(e->arena, bool, graph->next_id),
                 ARENA_ARRAY(e->arena, bool, graph->next_id)};
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    bool of_input = node->op == OP_INPUT, of_param = node->op == OP_PARAM, of_weight = of_param;
    for (int k = 0; k < node->operand_count; k++) {
      of_input = of_input || reach.of_input[node->operands[k]->id];
      of_param = of_param || reach.of_param[node->operands[k]->id];
      of_weight = of_weight || reach.of_weight[node->operands[k]->id];
    }
    reach.of_input[node->id] = of_input;
    reach.of_param[node->id] = of_param;
    reach.of_weight[node->id] = of_weight && !of_input && node->type.shape.rank > 0;
  }
  return reach;
}

/* Whether a value of the field meets a weight in a node that a loss needs. */
static bool meets_weight(Elaborator *e, const char *field, const bool *needed, const Reach *reach) {
  const Graph *graph = e->trace->region.graph;
  bool *of_field = ARENA_ARRAY(e->arena, bool, graph->next_id);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    bool depends = node->op == OP_INPUT && node_string(node, ATTR_NAME) == field;
    bool is_first = true, meets_param = false, meets = false;
    for (int k = 0; k < node->operand_count; k++) {
      int id = node->operands[k]->id;
      depends = depends || of_field[id];
      is_first = is_first && !(of_field[id] && reach->of_param[id]);
      meets_param = meets_param || (reach->of_param[id] && !reach->of_input[id]);
      meets = meets || reach->of_weight[id];
    }
    of_field[node->id] = depends && node->type.shape.rank > 0;
    if (!of_field[node->id] || !needed[node->id]) continue;
    if (meets || (meets_param && is_first)) return true;
  }
  return false;
}

static void add_name(Elaborator *e, DataCall *call, const char *field) {
  DataArgument *grown = ARENA_ARRAY(e->arena, DataArgument, call->argument_count + 1);
  for (int i = 0; i < call->argument_count; i++) grown[i] = call->arguments[i];
  grown[call->argument_count++] =
      (DataArgument){.name = "", .value = {.kind = DATA_NAME, .string = field}};
  call->arguments = grown;
}

static bool is_nameless(const DataCall *call) {
  return !strcmp(call->function, "standardize") && data_call_is_nameless(call);
}

static void name_in_training(Elaborator *e, const DataPipeline *pipeline, DataCall *call,
                             const bool *needed, const Reach *reach) {
  for (int f = 0; f < pipeline->field_count; f++) {
    const InputInfo *input = module_find_input(e->module, pipeline->fields[f]);
    if (!input || !input->is_batched || !dtype_is_float(input->type.dtype)) continue;
    if (f == 0 && data_first_is_picture(pipeline)) continue;
    if (!needed || meets_weight(e, pipeline->fields[f], needed, reach))
      add_name(e, call, pipeline->fields[f]);
  }
  if (call->argument_count > 0) return;
  Diagnostic *d = report_error(e, call->span,
                               "standardize without names means the fields that feed "
                               "the network through inputs of a float type: this line has none");
  diag_help(d, "standardize(%s) names what is meant", pipeline->fields[0]);
}

/* In another set it says again what the training set's stage says. */
static void name_elsewhere(Elaborator *e, const DataSet *train, const DataPipeline *pipeline,
                           DataCall *call) {
  for (int f = 0; f < pipeline->field_count; f++) {
    const DataPipeline *trained = data_find_pipeline(train, pipeline->fields[f]);
    for (int c = 1; trained && c < trained->call_count; c++)
      if (!strcmp(trained->calls[c].function, "standardize") &&
          data_call_names_field(&trained->calls[c], pipeline->fields[f]))
        add_name(e, call, pipeline->fields[f]);
  }
  if (call->argument_count > 0) return;
  Diagnostic *d = report_error(e, call->span,
                               "standardize takes its values from the training set, "
                               "but 'data train' states it for no field of this line");
  if (train) diag_note(d, train->span, "the training set");
}

/* What is named elsewhere must be among what the training set's stage turned out to name. */
static void check_named(Elaborator *e, const DataSet *train, const DataPipeline *pipeline,
                        const DataCall *call) {
  for (int f = 0; f < pipeline->field_count; f++)
    if (data_call_names_field(call, pipeline->fields[f]))
      data_check_repeated(e, train, call, pipeline->fields[f]);
}

static void visit_set(Elaborator *e, const DataSet *train, const DataSet *set, const bool *needed,
                      const Reach *reach) {
  for (int i = 0; i < set->pipeline_count; i++) {
    const DataPipeline *pipeline = &set->pipelines[i];
    for (int c = 1; c < pipeline->call_count; c++) {
      DataCall *call = &pipeline->calls[c];
      if (strcmp(call->function, "standardize") != 0) continue;
      if (data_follows_part(set, i)) { /* all sources of a line have its stages */
        *call = set->pipelines[i - 1].calls[c];
      } else if (!is_nameless(call)) {
        if (set != train) check_named(e, train, pipeline, call);
      } else if (set == train) {
        name_in_training(e, pipeline, call, needed, reach);
      } else {
        name_elsewhere(e, train, pipeline, call);
      }
    }
  }
}

void data_name_features(Elaborator *e) {
  const Module *module = e->module;
  const DataSet *train = data_find_set(module, "train");
  bool *needed = e->trace->train ? find_needed(e, e->trace->train) : NULL;
  Reach reach = find_weights(e);
  if (train) visit_set(e, train, train, needed, &reach);
  for (int i = 0; i < module->data_sets.count; i++)
    if (&module->data_sets.items[i] != train)
      visit_set(e, train, &module->data_sets.items[i], needed, &reach);
}
