/* Many cases, each judged in a process of its own, so that a panic or a crash is a verdict like any
 * other.
 *
 * Workers take batches of seeds in turn; totals are in memory that they share with the parent,
 * which tells how far they are. With the C compiler a batch becomes one executable for each number
 * of steps in it; where that fails, each seed is judged alone, and shrunk. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "fuzz.h"
#include "graph/textual.h"
#include "interpret/inputs.h"
#include "ops/verify.h"
#include "support/panic.h"

/* CPU time bounds a case, as the machine may be busy; the clock only where it hangs. */
enum { CPU_SECONDS = 120, SECONDS = 1800, REPORT_SECONDS = 10 };

/* What became of cases; nothing but int64_t, as add_judged() takes for granted. */
typedef struct Judged {
  int64_t whole, in_part;  /* some outputs are noise, and not judged */
  int64_t noise;           /* all are */
  int64_t turned;          /* rounding turns a comparison over */
  int64_t stepless;        /* no step is steady */
  int64_t faults, noticed; /* of --faults */
  Counts counts;
} Judged;

typedef struct Verdict { /* shared with the child */
  bool finished;         /* else it died */
  char message[2000];    /* "" when all agrees */
  Coverage coverage;
  int64_t nodes, with_gradients, steps;
  Judged judged;
} Verdict;

typedef struct Totals { /* shared by all */
  uint64_t taken;       /* batches that some worker has */
  int64_t failed, nodes, with_gradients, steps;
  Judged judged;
  Coverage coverage;
} Totals;

/* What a child does: makes the cases, or is given one. */
typedef struct Task {
  const Options *options;
  CStage stage;
  ScanChoice scans; /* of the cases from seeds */
  uint64_t seed;
  int count; /* seeds from `seed` on, in one executable */
  const char *file;
  const Case *test;
} Task;

/* ---- cases ---- */

/* Where the comment `# what name =` ends, or NULL. */
static const char *find_comment(Arena *arena, const SourceFile *dump, const char *what) {
  const char *key = arena_printf(arena, "# %s =", what), *at = strstr(dump->text, key);
  return at ? at + strlen(key) : NULL;
}

/* The values that print_case() wrote; a tensor of which there are none stays as it is. */
static void read_values(Arena *arena, const SourceFile *dump, const char *what, const char *name,
                        Tensor *tensor) {
  const char *at = find_comment(arena, dump, arena_printf(arena, "%s %s", what, name));
  for (int64_t i = 0; at && i < shape_elements(tensor->type.shape); i++) {
    char *end;
    tensor->data[i] = strtod(at, &end);
    if (end == at) panic("%s: too few values of %s", dump->name, name);
    at = end;
  }
}

static void read_comments(Case *test, const SourceFile *dump) {
  const Module *module = test->module;
  const char *steps = find_comment(test->arena, dump, "steps");
  if (steps) test->steps = (int)strtol(steps, NULL, 10);
  test->standard.is_far = strstr(dump->text, "# far\n") != NULL;
  for (int i = 0; i < test->inputs.count; i++)
    read_values(test->arena, dump, "input", module->inputs.items[i].name, test->inputs.items[i]);
  for (int i = 0; i < test->start.count; i++)
    read_values(test->arena, dump, "variable", module->variables.items[i].path,
                test->start.items[i]);
}

/* A dump, with the values of its comments or some made up. */
static Case *read_case(Arena *arena, const char *path) {
  const char *reason = NULL;
  SourceFile *dump = source_read(arena, path, &reason);
  Diagnostics *diagnostics = diagnostics_create(arena);
  Module *module = dump ? module_parse(arena, diagnostics, dump, module_find_violation) : NULL;
  diagnostics_print(diagnostics, stderr, 0);
  if (!module) panic("%s cannot be read: %s", path, reason ? reason : "it is no dump");
  Case *test = ARENA_NEW(arena, Case);
  *test = (Case){.arena = arena, .module = module, .steps = 2};
  for (int i = 0; i < module->inputs.count; i++)
    vec_push(arena, &test->inputs, random_input(arena, module, &module->inputs.items[i], 1));
  Interpreter *interpreter = interpreter_create(arena, module, (uint64_t)module->run.seed);
  for (int i = 0; i < module->variables.count; i++) {
    const char *path_of_it = module->variables.items[i].path;
    vec_push(arena, &test->start, interpreter_variable(interpreter, path_of_it));
  }
  read_comments(test, dump);
  return test;
}

