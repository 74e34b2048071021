/* Programs: lowering, fusion and memory plans, judged by the interpreter; the verifier of plans, by
 * faults put into good ones. */
#include "passes/pass.h"
#include "random_graph.h"
#include "run_program.h"

static int make_arena(void **state) {
  *state = arena_create();
  return 0;
}

static int drop_arena(void **state) {
  arena_destroy(*state);
  return 0;
}

/* ---- random graphs ------------------------------------------------------------------------ */

static void test_random_graphs(void **state) {
  (void)state;
  const char *only = getenv("NNC_TEST_SEED"), *count = getenv("NNC_TEST_COUNT");
  int begin = only ? atoi(only) : 0, end = only ? begin + 1 : count ? atoi(count) : 400;
  for (int seed = begin; seed < end; seed++) {
    Arena *arena = arena_create();
    check_program(arena, random_module(arena, (uint64_t)seed), ENTRY_TRAIN, 1e-9,
                  arena_printf(arena, "seed %d", seed));
    arena_destroy(arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(test_random_graphs, make_arena, drop_arena),
  };
  return cmocka_run_group_tests_name("program", tests, NULL, NULL);
}
