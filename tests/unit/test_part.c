/* Phases that are parted by barriers: the entry needs less memory, live ranges stay those of the same steps, and
 * nothing is done for little. */
#include "program/part.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "backend/c/kernels.h"

enum { STEPS = 6 };

/* An entry of copies, all in one phase. Each takes as long as `barriers` barriers. */
static Program *make_program(Arena *arena, double barriers) {
  Program *program = ARENA_NEW(arena, Program);
  ProgramEntry *entry = &program->entries[ENTRY_TRAIN];
  program->arena = arena;
  program->target = &target_c;
  entry->entry = ENTRY_TRAIN;
  entry->present = true;
  for (int i = 0; i < STEPS; i++) {
    Step step = {.kind = STEP_COPY,
                 .kernel = i, /* tells the steps apart */
                 .loop = -1,
                 .scan = -1,
                 .flops = barriers * target_c.costs.barrier};
    vec_push(arena, &entry->steps, step);
  }
  return program;
}

static void add(Program *program, int64_t bytes, int first, int last) {
  Buffer buffer = {.id = program->buffers.count,
                   .kind = BUFFER_ACTIVATION,
                   .entry = ENTRY_TRAIN,
                   .bytes = bytes,
                   .first_step = first,
                   .last_step = last,
                   .alias_of = -1};
  vec_push(program->arena, &program->buffers, buffer);
}

/* The most bytes alive in a phase. */
static int64_t most_alive(const Program *program) {
  const ProgramEntry *entry = &program->entries[ENTRY_TRAIN];
  int64_t most = 0;
  for (int begin = 0, end; begin < entry->steps.count; begin = end + 1) {
    int64_t alive = 0;
    for (end = begin; end < entry->steps.count; end++)
      if (entry->steps.items[end].kind == STEP_BARRIER) break;
    for (int i = 0; i < program->buffers.count; i++) {
      const Buffer *buffer = &program->buffers.items[i];
      if (buffer->first_step < end && buffer->last_step >= begin) alive += buffer->bytes;
    }
    if (alive > most) most = alive;
  }
  return most;
}

/* Buffers live from the same steps to the same steps as before. */
static void check_lives(const Program *program, int count, const int (*lives)[2]) {
  const Step *steps = program->entries[ENTRY_TRAIN].steps.items;
  for (int i = 0; i < count; i++) {
    const Buffer *buffer = &program->buffers.items[i];
    assert_int_equal(steps[buffer->first_step].kind, STEP_COPY);
    assert_int_equal(steps[buffer->first_step].kernel, lives[i][0]);
    assert_int_equal(steps[buffer->last_step].kernel, lives[i][1]);
  }
}

/* One barrier, after step 2, lets 1000 and 900 have the same memory. */
static void test_the_worst_phase_is_parted(void **state) {
  (void)state;
  static const int lives[][2] = {{0, 2}, {3, 5}, {1, 4}};
  Arena *arena = arena_create();
  Program *program = make_program(arena, 1000);
  ProgramEntry *entry = &program->entries[ENTRY_TRAIN];
  add(program, 1000, 0, 2);
  add(program, 900, 3, 5);
  add(program, 100, 1, 4);
  assert_int_equal(most_alive(program), 2000);
  phases_part(program, entry, 2);
  assert_int_equal(most_alive(program), 1100);
  assert_int_equal(entry->barrier_count, 1);
  assert_int_equal(entry->steps.items[3].kind, STEP_BARRIER);
  check_lives(program, 3, lives);
  arena_destroy(arena);
}

/* Each step has a value of its own, and all are worth the same: a barrier between all steps. */
static void test_parts_are_parted_again(void **state) {
  (void)state;
  static const int lives[][2] = {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}};
  Arena *arena = arena_create();
  Program *program = make_program(arena, 1000);
  for (int i = 0; i < STEPS; i++) add(program, 500, i, i);
  phases_part(program, &program->entries[ENTRY_TRAIN], 2);
  assert_int_equal(most_alive(program), 500);
  assert_int_equal(program->entries[ENTRY_TRAIN].barrier_count, STEPS - 1);
  assert_int_equal(program->entries[ENTRY_TRAIN].steps.count, 2 * STEPS - 1);
  check_lives(program, STEPS, lives);
  arena_destroy(arena);
}

static void expect_whole(Program *program) {
  phases_part(program, &program->entries[ENTRY_TRAIN], 2);
  assert_int_equal(program->entries[ENTRY_TRAIN].barrier_count, 0);
  assert_int_equal(program->entries[ENTRY_TRAIN].steps.count, STEPS);
}

static void test_little_is_not_parted(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Program *program = make_program(arena, 1000);
  add(program, 100000, 0, 5); /* of which 100 are no part that counts */
  add(program, 100, 0, 2);
  add(program, 100, 3, 5);
  expect_whole(program);
  program = make_program(arena, 1); /* a barrier would be a sixth of the time */
  add(program, 1000, 0, 2);
  add(program, 1000, 3, 5);
  expect_whole(program);
  arena_destroy(arena);
}

/* What a task loop does for one block has no barrier inside; nor has a scan loop. */
static void test_loops_stay_whole(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Program *program = make_program(arena, 1000);
  ProgramEntry *entry = &program->entries[ENTRY_TRAIN];
  vec_push(arena, &entry->loops, ((TaskLoop){.first_step = 2, .last_step = 3, .blocks = 4}));
  entry->steps.items[2].loop = entry->steps.items[3].loop = 0;
  add(program, 1000, 0, 2);
  add(program, 1000, 3, 5);
  expect_whole(program);
  entry->steps.items[2].loop = entry->steps.items[3].loop = -1;
  entry->loops.count = 0;
  vec_push(arena, &entry->scans, ((ScanLoop){.first_step = 2, .last_step = 3, .rounds = 4}));
  entry->steps.items[2].scan = entry->steps.items[3].scan = 0;
  expect_whole(program);
  arena_destroy(arena);
}

/* Loops after the barrier keep their steps. */
static void test_loops_move_along(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Program *program = make_program(arena, 1000);
  ProgramEntry *entry = &program->entries[ENTRY_TRAIN];
  vec_push(arena, &entry->loops, ((TaskLoop){.first_step = 3, .last_step = 5, .blocks = 4}));
  for (int i = 3; i <= 5; i++) entry->steps.items[i].loop = 0;
  add(program, 1000, 0, 2);
  add(program, 1000, 3, 5);
  phases_part(program, entry, 2);
  assert_int_equal(entry->barrier_count, 1);
  assert_int_equal(entry->loops.items[0].first_step, 4);
  assert_int_equal(entry->loops.items[0].last_step, 6);
  assert_int_equal(most_alive(program), 1000);
  arena_destroy(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_worst_phase_is_parted),
      cmocka_unit_test(test_parts_are_parted_again),
      cmocka_unit_test(test_little_is_not_parted),
      cmocka_unit_test(test_loops_stay_whole),
      cmocka_unit_test(test_loops_move_along),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
