/* Every gradient rule against central differences, first and second derivatives. The table below
 * must have a case for every operator with a rule. What the pass promises is test_differentiate.c.
 * */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "build_graph.h"
#include "passes/pass.h"

enum { MOST_OPERANDS = 7, MOST_ATTRIBUTES = 8 };

typedef struct OperandSpec {
  DType dtype;
  int rank;
  int64_t dim[MAX_RANK];
  double low, high; /* both 0: -1 ... 1 */
  bool is_distinct; /* elements differ by far more than the steps of the differences */
} OperandSpec;

typedef struct Case {
  Op op;
  OperandSpec operands[MOST_OPERANDS];
  Attribute attributes[MOST_ATTRIBUTES];
  const char *remark;
} Case;

#define F(...)                                                                                     \
  { DTYPE_F64, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), {__VA_ARGS__}, 0, 0, false }
#define DISTINCT(...)                                                                              \
  { DTYPE_F64, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), {__VA_ARGS__}, 0, 0, true }
#define FR(low, high, ...)                                                                         \
  { DTYPE_F64, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), {__VA_ARGS__}, low, high, false }
#define I(type, high, ...)                                                                         \
  {                                                                                                \
    DTYPE_##type, sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), {__VA_ARGS__}, 0, high,      \
        false                                                                                      \
  }
#define WINDOW(s, l, h, d) INTS(STRIDE, s), INTS(LOW, l), INTS(HIGH, h), INTS(DILATION, d)
#define TWO(a, b) a, b

#define ADJOINT(b, h, q, k, d, e)                                                                  \
  F(b, h, q, d), F(b, h, k, d), F(b, h, k, e), F(b, h, q, e), FR(0.5, 1, b, h, q, 2), F(b, h, q)

