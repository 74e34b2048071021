/* The stage with the C compiler: the executable's `step` command against the reference.
 *
 * The module with all floats in f64 and in its own types, at -O1 and -O0 (CStage.looks says which
 * of the four): emitted, compiled, run with 1 and 2 threads from the case's values. The two results
 * must be the same bytes; variables after the last step and metrics of every step must be what the
 * reference says. In f64 that is 1e-10 of a tensor's greatest element; in f32 2^-20 of it, in bf16
 * 2^-7, in f16 2^-10. To it comes 32 times the spread that imitated rounding of the types gives (numeric.c), which is nearly
 * all of it where terms cancel; what is nothing but rounding is held to its order of magnitude (play.c). Own types are left out where imitated rounding alone turns a
 * comparison over. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/common/compile.h"
#include "backend/common/emit.h"
#include "backend/common/function.h"
#include "backend/common/units.h"
#include "fuzz.h"
#include "lib/storage.h"
#include "passes/pass.h"
#include "ops/retype.h"
#include "program/program.h"
#include "program/variants.h"
#include "support/panic.h"

#define TARGET(name, record) extern Target_##name record;
typedef const Target Target_cpu, Target_toy, Target_cuda;
typedef Target Target_last; /* a copy */
#include "fuzz_graphs/targets.def"
#undef TARGET

static bool always(const ConvSlots *slots) {
  (void)slots;
  return true;
}

/* Constant, once it has been asked for. */
Target target_last;

const Target *find_target(const char *name) {
  target_last = target_c;
  target_last.keeps_channels_last = always;
  static const struct {
    const char *name;
    const Target *target;
  } targets[] = {
#define TARGET(name, record) {#name, &record},
#include "fuzz_graphs/targets.def"
#undef TARGET
  };
  for (size_t i = 0; name && i < sizeof targets / sizeof *targets; i++)
    if (strcmp(targets[i].name, name) == 0) return targets[i].target;
  return NULL;
}

typedef struct CJudge {
  Arena *arena;
  const Case *test;
  const CStage *stage;
  const Reference *reference;
  const Module *module; /* retyped, not yet through the passes */
  Precision precision;
  bool has_start;   /* some variable is given to the executable */
  const char *what; /* "f64 -O1" */
} CJudge;

/* ---- values in files ---- */

static const char *path_of(const CJudge *judge, const char *name) {
  return arena_printf(judge->arena, "%s/%s", judge->stage->work, name);
}

static void write_values(CJudge *judge) {
  StorageWriter start = {.arena = judge->arena}, inputs = {.arena = judge->arena};
  const Module *module = judge->module;
  for (int i = 0; i < module->variables.count; i++) {
    const Variable *variable = &module->variables.items[i];
    if (variable->kind == VARIABLE_PARAM || variable->kind == VARIABLE_STATE)
      storage_add(&start, variable->path, variable->type.dtype, judge->test->start.items[i]);
  }
  for (int i = 0; i < module->inputs.count; i++) {
    const InputInfo *input = &module->inputs.items[i];
    storage_add(&inputs, input->name, input->type.dtype, judge->test->inputs.items[i]);
  }
  judge->has_start = start.tensors.count > 0;
  storage_save(&start, path_of(judge, "start.safetensors"));
  storage_save(&inputs, path_of(judge, "inputs.safetensors"));
}

/* ---- the executable ---- */

static bool is_of_device(const CJudge *judge) {
  return judge->stage->target->back_end->guard != NULL;
}

static void build(const CJudge *judge, int level) {
  panic_set_context(judge->what);
  Module *module = module_copy(judge->arena, judge->module);
  PipelineOptions passes = {.level = level};
  bool stopped;
  module->target = judge->stage->target;
  if (!passes_run(module, diagnostics_create(judge->arena), &passes, &stopped))
    panic("the passes failed");
  static const int64_t blocks[] = {0, 2, 3}; /* with task loops, in two cases of three */
  const Variants variants = {.all = module->entries[ENTRY_TRAIN]->nodes.count / 3 % 4};
  bool widens = !is_of_device(judge) && module->entries[ENTRY_TRAIN]->nodes.count % 2 == 0;
  ProgramOptions lowering = {.target = judge->stage->target,
                             .level = level,
                             .widens_bf16 = widens,
                             .widens_f16 = widens,
                             .variants = &variants,
                             .blocks = blocks[module->entries[ENTRY_TRAIN]->nodes.count % 3]};
  Program *program = program_create(judge->arena, module, &lowering);
  const char *broken = program_verify(judge->arena, program);
  if (broken) panic("the program is not sound: %s", broken);
  CompileOptions compile = {.prefix = judge->stage->build,
                            .cflags = judge->stage->optimize,
                            .jobs = 1,
                            .units = 1,
                            .arch = is_of_device(judge) ? "compute_90" : NULL,
                            .save_temps = judge->stage->keeps_c,
                            .has_cache = true, /* for what it knows of the C compiler */
                            .cache_folder = path_of(judge, "cache"),
                            .cache_bytes = 1 << 20,
                            .output = path_of(judge, "model")};
  if (is_of_device(judge) && !lowering.target->back_end->prepare(judge->arena, &compile, true))
    panic("there is no compiler for the device");
  if (!compile_prepare(judge->arena, &compile)) panic("there is no C compiler");
  CSource source = {0};
  emit_source(judge->arena, &source, program, &compile);
  if (!compile_c(judge->arena, &compile, &source)) panic("the C compiler refuses the code");
  units_free(&source);
}

