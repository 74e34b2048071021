/* fuzz_graphs: random graphs against the reference interpreter.
 *
 *     fuzz_graphs [--from A] [--count N]    judges seeds A ... A + N - 1
 *     fuzz_graphs --seed N                  judges one; if it fails, prints a small module that does
 *     fuzz_graphs --module FILE...          judges dumps, on values made up for them
 *       --stage program|c                   without or with the C compiler (c needs --build)
 *       --build BUILD --work DIR            the build directory, and one for files
 *       --batch K                           seeds that share an executable (6); where it fails, each
 *                                           of them is judged alone
 *       --dump                              prints the module as generated
 *       --coverage                          fails when an operator of ops.def was never generated
 *
 * Each case is judged in a process of its own, so that a panic or a crash is a verdict like any other.
 * Prints a line for each that fails, then "N passed, N failed". */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"
#include "graph/textual.h"
#include "graph/verify.h"
#include "interpret/inputs.h"
#include "ops/op.h"
#include "support/panic.h"

typedef struct Options {
  uint64_t from, count;
  uint64_t batch;
  bool in_c, dump, coverage, shrink;
  CStage stage;
  int file_count;
  char **files;
} Options;

/* Shared with the child. */
typedef struct Verdict {
  bool finished;             /* else it died */
  char message[2000];        /* "" when all agrees */
  int64_t operators[OP_COUNT];
  int64_t nodes, gradients, steps;
} Verdict;

/* What a child does: makes the case, or is given it. */
typedef struct Task {
  const Options *options;
  uint64_t seed;
  int count;                 /* seeds from `seed` on, in one module */
  const char *file;
  const Case *test;
} Task;

enum { SECONDS_A_CASE = 60, SECONDS_IN_C = 600, MOST_BATCH = 32 };

/* ---- cases ---- */

static Case *read_case(Arena *arena, const char *path) {
  const char *reason = NULL;
  SourceFile *dump = source_read(arena, path, &reason);
  Diagnostics *diagnostics = diagnostics_create(arena);
  Module *module = dump ? module_parse(arena, diagnostics, dump) : NULL;
  diagnostics_print(diagnostics, stderr, 0);
  if (!module) panic("%s cannot be read: %s", path, reason ? reason : "it is no dump");
  Case *test = ARENA_NEW(arena, Case);
  *test = (Case){.arena = arena, .module = module, .steps = 2};
  for (int i = 0; i < module->inputs.count; i++)
    vec_push(arena, &test->inputs, random_input(arena, module, &module->inputs.items[i], 1));
  Interpreter *interpreter = interpreter_create(arena, module, (uint64_t)module->run.seed);
  for (int i = 0; i < module->variables.count; i++)
    vec_push(arena, &test->start, interpreter_variable(interpreter, module->variables.items[i].path));
  return test;
}

static void count_nodes(const Case *test, Verdict *verdict) {
  for (int entry = 0; entry < ENTRY_COUNT; entry++) {
    const Graph *graph = test->module->entries[entry];
    for (int i = 0; graph && i < graph->nodes.count; i++) {
      verdict->operators[graph->nodes.items[i]->op]++;
      verdict->gradients += graph->nodes.items[i]->op == OP_GRADIENT;
    }
  }
  verdict->nodes = test->module->entries[ENTRY_TRAIN]->nodes.count;
  verdict->steps = test->steps;
}

static void print_module(const Module *module) {
  Text text = {0};
  module_print(&text, module);
  puts(text.data);
  text_free(&text);
}

static Case *generate_seeds(Arena *arena, const Task *task) {
  uint64_t seeds[MOST_BATCH];
  for (int i = 0; i < task->count; i++) seeds[i] = task->seed + (uint64_t)i;
  return generate_cases(arena, task->count, seeds);
}