static const Case cases[] = {
    {OP_NEG, {F(2, 3)}, {{0}}, ""},
    {OP_ABS, {FR(0.1, 2, 5)}, {{0}}, "positive"},
    {OP_ABS, {FR(-2, -0.1, 5)}, {{0}}, "negative"},
    {OP_EXP, {F(2, 3)}, {{0}}, ""},
    {OP_EXPM1, {F(4)}, {{0}}, ""},
    {OP_EXPM1, {FR(-1e-3, 1e-3, 4)}, {{0}}, "near 0"},
    {OP_LOG, {FR(0.2, 3, 2, 2)}, {{0}}, ""},
    {OP_LOG1P, {FR(-0.5, 2, 4)}, {{0}}, ""},
    {OP_SQRT, {FR(0.3, 3, 4)}, {{0}}, ""},
    {OP_RSQRT, {FR(0.3, 3, 4)}, {{0}}, ""},
    {OP_SIN, {FR(-3, 3, 5)}, {{0}}, ""},
    {OP_COS, {FR(-3, 3, 5)}, {{0}}, ""},
    {OP_TAN, {F(5)}, {{0}}, ""},
    {OP_TANH, {FR(-2, 2, 5)}, {{0}}, ""},
    {OP_SIGMOID, {FR(-4, 4, 6)}, {{0}}, ""},
    {OP_ERF, {FR(-2, 2, 6)}, {{0}}, ""},
    {OP_ADD, {F(2, 3), F(2, 3)}, {{0}}, ""},
    {OP_SUB, {F(2, 3), F(2, 3)}, {{0}}, ""},
    {OP_MUL, {F(2, 3), F(2, 3)}, {{0}}, ""},
    {OP_DIV, {F(4), FR(0.5, 2, 4)}, {{0}}, ""},
    {OP_DIV, {F(4), FR(-2, -0.5, 4)}, {{0}}, "negative divisor"},
    {OP_MOD, {FR(0.1, 0.4, 3), FR(0.5, 0.9, 3)}, {{0}}, "quotient 0"},
    {OP_MOD, {FR(2.1, 2.4, 3), FR(0.9, 1, 3)}, {{0}}, "quotient 2"},
    {OP_MOD, {FR(0.1, 0.4, 3), FR(-0.9, -0.5, 3)}, {{0}}, "quotient -1"},
    {OP_POW, {FR(0.3, 2, 5), F(5)}, {{0}}, ""},
    {OP_MIN, {FR(0, 1, 4), FR(2, 3, 4)}, {{0}}, "left"},
    {OP_MIN, {FR(2, 3, 4), FR(0, 1, 4)}, {{0}}, "right"},
    {OP_MAX, {FR(0, 1, 4), FR(2, 3, 4)}, {{0}}, "right"},
    {OP_MAX, {FR(2, 3, 4), FR(0, 1, 4)}, {{0}}, "left"},
    {OP_WHERE, {I(BOOL, 2, 3, 3), F(3, 3), F(3, 3)}, {{0}}, ""},
    {OP_CAST, {F(3)}, {INT(DTYPE, DTYPE_F32)}, "to f32"},
    {OP_REDUCE_SUM, {F(2, 3, 4)}, {INTS(AXES, 1)}, "middle"},
    {OP_REDUCE_SUM, {F(2, 3)}, {INTS(AXES, 0, 1)}, "all"},
    {OP_REDUCE_SUM, {F(2, 3)}, {NO_INTS(AXES)}, "none"},
    {OP_REDUCE_MEAN, {F(2, 3, 4)}, {INTS(AXES, 0, 2)}, ""},
    {OP_REDUCE_MAX, {DISTINCT(2, 5)}, {INTS(AXES, 1)}, "last"},
    {OP_REDUCE_MAX, {DISTINCT(3, 2, 4)}, {INTS(AXES, 0, 2)}, "outer"},
    {OP_REDUCE_MAX, {DISTINCT(3, 2)}, {INTS(AXES, 0, 1)}, "all"},
    {OP_REDUCE_MIN, {DISTINCT(3, 4)}, {INTS(AXES, 0)}, "first"},
    {OP_REDUCE_MIN, {DISTINCT(2, 3, 2)}, {INTS(AXES, 1)}, "middle"},
    {OP_REDUCE_PROD, {F(3, 5)}, {INTS(AXES, 1)}, ""},
    {OP_REDUCE_PROD, {F(4, 2, 2)}, {INTS(AXES, 0, 1)}, "two axes"},
    {OP_REDUCE_PROD, {F(4)}, {INTS(AXES, 0)}, "four"},
    {OP_REDUCE_PROD, {F(6)}, {INTS(AXES, 0)}, "six"},
    {OP_REDUCE_PROD, {F(1, 2)}, {INTS(AXES, 0)}, "one element"},
    {OP_RESHAPE, {F(2, 6)}, {INTS(SHAPE, 3, 4)}, ""},
    {OP_TRANSPOSE, {F(2, 3, 4)}, {INTS(PERMUTATION, 2, 0, 1)}, ""},
    {OP_BROADCAST, {F(3)}, {INTS(SHAPE, 2, 3, 2), INTS(AXES, 1)}, ""},
    {OP_BROADCAST,
     {{DTYPE_F64, 0, {0}, 0, 0, false}},
     {INTS(SHAPE, 2, 2), NO_INTS(AXES)},
     "scalar"},
    {OP_SLICE, {F(5, 6)}, {INTS(START, 1, 0), INTS(STOP, 4, 6), INTS(STEP, 1, 2)}, ""},
    {OP_SLICE, {F(5, 7)}, {INTS(START, 4, 5), INTS(STOP, -1, 0), INTS(STEP, -1, -2)}, "down"},
    {OP_SLICE, {F(5, 3)}, {INTS(START, 2, 0), INTS(STOP, 2, 3), INTS(STEP, 1, 1)}, "empty"},
    {OP_PAD,
     {F(2, 3)},
     {INTS(LOW, 1, 0), INTS(HIGH, 0, 2), INTS(STEP, 1, 3), REAL(VALUE, 0.5)},
     ""},
    {OP_CONCAT, {F(2, 3), F(2, 1), F(2, 2)}, {INT(AXIS, 1)}, ""},
    {OP_CONTRACT,
     {F(3, 4), F(4, 2)},
     {NO_INTS(BATCH_LEFT), NO_INTS(BATCH_RIGHT), INTS(SUM_LEFT, 1), INTS(SUM_RIGHT, 0)},
     "matrix"},
    {OP_CONTRACT,
     {F(2, 3, 2, 2), F(2, 2, 4, 3)},
     {INTS(BATCH_LEFT, 1), INTS(BATCH_RIGHT, 3), INTS(SUM_LEFT, 3, 0), INTS(SUM_RIGHT, 0, 1)},
     "batch, two sums out of order"},
    {OP_CONTRACT,
     {F(2, 3, 2), F(3, 4, 2)},
     {NO_INTS(BATCH_LEFT), NO_INTS(BATCH_RIGHT), INTS(SUM_LEFT, 0, 1), INTS(SUM_RIGHT, 2, 0)},
     "two sums, the right's out of order"},
    {OP_CONTRACT,
     {F(2, 3, 2), F(3, 2)},
     {INTS(BATCH_LEFT, 2, 1), INTS(BATCH_RIGHT, 1, 0), NO_INTS(SUM_LEFT), NO_INTS(SUM_RIGHT)},
     "two batch axes, no sum"},
    {OP_CONTRACT,
     {F(3), F(2)},
     {NO_INTS(BATCH_LEFT), NO_INTS(BATCH_RIGHT), NO_INTS(SUM_LEFT), NO_INTS(SUM_RIGHT)},
     "outer"},
    {OP_CONV,
     {F(2, 2, 4, 5), F(3, 2, 3, 2)},
     {WINDOW(TWO(1, 2), TWO(1, 0), TWO(0, 1), TWO(1, 1)), INT(GROUPS, 1)},
     "stride, padding"},
    {OP_CONV, {F(1, 4, 6), F(4, 2, 2)}, {WINDOW(2, 1, 1, 2), INT(GROUPS, 2)}, "1-d, groups"},
    {OP_CONV,
     {F(1, 2, 3, 2, 3), F(2, 1, 2, 1, 2)},
     {INTS(STRIDE, 1, 1, 1), INTS(LOW, 0, 0, 1), INTS(HIGH, 0, 0, 0), INTS(DILATION, 1, 1, 1),
      INT(GROUPS, 2)},
     "3-d, depthwise"},
    {OP_CONV, {F(1, 1, 6), F(1, 1, 2)}, {WINDOW(1, -1, -2, 1), INT(GROUPS, 1)}, "cropped"},
    {OP_CONV_INPUT,
     {F(2, 3, 4, 3), F(3, 2, 3, 2)},
     {INTS(SHAPE, 2, 2, 5, 5), WINDOW(TWO(1, 2), TWO(1, 0), TWO(0, 1), TWO(1, 1)), INT(GROUPS, 1)},
     ""},
    {OP_CONV_WEIGHT,
     {F(2, 2, 5, 5), F(2, 3, 4, 3)},
     {INTS(SHAPE, 3, 2, 3, 2), WINDOW(TWO(1, 2), TWO(1, 0), TWO(0, 1), TWO(1, 1)), INT(GROUPS, 1)},
     ""},
    {OP_MAX_POOL,
     {DISTINCT(2, 2, 5, 4)},
     {INTS(KERNEL, 3, 2), WINDOW(TWO(2, 1), TWO(1, 0), TWO(1, 1), TWO(1, 1))},
     "overlapping"},
    {OP_MAX_POOL, {DISTINCT(1, 2, 7)}, {INTS(KERNEL, 3), WINDOW(2, 0, 0, 2)}, "1-d, dilated"},
    {OP_MAX_POOL_GRAD,
     {DISTINCT(1, 2, 4, 4), F(1, 2, 2, 2)},
     {INTS(KERNEL, 2, 2), WINDOW(TWO(2, 2), TWO(0, 0), TWO(0, 0), TWO(1, 1))},
     ""},
    {OP_MAX_POOL_PICK, {DISTINCT(1, 2, 5), F(1, 2, 5)}, {INTS(KERNEL, 3), WINDOW(1, 1, 1, 1)}, ""},
    {OP_SUM_POOL,
     {F(2, 1, 5, 4)},
     {INTS(KERNEL, 3, 2), WINDOW(TWO(2, 1), TWO(1, 0), TWO(1, 1), TWO(1, 1))},
     ""},
    {OP_SUM_POOL_GRAD,
     {F(2, 1, 3, 4)},
     {INTS(SHAPE, 2, 1, 5, 4), INTS(KERNEL, 3, 2),
      WINDOW(TWO(2, 1), TWO(1, 0), TWO(1, 1), TWO(1, 1))},
     ""},
    {OP_GATHER, {F(4, 3), I(I32, 4, 2, 5)}, {{0}}, ""},
    {OP_GATHER, {F(4), I(U8, 4, 3)}, {{0}}, "vector"},
    {OP_SCATTER_ADD, {F(2, 5, 3), I(I64, 4, 2, 5)}, {INTS(SHAPE, 4, 3)}, ""},
    {OP_PICK, {F(3, 4, 2), I(U8, 4, 3, 2)}, {INT(AXIS, 1)}, ""},
    {OP_PICK, {F(3, 4), I(I32, 4, 3)}, {INT(AXIS, 1)}, "last"},
    {OP_UNPICK, {F(3, 2), I(I32, 4, 3, 2)}, {INTS(SHAPE, 3, 4, 2), INT(AXIS, 1)}, ""},
    {OP_ATTENTION, {F(2, 2, 3, 2), F(2, 2, 4, 2), F(2, 2, 4, 3)}, {REAL(SCALE, 0.7)}, ""},
    {OP_ATTENTION,
     {F(1, 2, 4, 3), F(1, 2, 4, 3), F(1, 2, 4, 1)},
     {REAL(SCALE, 1.5), INT(CAUSAL, 1)},
     "causal"},
    {OP_ATTENTION,
     {F(1, 1, 3, 2), F(1, 1, 4, 2), F(1, 1, 4, 2), F(1, 1, 3, 4)},
     {REAL(SCALE, 0.7)},
     "shifted"},
    {OP_ATTENTION,
     {F(1, 1, 4, 2), F(1, 1, 3, 2), F(1, 1, 3, 2), I(BOOL, 2, 1, 1, 4, 3)},
     {REAL(SCALE, 0.7)},
     "mask"},
    {OP_ATTENTION_LSE,
     {F(2, 1, 3, 2), F(2, 1, 4, 2)},
     {INT(DTYPE, DTYPE_F64), REAL(SCALE, 0.7)},
     ""},
    {OP_ATTENTION_LSE,
     {F(1, 1, 3, 2), F(1, 1, 3, 2), F(1, 1, 3, 3)},
     {INT(DTYPE, DTYPE_F64), REAL(SCALE, -0.7), INT(CAUSAL, 1)},
     "shifted, causal"},
    {OP_ATTENTION_GRAD_Q, {ADJOINT(1, 1, 3, 2, 2, 1)}, {REAL(SCALE, 0.7)}, ""},
    {OP_ATTENTION_GRAD_Q,
     {ADJOINT(1, 1, 3, 3, 1, 2), F(1, 1, 3, 3)},
     {REAL(SCALE, 0.7), INT(CAUSAL, 1)},
     "shifted, causal"},
    {OP_ATTENTION_GRAD_KV, {ADJOINT(1, 2, 2, 3, 1, 2)}, {REAL(SCALE, 0.7)}, ""},
    {OP_ATTENTION_GRAD_KV,
     {ADJOINT(1, 1, 2, 3, 2, 1), F(1, 1, 2, 3)},
     {REAL(SCALE, 0.7), INT(CAUSAL, 1)},
     "shifted, causal"},
    {OP_ATTENTION_ROWS,
     {F(2, 1, 3, 2), F(2, 1, 4, 2), F(2, 1, 4, 3)},
     {INT(DTYPE, DTYPE_F64), REAL(SCALE, 0.7)},
     ""},
    {OP_ATTENTION_ROWS,
     {F(1, 1, 3, 2), F(1, 1, 3, 2), F(1, 1, 3, 1), F(1, 1, 3, 3)},
     {INT(DTYPE, DTYPE_F64), REAL(SCALE, -0.7), INT(CAUSAL, 1)},
     "shifted, causal"},
    {OP_ATTENTION_GRADS,
     {F(1, 1, 3, 1), F(1, 1, 2, 1), F(1, 1, 2, 2), F(1, 1, 3, 2), F(1, 1, 3, 4)},
     {REAL(SCALE, 0.7)},
     ""},
    {OP_ATTENTION_GRADS,
     {F(1, 1, 3, 1), F(1, 1, 3, 1), F(1, 1, 3, 2), F(1, 1, 3, 2), F(1, 1, 3, 4), F(1, 1, 3, 3)},
     {REAL(SCALE, 0.7), INT(CAUSAL, 1)},
     "shifted, causal"},
};