static const char *path_of_run(const CJudge *judge, const char *name, int threads) {
  return arena_printf(judge->arena, "%s/%s.%d", judge->stage->work, name, threads);
}

static const char *run_steps(const CJudge *judge, int threads) {
  const char *work = judge->stage->work;
  const char *start =
      judge->has_start ? arena_printf(judge->arena, "--init '%s/start.safetensors'", work) : "";
  /* The threads of a device in another order, too (tests/cuda_emulator). */
  const char *order = is_of_device(judge) && threads > 1 ? "NNC_EMULATOR_ORDER=shuffled " : "";
  const char *command =
      arena_printf(judge->arena,
                   "%s'%s/model' step --inputs '%s/inputs.safetensors' %s --steps %d --threads %d "
                   "--quiet '%s' > '%s'",
                   order, work, work, start, judge->test->steps, threads,
                   path_of_run(judge, "result", threads), path_of_run(judge, "metrics", threads));
  int status = system(command);
  if (status == 0) return NULL;
  return arena_printf(judge->arena, "%s ends badly: status %d of %s", judge->what, status, command);
}

/* ---- comparing ---- */

static const char *differs(const CJudge *judge, const Expected *expected, const double *given,
                           int step) {
  const char *text = expected_differs(judge->arena, expected, given, judge->precision);
  return text ? arena_printf(judge->arena, "%s: step %d, %s", judge->what, step + 1, text) : NULL;
}

static const char *check_variables(const CJudge *judge, int threads) {
  const char *path = path_of_run(judge, "result", threads), *text = NULL;
  nnc_safetensors *file = nnc_safetensors_open(path);
  if (!file) panic("cannot read %s", path);
  int last = judge->test->steps - 1;
  for (int i = 0; i < judge->module->variables.count && !text; i++) {
    const Variable *variable = &judge->module->variables.items[i];
    double *values = storage_load(judge->arena, file, variable->path, variable->type);
    text = differs(judge, &judge->reference->variables[last][i], values, last);
  }
  nnc_safetensors_close(file);
  return text;
}

/* JSON has no numbers for what is not finite: "NaN" and "Infinity" are strings. */
static double number_in_json(const char *text) { return strtod(text + (*text == '"'), NULL); }

/* One JSON line a step; the finish entry gives accumulators as they are. */
static const char *check_metrics(const CJudge *judge, int threads) {
  const char *path = path_of_run(judge, "metrics", threads), *text = NULL;
  const Graph *train = judge->module->entries[ENTRY_TRAIN];
  size_t room = 0;
  char *line = NULL;
  FILE *stream = fopen(path, "r");
  if (!stream) panic("cannot read %s", path);
  for (int step = 0; step < judge->test->steps && !text; step++) {
    if (getline(&line, &room, stream) < 0) panic("%s has too few lines", path);
    for (int i = 0; i < train->outputs.count && !text; i++) {
      if (train->outputs.items[i].kind != OUTPUT_ACCUMULATOR) continue;
      const char *key = arena_printf(judge->arena, "\"%s\": ", train->outputs.items[i].name);
      const char *at = strstr(line, key);
      if (!at) panic("%s lacks %s", path, key);
      double value = number_in_json(at + strlen(key));
      text = differs(judge, &judge->reference->outputs[step][i], &value, step);
    }
  }
  free(line);
  fclose(stream);
  return text;
}

static const char *judge_level(CJudge *judge, int level) {
  judge->what = arena_printf(judge->arena, "executable in %s -O%d",
                             judge->precision == PRECISION_OWN ? "its own types" : "f64", level);
  build(judge, level);
  const char *text = NULL;
  for (int threads = 1; threads <= 2 && !text; threads++) {
    text = run_steps(judge, threads);
    if (!text) text = check_variables(judge, threads);
    if (!text) text = check_metrics(judge, threads);
  }
  if (!text &&
      !storage_files_equal(path_of_run(judge, "result", 1), path_of_run(judge, "result", 2)))
    text = arena_printf(judge->arena, "%s: 1 and 2 threads give different bits", judge->what);
  return text;
}

const char *judge_case_c(const Case *test, const Reference *reference, Arena *arena,
                         const CStage *stage) {
  CJudge judge = {.arena = arena, .test = test, .stage = stage, .reference = reference};
  const char *text = NULL;
  for (int kind = PRECISION_DOUBLE; kind <= PRECISION_OWN && !text; kind++) {
    bool in_own = case_is_in_own_types(test);
    if (kind == PRECISION_DOUBLE && in_own) continue;
    if (kind == PRECISION_OWN && !in_own &&
        (stage->looks == LOOKS_F64 || test->standard.is_far || !reference->is_steady_in_own))
      continue;
    Module *module = module_copy(arena, test->module);
    if (kind == PRECISION_DOUBLE) module_retype_floats(module, DTYPE_F64);
    judge.module = module;
    judge.precision = (Precision)kind;
    write_values(&judge);
    for (int level = stage->looks == LOOKS_ALL ? 0 : 1; level <= 1 && !text; level++)
      text = judge_level(&judge, level);
  }
  panic_set_context(NULL);
  return text;
}