static void judge_task(const Task *task, Verdict *verdict) {
  Arena *arena = arena_create();
  const Case *test = task->test;
  if (!test) test = task->file ? read_case(arena, task->file) : generate_seeds(arena, task);
  count_nodes(test, verdict);
  if (task->options->dump && !task->test) print_module(test->module);
  const char *message = task->options->in_c ? judge_case_c(test, arena, &task->options->stage)
                                            : judge_case(test, arena);
  if (message) snprintf(verdict->message, sizeof verdict->message, "%s", message);
  verdict->finished = true;
  arena_destroy(arena);
}

/* ---- processes ---- */

static Verdict *verdict_create(void) {
  void *memory = mmap(NULL, sizeof(Verdict), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    perror("fuzz_graphs: mmap");
    exit(2);
  }
  return memory;
}

/* In a child, which has so many seconds. */
typedef void Work(const Task *task, Verdict *verdict);
static void work_apart(const Task *task, Work *work, Verdict *verdict, bool quietly) {
  memset(verdict, 0, sizeof *verdict);
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) {
    perror("fuzz_graphs: fork");
    exit(2);
  }
  if (child == 0) {
    alarm(task->options->in_c ? SECONDS_IN_C : SECONDS_A_CASE);
    if (quietly && !freopen("/dev/null", "w", stderr)) _exit(2);
    work(task, verdict);
    fflush(NULL);
    _exit(0);
  }
  int status;
  if (waitpid(child, &status, 0) < 0) {
    perror("fuzz_graphs: waitpid");
    exit(2);
  }
  if (verdict->finished) return;
  int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  snprintf(verdict->message, sizeof verdict->message, "died: %s",
           signal == SIGALRM ? "it took too long" : signal ? strsignal(signal) : "an early exit");
}

/* ---- shrinking ---- */

typedef struct Shrinking {
  Task task;
  Verdict *verdict;
  char kind[200];  /* of the failure: the message up to a colon */
} Shrinking;

static void copy_kind(char *kind, const char *message) {
  snprintf(kind, sizeof ((Shrinking *)NULL)->kind, "%.*s", (int)strcspn(message, ":"), message);
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

static void print_values(const char *what, const char *name, const Tensor *tensor) {
  int64_t count = shape_elements(tensor->type.shape);
  printf("# %s %s =", what, name);
  for (int64_t i = 0; i < count && i < 40; i++) printf(" %.9g", tensor->data[i]);
  puts(count > 40 ? " ..." : "");
}

static void shrink(const Task *task, const char *message) {
  Arena *arena = arena_create();
  Shrinking shrinking = {.task = *task, .verdict = verdict_create()};
  copy_kind(shrinking.kind, message);
  const Case *whole = task->file ? read_case(arena, task->file) : generate_seeds(arena, task);
  const Case *small = shrink_case(arena, whole, still_fails, &shrinking);
  still_fails(&shrinking, small);
  printf("# %s\n", shrinking.verdict->message);
  for (int i = 0; i < small->inputs.count; i++)
    print_values("input", small->module->inputs.items[i].name, small->inputs.items[i]);
  for (int i = 0; i < small->start.count; i++)
    print_values("variable", small->module->variables.items[i].path, small->start.items[i]);
  print_module(small->module);
  arena_destroy(arena);
}

/* ---- options ---- */

static uint64_t number(const char *text) {
  char *end;
  uint64_t value = text ? strtoull(text, &end, 10) : 0;
  if (text && *text && !*end) return value;
  fprintf(stderr, "fuzz_graphs: '%s' is not a number\n", text ? text : "");
  exit(2);
}

static Options read_options(int argc, char **argv) {
  Options options = {.from = 1, .count = 100, .batch = 6, .stage = {.work = ".", .optimize = "-O1"}};
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : NULL;
    if (!strcmp(argv[i], "--dump")) options.dump = true;
    else if (!strcmp(argv[i], "--coverage")) options.coverage = true;
    else if (!strcmp(argv[i], "--shrink")) options.shrink = true;
    else if (!strcmp(argv[i], "--from")) options.from = number(value), i++;
    else if (!strcmp(argv[i], "--count")) options.count = number(value), i++;
    else if (!strcmp(argv[i], "--seed")) options.from = number(value), options.count = 1, options.shrink = true, i++;
    else if (!strcmp(argv[i], "--batch")) options.batch = number(value), i++;
    else if (!strcmp(argv[i], "--build") && value) options.stage.build = value, i++;
    else if (!strcmp(argv[i], "--work") && value) options.stage.work = value, i++;
    else if (!strcmp(argv[i], "--stage") && value) options.in_c = !strcmp(value, "c"), i++;
    else if (!strcmp(argv[i], "--module") && value) {
      options.files = argv + i + 1;
      options.file_count = argc - i - 1;
      options.count = (uint64_t)options.file_count;
      options.from = 0;
      break;
    } else {
      fprintf(stderr, "fuzz_graphs: unknown option '%s'\n", argv[i]);
      exit(2);
    }
  }
  if ((options.in_c && !options.stage.build) || options.batch < 1 || options.batch > MOST_BATCH) {
    fprintf(stderr, "fuzz_graphs: --stage c needs --build BUILD; --batch is 1 to %d\n", MOST_BATCH);
    exit(2);
  }
  if (!options.in_c || options.files) options.batch = 1;
  return options;
}

