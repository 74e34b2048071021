/* --tune: see tune.h.
 *
 * First the plans are measured: the program as a whole, with and without task loops and channels last, and with its
 * batch in micro-batches, unless a memory limit has decided about these. Then its kernels: a kernel of the training
 * step that its target has in several variants is measured in the step itself. One executable has variant v of every
 * kernel, and its profile tells the time of each. So as many executables are made as a kernel has variants at most.
 * All run in turn, some rounds; the least time counts. Another choice than the cost model's is taken where it is
 * faster by a margin (tune_choice.c). At last the program with all that was taken is measured beside the cost model's,
 * again in turn: where its step is not clearly faster, all stays as the model picks.
 *
 * What was found is kept in the cache: of a kernel under its text, the compilers with their flags, the processor and
 * the number of threads, so that other programs know it, too; of a program under the text of its kernels and steps.
 * A second run measures nothing and gives the same executable. */
#include "driver/tune.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "backend/common/process.h"
#include "backend/common/scratch.h"
#include "support/clock.h"
#include "support/files.h"

enum {
  ROUNDS = 5,
  ROUND_MS = 300, /* of an executable */
  LEAST_STEPS = 5,
  MOST_STEPS = 100,
  MOST_CANDIDATES = MOST_TUNED_VARIANTS
};

typedef struct Candidate {
  const char *executable; /* NULL: it is none */
  const Program *program;
  double step_ms; /* the least so far */
} Candidate;

typedef struct Tuner {
  const Compilation *compilation;
  const Module *module;
  Arena *arena;
  Tuning *tuning;
  Cache *cache;
  CompileOptions toolchain;
  Scratch *scratch;
  int executable_count;
} Tuner;

/* ---- progress ---- */

/* A line that the next one replaces on a terminal. */
static void say(const char *what) {
  fprintf(stderr, isatty(STDERR_FILENO) ? "\r\033[Ktune: %s" : "tune: %s\n", what);
}

static void end_line(void) {
  if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
}

static void say_left(const Tuner *tuner, const char *what, int done, int all, double began) {
  if (!isatty(STDERR_FILENO) && done > 0) return; /* a line for all runs */
  const char *left = "";
  if (done > 0)
    left = arena_printf(tuner->arena, ", %.0f s left",
                        (clock_seconds() - began) / done * (all - done) + .5);
  say(arena_printf(tuner->arena, "measuring %s, %d of %d runs%s", what, done, all, left));
}

/* ---- the cache ---- */

static void begin_key(const Tuner *tuner, Sha256 *hash) {
  const TuningKey key = {.version = NNC_VERSION,
                         .target = tuner->tuning->lowering.target->name,
                         .arch = tuner->toolchain.arch,
                         .cflags = tuner->toolchain.cflags,
                         .threads = tuner->tuning->threads};
  const char *nnc = path_of_program(tuner->arena);
  sha256_begin(hash);
  tuning_add_key(hash, &key);
  if (nnc) toolchain_add_file(hash, nnc);
  toolchain_add_identity(tuner->arena, hash, &tuner->toolchain.toolchain, true);
}

static CacheKey key_of(const Tuner *tuner, const char *of, const char *text) {
  Sha256 hash;
  begin_key(tuner, &hash);
  sha256_add_string(&hash, of);
  sha256_add_string(&hash, text);
  return cache_key(&hash);
}

static CacheKey program_key(const Tuner *tuner, const char *of, const Program *program) {
  Text text = {0};
  program_print(&text, program);
  CacheKey key = key_of(tuner, of, text.data);
  text_free(&text);
  return key;
}

static bool get_times(const Tuner *tuner, const CacheKey *key, const char *of, int count,
                      double *ms) {
  Text text = {0};
  bool good = cache_get(tuner->cache, key, &text) && tuning_read_times(&text, of, count, ms);
  text_free(&text);
  return good;
}

