/* nnc FILE -o OUT: the whole compiler as a list of calls. */
#include <stdio.h>

#include "backend/common/command.h"
#include "driver/compilation.h"
#include "driver/tune.h"
#include "elaborate/elaborate.h"
#include "graph/textual.h"
#include "ops/retype.h"
#include "ops/verify.h"
#include "passes/pass.h"
#include "support/panic.h"
#include "syntax/parse.h"

/* ---- from text to module ---- */

static Module *elaborate_source(Compilation *compilation, const SourceFile *source) {
  const Options *options = compilation->options;
  AstProgram *program = parse_program(compilation->arena, compilation->diagnostics, source);
  if (diagnostics_error_count(compilation->diagnostics) > 0) return NULL;
  ElaborateOptions elaboration = {.check_indices =
                                      options->check_indices || options->passes.level == 0,
                                  .definition_count = options->definitions.count,
                                  .definitions = driver_definitions(compilation->arena, options)};
  Module *module = elaborate(compilation->arena, compilation->diagnostics, program, &elaboration);
  if (module && options->has_float) module_retype_floats(module, options->float_type);
  if (!module) return NULL;
  const char *broken = module_verify(compilation->arena, module);
  if (broken) panic("elaboration made a bad module: %s", broken);
  return module;
}

static Module *front_end(Compilation *compilation, const SourceFile *source) {
  const Options *options = compilation->options;
  Module *module = options->passes.start_after
                       ? module_parse(compilation->arena, compilation->diagnostics, source,
                                      module_find_violation)
                       : elaborate_source(compilation, source);
  if (!module) return NULL;
  if (options->has_scans) module->run.scans = options->scans;
  if (options->definitions.count > 0)
    module->run.definitions = driver_definitions_text(compilation->arena, options);
  module->target = options->target;
  /* Three products of bf16 are faster than one of f32 on a matrix unit alone. */
  module->run.splits_in_vain =
      module->run.splits_products && !command_has_matrix_unit(&options->toolchain);
  if (module->run.splits_in_vain) module->run.splits_products = false;
  return module;
}

/* ---- the whole way ---- */

static int write_result(const Compilation *compilation, const Program *program,
                        const MemoryFit *fit, const Tuning *tuning) {
  const Options *options = compilation->options;
  if (options->report != REPORT_NONE) return write_report(compilation, program, fit, tuning);
  if (options->emit == EMIT_PROGRAM) return write_program(compilation, program);
  return write_executable(compilation, program, fit->limit);
}

/* Predictions by batches take more memory than all else that the program does: then examples are predicted one by
 * one. A program that only predicts is told its batch for this. */
static bool is_costly(const Program *program) {
  const ProgramEntry *entries = program->entries;
  int64_t others = 0;
  for (int i = 0; i < ENTRY_COUNT; i++)
    if (i != ENTRY_PREDICT_BATCH && entries[i].present && entries[i].activation_bytes > others)
      others = entries[i].activation_bytes;
  return entries[ENTRY_PREDICT_BATCH].present && entries[ENTRY_EVAL].present &&
         entries[ENTRY_PREDICT_BATCH].activation_bytes > others;
}

/* What single examples are computed by keeps weights where training needs as much memory anyway; a program that
 * does not train always keeps them. */
static bool keeps_too_much(const Program *program) {
  const ProgramEntry *entries = program->entries;
  int64_t kept = 0, others = 0;
  for (int i = 0; i < ENTRY_COUNT; i++) {
    bool keeps = i == ENTRY_EVAL_ONE || i == ENTRY_PREDICT || i == ENTRY_GENERATE;
    int64_t *most = keeps ? &kept : &others;
    if (entries[i].present && entries[i].activation_bytes > *most)
      *most = entries[i].activation_bytes;
  }
  return entries[ENTRY_TRAIN].present && kept > others;
}

/* Leaves out what costs too much memory; false: there is nothing. */
static bool make_cheaper(Module *module, const Program *program, ProgramOptions *lowering) {
  bool batches = is_costly(program), keeps = lowering->keeps_weights && keeps_too_much(program);
  if (batches && lowering->keeps_batch_weights) {
    lowering->keeps_batch_weights = false;
    return true;
  }
  if (batches) module->entries[ENTRY_PREDICT_BATCH] = NULL;
  if (keeps) lowering->keeps_weights = false;
  return batches || keeps;
}

/* The program as it was measured to be fastest, where it still is within the memory limit. */
static int tune_program(const Compilation *compilation, const Module *module, MemoryFit *fit,
                        Tuning *tuning, const Program **program) {
  int status = tune(compilation, module, &fit->lowering, tuning);
  if (status != 0 || !tuning->is_kept) return status;
  Module *own = arena_copy(compilation->arena, tuning->module, sizeof *own);
  const Program *tuned = program_create(compilation->arena, own, &tuning->lowering);
  while (make_cheaper(own, tuned, &tuning->lowering)) /* in parts, training needs less */
    tuned = program_create(compilation->arena, own, &tuning->lowering);
  if (fit->limit > 0 && program_peak(tuned, tuning->threads) > fit->limit) {
    fprintf(stderr, "tune: not taken: the program would need more than the memory limit\n");
    tuning->is_kept = false;
    return 0;
  }
  *program = tuned;
  return 0;
}