enum { CASES = sizeof cases / sizeof *cases };

/* A NAME attribute of key 0 with no string marks the end. */
static int attribute_count(const Case *c) {
  int count = 0;
  while (count < MOST_ATTRIBUTES && (c->attributes[count].key != 0 || c->attributes[count].string))
    count++;
  return count;
}

static int operand_count(const Case *c) {
  int count = 0;
  while (count < MOST_OPERANDS && (c->operands[count].rank > 0 || count == 0)) count++;
  return count;
}

/* ---- the graph of a case: loss = sum(c * y + y^2 / 2); second loss = sum of d * gradient ---- */

typedef struct Built {
  Arena *arena;
  Graph *graph;
  Node *leaves[MOST_OPERANDS];
  VEC(Binding) bindings;
} Built;

static Node *bound_leaf(Built *built, Op op, Type type, const char *name, double low, double high) {
  Tensor *value = random_tensor(built->arena, type, name, low, high);
  vec_push(built->arena, &built->bindings, ((Binding){op, name_intern(name), value}));
  return leaf(built->graph, op, type, name);
}

/* A permutation of equidistant values: 37 has no factor in common with the number of elements. */
static void spread(const Tensor *tensor) {
  int64_t count = shape_elements(tensor->type.shape);
  assert_int_not_equal(count % 37, 0);
  for (int64_t i = 0; i < count; i++)
    tensor->data[i] = (double)(i * 37 % count) / (double)count - 0.45;
}

