/* One fiber runs at a time, until its thread comes to a barrier, to an operation of its warp or to
 * its end; then the next in the order goes on that can. A thread that has not begun is begun by
 * the fiber of one that has ended, so a kernel without barriers is a loop over its threads.
 *
 * NNC_EMULATOR_ORDER  forward (the default), reverse or shuffled: of blocks, of the warps of a
 *                     block, of the lanes of a warp. With NNC_EMULATOR_SEED another shuffle.
 *
 * The rules of nnc_cuda_machine.h are checked: all threads of a block at the same barrier, all
 * 32 lanes of a warp at the same operation, none of them ended. */
#include "execute.h"

#include "boxes.h"
#include "copies.h"
#include "fault.h"
#include "fiber.h"
#include "groups.h"
#include "memory.h"
#include "phases.h"
#include "races.h"
#include "tensor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 1024, LANES = 32, MOST_WARPS = MOST_THREADS / LANES };

enum { FRESH, READY, AT_BARRIER, AT_WARP, ASLEEP, ENDED };

typedef struct Site {
  const char *file;
  int line;
} Site;

typedef struct Thread {
  int state;
  int position; /* in the order */
  int stack;
  Site site; /* where it sleeps */
  Fiber fiber;
} Thread;

typedef struct Warp {
  int arrived, ended, kind;
  Site site;
  int turn; /* which of the values the next operation uses: those of the last may still be read */
  uint64_t values[2][LANES];
  Together *together;
  int word;
  uint32_t barriers;
} Warp;

static Thread threads[MOST_THREADS];
static Warp warps[MOST_WARPS];
static int order[MOST_THREADS];
static int free_stacks[MOST_FIBERS], free_stack_count;
static int thread_count, waiting, ended;
static Site barrier;
static uint32_t barriers;
static int exchange_count; /* since a thread began or came to a barrier */
static Thread *now;        /* the thread that runs */
static Fiber outside;
static const Launch *current;

static void block_barrier(const char *file, int line);
static uint64_t warp_operation(int kind, uint64_t value, int from, const char *file, int line);

static void exchanged(void);

/* The memory that a launch asks for: as much as any device gives, from a multiple of 1024. */
static _Alignas(1024) char dynamic_memory[232448];

static uint32_t block_address(const void *at) {
  if (!function_owns(execute_function(), at, 1))
    fault("%p is no address of the block's memory", at);
  return (uint32_t)((const char *)at - dynamic_memory);
}

static nnc_emulated_machine machine = {.sync = block_barrier,
                                       .warp = warp_operation,
                                       .exchanged = exchanged,
                                       .touch = races_touch,
                                       .copy_begin = copies_begin,
                                       .copy_group = copies_group,
                                       .copy_wait = copies_wait,
                                       .load_matrices = tensor_load_matrices,
                                       .mma = tensor_mma,
                                       .dynamic = dynamic_memory,
                                       .block_address = block_address,
                                       .registers = groups_registers,
                                       .phase = phases_do,
                                       .box = boxes_begin,
                                       .group = groups_do,
                                       .product = groups_multiply};

nnc_emulated_machine *execute_machine(void) { return &machine; }
bool execute_is_running(void) { return current != NULL; }
const Function *execute_function(void) { return current->function; }

Moment execute_moment(void) {
  return (Moment){machine.block, machine.thread, barriers, warps[machine.thread / LANES].barriers};
}

void execute_describe(char *to, size_t size) {
  *to = 0;
  if (!current) return;
  snprintf(to, size, "kernel %s, block %lld, thread %d: ", current->function->kernel->name,
           (long long)machine.block, machine.thread);
}

/* ---- which thread runs ---- */

static Thread *find_next(void) {
  for (int i = 1, at = now->position + 1; i <= thread_count; i++, at++) {
    if (at >= thread_count) at -= thread_count;
    Thread *thread = &threads[order[at]];
    if (thread->state == FRESH || thread->state == READY) return thread;
  }
  return NULL;
}

/* Where nobody can go on but boxes are under way, one arrives. */
static Thread *next_thread(void) {
  Thread *next = find_next();
  while (!next && boxes_arrive()) next = find_next();
  return next;
}

static void become(Thread *thread) {
  now = thread;
  machine.thread = (int)(thread - threads);
}

static void run_fiber(void);

static void give_stack(Thread *thread) {
  thread->stack = free_stacks[--free_stack_count];
  thread->state = READY;
  fiber_begin(&thread->fiber, thread->stack, run_fiber);
}

static void go_to(Thread *thread) {
  Thread *from = now;
  if (thread == from) return;
  if (thread->state == FRESH) give_stack(thread);
  become(thread);
  fiber_switch(&from->fiber, &thread->fiber);
}