static Case *make_case(Arena *arena, const Task *task, uint64_t seed) {
  Case *test = generate_case(arena, seed, task->options->far);
  test->module->run.scans = task->scans;
  if (dtype_is_half(task->options->half)) case_retype(test, task->options->half);
  return test;
}

static void print_module(FILE *stream, const Module *module) {
  Text text = {0};
  module_print(&text, module);
  fprintf(stream, "%s\n", text.data);
  text_free(&text);
}

static void note(const Case *test, const Task *task, Verdict *verdict) {
  const Graph *train = test->module->entries[ENTRY_TRAIN];
  coverage_add(&verdict->coverage, test->module);
  verdict->nodes += train->nodes.count;
  verdict->steps += test->steps;
  bool has_gradients = false;
  for (int i = 0; i < train->nodes.count; i++)
    has_gradients = has_gradients || train->nodes.items[i]->op == OP_GRADIENT;
  verdict->with_gradients += has_gradients;
  if (task->options->dumps && !task->test) print_module(stdout, test->module);
}

/* ---- judging, in a child ---- */

/* Counts the case; false where it is not judged. */
static bool sort(const Case *test, const Reference *reference, Judged *judged) {
  Counts counts = reference_count(reference, test);
  if (test->steps == 0) judged->stepless++;
  else if (!case_is_judged(test, reference)) judged->turned++;
  else if (counts.judged == 0) judged->noise++;
  else if (counts.noise == 0) judged->whole++;
  else judged->in_part++;
  if (test->steps == 0 || !case_is_judged(test, reference)) return false;
  judged->counts.judged += counts.judged;
  judged->counts.noise += counts.noise;
  judged->counts.floats += counts.floats;
  judged->counts.far += counts.far;
  judged->counts.special += counts.special;
  return counts.judged > 0;
}

/* One executable for those of the cases that take so many steps. */
static const char *judge_group(const Task *task, Arena *arena, Case **cases, int steps,
                               Verdict *verdict) {
  Case *some[64];
  Reference *references[64];
  int count = 0;
  for (int i = 0; i < task->count; i++) {
    if (cases[i]->steps != steps) continue;
    references[count] = reference_create(arena, cases[i]);
    if (sort(cases[i], references[count], &verdict->judged)) some[count++] = cases[i];
  }
  if (count == 0) return NULL;
  const Case *test = count == 1 ? some[0] : cases_merge(arena, count, some);
  const Reference *reference =
      count == 1 ? references[0] : references_merge(arena, test, count, references);
  return judge_case_c(test, reference, arena, &task->stage);
}

static const char *judge_seeds(const Task *task, Arena *arena, Verdict *verdict) {
  Case *cases[64];
  const char *message = NULL;
  for (int i = 0; i < task->count; i++) {
    cases[i] = make_case(arena, task, task->seed + (uint64_t)i);
    note(cases[i], task, verdict);
  }
  for (int steps = 1; steps <= MOST_STEPS && !message; steps++)
    message = judge_group(task, arena, cases, steps, verdict);
  for (int i = 0; i < task->count; i++) verdict->judged.stepless += cases[i]->steps == 0;
  return message;
}

/* Whether a mistake in the graph is noticed; it is no failure where it is not. */
static void judge_fault(const Task *task, Arena *arena, const Case *test,
                        const Reference *reference, Verdict *verdict) {
  Fault fault;
  if (!fault_create(arena, test, reference, &fault)) return;
  const char *text = task->options->in_c ? judge_case_c(&fault.test, reference, arena, &task->stage)
                                         : judge_values(arena, test, reference, fault.values);
  verdict->judged.faults = 1;
  verdict->judged.noticed = text != NULL;
  if (!text) printf("not noticed: seed %llu: %s\n", (unsigned long long)task->seed, fault.text);
}

static const char *judge_one(const Task *task, Arena *arena, Verdict *verdict) {
  const Case *test = task->test;
  if (!test && task->file) test = read_case(arena, task->file);
  if (!test) test = make_case(arena, task, task->seed);
  note(test, task, verdict);
  const Reference *reference = reference_create(arena, test);
  if (!sort(test, reference, &verdict->judged)) return NULL;
  if (task->options->faults) {
    judge_fault(task, arena, test, reference, verdict);
    return NULL;
  }
  return task->options->in_c ? judge_case_c(test, reference, arena, &task->stage)
                             : judge_case(test, reference, arena);
}

