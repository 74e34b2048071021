/* The stages that need no C compiler.
 *
 *   interpreter      its own runner against the node-by-node evaluation of play.c
 *   passes           the pipeline at -O0 and -O1, scans written out and left as loops, interpreted
 *                    after every pass from differentiation on; after every pass the module is
 *                    verified and goes on as what its dump reads back as
 *   each pass alone  on the differentiated module; with the needed ones, as a program
 *   programs         lowered with passes and fusion at each level; plan verified; printed, read back
 *                    and evaluated
 *   recomputation    of segments of the train entry, interpreted and as a program */
#include <math.h>
#include <string.h>

#include "backend/c/kernels.h"
#include "backend/cuda/cuda.h"
#include "fuzz.h"
#include "ops/verify.h"
#include "passes/pass.h"
#include "passes/recompute.h"
#include "program/evaluate.h"
#include "support/panic.h"

typedef struct Judge {
  Arena *arena;
  const Case *test;
  const Reference *reference;
  const char *stage;
} Judge;

static const char *differs(const Judge *judge, const Expected *expected, const double *given,
                           int step) {
  Precision precision = case_is_in_own_types(judge->test) ? PRECISION_OWN : PRECISION_DOUBLE;
  const char *text = expected_differs(judge->arena, expected, given, precision);
  if (!text) return NULL;
  if (step < 0) return arena_printf(judge->arena, "%s: after init, %s", judge->stage, text);
  return arena_printf(judge->arena, "%s: step %d, %s", judge->stage, step + 1, text);
}

/* ---- interpreting a module ---- */

static const char *check_variables(const Judge *judge, Interpreter *interpreter,
                                   const Expected *expected, int step) {
  const char *text = NULL;
  for (int i = 0; i < judge->test->start.count && !text; i++)
    text = differs(judge, &expected[i], interpreter_variable(interpreter, expected[i].name)->data,
                   step);
  return text;
}

static const char *interpret(const Judge *judge, const Module *module) {
  const Case *test = judge->test;
  const Graph *graph = module->entries[ENTRY_TRAIN];
  if (graph->outputs.count != judge->reference->output_count)
    return arena_printf(judge->arena, "%s: %d outputs", judge->stage, graph->outputs.count);
  Interpreter *interpreter = interpreter_create(judge->arena, module, (uint64_t)module->run.seed);
  Binding *inputs = case_bind_inputs(judge->arena, test);
  const char *text = check_variables(judge, interpreter, judge->reference->init, -1);
  case_set_start(test, interpreter);
  for (int step = 0; step < test->steps && !text; step++) {
    Evaluation *result = interpreter_run(interpreter, ENTRY_TRAIN, test->inputs.count, inputs,
                                         (RunTime){step + 1, 0, test->steps, test->steps});
    for (int i = 0; i < graph->outputs.count && !text; i++)
      text = differs(judge, &judge->reference->outputs[step][i], evaluation_output(result, i)->data,
                     step);
    if (!text) text = check_variables(judge, interpreter, judge->reference->variables[step], step);
  }
  interpreter_destroy(interpreter);
  return text;
}

/* ---- passes ---- */

static void run_pass(Judge *judge, Module *module, const Pass *pass, const char *stage) {
  judge->stage = stage;
  panic_set_context(stage);
  pass->run(module, diagnostics_create(judge->arena));
  const char *broken = module_verify(judge->arena, module);
  if (broken) panic("the verifier rejects the module: %s", broken);
}

static bool holds_scan(const Graph *graph) {
  for (int i = 0; i < graph->nodes.count; i++)
    if (graph->nodes.items[i]->body) return true;
  return false;
}

static const char *judge_pipeline(Judge *judge, int level, ScanChoice scans) {
  if (scans == SCANS_LOOP && !holds_scan(judge->test->module->entries[ENTRY_TRAIN])) return NULL;
  Module *module = module_copy(judge->arena, judge->test->module);
  module->run.scans = scans;
  bool is_differentiated = false;
  for (int i = 0; i < pass_count; i++) {
    const Pass *pass = &pass_table[i];
    if (pass->level > level) continue;
    run_pass(judge, module, pass,
             arena_printf(judge->arena, "-O%d%s after pass %s", level,
                          scans == SCANS_LOOP ? " with loops" : "", pass->name));
    is_differentiated = is_differentiated || strcmp(pass->name, "differentiate") == 0;
    module = module_copy(judge->arena, module);
    const char *text = is_differentiated ? interpret(judge, module) : NULL;
    if (text) return text;
  }
  return NULL;
}