static Node *build_loss(Built *built, const Case *c) {
  Node *operands[MOST_OPERANDS];
  int count = operand_count(c);
  for (int i = 0; i < count; i++) {
    const OperandSpec *spec = &c->operands[i];
    bool is_float = dtype_is_float(spec->dtype), fixed = spec->low != 0 || spec->high != 0;
    Type type = type_make(spec->dtype, shape_make(spec->rank, spec->dim));
    operands[i] = bound_leaf(built, is_float ? OP_PARAM : OP_INPUT, type, name_printf("p%d", i),
                             fixed ? spec->low : -1, fixed ? spec->high : 1);
    built->leaves[i] = is_float ? operands[i] : NULL;
    if (spec->is_distinct) spread(built->bindings.items[i].value);
  }
  Maker maker = maker_of(built->graph, "y");
  Node *y = make_node(&(Maker){built->graph, (Span){0}, "y"}, c->op, count, operands,
                      attribute_count(c), c->attributes);
  y = make_cast(&maker, y, DTYPE_F64);
  Node *weight = bound_leaf(built, OP_INPUT, y->type, "weight", -1, 1);
  Node *square = make_binary_value(&maker, OP_MUL, make_binary(&maker, OP_MUL, y, y), 0.5);
  return sum_all(&maker, make_add(&maker, make_binary(&maker, OP_MUL, weight, y), square));
}

