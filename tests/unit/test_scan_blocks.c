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

/* ---- rows over rows ------------------------------------------------------------------------ */

/* Tables whose rows the rounds of the training step write over those of a sequence. */
static int count_tables_over_sequences(const Program *program) {
  const ProgramEntry *entry = &program->entries[ENTRY_TRAIN];
  bool is_seen[256] = {false};
  int count = 0;
  assert_true(program->buffers.count <= 256);
  for (int s = 0; s < entry->steps.count; s++) {
    const Step *step = &entry->steps.items[s];
    for (int i = 0; step->kind == STEP_LAUNCH && i < step->operand_count; i++) {
      const Buffer *row = &program->buffers.items[step->operands[i]];
      if (row->scan < 0 || row->turns > 0 || is_seen[row->view_of] ||
          !program->kernels.items[step->kernel]->operands[i].is_output)
        continue;
      is_seen[row->view_of] = true;
      count += program->buffers.items[row->view_of].alias_of >= 0;
    }
  }
  return count;
}

/* Without a gradient, so that nothing but the metric needs what the rounds read. */
#define ROUNDS(body, use)                                                                          \
  DATA "a = transpose(x, [1, 0, 2]) @ w\n"                                                         \
       "ys, h = scan s in a with h = zeros([batch, 8]) {\n" body "}\n"                             \
       "seen = mean(h) + mean(ys * " use ")\nloss = mean((b[:8] - y) ^ 2)\n"                       \
       "train { minimize = loss, optimizer = sgd(lr = 0.5), steps = 3, precision = f64,\n"         \
       "  metrics = [seen] }\n"
#define AT_ONCE "  v = 2.0 * s + h @ u\n  h = tanh(v @ transpose(u))\n  yield v\n"
/* One kernel of the round reads the row, and a later one writes. */
#define IN_TURN "  h = tanh((s * (h @ u)) @ transpose(u))\n  yield cos(h @ u)\n"
/* A later one reads. */
#define TOO_EARLY                                                                                  \
  "  v = cos(h @ u)\n  h = tanh(((v @ transpose(u)) @ u * s) @ transpose(u))\n  yield v\n"
#define TURNED "  h = tanh(h + s[:, :8])\n  yield 2.0 * transpose(s)\n"
#define SMALLER "  h = tanh(h + s[:, :8])\n  yield 2.0 * s[:, 8:]\n"

static void test_rows_go_over_rows(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int count;
  } cases[] = {{lstm, 2}, /* the gates over the products; their adjoints over them */
               {coupled, 2},
               {ROUNDS(AT_ONCE, "ys"), 1},
               {ROUNDS(AT_ONCE, "a"), 0}, /* needed after the loop */
               {ROUNDS(IN_TURN, "ys"), 1},
               {ROUNDS(IN_TURN, "a"), 0},
               {ROUNDS(TOO_EARLY, "ys"), 0},
               {ROUNDS(TURNED, "ys"), 0},
               {ROUNDS(SMALLER, "ys"), 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    for (int by_blocks = 0; by_blocks < 2; by_blocks++) {
      Arena *arena = arena_create();
      Program *program = lower(arena, cases[i].text, by_blocks ? 2 : 0);
      int count = count_tables_over_sequences(program);
      const char *wrong = compare_outputs(arena, program, ENTRY_TRAIN, 1e-11);
      if (wrong) fail_msg("program %zu: %s", i, wrong);
      if (count != cases[i].count) fail_msg("program %zu: %d tables over sequences", i, count);
      arena_destroy(arena);
    }
  }
}

/* Puts the table `ys` of the training step over the sequence `a`. */
static void put_over(Program *program) {
  int from = -1, to = -1;
  for (int i = 0; i < program->buffers.count; i++) {
    const Buffer *buffer = &program->buffers.items[i];
    if (buffer->entry != (int)ENTRY_TRAIN || buffer->type.shape.rank != 3) continue;
    if (strcmp(buffer->name, "a") == 0) from = i;
    if (strcmp(buffer->name, "ys") == 0) to = i;
  }
  assert_true(from >= 0 && to >= 0);
  Buffer *table = &program->buffers.items[to];
  int64_t moved = program->buffers.items[from].offset - table->offset;
  table->alias_of = from;
  for (int i = 0; i < program->buffers.count; i++) {
    Buffer *buffer = &program->buffers.items[i];
    if (i == to || buffer->view_of == to) buffer->offset += moved;
  }
}

static void test_wrong_rows_over_rows_are_found(void **state) {
  (void)state;
  static const char *const texts[] = {ROUNDS(IN_TURN, "a"), ROUNDS(TOO_EARLY, "ys")};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    for (int by_blocks = 0; by_blocks < 2; by_blocks++) {
      Arena *arena = arena_create();
      Program *program = lower(arena, texts[i], by_blocks ? 2 : 0);
      assert_null(program_verify(arena, program));
      put_over(program);
      const char *wrong = program_verify(arena, program);
      if (!wrong || !strstr(wrong, "reads a after ys took its memory"))
        fail_msg("program %zu with ys over a: %s", i, wrong ? wrong : "right");
      arena_destroy(arena);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_blocks_go_through_all_rounds),
      cmocka_unit_test(test_values_are_the_same),
      cmocka_unit_test(test_others_have_barriers),
      cmocka_unit_test(test_wrong_plans_are_found),
      cmocka_unit_test(test_sums_are_kept_instead_of_terms),
      cmocka_unit_test(test_rows_go_over_rows),
      cmocka_unit_test(test_wrong_rows_over_rows_are_found),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