static const char *judge_passes_alone(Judge *judge) {
  for (int i = 0; i < pass_count; i++) {
    const Pass *pass = &pass_table[i];
    bool known = strcmp(pass->name, "differentiate") == 0;
    for (int k = 0; k < i; k++) known = known || pass_table[k].run == pass->run;
    if (known) continue;
    Module *module = module_copy(judge->arena, judge->reference->module);
    run_pass(judge, module, pass, arena_printf(judge->arena, "pass %s alone", pass->name));
    const char *text = interpret(judge, module);
    if (text) return text;
  }
  return NULL;
}

/* ---- programs ---- */

static int find_buffer(const Program *program, BufferKind kind, const char *name) {
  for (int i = 0; i < program->buffers.count; i++) {
    const Buffer *buffer = &program->buffers.items[i];
    if (buffer->kind == kind && strcmp(buffer->name, name) == 0 &&
        (kind == BUFFER_VARIABLE || buffer->entry == ENTRY_TRAIN))
      return i;
  }
  return -1;
}

static const char *check_buffer(const Judge *judge, const Machine *machine, int buffer,
                                const Expected *expected, int step) {
  CHECK(buffer >= 0);
  double *values =
      ARENA_ARRAY(judge->arena, double, shape_elements(expected->value->type.shape) + 1);
  machine_read(machine, buffer, values);
  return differs(judge, expected, values, step);
}

static const char *check_machine(const Judge *judge, const Program *program, const Machine *machine,
                                 const Expected *expected, int step) {
  const char *text = NULL;
  for (int i = 0; i < judge->test->start.count && !text; i++)
    text = check_buffer(judge, machine, find_buffer(program, BUFFER_VARIABLE, expected[i].name),
                        &expected[i], step);
  return text;
}

static void write_inputs(const Judge *judge, const Program *program, Machine *machine) {
  for (int i = 0; i < judge->test->inputs.count; i++) {
    int buffer = find_buffer(program, BUFFER_INPUT, judge->test->module->inputs.items[i].name);
    if (buffer >= 0) machine_write(machine, buffer, judge->test->inputs.items[i]->data);
  }
}

/* Host scalars as the program numbers them. */
static double *host_scalars(const Judge *judge, const Program *program, int step) {
  const Module *module = program->module;
  Interpreter *interpreter = interpreter_create(judge->arena, module, 0);
  Binding *bindings;
  int64_t steps = judge->test->steps;
  int count = interpreter_bind(interpreter, judge->arena, 0, NULL,
                               (RunTime){step + 1, 0, steps, steps}, &bindings);
  double *scalars = ARENA_ARRAY(judge->arena, double, program->scalar_names.count + 1);
  for (int i = 0; i < program->scalar_names.count; i++) {
    scalars[i] = NAN;
    for (int k = 0; k < count; k++)
      if (bindings[k].op == OP_SCALAR &&
          strcmp(bindings[k].name, program->scalar_names.items[i]) == 0)
        scalars[i] = bindings[k].value->data[0];
  }
  interpreter_destroy(interpreter);
  return scalars;
}

static const char *check_results(const Judge *judge, const Program *program, const Machine *machine,
                                 int step) {
  const Graph *graph = program->module->entries[ENTRY_TRAIN];
  const char *text = NULL;
  for (int i = 0, result = 0; i < graph->outputs.count && !text; i++) {
    if (graph->outputs.items[i].kind == OUTPUT_STORE) continue;
    int buffer = program->entries[ENTRY_TRAIN].results.items[result++];
    text = check_buffer(judge, machine, buffer, &judge->reference->outputs[step][i], step);
  }
  return text;
}