/* Where nothing multiplies this type of 16 bits, f32 is faster, and takes more memory. */
static bool widens(const Options *options, DType dtype) {
  bool multiplies = options->target->multiplies_halves ||
                    (dtype == DTYPE_BF16 && command_multiplies_bf16(options->toolchain.arch));
  return !multiplies && !options_limit_memory(options);
}

/* The module from its elaboration to the executable, or to what is asked for instead. */
static int compile_module(Compilation *compilation, Module *module) {
  const Options *options = compilation->options;
  Arena *arena = compilation->arena;
  Diagnostics *diagnostics = compilation->diagnostics;
  bool is_module_wanted = options->emit == EMIT_IR || options->emit == EMIT_DOT, stopped;
  if (options->check_gradients) return write_gradient_table(compilation, module);

  if (!passes_run(module, diagnostics, &options->passes, &stopped) && !stopped)
    return EXIT_MISTAKES;
  if (is_module_wanted && (stopped || !options_limit_memory(options)))
    return write_module(compilation, module);
  if (stopped || options->passes.dump_after) return 0;

  int threads = options->threads > 0 ? options->threads : memory_default_threads();
  MemoryRequest request = {.limit = options->memory_limit,
                           .share = options->memory_share,
                           .threads = threads,
                           .lowering = {.target = options->target,
                                        .level = options->passes.level,
                                        .threads = threads,
                                        .widens_bf16 = widens(options, DTYPE_BF16),
                                        .widens_f16 = widens(options, DTYPE_F16),
                                        .keeps_weights = !options_limit_memory(options),
                                        .keeps_batch_weights = !options_limit_memory(options)},
                           .verbose = options->toolchain.verbose};
  MemoryFit fit;
  /* What must be small predicts one by one, and packs weights anew each time. */
  if (options_limit_memory(options)) module->entries[ENTRY_PREDICT_BATCH] = NULL;
  if (!memory_fit(arena, module, diagnostics, &request, &fit)) return EXIT_MISTAKES;
  if (is_module_wanted) return write_module(compilation, module);

  /* What is dumped is dumped once: what costs too much is tried before. */
  while (options->stages.dump_after &&
         make_cheaper(module, program_create(arena, module, &fit.lowering), &fit.lowering))
    continue;
  fit.lowering.runner = &options->stages;
  fit.lowering.diagnostics = diagnostics;
  const Program *program = program_create(arena, module, &fit.lowering);
  while (make_cheaper(module, program, &fit.lowering))
    program = program_create(arena, module, &fit.lowering);
  Tuning tuning = {0};
  if (options->tunes) {
    int status = tune_program(compilation, module, &fit, &tuning, &program);
    if (status != 0) return status;
  }
  return options->stages.dump_after ? 0 : write_result(compilation, program, &fit, &tuning);
}

/* What a dump after the last stage of lowering holds, to the executable. */
static int compile_program(Compilation *compilation, const SourceFile *dump) {
  const Options *options = compilation->options;
  PipelineOptions nothing = {.start_after = pass_table[pass_count - 1].name};
  MemoryFit fit = {0};
  const Tuning tuning = {0};
  bool stopped;
  Program *program = program_parse(compilation->arena, compilation->diagnostics, dump,
                                   module_find_violation, options->target);
  if (!program) return EXIT_MISTAKES;
  Module *module = (Module *)program->module;
  module->target = options->target;
  inputs_add_named(compilation, module);
  if (!passes_run(module, compilation->diagnostics, &nothing, &stopped)) return EXIT_MISTAKES;
  if (options->emit == EMIT_IR || options->emit == EMIT_DOT)
    return write_module(compilation, module);
  return write_result(compilation, program, &fit, &tuning);
}

static int compile_source(Compilation *compilation, const SourceFile *source) {
  Module *module = front_end(compilation, source);
  if (!module) return EXIT_MISTAKES;
  inputs_add_named(compilation, module);
  return compile_module(compilation, module);
}

int command_compile(Arena *arena, const Options *options) {
  const char *file = options->files.items[0];
  Compilation compilation = {
      .arena = arena, .options = options, .diagnostics = diagnostics_create(arena)};
  SourceFile *source = driver_read(arena, file);
  if (!source) return EXIT_MACHINE;
  inputs_add(arena, &compilation.inputs, file, "the program that is compiled");
  if (options->output && !output_check_input(&compilation.inputs, options->output))
    return EXIT_MACHINE;
  int status = options->stages.start_after ? compile_program(&compilation, source)
                                           : compile_source(&compilation, source);
  return driver_report(compilation.diagnostics, options) && status == 0 ? EXIT_MISTAKES : status;
}
