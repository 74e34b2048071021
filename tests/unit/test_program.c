/* Programs: lowering, fusion and memory plans, judged by the interpreter; the verifier of plans, by
 * faults put into good ones. */
#include "networks.h"
#include "random_graph.h"
#include "run_program.h"

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

/* ---- networks ----------------------------------------------------------------------------- */

static void test_networks(void **state) {
  (void)state;
  for (int i = 0; i < NETWORKS; i++) {
    for (int level = 0; level <= 1; level++) {
      Arena *arena = arena_create();
      Module *module = network_module(arena, network_names[i], level);
      for (int e = 0; e < ENTRY_COUNT; e++)
        if (module->entries[e] && e != ENTRY_HOST && e != ENTRY_FINISH)
          check_program(arena, module, (EntryKind)e, 1e-9,
                        arena_printf(arena, "%s, passes at level %d, entry %s", network_names[i], level,
                                     entry_name((EntryKind)e)));
      arena_destroy(arena);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_networks),
    cmocka_unit_test(test_random_graphs),
  };
  return cmocka_run_group_tests_name("program", tests, NULL, NULL);
}