static const char *run_program(const Judge *judge, const Program *program) {
  const Case *test = judge->test;
  Machine *machine = machine_create(judge->arena, program);
  EvaluateContext context = {.seed = (uint64_t)test->module->run.seed};
  machine_run(machine, ENTRY_INIT, host_scalars(judge, program, 0), &context);
  const char *text = check_machine(judge, program, machine, judge->reference->init, -1);
  for (int i = 0; i < test->start.count; i++)
    machine_write(machine,
                  find_buffer(program, BUFFER_VARIABLE, test->module->variables.items[i].path),
                  test->start.items[i]->data);
  for (int step = 0; step < test->steps && !text; step++) {
    write_inputs(judge, program, machine);
    context.step = (uint64_t)step + 1;
    machine_run(machine, ENTRY_TRAIN, host_scalars(judge, program, step), &context);
    text = check_machine(judge, program, machine, judge->reference->variables[step], step);
    if (!text) text = check_results(judge, program, machine, step);
  }
  return text;
}

static void passes_at(const Judge *judge, Module *module, int level) {
  PipelineOptions passes = {.level = level};
  bool stopped;
  if (!passes_run(module, diagnostics_create(judge->arena), &passes, &stopped))
    panic("the passes reported an error");
}

/* What a dump of the program reads back as, which prints the same. */
static Program *program_copy(Arena *arena, const Program *program) {
  Text first = {0}, second = {0};
  Diagnostics *diagnostics = diagnostics_create(arena);
  program_print_whole(&first, program);
  const SourceFile *dump = source_from_text(arena, "fuzz.dump", first.data, first.length);
  Program *copy = program_parse(arena, diagnostics, dump, module_find_violation, program->target);
  if (!copy) {
    diagnostics_print(diagnostics, stderr, 0);
    panic("a dump cannot be read back:\n%s", first.data);
  }
  program_print_whole(&second, copy);
  if (strcmp(first.data, second.data) != 0)
    panic("print -> parse -> print differs; first:\n%s\nthen:\n%s", first.data, second.data);
  text_free(&first);
  text_free(&second);
  return copy;
}

/* Of a module after its passes. */
static const char *judge_lowered(Judge *judge, const Module *module, const ProgramOptions *options,
                                 const char *stage) {
  judge->stage = stage;
  panic_set_context(stage);
  Program *program = program_create(judge->arena, module, options);
  const char *broken = program_verify(judge->arena, program);
  if (broken) panic("the program is not sound: %s", broken);
  return run_program(judge, program_copy(judge->arena, program));
}

static const char *judge_program(Judge *judge, const Module *module, int level, const char *stage) {
  ProgramOptions options = {.target = &target_c, .level = level};
  return judge_lowered(judge, module, &options, stage);
}

/* For a GPU, which keeps channels last and cuts sums otherwise. */
static const char *judge_gpu(Judge *judge) {
  Module *module = module_copy(judge->arena, judge->test->module);
  passes_at(judge, module, 1);
  ProgramOptions options = {.target = &target_cuda, .level = 1};
  return judge_lowered(judge, module, &options, "program for a GPU");
}

static bool has_halves(const Graph *graph) {
  for (int i = 0; i < graph->nodes.count; i++)
    if (dtype_is_half(graph->nodes.items[i]->type.dtype)) return true;
  return false;
}

/* Where nothing multiplies 16 bits. */
static const char *judge_wide(Judge *judge) {
  Module *module = module_copy(judge->arena, judge->test->module);
  if (!has_halves(module->entries[ENTRY_TRAIN])) return NULL;
  passes_at(judge, module, 1);
  ProgramOptions options = {
      .target = &target_c, .level = 1, .widens_bf16 = true, .widens_f16 = true};
  return judge_lowered(judge, module, &options, "program with 16 bits kept as f32");
}

/* With task loops wherever they are possible. */
static const char *judge_blocks(Judge *judge, int passes, int blocks) {
  Module *module = module_copy(judge->arena, judge->test->module);
  passes_at(judge, module, passes);
  ProgramOptions options = {.target = &target_c, .level = 1, .blocks = blocks};
  return judge_lowered(
      judge, module, &options,
      arena_printf(judge->arena, "program of -O%d passes in %d blocks", passes, blocks));
}