static Node *build_second_loss(Built *built, Node *loss) {
  Maker maker = maker_of(built->graph, "second");
  Node *sum = make_constant(&maker, type_scalar(DTYPE_F64), 0);
  for (int i = 0; i < MOST_OPERANDS; i++) {
    if (!built->leaves[i]) continue;
    Node *gradient = gradient_of(&maker, loss, built->leaves[i]);
    Node *along = bound_leaf(built, OP_INPUT, gradient->type, name_printf("along%d", i), -1, 1);
    sum = make_add(&maker, sum, sum_all(&maker, make_binary(&maker, OP_MUL, gradient, along)));
  }
  return sum;
}

/* Output 0 is the loss, output 1 + i the gradient by operand i (or the loss again). */
static void finish_graph(Built *built, Node *loss) {
  Maker maker = maker_of(built->graph, "gradient");
  add_output(built->graph, OUTPUT_RESULT, "loss", loss);
  for (int i = 0; i < MOST_OPERANDS; i++)
    add_output(built->graph, OUTPUT_RESULT, name_printf("g%d", i),
               built->leaves[i] ? gradient_of(&maker, loss, built->leaves[i]) : loss);
  Module *module = module_of(built->arena, built->graph);
  pass_find("differentiate")->run(module, diagnostics_create(built->arena));
  built->graph = module->entries[ENTRY_TRAIN];
}

