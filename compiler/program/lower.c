/* A module becomes a Program: each entry graph through the stages of lowering.h, then one memory
 * plan for all.  The pipeline is entry_lower(). */
#include "program/lowering.h"

#include "support/panic.h"

static const Graph *entry_graph(const Module *module, int entry) {
  bool is_host = entry == ENTRY_HOST || entry == ENTRY_FINISH;
  return is_host ? NULL : module->entries[entry];
}

static int64_t entry_batch(const Module *module, EntryKind entry) {
  bool is_single = entry == ENTRY_EVAL_ONE || entry == ENTRY_PREDICT;
  return is_single ? 1 : module->run.batch;
}

void graph_lower(Lowering *lowering) {
  if (lowering->level > 0) lowering->graph = graph_prepare(lowering);
  places_create(lowering);
  groups_fuse(lowering);
  groups_mark_stored(lowering);
  for (int i = 0; i < lowering->groups.count; i++) /* more may come on the way */
    if (!lowering->groups.items[i]->is_merged_away)
      group_build_surely(lowering, lowering->groups.items[i]);
  launches_create(lowering);
  launches_schedule(lowering);
  loops_form(lowering);
  buffers_share(lowering);
  steps_create(lowering);
}

static void add_costs(ProgramEntry *entry) {
  for (int i = 0; i < entry->steps.count; i++) {
    entry->flops += entry->steps.items[i].flops;
    entry->bytes += entry->steps.items[i].bytes;
    entry->product_flops += entry->steps.items[i].product_flops;
  }
}

static void entry_lower(Program *program, const Module *module, EntryKind kind,
                        const ProgramOptions *options) {
  ProgramEntry *entry = &program->entries[kind];
  entry->present = true;
  entry->batch = entry_batch(module, kind);
  Lowering lowering = {.arena = program->arena,
                       .program = program,
                       .module = module,
                       .graph = module->entries[kind],
                       .entry = kind,
                       .level = options->level,
                       .scan = -1,
                       .rounds = 1};
  if (options->level > 0) {
    lowering.is_eager = options->blocks > 0;
    lowering.blocks = lowering.is_eager        ? options->blocks
                      : options->without_loops ? 0
                                               : batch_blocks(entry->batch);
  }
  graph_lower(&lowering);
  add_costs(entry);
  barriers_insert(program->arena, program, entry);
}

static void add_variables(Program *program, const Module *module) {
  for (int i = 0; i < module->variables.count; i++) {
    const Variable *variable = &module->variables.items[i];
    int64_t bytes = type_bytes(variable->type);
    buffer_add(program, BUFFER_VARIABLE, variable->type, variable->path, -1);
    if (variable->kind == VARIABLE_PARAM) program->parameter_bytes += bytes;
    else if (variable->kind == VARIABLE_OPTIMIZER) program->optimizer_bytes += bytes;
    else program->state_bytes += bytes;
  }
}

/* The order the runtime writes them in: outputs of the host entry, then what it is given. */
static void add_scalars(Program *program, const Module *module) {
  const Graph *host = module->entries[ENTRY_HOST];
  for (int i = 0; host && i < host->outputs.count; i++)
    vec_push(program->arena, &program->scalar_names, host->outputs.items[i].name);
}

Program *program_create(Arena *arena, const Module *module, const ProgramOptions *options) {
  Program *program = ARENA_NEW(arena, Program);
  program->arena = arena;
  program->module = module;
  add_variables(program, module);
  add_scalars(program, module);
  for (int i = 0; i < ENTRY_COUNT; i++) {
    program->entries[i].entry = (EntryKind)i;
    if (entry_graph(module, i) == NULL) continue;
    panic_set_context(arena_printf(arena, "lowering of %s", entry_name((EntryKind)i)));
    entry_lower(program, module, (EntryKind)i, options);
  }
  program_plan(program);
  panic_set_context("memory plan");
  const char *wrong = program_verify(arena, program);
  if (wrong) panic("%s", wrong);
  panic_set_context(NULL);
  return program;
}