static const char *judge_levels(Judge *judge, int passes, int lowering) {
  Module *module = module_copy(judge->arena, judge->test->module);
  const char *stage =
      arena_printf(judge->arena, "program of -O%d passes and -O%d lowering", passes, lowering);
  panic_set_context(stage);
  passes_at(judge, module, passes);
  return judge_program(judge, module, lowering, stage);
}

/* The pass alone, with those that are always needed, lowered with fusion. */
static const char *judge_pass_programs(Judge *judge) {
  const char *text = NULL;
  for (int i = 0; i < pass_count && !text; i++) {
    if (pass_table[i].level == 0) continue;
    Module *module = module_copy(judge->arena, judge->test->module);
    const char *name = pass_table[i].name;
    for (int k = 0; k < pass_count; k++)
      if (pass_table[k].level == 0 || k == i)
        run_pass(judge, module, &pass_table[k],
                 arena_printf(judge->arena, "pass %s before the program of pass %s alone",
                              pass_table[k].name, name));
    text = judge_program(judge, module, 1,
                         arena_printf(judge->arena, "program of pass %s alone", name));
  }
  return text;
}

/* What a memory limit makes of the train entry, after all passes. */
static const char *judge_recomputation(Judge *judge) {
  Module *module = module_copy(judge->arena, judge->test->module);
  passes_at(judge, module, 1);
  RecomputeOptions options = {.segments = 2 + (int)(judge->test->seed % 3),
                              .cheap_only = judge->test->seed % 2 == 0};
  judge->stage = arena_printf(judge->arena, "recomputation in %d segments", options.segments);
  panic_set_context(judge->stage);
  RecomputeResult result;
  Graph *graph = module->entries[ENTRY_TRAIN];
  module->entries[ENTRY_TRAIN] = graph_recompute(judge->arena, graph, &options, &result);
  const char *broken = module_verify(judge->arena, module);
  if (broken) panic("the verifier rejects the module: %s", broken);
  const char *text = interpret(judge, module);
  return text ? text : judge_program(judge, module, 1, "program with recomputation");
}

/* Cheap values of the train entry computed again, however few they are. */
static const char *judge_rematerialization(Judge *judge) {
  Module *module = module_copy(judge->arena, judge->test->module);
  passes_at(judge, module, 1);
  judge->stage = "rematerialization";
  panic_set_context(judge->stage);
  Graph *graph = module->entries[ENTRY_TRAIN];
  module->entries[ENTRY_TRAIN] = graph_rematerialize(judge->arena, graph, 0);
  if (module->entries[ENTRY_TRAIN] == graph) return NULL;
  const char *broken = module_verify(judge->arena, module);
  if (broken) panic("the verifier rejects the module: %s", broken);
  const char *text = interpret(judge, module);
  return text ? text : judge_program(judge, module, 1, "program with rematerialization");
}

const char *judge_case(const Case *test, const Reference *reference, Arena *arena) {
  Judge judge = {.arena = arena, .test = test, .reference = reference};
  judge.stage = "interpreter";
  const char *text = interpret(&judge, reference->module);
  for (int level = 0; level <= 1 && !text; level++) {
    text = judge_pipeline(&judge, level, SCANS_UNROLL);
    if (!text) text = judge_pipeline(&judge, level, SCANS_LOOP);
  }
  if (!text) text = judge_passes_alone(&judge);
  for (int i = 0; i < 4 && !text; i++) text = judge_levels(&judge, i / 2, i % 2);
  if (!text && test->seed % 4 == 0) text = judge_gpu(&judge);
  if (!text) text = judge_wide(&judge);
  if (!text) text = judge_blocks(&judge, 1, 2);
  if (!text) text = judge_blocks(&judge, 0, 3);
  if (!text) text = judge_pass_programs(&judge);
  if (!text) text = judge_recomputation(&judge);
  if (!text) text = judge_rematerialization(&judge);
  panic_set_context(NULL);
  return text;
}