static const Node *find_leaf(const Graph *graph, const char *name) {
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (node->op == OP_PARAM && strcmp(node_string(node, ATTR_NAME), name) == 0) return node;
  }
  return NULL;
}

static double moved_loss(Evaluation *evaluation, const Node *leaf, int64_t element, double value) {
  evaluation_leaf(evaluation, leaf)->data[element] = value;
  evaluation_refresh(evaluation, leaf);
  return evaluation_output(evaluation, 0)->data[0];
}

/* Central differences at h and h / 2, extrapolated. */
static double numeric_slope(Evaluation *evaluation, const Node *leaf, int64_t element) {
  double value = evaluation_leaf(evaluation, leaf)->data[element], slope[2];
  for (int i = 0; i < 2; i++) {
    double h = (i ? 5e-4 : 1e-3) * fmin(1, fmax(fabs(value), 0.01));
    slope[i] = (moved_loss(evaluation, leaf, element, value + h) -
                moved_loss(evaluation, leaf, element, value - h)) /
               (2 * h);
  }
  moved_loss(evaluation, leaf, element, value);
  return (4 * slope[1] - slope[0]) / 3;
}

static void check_operand(const Built *built, const Case *c, int i, const char *order) {
  EvaluateContext context = {0};
  Evaluation *evaluation = graph_evaluate(built->arena, built->graph, built->bindings.count,
                                          built->bindings.items, &context);
  const Node *leaf = find_leaf(built->graph, name_printf("p%d", i));
  int64_t count = shape_elements(leaf->type.shape);
  double *expected = ARENA_ARRAY(built->arena, double, count), scale = 1e-2;
  double *given = arena_copy(built->arena, evaluation_output(evaluation, 1 + i)->data,
                             sizeof(double) * (size_t)count);
  for (int64_t k = 0; k < count; k++) {
    expected[k] = numeric_slope(evaluation, leaf, k);
    scale = fmax(scale, fabs(expected[k]));
  }
  for (int64_t k = 0; k < count; k++)
    if (!(fabs(expected[k] - given[k]) <= 1e-6 * scale))
      fail_msg("%s (%s): %s derivative by operand %d, element %lld: %.12g, differences give %.12g",
               op_info(c->op)->name, c->remark, order, i, (long long)k, given[k], expected[k]);
}

static void check_case(const Case *c, bool second) {
  Arena *arena = arena_create();
  Built built = {.arena = arena, .graph = graph_create(arena, "train")};
  Node *loss = build_loss(&built, c);
  if (second) loss = build_second_loss(&built, loss);
  finish_graph(&built, loss);
  for (int i = 0; i < MOST_OPERANDS; i++)
    if (built.leaves[i]) check_operand(&built, c, i, second ? "second" : "first");
  arena_destroy(arena);
}

static void test_first_derivatives(void **state) {
  (void)state;
  for (int i = 0; i < CASES; i++) check_case(&cases[i], false);
}