static void judge_task(const Task *task, Verdict *verdict) {
  Arena *arena = arena_create();
  const char *message =
      task->count > 1 ? judge_seeds(task, arena, verdict) : judge_one(task, arena, verdict);
  if (message) snprintf(verdict->message, sizeof verdict->message, "%s", message);
  verdict->finished = true;
  arena_destroy(arena);
}

/* ---- processes ---- */

static void must(bool good, const char *what) {
  if (good) return;
  fprintf(stderr, "fuzz_graphs: %s: %s\n", what, strerror(errno));
  exit(2);
}

static void *share(size_t bytes) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  must(memory != MAP_FAILED, "mmap");
  return memory;
}

static void limit_time(void) {
  struct rlimit limit = {CPU_SECONDS, CPU_SECONDS};
  must(setrlimit(RLIMIT_CPU, &limit) == 0, "setrlimit");
  alarm(SECONDS);
}

/* In a child, with all that it starts in one group. */
typedef void Work(const Task *task, Verdict *verdict);
static void work_apart(const Task *task, Work *work, Verdict *verdict, bool quietly) {
  memset(verdict, 0, sizeof *verdict);
  fflush(NULL);
  pid_t child = fork();
  must(child >= 0, "fork");
  if (child == 0) {
    must(setpgid(0, 0) == 0, "setpgid");
    limit_time();
    if (quietly && !freopen("/dev/null", "w", stderr)) _exit(2);
    work(task, verdict);
    fflush(NULL);
    _exit(0);
  }
  int status;
  must(waitpid(child, &status, 0) == child, "waitpid");
  if (verdict->finished) return;
  kill(-child, SIGKILL); /* what a dead child left running; mostly there is nothing */
  int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  bool is_late = signal == SIGALRM || signal == SIGXCPU;
  snprintf(verdict->message, sizeof verdict->message, "died: %s",
           is_late  ? "it took too long"
           : signal ? strsignal(signal)
                    : "an early exit");
}

/* ---- shrinking ---- */

typedef struct Shrinking {
  Task task;
  Verdict *verdict;
  char kind[200]; /* of the failure: the message up to a colon */
} Shrinking;

static void copy_kind(char *kind, const char *message) {
  snprintf(kind, sizeof((Shrinking *)NULL)->kind, "%.*s", (int)strcspn(message, ":"), message);
}

/* A case that is no longer sound proves nothing: no verdict. */
static void judge_sound(const Task *task, Verdict *verdict) {
  Arena *arena = arena_create();
  verdict->finished = true;
  if (module_verify(arena, task->test->module)) return;
  if (case_find_steps(task->test) < task->test->steps) return;
  verdict->finished = false;
  judge_task(task, verdict);
}

static bool still_fails(void *context, const Case *test) {
  Shrinking *shrinking = context;
  char kind[sizeof shrinking->kind];
  shrinking->task.test = test;
  work_apart(&shrinking->task, judge_sound, shrinking->verdict, true);
  copy_kind(kind, shrinking->verdict->message);
  return strcmp(kind, shrinking->kind) == 0;
}

static void print_values(FILE *stream, const char *what, const char *name, const Tensor *tensor) {
  int64_t count = shape_elements(tensor->type.shape);
  fprintf(stream, "# %s %s =", what, name);
  for (int64_t i = 0; i < count; i++) fprintf(stream, " %.17g", tensor->data[i]);
  fputs("\n", stream);
}

/* As read_case() reads it. */
static void print_case(FILE *stream, const Case *test, const char *message) {
  fprintf(stream, "# %s\n# steps = %d\n%s", message, test->steps,
          test->standard.is_far ? "# far\n" : "");
  for (int i = 0; i < test->inputs.count; i++)
    print_values(stream, "input", test->module->inputs.items[i].name, test->inputs.items[i]);
  for (int i = 0; i < test->start.count; i++)
    print_values(stream, "variable", test->module->variables.items[i].path, test->start.items[i]);
  print_module(stream, test->module);
}

/* To the folder of kept cases, or to standard output. */
static void shrink(const Task *task, const char *message) {
  Arena *arena = arena_create();
  Shrinking shrinking = {.task = *task, .verdict = share(sizeof(Verdict))};
  copy_kind(shrinking.kind, message);
  const Case *whole =
      task->file ? read_case(arena, task->file) : make_case(arena, task, task->seed);
  const Case *small = shrink_case(arena, whole, still_fails, &shrinking);
  still_fails(&shrinking, small);
  const char *path = task->options->kept ? arena_printf(arena, "%s/%llu.dump", task->options->kept,
                                                        (unsigned long long)task->seed)
                                         : NULL;
  FILE *stream = path ? fopen(path, "w") : stdout;
  must(stream != NULL, path);
  print_case(stream, small, shrinking.verdict->message);
  if (path) {
    must(fclose(stream) == 0, path);
    printf("kept, made small: %s\n", path);
  }
  munmap(shrinking.verdict, sizeof(Verdict));
  arena_destroy(arena);
}