/* Rounds them as the cache holds them, so that later runs choose the same. */
static void put_times(const Tuner *tuner, const CacheKey *key, const char *of, int count,
                      double *ms) {
  Text text = {0};
  tuning_write_times(&text, of, count, ms);
  cache_put(tuner->cache, key, text.data, text.length);
  tuning_read_times(&text, of, count, ms);
  text_free(&text);
}

/* ---- candidates ---- */

/* The module as far as its training steps, which alone are measured, and the scalars that these are given: the rest
 * would be more for compilers. */
static const Module *of_training(Arena *arena, const Module *module) {
  Module *part = ARENA_NEW(arena, Module);
  *part = *module;
  for (int e = 0; e < ENTRY_COUNT; e++)
    if (e != ENTRY_INIT && e != ENTRY_TRAIN && e != ENTRY_ACCUMULATE && e != ENTRY_HOST)
      part->entries[e] = NULL;
  return part;
}

static bool make(Tuner *tuner, const Module *module, const ProgramOptions *lowering,
                 Candidate *candidate) {
  Options options = *tuner->compilation->options;
  Compilation compilation = *tuner->compilation;
  int number = tuner->executable_count++;
  options.output = scratch_file(tuner->scratch, arena_printf(tuner->arena, "tried%d", number));
  /* its output and messages (tune_run.c) */
  scratch_file(tuner->scratch, arena_printf(tuner->arena, "tried%d.out", number));
  scratch_file(tuner->scratch, arena_printf(tuner->arena, "tried%d.log", number));
  options.emit = EMIT_EXECUTABLE;
  options.report = REPORT_NONE;
  options.toolchain.debug = options.toolchain.save_temps = false;
  compilation.options = &options;
  compilation.inputs = (InputFiles){0};
  *candidate = (Candidate){
      .executable = options.output,
      .program = program_create(tuner->arena, of_training(tuner->arena, module), lowering)};
  return write_executable(&compilation, candidate->program, 0) == 0;
}

static int steps_for(double step_ms) {
  double steps = step_ms > 0 ? ROUND_MS / step_ms : LEAST_STEPS;
  return steps < LEAST_STEPS ? LEAST_STEPS : steps > MOST_STEPS ? MOST_STEPS : (int)steps;
}

/* One run of a candidate; `number`: its own. False after a message. */
typedef bool MeasureRun(Tuner *tuner, Candidate *candidate, int number);

/* Runs all candidates in turn. */
static bool measure(Tuner *tuner, const char *what, int count, Candidate *candidates,
                    MeasureRun *measure_run) {
  double began = clock_seconds();
  int present = 0, done = 0;
  for (int i = 0; i < count; i++) present += candidates[i].executable != NULL;
  for (int round = 0; round < ROUNDS; round++)
    for (int i = 0; i < count; i++) {
      if (candidates[i].executable == NULL) continue;
      say_left(tuner, what, done, ROUNDS * present, began);
      if (!measure_run(tuner, &candidates[i], i)) return false;
      done++;
    }
  return true;
}

static void note_least(double *least, double ms) {
  if (*least == 0 || ms < *least) *least = ms;
}

static bool measure_step(Tuner *tuner, Candidate *candidate, int number) {
  (void)number;
  double ms = tune_bench(tuner->arena, candidate->executable, tuner->tuning->threads,
                         steps_for(candidate->step_ms));
  if (ms < 0) return false;
  note_least(&candidate->step_ms, ms);
  return true;
}

/* ---- plans ---- */

static ProgramOptions plan_lowering(const Tuner *tuner, const ProgramOptions *given, int plan) {
  ProgramOptions lowering = *given;
  lowering.runner = NULL;
  if (plan == PLAN_NO_LOOPS) lowering.without_loops = true;
  if (plan == PLAN_PLANES) {
    Target *planes = ARENA_NEW(tuner->arena, Target);
    *planes = *given->target;
    planes->keeps_channels_last = NULL;
    lowering.target = planes;
  }
  return lowering;
}

