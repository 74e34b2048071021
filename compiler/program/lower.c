/* A module becomes a Program: stages.def as a table, run for every entry, then for all of them. */
#include <string.h>
#include "program/buffers.h"
#include "program/layout.h"
#include "program/loops.h"
#include "program/stages.h"

const LoweringStage stage_table[] = {
#define STAGE(function, level, state, scope, summary)                                              \
  {#function, level, STAGE_OF_##scope, stage_##function, verify_##state, print_##state, summary},
#include "program/stages.def"
#undef STAGE
};
const int stage_count = sizeof stage_table / sizeof *stage_table;

const LoweringStage *stage_find(const char *name) {
  for (int i = 0; i < stage_count; i++)
    if (strcmp(stage_table[i].name, name) == 0) return &stage_table[i];
  return NULL;
}

/* ---- running ------------------------------------------------------------------------------- */

typedef struct Stages {
  Program *program;
  Pipeline pipeline;
  StepTime times[sizeof stage_table / sizeof *stage_table];
} Stages;

static void run_stage(const PipelineStep *step) {
  step->time->count++;
  ((const LoweringStage *)step->row)->run(step->subject);
}

static const char *verify(Arena *arena, const void *lowering, const void *stage) {
  return ((const LoweringStage *)stage)->verify(arena, lowering);
}

static void print(Text *text, const void *lowering, const void *stage) {
  ((const LoweringStage *)stage)->print(text, lowering);
}

/* Runs the stages of a scope over what belongs to it. */
static void run_stages(Lowering *lowering, StageScope scope) {
  const char *entry = scope == STAGE_OF_PROGRAM ? "all entries" : entry_name(lowering->entry);
  for (int i = 0; i < stage_count; i++) {
    const LoweringStage *stage = &stage_table[i];
    PipelineStep step = {.name = stage->name,
                         .of = entry,
                         .time = &lowering->stages->times[i],
                         .subject = lowering,
                         .row = stage,
                         .run = stage->level <= lowering->level ? run_stage : NULL,
                         .verify = verify,
                         .print = print};
    if (stage->scope == scope) pipeline_run(&lowering->stages->pipeline, &step);
  }
}

/* An entry's graph, or the body of a scan. */
static void graph_lower(Lowering *lowering) { run_stages(lowering, STAGE_OF_GRAPH); }

/* ---- entries ------------------------------------------------------------------------------- */

static const Graph *entry_graph(const Module *module, int entry) {
  bool is_host = entry == ENTRY_HOST || entry == ENTRY_FINISH;
  return is_host ? NULL : module->entries[entry];
}

static bool is_single(EntryKind entry) {
  return entry == ENTRY_EVAL_ONE || entry == ENTRY_PREDICT || entry == ENTRY_GENERATE;
}

/* Weights stay as they are from one prediction to the next. Evaluation of batches comes between steps of training,
 * which change them. */
static bool keeps_weights(const ProgramOptions *options, EntryKind entry) {
  return entry == ENTRY_PREDICT_BATCH ? options->keeps_batch_weights
                                      : options->keeps_weights && is_single(entry);
}

static int64_t entry_batch(const Module *module, EntryKind entry) {
  return is_single(entry) ? 1 : module->run.batch;
}

static void add_costs(ProgramEntry *entry) {
  for (int i = 0; i < entry->steps.count; i++) {
    entry->flops += entry->steps.items[i].flops;
    entry->bytes += entry->steps.items[i].bytes;
    entry->product_flops += entry->steps.items[i].product_flops;
  }
}

static void entry_lower(Stages *stages, EntryKind kind, const ProgramOptions *options) {
  Program *program = stages->program;
  ProgramEntry *entry = &program->entries[kind];
  entry->present = true;
  entry->batch = entry_batch(program->module, kind);
  Lowering lowering = {.arena = program->arena,
                       .program = program,
                       .module = program->module,
                       .graph = program->module->entries[kind],
                       .entry = kind,
                       .level = options->level,
                       .keeps_weights = options->level > 0 && keeps_weights(options, kind),
                       .keeps_rows = options->keeps_weights && options->level > 0 &&
                                     is_single(kind) && !program->module->run.splits_products,
                       .widens_bf16 = options->widens_bf16,
                       .widens_f16 = options->widens_f16,
                       .variants = options->variants,
                       .threads = options->threads,
                       .scan = -1,
                       .rounds = 1,
                       .stages = stages,
                       .lower = graph_lower};
  if (options->level > 0 && program->target->loops.most_blocks > 0) {
    lowering.is_eager = options->blocks > 0;
    lowering.blocks = lowering.is_eager ? options->blocks
                      : options->without_loops
                          ? 0
                          : batch_blocks(&program->target->loops, entry->batch);
  }
  graph_lower(&lowering);
  run_stages(&lowering, STAGE_OF_ENTRY);
  add_costs(entry);
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
  const PipelineOptions *runner = options->runner;
  Stages stages = {
      .program = program,
      .pipeline = {.kind = "stage", .options = runner, .diagnostics = options->diagnostics}};
  Lowering whole = {.arena = arena,
                    .program = program,
                    .threads = options->threads,
                    .most_bytes = options->most_bytes,
                    .stages = &stages};
  program->arena = arena;
  program->target = options->target;
  program->module = module;
  add_variables(program, module);
  if (options->level > 0) layout_variables(program);
  add_scalars(program, module);
  for (int i = 0; i < ENTRY_COUNT; i++) {
    program->entries[i].entry = (EntryKind)i;
    if (entry_graph(module, i)) entry_lower(&stages, (EntryKind)i, options);
  }
  run_stages(&whole, STAGE_OF_PROGRAM);
  if (runner && runner->time)
    pipeline_print_times(&stages.pipeline, "graphs", stages.times, stage_count);
  return program;
}