/* In a child, since a generator that panics would end the worker and all that it has yet to do. */
static void shrink_apart(const Task *task, const char *message) {
  fflush(NULL);
  pid_t child = fork();
  must(child >= 0, "fork");
  if (child == 0) {
    shrink(task, message);
    fflush(NULL);
    _exit(0);
  }
  int status;
  must(waitpid(child, &status, 0) == child, "waitpid");
  if (status != 0) printf("seed %llu cannot be made small\n", (unsigned long long)task->seed);
}

/* ---- workers ---- */

#define COUNT(where, by) __atomic_fetch_add(&(where), (by), __ATOMIC_RELAXED)

static void add_judged(Judged *into, const Judged *from) {
  int64_t *to = (int64_t *)into;
  const int64_t *by = (const int64_t *)from;
  for (size_t i = 0; i < sizeof *from / sizeof *by; i++) COUNT(to[i], by[i]);
}

static void add_verdict(Totals *totals, const Task *task, const Verdict *verdict) {
  for (int op = 0; op < OP_COUNT; op++) {
    COUNT(totals->coverage.generated[op], verdict->coverage.generated[op]);
    COUNT(totals->coverage.differentiated[op], verdict->coverage.differentiated[op]);
  }
  COUNT(totals->nodes, verdict->nodes);
  COUNT(totals->with_gradients, verdict->with_gradients);
  COUNT(totals->steps, verdict->steps);
  if (!verdict->message[0]) {
    add_judged(&totals->judged, &verdict->judged);
    return;
  }
  COUNT(totals->failed, 1);
  if (task->file) printf("FAILED: %s: %s\n", task->file, verdict->message);
  else printf("FAILED: seed %llu: %s\n", (unsigned long long)task->seed, verdict->message);
  if (task->count == 1 && (task->options->shrinks || task->options->kept))
    shrink_apart(task, verdict->message);
  fflush(stdout);
}

/* Where a batch fails, each of it alone; the batch, if none of them fails. */
static void judge_batch(const Task *batch, Verdict *verdict, Totals *totals) {
  work_apart(batch, judge_task, verdict, batch->count > 1);
  if (batch->count == 1 || !verdict->message[0]) {
    add_verdict(totals, batch, verdict);
    return;
  }
  Verdict of_all = *verdict;
  bool some_failed = false;
  for (int i = 0; i < batch->count; i++) {
    Task task = *batch;
    task.seed += (uint64_t)i;
    task.count = 1;
    work_apart(&task, judge_task, verdict, false);
    add_verdict(totals, &task, verdict);
    some_failed = some_failed || verdict->message[0];
  }
  if (some_failed) return;
  printf("seeds %llu and the %d after it fail together only\n", (unsigned long long)batch->seed,
         batch->count - 1);
  memset(&of_all.coverage, 0, sizeof of_all.coverage);
  add_verdict(totals, batch, &of_all);
}

/* What a C compiler optimizes takes it most of the time: an eighth of the batches is. Half of them
 * have task loops; in half of them scans stay loops. */
static void choose_looks(Task *task) {
  const Options *options = task->options;
  uint64_t number = task->seed / options->batch;
  bool is_thorough = number % 8 == 0;
  task->scans = (number + number / 8) % 2 == 0 ? SCANS_UNROLL : SCANS_LOOP;
  if (options->scans >= 0) task->scans = (ScanChoice)options->scans;
  task->stage.looks = options->looks >= 0 ? (Looks)options->looks
                      : is_thorough       ? LOOKS_TYPES
                                          : LOOKS_F64;
  static const int blocks[] = {0, 2, 0, 3};
  task->stage.blocks = blocks[number % 4];
  if (!task->stage.optimize) task->stage.optimize = is_thorough ? "-O1" : "-O0";
}