/* The module that the plan is for; NULL where it is impossible. */
static const Module *plan_module(const Tuner *tuner, int plan) {
  if (plan != PLAN_HALVES && plan != PLAN_QUARTERS) return tuner->module;
  if (options_limit_memory(tuner->compilation->options)) return NULL;
  return memory_divide(tuner->arena, tuner->module, plan == PLAN_HALVES ? 2 : 4);
}

/* Whether the step that trains is another one. */
static bool differs(const Program *a, const Program *b) {
  Text texts[2] = {0};
  const Program *programs[2] = {a, b};
  for (int i = 0; i < 2; i++)
    for (int k = 0; k < programs[i]->entries[ENTRY_TRAIN].steps.count; k++) {
      const Step *step = &programs[i]->entries[ENTRY_TRAIN].steps.items[k];
      text_printf(&texts[i], "%d %d %d %lld\n", step->kind, step->kernel, step->loop,
                  (long long)step->task_count);
      if (step->kind == STEP_LAUNCH)
        text_add(&texts[i], programs[i]->kernel_keys.items[step->kernel]);
    }
  bool differ = texts[0].length != texts[1].length ||
                memcmp(texts[0].data, texts[1].data, texts[0].length) != 0;
  text_free(&texts[0]);
  text_free(&texts[1]);
  return differ;
}

static bool make_plans(Tuner *tuner, const ProgramOptions *given, const Program *model,
                       Candidate *candidates, int *count) {
  const Module *modules[PLAN_COUNT];
  *count = 0;
  for (int plan = 0; plan < PLAN_COUNT; plan++) {
    ProgramOptions lowering = plan_lowering(tuner, given, plan);
    modules[plan] = plan_module(tuner, plan);
    if (modules[plan] == NULL) continue;
    const Program *program = program_create(tuner->arena, modules[plan], &lowering);
    if (plan != PLAN_MODEL && !differs(model, program)) continue;
    (*count)++;
    candidates[plan].program = program;
  }
  for (int plan = 0; plan<PLAN_COUNT && * count> 1; plan++) {
    if (candidates[plan].program == NULL) continue;
    say(arena_printf(tuner->arena, "compiling the program %s", tuned_plan_names[plan]));
    ProgramOptions lowering = plan_lowering(tuner, given, plan);
    if (!make(tuner, modules[plan], &lowering, &candidates[plan])) return false;
  }
  return true;
}

/* The times of plans that the cache has. A plan that they choose and that this module cannot have was of another one. */
static bool get_plans(const Tuner *tuner, const CacheKey *key, double *ms) {
  return get_times(tuner, key, "plans", PLAN_COUNT, ms) &&
         plan_module(tuner, tuning_choose(PLAN_COUNT, ms)) != NULL;
}

/* Chooses the plan. */
static bool tune_plan(Tuner *tuner, const ProgramOptions *given, const Program *model) {
  Tuning *tuning = tuner->tuning;
  bool is_limited = options_limit_memory(tuner->compilation->options); /* no micro-batches then */
  CacheKey key = program_key(tuner, is_limited ? "plans within a limit" : "plans", model);
  if (!get_plans(tuner, &key, tuning->plan_ms)) {
    Candidate candidates[PLAN_COUNT] = {0};
    int count;
    if (!make_plans(tuner, given, model, candidates, &count)) return false;
    if (count > 1 && !measure(tuner, "plans", PLAN_COUNT, candidates, measure_step)) return false;
    tuning->are_plans_measured = count > 1;
    for (int i = 0; i < PLAN_COUNT; i++) tuning->plan_ms[i] = candidates[i].step_ms;
    put_times(tuner, &key, "plans", PLAN_COUNT, tuning->plan_ms);
  }
  tuning->plan = tuning_choose(PLAN_COUNT, tuning->plan_ms);
  tuning->lowering = plan_lowering(tuner, given, tuning->plan);
  tuning->module = plan_module(tuner, tuning->plan);
  return true;
}

/* ---- kernels ---- */