/* Nobody can go on: says who waits where. */
static _Noreturn void deadlock(void) {
  char where[400] = "";
  size_t length = 0;
  for (int i = 0; i < thread_count / LANES; i++) {
    if (!warps[i].arrived || length > 200) continue;
    length += (size_t)snprintf(where + length, sizeof where - length,
                               "; %d lanes of warp %d wait in an operation of the warp (%s:%d)",
                               warps[i].arrived, i, warps[i].site.file, warps[i].site.line);
  }
  for (int i = 0; i < thread_count && length < 200; i++) {
    if (threads[i].state != ASLEEP) continue;
    length += (size_t)snprintf(where + length, sizeof where - length,
                               "; thread %d waits for a phase that does not end (%s:%d)", i,
                               threads[i].site.file, threads[i].site.line);
    break;
  }
  if (waiting) {
    snprintf(where + length, sizeof where - length, "; %d threads wait at a barrier (%s:%d)",
             waiting, barrier.file, barrier.line);
  }
  fault("no thread of the block can go on: %d of %d have ended%s", ended, thread_count, where);
}

static void go_on(void) {
  Thread *next = next_thread();
  if (!next) deadlock();
  go_to(next);
}

/* What a fiber does: a thread, then another that has not begun. */
static void run_fiber(void) {
  for (;;) {
    current->function->kernel->call(current->arguments);
    Warp *warp = &warps[machine.thread / LANES];
    now->state = ENDED, ended++, warp->ended++, exchange_count = 0;
    if (warp->arrived) {
      fault("the thread has ended while %d lanes of its warp wait in an operation of the warp "
            "(%s:%d)",
            warp->arrived, warp->site.file, warp->site.line);
    }
    Thread *last = now, *next = NULL;
    if (ended < thread_count && !(next = next_thread())) deadlock();
    if (next && next->state == FRESH) {
      next->stack = last->stack, next->state = READY;
      become(next);
      continue;
    }
    free_stacks[free_stack_count++] = last->stack;
    if (next) become(next);
    fiber_switch(&last->fiber, next ? &next->fiber : &outside);
  }
}

void execute_sleep(const char *file, int line) {
  now->state = ASLEEP, now->site = (Site){file, line}, exchange_count = 0;
  go_on();
}

void execute_wake_all(void) {
  for (int i = 0; i < thread_count; i++)
    if (threads[i].state == ASLEEP) threads[i].state = READY;
}

/* ---- meeting points ---- */

static bool is_elsewhere(Site site, const char *file, int line) {
  return site.line != line || (site.file != file && strcmp(site.file, file));
}

static void block_barrier(const char *file, int line) {
  if (!waiting) barrier = (Site){file, line};
  else if (is_elsewhere(barrier, file, line)) {
    fault("threads of the block are at different barriers: %s:%d and %s:%d", barrier.file,
          barrier.line, file, line);
  }
  now->state = AT_BARRIER;
  if (++waiting < thread_count) {
    go_on();
    return;
  }
  for (int i = 0; i < thread_count; i++) threads[i].state = READY;
  waiting = 0, barriers++, exchange_count = 0;
  go_to(&threads[order[0]]);
}

static const char *const kinds[] = {"a barrier of the warp", "a shuffle", "a ballot",
                                    "an operation on matrices"};

static void check_warp(const Warp *warp, int kind, Site site) {
  if (warp->ended) {
    fault("%d lanes of the warp have ended before %s (%s:%d)", warp->ended, kinds[kind], site.file,
          site.line);
  }
  if (!warp->arrived) return;
  if (warp->kind != kind || is_elsewhere(warp->site, site.file, site.line)) {
    fault("lanes of a warp are at different operations: %s (%s:%d) and %s (%s:%d)",
          kinds[warp->kind], warp->site.file, warp->site.line, kinds[kind], site.file, site.line);
  }
}

/* All lanes have come. */
static void release_warp(Warp *warp) {
  Thread *lanes = &threads[(warp - warps) * LANES], *first = lanes;
  warp->arrived = 0, warp->turn ^= 1;
  if (warp->kind == NNC_WARP_SYNC) warp->barriers++;
  for (int i = 0; i < LANES; i++) {
    lanes[i].state = READY;
    if (lanes[i].position < first->position) first = &lanes[i];
  }
  go_to(first);
}

static void do_together(const Warp *warp, const uint64_t *values) {
  void *arguments[LANES];
  for (int i = 0; i < LANES; i++) arguments[i] = (void *)(uintptr_t)values[i];
  warp->together(arguments, warp->word);
}

static uint64_t warp_operation(int kind, uint64_t value, int from, const char *file, int line) {
  Warp *warp = &warps[machine.thread / LANES];
  int lane = machine.thread % LANES;
  Site site = {file, line};
  check_warp(warp, kind, site);
  uint64_t *values = warp->values[warp->turn], bits = 0;
  values[lane] = value;
  warp->kind = kind, warp->site = site;
  now->state = AT_WARP;
  if (++warp->arrived < LANES) go_on();
  else {
    if (kind == NNC_WARP_TOGETHER) do_together(warp, values);
    release_warp(warp);
  }
  if (kind == NNC_WARP_SHUFFLE) return from >= 0 && from < LANES ? values[from] : value;
  for (int i = 0; i < LANES; i++) bits |= (uint64_t)(values[i] != 0) << i;
  return bits;
}

