/* The passes lift and turn: what leaves the bodies of scans and what stays, which way they go,
 * and that the same is computed. */
#include "passes/rules/rules.h"
#include "scan_programs.h"

static int count_dear(const Graph *graph) {
  int count = 0;
  for (int i = 0; i < graph->nodes.count; i++) count += node_is_expensive(graph->nodes.items[i]);
  return count;
}

/* A program whose steps yield an expression of v: [2, 12], and h: [2, 3], which is carried. */
static const char *yielding(Arena *arena, const char *expression) {
  return arena_printf(
      arena,
      HEADING
      "param z : f32[2, 5, 12] = randn([2, 5, 12])\nparam g : f32[12, 200] = 0.1 * randn([12, "
      "200])\n"
      "q = concat(w, w * w, k, w + k, axis = 0)\n"
      "ys, h = scan v in z along 1 with h = zeros([2, 3]) {\n"
      "  h = sin(h + v[:, 2:5] * b) ; yield %s\n"
      "}\n"
      "loss = 0.01 * mean(ys ^ 2) + mean(h) + 0 * mean(x @ w + y @ k + b + sum(g))\n" ENDING,
      expression);
}

/* Before the gradients: what the first scan of the training step has that is expensive. */
static int dear_in_step(Arena *arena, const char *expression) {
  Module *module = elaborate_with(arena, yielding(arena, expression), "lift", 1, SCANS_LOOP);
  return count_dear(first_scan(module->entries[ENTRY_TRAIN])->body);
}

static void test_dear_work_of_sequences_is_done_at_once(void **state) {
  (void)state;
  static const char *const expressions[] = {
      "v @ q",
      "tanh(v * 2 + b[0]) @ q",
      "concat(v[:, 6:], v[:, :6], axis = 1) @ q",
      "transpose(q) @ transpose(v)",
      "max(v, axis = 1) * b[0]",
      "min(exp(v), axis = 1) * b[0]",
      "prod(v, axis = 1) * b[0]",
      "mean(where(v > 0, v, 0.1 * v), axis = 1) * b[0]",
      "f32(argmax(v, axis = 1) + argmin(v, axis = 1)) * b[1]",
      "sum(v * sin(v), axis = 1) * b[0]",
      "einsum(\"bi,bi->b\", v, sin(v)) * b[0]",
      "einsum(\"bi,bj->ij\", v, v)[:3] @ q",
      "sum(reshape(v, [2, 3, 4]) * b[:, none], axis = [1, 2])",
      "sum(conv1d(v[:, none], 4, 5)) * b[0]",
      "concat(q[argmax(v, axis = 1)], v, axis = 1) @ concat(q, w, axis = 0)",
      "pick(v @ q, argmax(v, axis = 1) // 6, axis = 1) * b[2]",
      "pick(v, argmax(v, axis = 1), axis = 1) * b[2]",
      "sum(pad(v, [(0, 0), (1, 2)]) + b[0], axis = 1)",
      "sum(broadcast(v[:, none], [2, 3, 12]) * b[:, none], axis = [0, 1, 2])",
  };
  for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++) {
    Arena *arena = arena_create();
    const char *text = yielding(arena, expressions[i]);
    if (dear_in_step(arena, expressions[i]) != 0) fail_msg("not lifted: %s", expressions[i]);
    expect_weights(text, text, "dce", 1, SCANS_LOOP);
    expect_weights(text, text, "dce", 1, SCANS_UNROLL);
    arena_destroy(arena);
  }
}

/* What is carried, and what has far more elements than it is made of. */
static void test_bound_and_growing_work_stays(void **state) {
  (void)state;
  Arena *arena = arena_create();
  assert_int_equal(dear_in_step(arena, "concat(h, h, h, h, axis = 1) @ q"), 1);
  assert_int_equal(dear_in_step(arena, "(v * h[:, :1]) @ q"), 1);
  assert_int_equal(dear_in_step(arena, "sum(v @ g, axis = 1) * b[0]"), 2);
  assert_int_equal(dear_in_step(arena, "sum(v[:, :6] @ g[:6, :30], axis = 1) * b[0]"), 0);
  arena_destroy(arena);
}

static int count_lifted(Arena *arena, const char *expression) {
  const char *text = yielding(arena, expression);
  Module *module = elaborate_with(arena, text, "lift", 1, SCANS_LOOP);
  Module *before = elaborate_with(arena, text, "simplify", 1, SCANS_LOOP);
  expect_weights(text, text, "dce", 1, SCANS_LOOP);
  return first_scan(module->entries[ENTRY_TRAIN])->operand_count -
         first_scan(before->entries[ENTRY_TRAIN])->operand_count;
}