/* Operators that occur in no graph; printed, and how many. */
static int missing_operators(const int64_t *operators) {
  int missing = 0;
  for (int op = 0; op < OP_COUNT; op++) {
    if (operators[op] > 0) continue;
    printf("FAILED: no graph holds the operator %s\n", op_info((Op)op)->name);
    missing++;
  }
  return missing;
}

/* ---- the run ---- */

typedef struct Totals {
  int64_t operators[OP_COUNT], nodes, gradients, steps;
  int passed, failed;
} Totals;

static void add_verdict(Totals *totals, const Task *task, const Verdict *verdict) {
  for (int op = 0; op < OP_COUNT; op++) totals->operators[op] += verdict->operators[op];
  totals->nodes += verdict->nodes;
  totals->gradients += verdict->gradients > 0;
  totals->steps += verdict->steps;
  if (!verdict->message[0]) {
    totals->passed += task->count;
    return;
  }
  totals->failed++;
  if (task->file) printf("FAILED: %s: %s\n", task->file, verdict->message);
  else printf("FAILED: seed %llu: %s\n", (unsigned long long)task->seed, verdict->message);
  if (task->options->shrink) shrink(task, verdict->message);
  fflush(stdout);
}

/* Several seeds in one executable; where it fails, each alone; the batch, if none of them fails. */
static void judge_batch(const Task *batch, Verdict *verdict, Totals *totals) {
  work_apart(batch, judge_task, verdict, batch->count > 1);
  if (batch->count == 1 || !verdict->message[0]) {
    add_verdict(totals, batch, verdict);
    return;
  }
  Verdict of_all = *verdict;
  int before = totals->failed;
  for (int i = 0; i < batch->count; i++) {
    Task task = *batch;
    task.seed += (uint64_t)i;
    task.count = 1;
    work_apart(&task, judge_task, verdict, false);
    add_verdict(totals, &task, verdict);
  }
  if (totals->failed > before) return;
  printf("seeds %llu and the %d behind it fail together only\n", (unsigned long long)batch->seed,
         batch->count - 1);
  add_verdict(totals, batch, &of_all);
}

int main(int argc, char **argv) {
  Options options = read_options(argc, argv);
  Verdict *verdict = verdict_create();
  Totals totals = {0};
  for (uint64_t done = 0; done < options.count; done += options.batch) {
    uint64_t left = options.count - done;
    Task task = {.options = &options, .seed = options.from + done,
                 .count = (int)(left < options.batch ? left : options.batch),
                 .file = options.files ? options.files[done] : NULL};
    judge_batch(&task, verdict, &totals);
  }
  if (options.coverage) {
    int missing = missing_operators(totals.operators);
    totals.failed += missing;
    totals.passed += missing == 0;
  }
  printf("%lld nodes, %lld modules with gradients, %lld steps\n", (long long)totals.nodes,
         (long long)totals.gradients, (long long)totals.steps);
  printf("%d passed, %d failed\n", totals.passed, totals.failed);
  return totals.failed > 0;
}
