/* Modules: creation, names of entries, lookup by name. */
#include "graph/module.h"

#include <stddef.h>
#include <string.h>
#include "support/names.h"
#include "support/panic.h"

static const char *const entry_names[ENTRY_COUNT] = {
    [ENTRY_INIT] = "init",       [ENTRY_HOST] = "host",
    [ENTRY_TRAIN] = "train",     [ENTRY_ACCUMULATE] = "accumulate",
    [ENTRY_EVAL] = "eval",       [ENTRY_EVAL_ONE] = "eval_one",
    [ENTRY_PREDICT] = "predict", [ENTRY_PREDICT_BATCH] = "predict_batch",
    [ENTRY_FINISH] = "finish",
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
