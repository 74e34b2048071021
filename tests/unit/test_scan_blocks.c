/* Scans that a worker goes through block by block: which ones do, that no barrier is in their rounds, that all values
 * are those of the interpreter, and that the verifier finds what is wrong with such a plan. */
#include "run_program.h"
#include "scan_programs.h"

#define DATA                                                                                       \
  "const batch = 32\ndata train { x, y = csv(\"a.csv\") }\n"                                       \
  "input x : f32[batch, 4, 6]\ninput y : f32[batch, 8]\n"                                          \
  "param w : f32[6, 32] = 0.3 * randn([6, 32])\nparam u : f32[8, 32] = 0.3 * randn([8, 32])\n"     \
  "param b : f32[32] = 0.1 * randn([32])\n"
#define GATES "z = transpose(x, [1, 0, 2]) @ w + b\n"
#define TRAIN                                                                                      \
  "loss = mean((h - y) ^ 2) + mean(ys * ys)\n"                                                     \
  "train { minimize = loss, optimizer = sgd(lr = 0.5), steps = 3, precision = f64 }\n"

static const char lstm[] =
    DATA GATES "ys, h, c = scan s in z with h = zeros([batch, 8]), c = zeros([batch, 8]) {\n"
               "  i, f, a, o = split(s + h @ u, 4)\n"
               "  c = sigmoid(f) * c + sigmoid(i) * tanh(a)\n"
               "  h = sigmoid(o) * tanh(c)\n  yield h\n}\n" TRAIN;

/* Each step needs all examples. */
static const char coupled[] =
    DATA GATES "ys, h, c = scan s in z with h = zeros([batch, 8]), c = zeros([batch, 8]) {\n"
               "  i, f, a, o = split(s + h @ u, 4)\n"
               "  c = sigmoid(f) * c + sigmoid(i) * tanh(a - mean(a, axis = 0))\n"
               "  h = sigmoid(o) * tanh(c)\n  yield h\n}\n" TRAIN;

static Program *lower(Arena *arena, const char *text, int threads) {
  ProgramOptions options = {.level = 1, .target = &target_c, .threads = threads};
  return program_create(arena, elaborate_with(arena, text, NULL, 1, SCANS_LOOP), &options);
}

/* Of the entry: scans that blocks go through, and barriers in the rounds of any. */
static int count_scans_by_blocks(const ProgramEntry *entry, int *barriers) {
  int count = 0;
  *barriers = 0;
  for (int i = 0; i < entry->scans.count; i++) {
    const ScanLoop *scan = &entry->scans.items[i];
    count += scan_task_loop(entry, scan) != NULL;
    for (int s = scan->first_step; s <= scan->last_step; s++)
      *barriers += entry->steps.items[s].kind == STEP_BARRIER;
  }
  return count;
}

static void test_blocks_go_through_all_rounds(void **state) {
  (void)state;
  Arena *arena = arena_create();
  const Program *program = lower(arena, lstm, 2);
  int barriers;
  assert_int_equal(count_scans_by_blocks(&program->entries[ENTRY_TRAIN], &barriers), 2);
  assert_int_equal(barriers, 0);
  const TaskLoop *loop =
      scan_task_loop(&program->entries[ENTRY_TRAIN], &program->entries[ENTRY_TRAIN].scans.items[0]);
  assert_int_equal(loop->blocks, 2);
  assert_int_equal(loop->examples, 16);
  arena_destroy(arena);
}

static void test_values_are_the_same(void **state) {
  (void)state;
  static const char *const texts[] = {lstm, coupled};
  for (int i = 0; i < 2; i++) {
    Arena *arena = arena_create();
    for (int threads = 0; threads <= 2; threads++) {
      const char *wrong =
          compare_outputs(arena, lower(arena, texts[i], threads), ENTRY_TRAIN, 1e-11);
      if (wrong) fail_msg("program %d, %d threads: %s", i, threads, wrong);
    }
    arena_destroy(arena);
  }
}

/* None where examples are coupled, where threads would be without work, and where nobody said how many there are. */
static void test_others_have_barriers(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int threads;
  } cases[] = {{coupled, 2}, {lstm, 3}, {lstm, 4}, {lstm, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    Arena *arena = arena_create();
    const Program *program = lower(arena, cases[i].text, cases[i].threads);
    int barriers;
    assert_int_equal(count_scans_by_blocks(&program->entries[ENTRY_TRAIN], &barriers), 0);
    assert_true(barriers >= 4);
    assert_null(program_verify(arena, program));
    arena_destroy(arena);
  }
}

/* A launch that touches the whole of what rounds carry, rows of another size, a task loop that ends early. */
static void test_wrong_plans_are_found(void **state) {
  (void)state;
  int spoilt = 0;
  for (int number = 0;; number++) {
    Arena *arena = arena_create();
    Program *program = lower(arena, lstm, 2);
    ProgramEntry *entry = &program->entries[ENTRY_TRAIN];
    const ScanLoop *scan = &entry->scans.items[0];
    int at = number;
    bool found = false;
    for (int s = scan->first_step; s <= scan->last_step && !found; s++) {
      Step *step = &entry->steps.items[s];
      for (int i = 0; i < step->operand_count && !found; i++) {
        const Buffer *view = &program->buffers.items[step->operands[i]];
        if (step->block_bytes[i] == 0 || view->turns == 0 || at-- > 0) continue;
        step->block_bytes[i] = 0;
        found = true;
      }
    }
    if (found) assert_non_null(program_verify(arena, program));
    spoilt += found;
    arena_destroy(arena);
    if (!found) break;
  }
  assert_true(spoilt >= 4);
  Arena *arena = arena_create();
  Program *program = lower(arena, lstm, 2);
  ProgramEntry *entry = &program->entries[ENTRY_TRAIN];
  entry->loops.items[entry->steps.items[entry->scans.items[0].first_step].loop].last_step--;
  assert_non_null(program_verify(arena, program));
  arena_destroy(arena);
}

/* What the backward step reads of the product and of the gates of a step is their sum. */
static void test_sums_are_kept_instead_of_terms(void **state) {
  (void)state;
  Arena *arena = arena_create();
  const Module *module = elaborate_with(arena, lstm, NULL, 1, SCANS_LOOP);
  const Graph *forward = first_scan(module->entries[ENTRY_TRAIN])->body;
  int sums = 0, products = 0;
  for (int i = 0; i < forward->outputs.count; i++) {
    const Node *node = forward->outputs.items[i].node;
    sums += node->op == OP_ADD && node->type.shape.dim[1] == 32;
    products += op_info(node->op)->class->family == FAMILY_CONTRACTION;
  }
  assert_int_equal(sums, 1);
  assert_int_equal(products, 0);
  const Node *backward = reverse_scan(module->entries[ENTRY_TRAIN]);
  int wide = 0; /* sequences as wide as the gates */
  ScanShape shape = scan_shape(backward);
  for (int i = shape.carries; i < shape.carries + shape.sequences; i++)
    wide += backward->operands[i]->type.shape.dim[2] == 32;
  assert_int_equal(wide, 1);
  arena_destroy(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_blocks_go_through_all_rounds),
      cmocka_unit_test(test_values_are_the_same),
      cmocka_unit_test(test_others_have_barriers),
      cmocka_unit_test(test_wrong_plans_are_found),
      cmocka_unit_test(test_sums_are_kept_instead_of_terms),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