static void work(const Options *options, int worker, Totals *totals) {
  Verdict *verdict = share(sizeof *verdict);
  char folder[4096];
  snprintf(folder, sizeof folder, "%s/%d", options->stage.work, worker);
  if (options->in_c && mkdir(folder, 0777) != 0) must(errno == EEXIST, folder);
  uint64_t count = (options->count + options->batch - 1) / options->batch, number;
  while ((number = COUNT(totals->taken, 1)) < count) {
    uint64_t done = number * options->batch, left = options->count - done;
    Task task = {.options = options,
                 .stage = options->stage,
                 .seed = options->from + done,
                 .count = (int)(left < options->batch ? left : options->batch),
                 .file = options->files ? options->files[done] : NULL};
    task.stage.work = folder;
    choose_looks(&task);
    judge_batch(&task, verdict, totals);
  }
}

/* ---- progress ---- */

static double now(void) {
  struct timespec time;
  must(clock_gettime(CLOCK_MONOTONIC, &time) == 0, "clock_gettime");
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double cpu_seconds(void) { /* of all processes that have ended */
  struct rusage used;
  must(getrusage(RUSAGE_CHILDREN, &used) == 0, "getrusage");
  return (double)used.ru_utime.tv_sec + (double)used.ru_stime.tv_sec +
         1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static void report(const Options *options, const Totals *totals, double since) {
  double seconds = now() - since;
  const Judged *judged = &totals->judged;
  int64_t left_out = judged->noise + judged->turned + judged->stepless;
  double done = (double)(judged->whole + judged->in_part + left_out + totals->failed);
  double rate = done / seconds;
  fprintf(stderr, "%.0f of %llu, %lld failed, %.1f a second", done,
          (unsigned long long)options->count, (long long)totals->failed, rate);
  if (rate > 0) fprintf(stderr, ", %.0f s left", ((double)options->count - done) / rate);
  fputs("\n", stderr);
}

/* Until all workers have ended; how many of them did not end well. */
static int wait_for(const Options *options, const Totals *totals, double since) {
  double told = since;
  int bad = 0;
  for (int left = options->jobs; left > 0;) {
    int status;
    pid_t child = waitpid(-1, &status, options->progress ? WNOHANG : 0);
    must(child >= 0, "waitpid");
    if (child > 0) {
      left--;
      bad += status != 0;
      continue;
    }
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    if (now() - told < REPORT_SECONDS) continue;
    report(options, totals, since);
    told = now();
  }
  return bad;
}

static void print_judged(const Options *options, const Judged *judged) {
  const Counts *counts = &judged->counts;
  printf(
      "judged: %lld whole, %lld in part; left out: %lld as all is noise, %lld as rounding turns a "
      "comparison over, %lld without a steady step\n",
      (long long)judged->whole, (long long)judged->in_part, (long long)judged->noise,
      (long long)judged->turned, (long long)judged->stepless);
  double elements = fmax(1, (double)(counts->judged + counts->noise));
  printf("%lld elements of outputs, %.3f %% of them noise\n",
         (long long)(counts->judged + counts->noise), 100 / elements * (double)counts->noise);
  if (options->far) {
    double percent = 100 / fmax(1, (double)counts->floats);
    printf("of %lld floats %.1f %% beyond 1e-3 to 1e3, %.1f %% infinite or NaN\n",
           (long long)counts->floats, percent * (double)counts->far,
           percent * (double)counts->special);
  }
  if (options->faults)
    printf("%lld of %lld faults noticed\n", (long long)judged->noticed, (long long)judged->faults);
}

int run_all(const Options *options) {
  Totals *totals = share(sizeof *totals);
  double since = now();
  fflush(NULL);
  for (int i = 0; i < options->jobs; i++) {
    pid_t child = fork();
    must(child >= 0, "fork");
    if (child > 0) continue;
    work(options, i, totals);
    fflush(NULL);
    _exit(0);
  }
  int bad = wait_for(options, totals, since);
  if (bad > 0) printf("FAILED: %d workers ended early\n", bad);
  totals->failed += bad;
  int64_t passed = totals->judged.whole + totals->judged.in_part;
  if (options->covers) {
    int missing = coverage_print(&totals->coverage);
    totals->failed += missing;
    passed += missing == 0;
  }
  if (options->progress)
    fprintf(stderr, "%.0f s, %.0f of CPU: %.3f a case\n", now() - since, cpu_seconds(),
            cpu_seconds() / (double)options->count);
  printf("%lld nodes, %lld modules with gradients, %lld steps\n", (long long)totals->nodes,
         (long long)totals->with_gradients, (long long)totals->steps);
  print_judged(options, &totals->judged);
  printf("%lld passed, %lld failed\n", (long long)passed, (long long)totals->failed);
  return totals->failed > 0;
}