static void describe(const Tuner *tuner, const Target *target, const Kernel *kernel,
                     TunedKernel *tuned) {
  Kernel variant = *kernel;
  for (int i = 0; i < tuned->count; i++) {
    variant.variant = i;
    tuned->how[i] = target_variant_text(tuner->arena, target, &variant);
  }
}

static void add_kernels(Tuner *tuner, const Program *program, EntryKind kind) {
  const ProgramEntry *entry = &program->entries[kind];
  Tuning *tuning = tuner->tuning;
  for (int s = 0; entry->present && s < entry->steps.count; s++) {
    const Step *step = &entry->steps.items[s];
    if (step->kind != STEP_LAUNCH) continue;
    const Kernel *kernel = program->kernels.items[step->kernel];
    const char *key = program->kernel_keys.items[step->kernel];
    int64_t count = target_variant_count(program->target, kernel);
    int known = tuning_find(tuning, key);
    if (known >= 0) tuning->kernels[known].calls++;
    if (known >= 0 || count < 2) continue;
    TunedKernel *tuned = &tuning->kernels[tuning->count++];
    *tuned = (TunedKernel){.key = key, .name = kernel->name, .calls = 1};
    tuned->count = count < MOST_TUNED_VARIANTS ? (int)count : MOST_TUNED_VARIANTS;
    tuned->cache_key =
        key_of(tuner, arena_printf(tuner->arena, "kernel %d", tuned->count), tuned->key);
    describe(tuner, program->target, kernel, tuned);
  }
}

/* How many candidates are to be measured: the variants of the kernel with most whose times are not known. */
static int look_up(Tuner *tuner) {
  int most = 0;
  for (int i = 0; i < tuner->tuning->count; i++) {
    TunedKernel *kernel = &tuner->tuning->kernels[i];
    kernel->is_measured =
        !get_times(tuner, &kernel->cache_key, "kernel", kernel->count, kernel->ms);
    if (kernel->is_measured && kernel->count > most) most = kernel->count;
  }
  return most;
}

static bool measure_variants(Tuner *tuner, Candidate *candidate, int number) {
  Tuning *tuning = tuner->tuning;
  double *ms = ARENA_ARRAY(tuner->arena, double, tuning->count + 1);
  double step_ms = tune_profile(tuner->arena, candidate->executable, steps_for(candidate->step_ms),
                                candidate->program, tuning, ms);
  if (step_ms < 0) return false;
  note_least(&candidate->step_ms, step_ms);
  for (int i = 0; i < tuning->count; i++)
    if (tuning->kernels[i].is_measured && number < tuning->kernels[i].count)
      note_least(&tuning->kernels[i].ms[number], ms[i]);
  return true;
}

static bool measure_kernels(Tuner *tuner, int count) {
  Tuning *tuning = tuner->tuning;
  Candidate candidates[MOST_CANDIDATES] = {0};
  for (int i = 0; i < count; i++) {
    say(arena_printf(tuner->arena, "compiling variants of kernels, %d of %d", i + 1, count));
    const Variants variants = {.all = i};
    ProgramOptions lowering = tuning->lowering;
    lowering.variants = &variants;
    if (!make(tuner, tuning->module, &lowering, &candidates[i])) return false;
  }
  if (!measure(tuner, "kernels", count, candidates, measure_variants)) return false;
  for (int i = 0; i < tuning->count; i++) {
    TunedKernel *kernel = &tuning->kernels[i];
    if (kernel->is_measured)
      put_times(tuner, &kernel->cache_key, "kernel", kernel->count, kernel->ms);
  }
  return true;
}

static void choose_kernels(Tuner *tuner) {
  Tuning *tuning = tuner->tuning;
  Variant *items = ARENA_ARRAY(tuner->arena, Variant, tuning->count + 1);
  int count = 0;
  for (int i = 0; i < tuning->count; i++) {
    TunedKernel *kernel = &tuning->kernels[i];
    kernel->chosen = tuning_choose(kernel->count, kernel->ms);
    if (kernel->chosen > 0) items[count++] = (Variant){kernel->key, kernel->chosen};
  }
  tuning->variants = (Variants){.count = count, .items = items};
  if (count > 0) tuning->lowering.variants = &tuning->variants;
}

