/* fuzz_graphs: random graphs against the reference interpreter.
 *
 *     fuzz_graphs [--seed N | --from A --count N] [--stage program|c] [--dump] [--coverage]
 *
 * Each seed is judged in a process of its own, so that a panic or a crash is a verdict like any other.
 * Prints a line for each failing seed, then "N passed, N failed". --dump prints the module;
 * --coverage fails when an operator of ops.def was never generated. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"
#include "graph/textual.h"
#include "ops/op.h"

typedef struct Options {
  uint64_t from, count;
  bool in_c, dump, coverage;
} Options;

/* Shared with the child. */
typedef struct Verdict {
  bool finished;             /* else it died */
  char message[2000];        /* "" when all agrees */
  int64_t operators[OP_COUNT];
  int64_t nodes, gradients, steps;
} Verdict;

enum { SECONDS_A_SEED = 60 };

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

static void judge_seed(const Options *options, uint64_t seed, Verdict *verdict) {
  Arena *arena = arena_create();
  Case *test = generate_case(arena, seed);
  count_nodes(test, verdict);
  if (options->dump) print_module(test->module);
  const char *message = judge_case(test, arena);
  if (message) snprintf(verdict->message, sizeof verdict->message, "%s", message);
  verdict->finished = true;
  arena_destroy(arena);
}

static Verdict *verdict_create(void) {
  void *memory = mmap(NULL, sizeof(Verdict), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    perror("fuzz_graphs: mmap");
    exit(2);
  }
  return memory;
}

/* In a child, which has SECONDS_A_SEED. */
static void judge_apart(const Options *options, uint64_t seed, Verdict *verdict) {
  memset(verdict, 0, sizeof *verdict);
  fflush(NULL);
  pid_t child = fork();
  if (child < 0) {
    perror("fuzz_graphs: fork");
    exit(2);
  }
  if (child == 0) {
    alarm(SECONDS_A_SEED);
    judge_seed(options, seed, verdict);
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
  snprintf(verdict->message, sizeof verdict->message, "died of %s",
           signal == SIGALRM ? "taking too long" : signal ? strsignal(signal) : "an early exit");
}

static uint64_t number(const char *text) {
  char *end;
  uint64_t value = text ? strtoull(text, &end, 10) : 0;
  if (text && *text && !*end) return value;
  fprintf(stderr, "fuzz_graphs: '%s' is not a number\n", text ? text : "");
  exit(2);
}

static Options read_options(int argc, char **argv) {
  Options options = {.from = 1, .count = 100};
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : NULL;
    if (!strcmp(argv[i], "--dump")) options.dump = true;
    else if (!strcmp(argv[i], "--coverage")) options.coverage = true;
    else if (!strcmp(argv[i], "--from")) options.from = number(value), i++;
    else if (!strcmp(argv[i], "--count")) options.count = number(value), i++;
    else if (!strcmp(argv[i], "--seed")) options.from = number(value), options.count = 1, i++;
    else if (!strcmp(argv[i], "--stage") && value) options.in_c = !strcmp(value, "c"), i++;
    else {
      fprintf(stderr, "fuzz_graphs: unknown option '%s'\n", argv[i]);
      exit(2);
    }
  }
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

int main(int argc, char **argv) {
  Options options = read_options(argc, argv);
  Verdict *verdict = verdict_create();
  int64_t operators[OP_COUNT] = {0}, nodes = 0, gradients = 0, steps = 0;
  int passed = 0, failed = 0;
  for (uint64_t seed = options.from; seed < options.from + options.count; seed++) {
    judge_apart(&options, seed, verdict);
    for (int op = 0; op < OP_COUNT; op++) operators[op] += verdict->operators[op];
    nodes += verdict->nodes;
    gradients += verdict->gradients > 0;
    steps += verdict->steps;
    if (!verdict->message[0]) {
      passed++;
      continue;
    }
    failed++;
    printf("FAILED: seed %llu: %s\n", (unsigned long long)seed, verdict->message);
    fflush(stdout);
  }
  if (options.coverage) {
    int missing = missing_operators(operators);
    failed += missing;
    passed += missing == 0;
  }
  printf("%lld nodes, %lld graphs with gradients, %lld steps\n", (long long)nodes, (long long)gradients,
         (long long)steps);
  printf("%d passed, %d failed\n", passed, failed);
  return failed > 0;
}
