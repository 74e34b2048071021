/* Kernels that compute what another reads when it reads it (kernel/feed.h, program/feed.c). */
#include "kernel/builder.h"
#include "kernel/feed.h"
#include "networks.h"
#include "program/buffers.h"
#include "run_program.h"

/* A CPU on which values of any size are fed. */
static Target target_small;

static const Target *small_values(void) {
  target_small = target_c;
  target_small.least_fed_bytes = 0;
  return &target_small;
}

static Program *fed_program(Arena *arena, const Target *target) {
  ProgramOptions options = {.level = 1, .target = target, .keeps_weights = true};
  return program_create(arena, network_module(arena, "fed", 1), &options);
}

static int count_fed(const Program *program, EntryKind entry) {
  int count = 0;
  for (int i = 0; i < program->entries[entry].steps.count; i++) {
    const Step *step = &program->entries[entry].steps.items[i];
    count += step->kind == STEP_LAUNCH && program->kernels.items[step->kernel]->feeder;
  }
  return count;
}

static int count_launches(const ProgramEntry *entry) {
  int count = 0;
  for (int i = 0; i < entry->steps.count; i++) count += entry->steps.items[i].kind == STEP_LAUNCH;
  return count;
}

/* Four of the network's seven values between a convolution and a depthwise one. */
static void test_single_examples_are_fed(void **state) {
  (void)state;
  Arena *arena = arena_create();
  const Program *program = fed_program(arena, small_values());
  assert_null(program_verify(arena, program));
  for (int e = 0; e < ENTRY_COUNT; e++)
    assert_int_equal(count_fed(program, (EntryKind)e),
                     e == ENTRY_PREDICT || e == ENTRY_EVAL_ONE ? 4 : 0);
  assert_null(compare_outputs(arena, program, ENTRY_PREDICT, 1e-9));
  assert_null(compare_outputs(arena, program, ENTRY_EVAL_ONE, 1e-9));
  const Program *other = fed_program(arena, &target_c);
  assert_int_equal(count_fed(other, ENTRY_PREDICT), 0); /* its values are small */
  const ProgramEntry *entry = &program->entries[ENTRY_PREDICT];
  const ProgramEntry *plain = &other->entries[ENTRY_PREDICT];
  assert_int_equal(count_launches(entry), count_launches(plain) - 4);
  assert_true(entry->flops == plain->flops && entry->product_flops == plain->product_flops);
  assert_true(entry->bytes < plain->bytes);
  arena_destroy(arena);
}

static Kernel *first_fed(const Program *program) {
  for (int i = 0; i < program->kernels.count; i++)
    if (program->kernels.items[i]->feeder) return program->kernels.items[i];
  fail_msg("no kernel has a feeder");
  return NULL;
}

/* What a line of results needs is read after others are stored. */
static void test_no_result_lies_over_what_a_feeder_reads(void **state) {
  (void)state;
  Arena *arena = arena_create();
  const Kernel *kernel = first_fed(fed_program(arena, small_values()));
  KernelOperand *operands =
      arena_copy(arena, kernel->operands, sizeof *operands * (size_t)kernel->operand_count);
  Kernel copy = *kernel;
  int result = copy.epilogue[0].operand;
  copy.operands = operands;
  for (int i = 0; i < copy.operand_count; i++) {
    if (!kernel_feeder_reads(kernel, i)) continue;
    operands[i].elements = operands[result].elements; /* as large as need be */
    assert_false(kernel_can_unify(&copy, i, result));
  }
  arena_destroy(arena);
}

/* ---- dumps -------------------------------------------------------------------------------- */

static void test_dumps_read_back(void **state) {
  (void)state;
  Arena *arena = arena_create();
  const Target *target = small_values();
  Text first = {0}, second = {0};
  program_print_whole(&first, fed_program(arena, target));
  SourceFile *file = source_from_text(arena, "fed.plan", first.data, first.length);
  Diagnostics *diagnostics = diagnostics_create(arena);
  const Program *read = program_parse(arena, diagnostics, file, module_find_violation, target);
  assert_non_null(read);
  program_print_whole(&second, read);
  assert_string_equal(first.data, second.data);
  Target other = *target; /* one that feeds nothing */
  other.can_feed = NULL;
  assert_null(program_parse(arena, diagnostics, file, module_find_violation, &other));
  text_free(&first);
  text_free(&second);
  arena_destroy(arena);
}

/* ---- faults ------------------------------------------------------------------------------- */

typedef void (*SpoilFeed)(Kernel *kernel, Kernel *feeder);

static void feed_from_nowhere(Kernel *kernel, Kernel *feeder) {
  (void)feeder;
  kernel->feed[1] = kernel->operand_count;
}

static void feed_nothing(Kernel *kernel, Kernel *feeder) {
  kernel->feed[feeder_result(feeder)] = kernel->operand_count - 1;
}

static void feed_two_values(Kernel *kernel, Kernel *feeder) {
  (void)feeder;
  kernel->feed[1] = -1;
}

static void feed_another_first_operand(Kernel *kernel, Kernel *feeder) {
  (void)feeder;
  kernel->feed[0] = 1;
}

static void feed_by_one_that_is_fed(Kernel *kernel, Kernel *feeder) {
  feeder->feeder = kernel;
  feeder->feed = kernel->feed;
}

static void feed_another_size(Kernel *kernel, Kernel *feeder) {
  (void)feeder;
  kernel->conv.in[0]++;
}

static void feed_by_another_type(Kernel *kernel, Kernel *feeder) {
  (void)kernel;
  feeder->operands[1].dtype = DTYPE_F64;
}

static void feed_what_depends_on_the_step(Kernel *kernel, Kernel *feeder) {
  (void)kernel;
  feeder->scalar_count = 1;
}

static void test_verifier_finds_faults(void **state) {
  (void)state;
  static const SpoilFeed spoils[] = {feed_from_nowhere,       feed_nothing,
                                     feed_two_values,         feed_another_first_operand,
                                     feed_by_one_that_is_fed, feed_another_size,
                                     feed_by_another_type,    feed_what_depends_on_the_step};
  for (size_t i = 0; i < sizeof spoils / sizeof *spoils; i++) {
    Arena *arena = arena_create();
    Kernel *kernel = first_fed(fed_program(arena, small_values()));
    Kernel *feeder = arena_copy(arena, kernel->feeder, sizeof *feeder);
    kernel->feeder = feeder;
    assert_null(kernel_verify(arena, kernel));
    spoils[i](kernel, feeder);
    if (kernel_verify(arena, kernel) == NULL) fail_msg("fault %zu was not found", i);
    arena_destroy(arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_single_examples_are_fed),
      cmocka_unit_test(test_no_result_lies_over_what_a_feeder_reads),
      cmocka_unit_test(test_dumps_read_back),
      cmocka_unit_test(test_verifier_finds_faults),
  };
  return cmocka_run_group_tests_name("feed", tests, NULL, NULL);
}