static bool tune_kernels(Tuner *tuner) {
  Tuning *tuning = tuner->tuning;
  const Program *program = program_create(tuner->arena, tuning->module, &tuning->lowering);
  tuning->kernels = ARENA_ARRAY(tuner->arena, TunedKernel, program->kernels.count + 1);
  add_kernels(tuner, program, ENTRY_TRAIN);
  add_kernels(tuner, program, ENTRY_ACCUMULATE);
  int count = look_up(tuner);
  if (count > 0 && !measure_kernels(tuner, count)) return false;
  choose_kernels(tuner);
  return true;
}

/* ---- the whole ---- */

/* All that was chosen, beside the cost model's program. */
static bool judge(Tuner *tuner, const ProgramOptions *given) {
  Tuning *tuning = tuner->tuning;
  Candidate candidates[2] = {0};
  const Program *tuned = program_create(tuner->arena, tuning->module, &tuning->lowering);
  CacheKey key = program_key(tuner, "step", tuned);
  double ms[2];
  if (!get_times(tuner, &key, "step", 2, ms)) {
    say("compiling the program with all that is fastest");
    if (!make(tuner, tuner->module, given, &candidates[0]) ||
        !make(tuner, tuning->module, &tuning->lowering, &candidates[1]) ||
        !measure(tuner, "the step", 2, candidates, measure_step) ||
        !measure(tuner, "the step", 2, candidates, measure_step))
      return false;
    for (int i = 0; i < 2; i++) ms[i] = candidates[i].step_ms;
    put_times(tuner, &key, "step", 2, ms);
  }
  tuning->model_ms = ms[0];
  tuning->tuned_ms = ms[1];
  tuning->is_kept = tuning_is_worth(ms[0], ms[1]);
  if (tuning->is_kept) return true;
  tuning->module = tuner->module;
  tuning->lowering = *given;
  return true;
}

static bool run(Tuner *tuner, const ProgramOptions *given) {
  Tuning *tuning = tuner->tuning;
  const Program *model = program_create(tuner->arena, tuner->module, given);
  if (!model->entries[ENTRY_TRAIN].present) return true;
  if (!tune_plan(tuner, given, model) || !tune_kernels(tuner)) return false;
  return (tuning->plan == PLAN_MODEL && tuning->variants.count == 0) || judge(tuner, given);
}

int tune(const Compilation *compilation, const Module *module, const ProgramOptions *lowering,
         Tuning *tuning) {
  const Options *options = compilation->options;
  ProgramOptions given = *lowering;
  Tuner tuner = {.compilation = compilation,
                 .module = module,
                 .arena = compilation->arena,
                 .tuning = tuning,
                 .toolchain = options->toolchain};
  given.runner = NULL;
  *tuning = (Tuning){
      .is_wanted = true, .threads = lowering->threads, .module = module, .lowering = given};
  tuner.toolchain.has_cache = !options->no_cache;
  tuner.toolchain.output = "tuned";
  if (!compile_prepare(tuner.arena, &tuner.toolchain)) return EXIT_MACHINE;
  tuner.cache = tuner.toolchain.cache;
  tuner.scratch = scratch_create(tuner.arena);
  if (tuner.scratch == NULL) return EXIT_MACHINE;
  bool good = run(&tuner, &given);
  end_line();
  scratch_remove(tuner.scratch);
  cache_close(tuner.cache);
  if (!good) return EXIT_MACHINE;
  if (options->report == REPORT_NONE) {
    Text text = {0};
    tuning_print(&text, tuning);
    fprintf(stderr, "%.*s", (int)text.length, text.data);
    text_free(&text);
  }
  return 0;
}