void execute_together(Together *together, void *argument, int word, const char *file, int line) {
  Warp *warp = &warps[machine.thread / LANES];
  if (warp->arrived && (warp->together != together || warp->word != word))
    fault("lanes of a warp are at different operations on matrices (%s:%d)", file, line);
  warp->together = together, warp->word = word;
  warp_operation(NNC_WARP_TOGETHER, (uint64_t)(uintptr_t)argument, 0, file, line);
}

/* A thread that waits in a loop for what another does. */
static void exchanged(void) {
  enum { OFTEN = 100, FOREVER = 1000000 };
  if (++exchange_count % OFTEN) return;
  if (exchange_count == FOREVER) fault("threads wait forever in a loop of atomic operations");
  Thread *next = next_thread();
  if (next) go_to(next);
}

/* ---- orders ---- */

typedef enum Order { FORWARD, REVERSE, SHUFFLED } Order;

static Order chosen_order(void) {
  const char *text = getenv("NNC_EMULATOR_ORDER");
  if (!text || !*text || !strcmp(text, "forward")) return FORWARD;
  if (!strcmp(text, "reverse")) return REVERSE;
  if (!strcmp(text, "shuffled")) return SHUFFLED;
  fault("NNC_EMULATOR_ORDER is forward, reverse or shuffled, not %s", text);
}

static uint64_t random_state;

static int draw(int count) {
  random_state = random_state * 6364136223846793005u + 1442695040888963407u;
  return (int)((random_state >> 33) % (uint64_t)count);
}

/* The place in an order of `count` things of each of them. */
static void arrange(int *to, int count, Order kind) {
  for (int i = 0; i < count; i++) to[i] = kind == REVERSE ? count - 1 - i : i;
  for (int i = count - 1; kind == SHUFFLED && i > 0; i--) {
    int other = draw(i + 1), kept = to[i];
    to[i] = to[other], to[other] = kept;
  }
}

/* Whole warps, and in each its lanes. */
static void arrange_threads(Order kind) {
  int warp_order[MOST_WARPS], lanes[LANES];
  arrange(warp_order, thread_count / LANES, kind);
  for (int i = 0; i < thread_count; i++) {
    if (i % LANES == 0) arrange(lanes, LANES, kind);
    order[i] = warp_order[i / LANES] * LANES + lanes[i % LANES];
    threads[order[i]].position = i;
  }
}

/* ---- blocks ---- */

static void run_block(int64_t block) {
  machine.block = block;
  waiting = ended = 0, barriers = 0;
  copies_begin_block();
  phases_begin_block();
  groups_begin_block();
  for (int i = 0; i < thread_count; i++) threads[i].state = FRESH;
  for (int i = 0; i < thread_count / LANES; i++) {
    warps[i].arrived = warps[i].ended = 0, warps[i].barriers = 0;
  }
  for (int i = 0; i < current->function->variable_count; i++) {
    memset(current->function->variables[i].begin, 0xff, current->function->variables[i].size);
  }
  memset(dynamic_memory, 0xff, (size_t)current->shared);
  Thread *first = &threads[order[0]];
  give_stack(first);
  become(first);
  fiber_switch(&outside, &first->fiber);
  boxes_end_block();
  groups_end_block(thread_count);
}

void execute_launch(const Launch *launch) {
  static Order kind;
  static uint64_t seed, launch_count;
  if (!launch_count++) {
    const char *text = getenv("NNC_EMULATOR_SEED");
    kind = chosen_order(), seed = text ? strtoull(text, NULL, 10) : 0;
    for (int i = 0; i < MOST_FIBERS; i++) free_stacks[free_stack_count++] = MOST_FIBERS - 1 - i;
  }
  fault_catch_signals();
  random_state = (seed + 1) * 0x9e3779b97f4a7c15u + launch_count;
  thread_count = launch->threads, current = launch;
  machine.threads = thread_count, machine.blocks = launch->blocks;
  module_set_dynamic(dynamic_memory, (size_t)launch->shared);
  races_begin_launch();
  arrange_threads(kind);
  int64_t start = kind == SHUFFLED ? (int64_t)draw((int)(launch->blocks % 0x7fffffff)) : 0;
  for (int64_t i = 0; i < launch->blocks; i++) {
    int64_t block = (i + start) % launch->blocks;
    if (kind == SHUFFLED) arrange_threads(kind);
    run_block(kind == REVERSE ? launch->blocks - 1 - i : block);
  }
  current = NULL;
}
