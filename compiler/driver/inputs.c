/* The files that a program names: data, initial weights, functions of one's own. */
#include "driver/compilation.h"

#include <string.h>

/* Data and initial weights are looked for elsewhere when the executable runs, but may lie here. */
static void add_named(Compilation *compilation, const Module *module, const char *name,
                      const char *what) {
  const char *program = module->source ? module->source->name : "";
  const char *slash = strrchr(program, '/');
  if (name == NULL || !*name) return;
  inputs_add(compilation->arena, &compilation->inputs, name, what);
  if (slash == NULL || name[0] == '/') return;
  const char *beside =
      arena_printf(compilation->arena, "%.*s%s", (int)(slash + 1 - program), program, name);
  inputs_add(compilation->arena, &compilation->inputs, beside, what);
}

static void add_data(Compilation *compilation, const Module *module, const DataSet *set) {
  for (int p = 0; p < set->pipeline_count; p++) {
    const DataPipeline *pipeline = &set->pipelines[p];
    if (pipeline->call_count == 0) continue;
    const DataCall *source = &pipeline->calls[0];
    for (int i = 0; i < source->argument_count; i++)
      if (source->arguments[i].value.kind == DATA_STRING)
        add_named(compilation, module, source->arguments[i].value.string,
                  "a file of the program's data");
  }
}

static void add_extern(Compilation *compilation, const ExternInfo *external) {
  Arena *arena = compilation->arena;
  for (int i = 0; i < external->file_count; i++)
    inputs_add(arena, &compilation->inputs, external->files[i],
               arena_printf(arena, "a file of the C function '%s'", external->function));
  if (external->cuda)
    inputs_add(arena, &compilation->inputs, external->cuda,
               arena_printf(arena, "the file of the CUDA function '%s'", external->function));
}

void inputs_add_named(Compilation *compilation, const Module *module) {
  for (int i = 0; i < module->externs.count; i++)
    add_extern(compilation, &module->externs.items[i]);
  for (int i = 0; i < module->variables.count; i++)
    add_named(compilation, module, module->variables.items[i].file,
              "a file that the program loads");
  for (int i = 0; i < module->data_sets.count; i++)
    add_data(compilation, module, &module->data_sets.items[i]);
}