static void test_second_derivatives(void **state) {
  (void)state;
  for (int i = 0; i < CASES; i++) check_case(&cases[i], true);
}

static void test_every_rule_has_a_case(void **state) {
  (void)state;
  for (int op = 0; op < OP_COUNT; op++) {
    const OpClass *class = op_info((Op)op)->class;
    bool found = !class->gradient || class->owns_rule; /* that: test_differentiate.c */
    for (int i = 0; i < CASES && !found; i++) found = cases[i].op == (Op)op;
    if (!found) fail_msg("the gradient rule of %s has no case", op_info((Op)op)->name);
  }
}

/* ---- exact values at ties and singular points ---- */

/* The gradient of sum(op(a, b)) by a (and b) at the given values. */
static void gradient_at(Op op, int operands, int count, const double *a, const double *b,
                        double *da, double *db) {
  Arena *arena = arena_create();
  Graph *graph = graph_create(arena, "train");
  Type type = type_make(DTYPE_F64, SHAPE(count));
  Node *leaves[2] = {leaf(graph, OP_PARAM, type, "a"), leaf(graph, OP_PARAM, type, "b")};
  Maker maker = maker_of(graph, "y");
  Node *y = make_node(&(Maker){graph, (Span){0}, "y"}, op, operands, leaves, 0, NULL);
  Node *loss = sum_all(&maker, y);
  add_output(graph, OUTPUT_RESULT, "da", gradient_of(&maker, loss, leaves[0]));
  add_output(graph, OUTPUT_RESULT, "db", gradient_of(&maker, loss, leaves[1]));
  Module *module = module_of(arena, graph);
  pass_find("differentiate")->run(module, diagnostics_create(arena));
  Binding bindings[2] = {{OP_PARAM, name_intern("a"), tensor_of(arena, type, a)},
                         {OP_PARAM, name_intern("b"), tensor_of(arena, type, b ? b : a)}};
  EvaluateContext context = {0};
  Evaluation *evaluation =
      graph_evaluate(arena, module->entries[ENTRY_TRAIN], 2, bindings, &context);
  memcpy(da, evaluation_output(evaluation, 0)->data, sizeof(double) * (size_t)count);
  if (db) memcpy(db, evaluation_output(evaluation, 1)->data, sizeof(double) * (size_t)count);
  arena_destroy(arena);
}

static void expect(const char *what, int count, const double *given, const double *expected) {
  for (int i = 0; i < count; i++)
    if (!(fabs(given[i] - expected[i]) < 1e-12) && !(given[i] == expected[i]))
      fail_msg("%s: element %d is %g, not %g", what, i, given[i], expected[i]);
}

static void test_ties_share_the_gradient(void **state) {
  (void)state;
  double da[2], db[2];
  gradient_at(OP_MAX, 2, 2, (double[]){1, 3}, (double[]){1, 2}, da, db);
  expect("max da", 2, da, (double[]){0.5, 1});
  expect("max db", 2, db, (double[]){0.5, 0});
  gradient_at(OP_MIN, 2, 2, (double[]){1, 3}, (double[]){1, 2}, da, db);
  expect("min da", 2, da, (double[]){0.5, 0});
  expect("min db", 2, db, (double[]){0.5, 1});
}

static void test_singular_points_give_no_nan(void **state) {
  (void)state;
  double da[3], db[3];
  gradient_at(OP_ABS, 1, 3, (double[]){-2, 0, 2}, NULL, da, NULL);
  expect("abs", 3, da, (double[]){-1, 0, 1});
  gradient_at(OP_SQRT, 1, 2, (double[]){0, 4}, NULL, da, NULL);
  expect("sqrt", 2, da, (double[]){0, 0.25});
  gradient_at(OP_SIGMOID, 1, 2, (double[]){-800, 800}, NULL, da, NULL);
  expect("sigmoid", 2, da, (double[]){0, 0});
  gradient_at(OP_POW, 2, 3, (double[]){0, 0, 2}, (double[]){2, 0, 0}, da, db);
  expect("pow da", 3, da, (double[]){0, 0, 0});
  expect("pow db", 3, db, (double[]){0, 0, log(2)});
}

