/* What the generator of random graphs takes for well-conditioned (tests/fuzz_graphs/steady.c): a
 * value in a step of a scan is held to the gap of its case, as any other value is; a far value
 * becomes what its type makes of it, and must be clear of the ends of the type's range. */
#include <math.h>

#include "fuzz_graphs/fuzz.h"
#include "graphs.h"
#include "ops/scan.h"

/* The scan of h' = floor(h + x[t]) over `x`; the result is the last h. */
static Graph *floor_in_scan(Arena *arena, double start, int64_t length, double step) {
  Type scalar = type_scalar(DTYPE_F64);
  Maker body = {graph_create(arena, "step"), {0}, "body"};
  Node *h = make_argument(&body, scalar, 0), *x = make_argument(&body, scalar, 1);
  Node *next = make_unary(&body, OP_FLOOR, make_binary(&body, OP_ADD, h, x));
  graph_add_output(body.graph, (Output){.kind = OUTPUT_RESULT, .name = "h", .node = next});
  Maker maker = {graph_create(arena, "train"), {0}, "scan"};
  Node *first = make_constant(&maker, scalar, start);
  Node *steps = make_constant(&maker, type_make(DTYPE_F64, shape_make(1, &length)), step);
  ScanShape shape = {.carries = 1, .sequences = 1, .length = length};
  Node *scan = make_scan(&maker, body.graph, shape, 2, (Node *[]){first, steps});
  Node *last = make_scan_result(&maker, scan, 0);
  graph_add_output(maker.graph, (Output){.kind = OUTPUT_RESULT, .name = "last", .node = last});
  return maker.graph;
}

static bool is_steady(Arena *arena, const Graph *graph, double gap) {
  EvaluateContext context = {.step = 1};
  Numbers numbers = numbers_of_graph(arena, graph, (Standard){.gap = gap}, 0, NULL, &context, NULL);
  return numbers_find_unsteady(&numbers, graph) == NULL;
}

/* 0.001 above a whole number. */
static void gap_of_a_case_holds_in_scans(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Graph *graph = floor_in_scan(arena, 2, 3, 1.001);
  assert_false(is_steady(arena, graph, 0)); /* the usual gap is 0.002 */
  assert_true(is_steady(arena, graph, 1e-4));
  assert_true(is_steady(arena, floor_in_scan(arena, 2, 3, 1.25), 0));
  assert_false(is_steady(arena, floor_in_scan(arena, 2, 3, 1.00001), 1e-4));
  arena_destroy(arena);
}

/* What x y is in `dtype`, in a far case; NaN where the case would be refused. */
static double far_product(Arena *arena, DType dtype, double x, double y) {
  Maker maker = {graph_create(arena, "train"), {0}, "product"};
  Node *a = make_constant(&maker, type_scalar(dtype), x);
  Node *product = make_binary_value(&maker, OP_MUL, a, y);
  graph_add_output(maker.graph, (Output){.kind = OUTPUT_RESULT, .name = "p", .node = product});
  EvaluateContext context = {.step = 1};
  Numbers numbers =
      numbers_of_graph(arena, maker.graph, (Standard){.is_far = true}, 0, NULL, &context, NULL);
  return numbers_have_size(&numbers, product, 0, 0) ? numbers.values[product->id]->data[0] : NAN;
}

static void far_values_are_rounded_to_their_type(void **state) {
  (void)state;
  Arena *arena = arena_create();
  assert_true(far_product(arena, DTYPE_F32, 1e30, -1e30) == -INFINITY);
  assert_true(far_product(arena, DTYPE_F64, 1e30, -1e30) == 1e30 * -1e30);
  assert_true(far_product(arena, DTYPE_F32, 1e-30, 1e-30) == 0);
  assert_true(far_product(arena, DTYPE_F32, 1e30, 4) == (float)4e30);
  assert_true(isnan(far_product(arena, DTYPE_F32, 1e30, 3.4e8))); /* at the end of the range */
  assert_true(isnan(far_product(arena, DTYPE_F32, 1e-30, 1e-9))); /* subnormal */
  arena_destroy(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(gap_of_a_case_holds_in_scans),
                                     cmocka_unit_test(far_values_are_rounded_to_their_type)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