/* Computed once: what is expensive or costly, or no larger than what it stands on; an inner scan. */
static void test_what_never_changes_is_done_once(void **state) {
  (void)state;
  Arena *arena = arena_create();
  assert_int_equal(count_lifted(arena, "v[:, :3] * exp(b)"), 1);
  assert_int_equal(count_lifted(arena, "v[:, :3] * (1 + b)"), 1);
  assert_int_equal(count_lifted(arena, "v[:, :3] @ (b[:, none] * b)"), 0);
  assert_int_equal(count_lifted(arena, "v[:, :3] @ exp(b[:, none] * b)"), 1);
  assert_int_equal(count_lifted(arena, "v[:, :3] * b[none]"), 0);
  assert_int_equal(count_lifted(arena, "v[:, :3] * sum(g)"), 1);
  const char *text = yielding(arena, "v[:, :3] * mean(scan r in k with s = b { s = sin(s + r) })");
  Module *module = elaborate_with(arena, text, "lift", 1, SCANS_LOOP);
  const Graph *graph = module->entries[ENTRY_TRAIN];
  int scans = 0;
  for (int i = 0; i < graph->nodes.count; i++) {
    if (!graph->nodes.items[i]->body) continue;
    assert_null(first_scan(graph->nodes.items[i]->body));
    scans++;
  }
  assert_int_equal(scans, 2);
  expect_weights(text, text, "dce", 1, SCANS_LOOP);
  arena_destroy(arena);
}

/* From an inner body through the outer one. */
static void test_work_climbs_through_several_bodies(void **state) {
  (void)state;
  Arena *arena = arena_create();
  static const char text[] = HEADING
      "param z : f32[3, 4, 12] = randn([3, 4, 12])\n"
      "ys = scan m in z with h = b {\n"
      "  h = scan v in m with h = h { h = sin(h + v @ concat(w, w, k, k, axis = 0) * exp(b)) }\n"
      "  yield h\n"
      "}\n"
      "loss = mean(ys ^ 2) + 0 * mean(x @ w + y @ k)\n" ENDING;
  Module *module = elaborate_with(arena, text, "lift", 1, SCANS_LOOP);
  const Graph *graph = module->entries[ENTRY_TRAIN];
  assert_int_equal(count_family(first_scan(graph)->body, FAMILY_CONTRACTION), 0);
  assert_int_equal(count_family(first_scan(first_scan(graph)->body)->body, FAMILY_CONTRACTION), 0);
  expect_weights(text, text, "dce", 1, SCANS_LOOP);
  arena_destroy(arena);
}

static int count_reversals(const Graph *graph) {
  int count = 0;
  for (int i = 0; i < graph->nodes.count; i++) {
    bool axes[MAX_RANK];
    count += reversal_match(graph->nodes.items[i], axes);
  }
  return count;
}

/* A scan over a reversed sequence and another one, whose result is read in some order. */
static void check_walk(const char *other, const char *order, bool turns, int reversals) {
  Arena *arena = arena_create();
  const char *text = arena_printf(
      arena,
      HEADING
      "param z : f32[2, 5, 3] = randn([2, 5, 3])\nparam m : f32[5, 2, 3] = randn([5, 2, 3])\n"
      "param small : f32[5] = 0.3 * randn([5])\nparam big : f32[5, 3, 4, 1, 3] = 0.1\n"
      "ys, h = scan u, v in transpose(z[:, ::-1], [1, 0, 2]), %s with h = zeros([2, 3]) {\n"
      "  h = sin(h + u @ w + mean(v)) ; yield h @ k }\n"
      "loss = mean(ys%s * m) + mean(h) + 0 * mean(x @ w + y @ k + b)\n" ENDING,
      other, order);
  Module *module = elaborate_with(arena, text, NULL, 1, SCANS_LOOP);
  const Graph *graph = module->entries[ENTRY_TRAIN];
  assert_int_equal(scan_shape(first_scan(graph)).reverse, turns);
  assert_int_equal(count_reversals(graph), reversals);
  expect_weights(text, text, "dce", 1, SCANS_LOOP);
  expect_weights(text, text, "dce", 1, SCANS_UNROLL);
  arena_destroy(arena);
}

static void test_reversed_sequences_are_walked_backwards(void **state) {
  (void)state;
  check_walk("small[::-1]", "[::-1]", true, 0);
  check_walk("small[::-1]", "", true, 2); /* the result and its adjoint */
  check_walk("small", "[::-1]", true, 2); /* the other sequence and its gradient */
  check_walk("big", "[::-1]", false, 4);
  check_walk("zeros([5])", "[::-1]", true, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_reversed_sequences_are_walked_backwards),
      cmocka_unit_test(test_bound_and_growing_work_stays),
      cmocka_unit_test(test_what_never_changes_is_done_once),
      cmocka_unit_test(test_work_climbs_through_several_bodies),
      cmocka_unit_test(test_dear_work_of_sequences_is_done_at_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
