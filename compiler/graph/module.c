/* Modules: creation, names of entries, lookup by name. */
#include "graph/module.h"

#include <stddef.h>
#include <string.h>
#include "support/names.h"
#include "support/panic.h"

static const char *const entry_names[ENTRY_COUNT] = {
    [ENTRY_INIT] = "init",         [ENTRY_HOST] = "host",
    [ENTRY_TRAIN] = "train",       [ENTRY_ACCUMULATE] = "accumulate",
    [ENTRY_EVAL] = "eval",         [ENTRY_EVAL_ONE] = "eval_one",
    [ENTRY_PREDICT] = "predict",   [ENTRY_PREDICT_BATCH] = "predict_batch",
    [ENTRY_GENERATE] = "generate", [ENTRY_FINISH] = "finish",
};

const char *entry_name(EntryKind entry) {
  if ((unsigned)entry >= ENTRY_COUNT) panic("entry kind %d does not exist", (int)entry);
  return entry_names[entry];
}

Module *module_create(Arena *arena, const char *name, const SourceFile *source) {
  Module *module = ARENA_NEW(arena, Module);
  module->arena = arena;
  module->name = name_intern(name);
  module->source = source;
  module->run.accumulate = 1;
  module->run.precision = DTYPE_F32;
  return module;
}

Variable *module_find_variable(Module *module, const char *path) {
  const char *interned = name_intern(path);
  for (int i = 0; i < module->variables.count; i++)
    if (module->variables.items[i].path == interned) return &module->variables.items[i];
  return NULL;
}

const InputInfo *module_find_input(const Module *module, const char *name) {
  const char *interned = name_intern(name);
  for (int i = 0; i < module->inputs.count; i++)
    if (module->inputs.items[i].name == interned) return &module->inputs.items[i];
  return NULL;
}

int module_option_index(const Module *module, const char *name) {
  const char *interned = name_intern(name);
  for (int i = 0; i < module->options.count; i++)
    if (module->options.items[i].name == interned) return i;
  return -1;
}

RunOption *module_find_option(Module *module, const char *name) {
  int index = module_option_index(module, name);
  return index < 0 ? NULL : &module->options.items[index];
}

const char *module_option_name(const char *scalar) {
  size_t length = strlen(MODULE_OPTION);
  return strncmp(scalar, MODULE_OPTION, length) == 0 ? scalar + length : NULL;
}

const ExternInfo *module_find_extern(const Module *module, const char *function) {
  const char *interned = name_intern(function);
  for (int i = 0; i < module->externs.count; i++)
    if (module->externs.items[i].function == interned) return &module->externs.items[i];
  return NULL;
}

const char **module_metric_names(Arena *arena, const Module *module) {
  const char **names = ARENA_ARRAY(arena, const char *, module->metrics.count);
  for (int i = 0; i < module->metrics.count; i++) names[i] = module->metrics.items[i].name;
  return names;
}

bool module_is_ranking(const char *scalar) {
  return strncmp(scalar, MODULE_RANKING, sizeof MODULE_RANKING - 1) == 0;
}

void module_rankings(Arena *arena, const Module *module, RankingNames *names) {
  const Graph *graph = module->entries[ENTRY_EVAL];
  bool is_label = false;
  for (int i = 0; graph && i < graph->outputs.count; i++) {
    const Output *output = &graph->outputs.items[i];
    if (output->kind != OUTPUT_RESULT || !module_is_ranking(output->name)) continue;
    if (!is_label) vec_push(arena, names, output->name);
    is_label = !is_label;
  }
}

static bool is_ranking(const Module *module, const char *scalar) {
  (void)module;
  return module_is_ranking(scalar);
}

/* All entries agree on how accumulators are combined. */
static bool is_of_steps(const Module *module, const char *scalar) {
  const Graph *train = module->entries[ENTRY_TRAIN];
  for (int i = 0; train && i < train->outputs.count; i++) {
    const Output *output = &train->outputs.items[i];
    if (output->kind == OUTPUT_ACCUMULATOR && output->combine == COMBINE_STEPS &&
        strcmp(output->name, scalar) == 0)
      return true;
  }
  return false;
}

/* Whether the metric is computed of a scalar that is `special`. */
static bool metric_depends(Arena *arena, const Module *module, const char *metric,
                           bool special(const Module *, const char *)) {
  const Graph *finish = module->entries[ENTRY_FINISH];
  if (!finish) return false;
  bool *depends = ARENA_ARRAY(arena, bool, finish->next_id);
  for (int i = 0; i < finish->nodes.count; i++) {
    const Node *node = finish->nodes.items[i];
    depends[node->id] = node->op == OP_SCALAR && special(module, node_string(node, ATTR_NAME));
    for (int k = 0; k < node->operand_count; k++)
      depends[node->id] = depends[node->id] || depends[node->operands[k]->id];
  }
  for (int i = 0; i < finish->outputs.count; i++)
    if (strcmp(finish->outputs.items[i].name, metric) == 0)
      return depends[finish->outputs.items[i].node->id];
  return false;
}

bool module_metric_is_ranked(Arena *arena, const Module *module, const char *metric) {
  return metric_depends(arena, module, metric, is_ranking);
}

bool module_metric_is_of_steps(Arena *arena, const Module *module, const char *metric) {
  return metric_depends(arena, module, metric, is_of_steps);
}