/* d/da of sum(pow(a, constant)) at a <= 0, where log(a) must play no part. */
static void test_pow_by_a_constant(void **state) {
  (void)state;
  const double exponents[] = {0, 1, 2, 3};
  const double expected[][3] = {{0, 0, 0}, {1, 1, 1}, {-2, 0, 4}, {3, 0, 12}};
  for (int i = 0; i < 4; i++) {
    Arena *arena = arena_create();
    Graph *graph = graph_create(arena, "train");
    Type type = type_make(DTYPE_F64, SHAPE(3));
    Node *a = leaf(graph, OP_PARAM, type, "a");
    Maker maker = maker_of(graph, "y");
    Node *exponent = make_broadcast(
        &maker, make_constant(&maker, type_scalar(DTYPE_F64), exponents[i]), type.shape, NULL);
    Node *loss = sum_all(&maker, make_binary(&maker, OP_POW, a, exponent));
    add_output(graph, OUTPUT_RESULT, "da", gradient_of(&maker, loss, a));
    Module *module = module_of(arena, graph);
    pass_find("differentiate")->run(module, diagnostics_create(arena));
    Binding binding = {OP_PARAM, name_intern("a"), tensor_of(arena, type, (double[]){-1, 0, 2})};
    EvaluateContext context = {0};
    Evaluation *evaluation =
        graph_evaluate(arena, module->entries[ENTRY_TRAIN], 1, &binding, &context);
    expect("pow", 3, evaluation_output(evaluation, 0)->data, expected[i]);
    arena_destroy(arena);
  }
}

/* One operand in, gradient of sum(weight * y) out, for reductions. */
static void reduction_gradient(Op op, int count, const double *x, double *dx) {
  Arena *arena = arena_create();
  Graph *graph = graph_create(arena, "train");
  Type type = type_make(DTYPE_F64, SHAPE(count));
  Node *leaf_x = leaf(graph, OP_PARAM, type, "x");
  Maker maker = maker_of(graph, "y");
  Node *y = make_reduce(&maker, op, leaf_x, 1, (int64_t[]){0});
  add_output(graph, OUTPUT_RESULT, "dx", gradient_of(&maker, y, leaf_x));
  Module *module = module_of(arena, graph);
  pass_find("differentiate")->run(module, diagnostics_create(arena));
  Binding binding = {OP_PARAM, name_intern("x"), tensor_of(arena, type, x)};
  EvaluateContext context = {0};
  Evaluation *evaluation =
      graph_evaluate(arena, module->entries[ENTRY_TRAIN], 1, &binding, &context);
  memcpy(dx, evaluation_output(evaluation, 0)->data, sizeof(double) * (size_t)count);
  arena_destroy(arena);
}

static void test_reductions_at_ties_and_zeros(void **state) {
  (void)state;
  double dx[4];
  reduction_gradient(OP_REDUCE_MAX, 4, (double[]){1, 3, 3, 2}, dx);
  expect("max", 4, dx, (double[]){0, 1, 0, 0});
  reduction_gradient(OP_REDUCE_MIN, 4, (double[]){1, 3, 1, 1}, dx);
  expect("min", 4, dx, (double[]){1, 0, 0, 0});
  reduction_gradient(OP_REDUCE_PROD, 4, (double[]){2, 0, 3, 5}, dx);
  expect("prod with a zero", 4, dx, (double[]){0, 30, 0, 0});
  reduction_gradient(OP_REDUCE_PROD, 4, (double[]){2, 0, 0, 5}, dx);
  expect("prod with two zeros", 4, dx, (double[]){0, 0, 0, 0});
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_rule_has_a_case),
      cmocka_unit_test(test_first_derivatives),
      cmocka_unit_test(test_second_derivatives),
      cmocka_unit_test(test_ties_share_the_gradient),
      cmocka_unit_test(test_singular_points_give_no_nan),
      cmocka_unit_test(test_pow_by_a_constant),
      cmocka_unit_test(test_reductions_at_ties_and_zeros),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
