/* The operators: values against NumPy's (op_goldens.h), reasons of the type rules, Philox against
 * its published vectors, costs and the table. Gradients are test_gradients.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "build_graph.h"
#include "ops/number.h"
#include "support/hash.h"

enum { MOST_OPERANDS = 7 };

typedef struct GoldenTensor {
  Type type;
  const double *data;
} GoldenTensor;

typedef struct Golden {
  Op op;
  const char *remark;
  int operand_count;
  GoldenTensor operands[MOST_OPERANDS];
  int attribute_count;
  Attribute attributes[8];
  GoldenTensor expected;
} Golden;

#include "op_goldens.h"

enum { GOLDENS = sizeof goldens / sizeof *goldens };

/* ---- values ---- */

static bool same_number(double a, double b) {
  if (isnan(a) || isnan(b)) return isnan(a) && isnan(b);
  if (isinf(a) || isinf(b)) return a == b;
  return fabs(a - b) <= 1e-12 * fmax(1, fabs(b));
}

static void check_golden(const Golden *golden) {
  Arena *arena = arena_create();
  Graph *graph = graph_create(arena, "golden");
  Node *operands[MOST_OPERANDS];
  Binding bindings[MOST_OPERANDS];
  for (int i = 0; i < golden->operand_count; i++) {
    const char *name = name_printf("x%d", i);
    Type type = golden->operands[i].type;
    operands[i] = leaf(graph, OP_INPUT, type, name);
    bindings[i] = (Binding){OP_INPUT, name, tensor_of(arena, type, golden->operands[i].data)};
  }
  bool is_leaf = golden->operand_count == 0;
  Node *node = is_leaf
                   ? make_leaf(&(Maker){graph, (Span){0}, "y"}, golden->op, golden->expected.type,
                               golden->attribute_count, golden->attributes)
                   : make_node(&(Maker){graph, (Span){0}, "y"}, golden->op, golden->operand_count,
                               operands, golden->attribute_count, golden->attributes);
  if (!type_equal(node->type, golden->expected.type))
    fail_msg("%s (%s): the type is not as expected", op_info(golden->op)->name, golden->remark);
  add_output(graph, OUTPUT_RESULT, "y", node);
  EvaluateContext context = {0};
  Evaluation *evaluation = graph_evaluate(arena, graph, golden->operand_count, bindings, &context);
  const Tensor *result = evaluation_output(evaluation, 0);
  for (int64_t i = 0; i < shape_elements(node->type.shape); i++)
    if (!same_number(result->data[i], golden->expected.data[i]))
      fail_msg("%s (%s): element %lld is %.17g, not %.17g", op_info(golden->op)->name,
               golden->remark, (long long)i, result->data[i], golden->expected.data[i]);
  arena_destroy(arena);
}

static void test_values(void **state) {
  (void)state;
  for (int i = 0; i < GOLDENS; i++) check_golden(&goldens[i]);
}

/* Random operators have tests of their own, and what is its first operand (own_gradient: test_differentiate.c,
 * check_index: tests/indices); everything else that evaluates has a golden value. */
static void test_every_operator_has_a_value(void **state) {
  (void)state;
  for (int op = 0; op < OP_COUNT; op++) {
    const OpClass *class = op_info((Op)op)->class;
    bool found = !class->evaluate || class->draw || class->is_alias ||
                 class->family == FAMILY_EXTERN; /* tests/extern */
    for (int i = 0; i < GOLDENS && !found; i++) found = goldens[i].op == (Op)op;
    if (!found) fail_msg("%s has no golden value", op_info((Op)op)->name);
  }
}

/* Folding asks for one element; it must be what evaluation gives. */
static void test_scalars_are_what_evaluation_gives(void **state) {
  (void)state;
  for (int i = 0; i < GOLDENS; i++) {
    const Golden *golden = &goldens[i];
    if (!op_is_elementwise(golden->op)) continue;
    Arena *arena = arena_create();
    Graph *graph = graph_create(arena, "golden");
    Node *operands[MOST_OPERANDS];
    for (int k = 0; k < golden->operand_count; k++)
      operands[k] = leaf(graph, OP_INPUT, golden->operands[k].type, "x");
    Node *node = make_node(&(Maker){graph, (Span){0}, "y"}, golden->op, golden->operand_count,
                           operands, golden->attribute_count, golden->attributes);
    for (int64_t e = 0; e < shape_elements(node->type.shape); e++) {
      double x[3];
      for (int k = 0; k < golden->operand_count; k++) x[k] = golden->operands[k].data[e];
      assert_true(same_number(node_scalar(node, x), golden->expected.data[e]));
    }
    arena_destroy(arena);
  }
}

/* a op b == b op a for all golden operands of operators that say so. */
static void test_commuting_operators_commute(void **state) {
  (void)state;
  for (int i = 0; i < GOLDENS; i++) {
    Golden swapped = goldens[i];
    if (!op_info(swapped.op)->class->commutes) continue;
    swapped.operands[0] = goldens[i].operands[1];
    swapped.operands[1] = goldens[i].operands[0];
    check_golden(&swapped);
  }
}

/* ---- reasons ---- */

typedef struct Refusal {
  Op op;
  int operand_count;
  Type operands[MOST_OPERANDS];
  int attribute_count;
  Attribute attributes[6];
  const char *reason;
} Refusal;

#define T(dtype, ...)                                                                              \
  {                                                                                                \
    DTYPE_##dtype, {                                                                               \
      sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), { __VA_ARGS__ }                          \
    }                                                                                              \
  }
#define SCALAR_OF(dtype)                                                                           \
  {                                                                                                \
    DTYPE_##dtype, {                                                                               \
      0, { 0 }                                                                                     \
    }                                                                                              \
  }
#define MATRIX NO_INTS(BATCH_LEFT), NO_INTS(BATCH_RIGHT)
#define PLAIN INTS(STRIDE, 1), INTS(LOW, 0), INTS(HIGH, 0), INTS(DILATION, 1)

static const Refusal refusals[] = {
    {OP_ADD, 2, {T(F32, 2, 3), T(F32, 3)}, 0, {{0}}, "operands have shapes [2, 3] and [3]"},
    {OP_ADD, 2, {T(F32, 2), T(F64, 2)}, 0, {{0}}, "operands have types f32 and f64"},
    {OP_ADD,
     2,
     {T(U8, 2), T(U8, 2)},
     0,
     {{0}},
     "operand 1 has type u8 but add takes a float, i64 or i32"},
    {OP_DIV, 2, {T(I32, 2), T(I32, 2)}, 0, {{0}}, "operand 1 has type i32 but div takes a float"},
    {OP_EXP, 1, {T(I64, 2)}, 0, {{0}}, "operand 1 has type i64 but exp takes a float"},
    {OP_AND, 2, {T(I32, 2), T(I32, 2)}, 0, {{0}}, "operand 1 has type i32 but and takes bool"},
    {OP_LT, 2, {T(BOOL, 2), T(BOOL, 2)}, 0, {{0}}, "operand 1 has type bool but lt takes a number"},
    {OP_WHERE,
     3,
     {T(F32, 2), T(F32, 2), T(F32, 2)},
     0,
     {{0}},
     "operand 1 has type f32 but where takes bool"},
    {OP_WHERE,
     3,
     {T(BOOL, 2), T(F32, 2), T(I32, 2)},
     0,
     {{0}},
     "the two sides are f32[2] and i32[2]"},
    {OP_WHERE,
     3,
     {T(BOOL, 3), T(F32, 2), T(F32, 2)},
     0,
     {{0}},
     "the condition has shape [3] and the sides [2]"},
    {OP_CAST, 1, {T(F32, 2)}, 0, {{0}}, "the attribute 'dtype' is missing"},
    {OP_CAST, 1, {T(F32, 2)}, 1, {INT(DTYPE, 99)}, "there is no type number 99"},
    {OP_REDUCE_SUM,
     1,
     {T(F32, 2)},
     1,
     {INTS(AXES, 1)},
     "'axes' names axis 1 of a tensor with 1 axes"},
    {OP_REDUCE_SUM,
     1,
     {T(F32, 2, 2)},
     1,
     {INTS(AXES, 1, 0)},
     "the axes of 'axes' are not increasing"},
    {OP_REDUCE_MAX,
     1,
     {T(F32, 2, 0)},
     1,
     {INTS(AXES, 1)},
     "reduce_max of [2, 0] is over no elements"},
    {OP_REDUCE_MEAN, 1, {T(F32, 0)}, 1, {INTS(AXES, 0)}, "reduce_mean of [0] is over no elements"},
    {OP_ARGMAX, 1, {T(F32, 0)}, 1, {INT(AXIS, 0)}, "argmax of [0] is over no elements"},
    {OP_ARGMIN, 1, {T(F32, 2)}, 1, {INT(AXIS, -1)}, "axis -1 is outside a tensor with 1 axes"},
    {OP_RESHAPE, 1, {T(F32, 2, 3)}, 1, {INTS(SHAPE, 4)}, "[2, 3] has 6 elements but [4] has 4"},
    {OP_RESHAPE, 1, {T(F32, 6)}, 1, {INTS(SHAPE, -1, 6)}, "extent 0 of the shape is -1"},
    {OP_TRANSPOSE,
     1,
     {T(F32, 2, 3)},
     1,
     {INTS(PERMUTATION, 0, 0)},
     "the axes of 'permutation' are not distinct"},
    {OP_TRANSPOSE,
     1,
     {T(F32, 2, 3)},
     1,
     {INTS(PERMUTATION, 0)},
     "a permutation of 1 axes is applied to [2, 3]"},
    {OP_BROADCAST,
     1,
     {T(F32, 1)},
     2,
     {INTS(SHAPE, 4), INTS(AXES, 0)},
     "axis 0 of [1] does not match axis 0 of [4]"},
    {OP_SLICE,
     1,
     {T(F32, 4)},
     3,
     {INTS(START, 1), INTS(STOP, 5), INTS(STEP, 1)},
     "1:5:1 is outside axis 0 of [4]"},
    {OP_SLICE,
     1,
     {T(F32, 4)},
     3,
     {INTS(START, 1), INTS(STOP, 3), INTS(STEP, 0)},
     "the step along axis 0 is 0"},
    {OP_PAD,
     1,
     {T(F32, 4)},
     4,
     {INTS(LOW, -1), INTS(HIGH, 0), INTS(STEP, 1), REAL(VALUE, 0)},
     "entry 0 of 'low' is -1 but must be at least 0"},
    {OP_CONCAT,
     2,
     {T(F32, 2, 3), T(F32, 3, 3)},
     1,
     {INT(AXIS, 1)},
     "shapes [2, 3] and [3, 3] differ in more than axis 1"},
    {OP_CONTRACT,
     2,
     {T(F32, 100, 784), T(F32, 512, 10)},
     4,
     {MATRIX, INTS(SUM_LEFT, 1), INTS(SUM_RIGHT, 0)},
     "axis 1 of [100, 784] does not match axis 0 of [512, 10]"},
    {OP_CONTRACT,
     2,
     {T(F32, 2, 2), T(F32, 2, 2)},
     4,
     {INTS(BATCH_LEFT, 0), INTS(BATCH_RIGHT, 0), INTS(SUM_LEFT, 0), INTS(SUM_RIGHT, 1)},
     "axis 0 is in both 'batch_left' and 'sum_left'"},
    {OP_CONV,
     2,
     {T(F32, 1, 3, 8), T(F32, 4, 2, 3)},
     5,
     {PLAIN, INT(GROUPS, 1)},
     "w [4, 2, 3] has 2 input channels where x [1, 3, 8] gives 3 a group"},
    {OP_CONV,
     2,
     {T(F32, 1, 3, 8), T(F32, 4, 3, 3)},
     5,
     {PLAIN, INT(GROUPS, 2)},
     "3 input and 4 output channels do not fall into 2 groups"},
    {OP_CONV,
     2,
     {T(F32, 1, 1, 2), T(F32, 1, 1, 3)},
     5,
     {PLAIN, INT(GROUPS, 1)},
     "a window of 3 (dilation 1) does not fit into 2 elements with padding 0 and 0 along spatial "
     "axis 0"},
    {OP_CONV_INPUT,
     2,
     {T(F32, 1, 1, 5), T(F32, 1, 1, 3)},
     6,
     {PLAIN, INT(GROUPS, 1), INTS(SHAPE, 1, 1, 6)},
     "dy has shape [1, 1, 5] but x [1, 1, 6] and w [1, 1, 3] give [1, 1, 4]"},
    {OP_MAX_POOL,
     1,
     {T(F32, 1, 1, 4)},
     5,
     {INTS(KERNEL, 2), INTS(STRIDE, 2), INTS(LOW, 2), INTS(HIGH, 0), INTS(DILATION, 1)},
     "window 0 along spatial axis 0 lies in the padding"},
    {OP_MAX_POOL,
     1,
     {T(F32, 1, 4)},
     5,
     {INTS(KERNEL, 2), PLAIN},
     "x has shape [1, 4] where [n, c] and 1 spatial axes are needed"},
    {OP_GATHER,
     2,
     {T(F32, 4), T(F32, 2)},
     0,
     {{0}},
     "operand 2 has type f32 but gather takes an integer"},
    {OP_GATHER, 2, {SCALAR_OF(F32), T(I32, 2)}, 0, {{0}}, "the table is a scalar"},
    {OP_GATHER,
     2,
     {T(F32, 0, 3), T(I32, 2)},
     0,
     {{0}},
     "axis 0 of [0, 3] has no elements to index"},
    {OP_SCATTER_ADD,
     2,
     {T(F32, 2, 4), T(I32, 2)},
     1,
     {INTS(SHAPE, 5, 3)},
     "values [2, 4] are not one row of [5, 3] for each index of [2]"},
    {OP_PICK,
     2,
     {T(F32, 2, 3), T(I32, 3)},
     1,
     {INT(AXIS, 1)},
     "the index has shape [3] where [2, 3] without axis 1 is needed"},
    {OP_ARGSORT, 1, {SCALAR_OF(F32)}, 1, {INT(DESCENDING, 0)}, "the operand is a scalar"},
    {OP_ATTENTION,
     3,
     {T(F32, 1, 2, 3, 4), T(F32, 1, 2, 5, 4), T(F32, 1, 2, 6, 4)},
     1,
     {REAL(SCALE, 1.0)},
     "operand 3 has shape [1, 2, 6, 4], and axis 2 is 5 elsewhere"},
    {OP_ATTENTION,
     3,
     {T(F32, 2, 3, 4), T(F32, 2, 5, 4), T(F32, 2, 5, 4)},
     1,
     {REAL(SCALE, 1.0)},
     "operand 1 has shape [2, 3, 4] where 4 axes are needed"},
    {OP_ATTENTION,
     3,
     {T(F32, 1, 2, 3, 4), T(F64, 1, 2, 5, 4), T(F32, 1, 2, 5, 4)},
     1,
     {REAL(SCALE, 1.0)},
     "operand 2 has type f64, not f32"},
    {OP_ATTENTION,
     4,
     {T(F32, 1, 2, 3, 4), T(F32, 1, 2, 5, 4), T(F32, 1, 2, 5, 4), T(I32, 1, 2, 3, 5)},
     1,
     {REAL(SCALE, 1.0)},
     "operand 4 has type i32 but attention takes a float or bool"},
    {OP_ATTENTION_LSE,
     2,
     {T(F32, 1, 2, 3, 4), T(F32, 1, 2, 5, 4)},
     3,
     {INT(DTYPE, DTYPE_F32), REAL(SCALE, 1.0), INT(CAUSAL, 2)},
     "'causal' is neither 0 nor 1"},
    {OP_ATTENTION_LSE,
     2,
     {T(F32, 1, 2, 3, 4), T(F32, 1, 2, 5, 4)},
     2,
     {INT(DTYPE, DTYPE_I32), REAL(SCALE, 1.0)},
     "'dtype' is no float"},
    {OP_GRADIENT,
     2,
     {T(F32, 2), T(F32, 3)},
     0,
     {{0}},
     "the loss has shape [2] where a scalar is needed"},
};

static void test_type_rules_give_reasons(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
    const Refusal *refusal = &refusals[i];
    Arena *arena = arena_create();
    Graph *graph = graph_create(arena, "refused");
    Node *operands[MOST_OPERANDS];
    for (int k = 0; k < refusal->operand_count; k++)
      operands[k] = leaf(graph, OP_INPUT, refusal->operands[k], "x");
    Node *node = graph_add(graph, &(Node){.op = refusal->op,
                                          .type = type_scalar(DTYPE_F32),
                                          .operand_count = refusal->operand_count,
                                          .operands = operands,
                                          .attribute_count = refusal->attribute_count,
                                          .attributes = (Attribute *)refusal->attributes,
                                          .path = "y"});
    const char *reason = NULL;
    Type type;
    assert_false(node_infer(arena, node, &type, &reason));
    assert_string_equal(reason, refusal->reason);
    arena_destroy(arena);
  }
}

static void test_constants_fit_their_type(void **state) {
  (void)state;
  const struct {
    DType dtype;
    double value;
    bool fits;
  } constants[] = {{DTYPE_U8, 255, true},
                   {DTYPE_U8, 256, false},
                   {DTYPE_U8, -1, false},
                   {DTYPE_I32, -2147483648.0, true},
                   {DTYPE_I32, 2147483648.0, false},
                   {DTYPE_I32, 0.5, false},
                   {DTYPE_I64, 9007199254740992.0, true},
                   {DTYPE_I64, NAN, false},
                   {DTYPE_BOOL, 1, true},
                   {DTYPE_BOOL, 2, false},
                   {DTYPE_F32, NAN, true}};
  for (size_t i = 0; i < sizeof constants / sizeof *constants; i++) {
    Arena *arena = arena_create();
    Maker maker = maker_of(graph_create(arena, "constants"), "c");
    Node *node = make_constant(&maker, type_scalar(constants[i].dtype), constants[i].value);
    const char *reason = NULL;
    Type type;
    assert_int_equal(node_infer(arena, node, &type, &reason), constants[i].fits);
    arena_destroy(arena);
  }
}

/* ---- random numbers ---- */

/* Random123's kat_vectors, philox4x32 with 10 rounds. */
static void test_philox_known_answers(void **state) {
  (void)state;
  const struct {
    uint32_t counter[4], key[2], word[4];
  } answers[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}};
  for (int i = 0; i < 3; i++) {
    PhiloxBlock block;
    memcpy(block.word, answers[i].counter, sizeof block.word);
    block = philox(block, answers[i].key[0], answers[i].key[1]);
    assert_memory_equal(block.word, answers[i].word, sizeof block.word);
  }
}

/* http://www.isthe.com/chongo/tech/comp/fnv: test vectors of FNV-1a, 64 bits. */
static void test_hash_known_answers(void **state) {
  (void)state;
  assert_true(hash_text("") == 0xcbf29ce484222325u);
  assert_true(hash_text("a") == 0xaf63dc4c8601ec8cu);
  assert_true(hash_text("foobar") == 0x85944171f73967e8u);
}

static const Tensor *random_values(Arena *arena, Op op, Type type, const char *key, int64_t stream,
                                   EvaluateContext context) {
  Graph *graph = graph_create(arena, "random");
  Attribute attributes[2] = {attr_make_int(ATTR_STREAM, stream), attr_make_string(ATTR_KEY, key)};
  Node *node = make_leaf(&(Maker){graph, (Span){0}, "r"}, op, type, 2, attributes);
  add_output(graph, OUTPUT_RESULT, "r", node);
  return evaluation_output(graph_evaluate(arena, graph, 0, NULL, &context), 0);
}

static void test_random_numbers_are_as_documented(void **state) {
  (void)state;
  Arena *arena = arena_create();
  EvaluateContext context = {.seed = 42, .step = 3};
  Type floats = type_make(DTYPE_F64, SHAPE(7)), ints = type_make(DTYPE_I64, SHAPE(7));
  const Tensor *bits = random_values(arena, OP_RANDOM_BITS, ints, "drop.1", 2, context);
  const Tensor *uniform = random_values(arena, OP_RANDOM_UNIFORM, floats, "drop.1", 2, context);
  const Tensor *normal = random_values(arena, OP_RANDOM_NORMAL, floats, "drop.1", 2, context);
  uint64_t key = philox_key(42, hash_text("drop.1"));
  for (int i = 0; i < 7; i++) {
    PhiloxBlock counter = {{(uint32_t)i / 4, 0, 3, 2}};
    PhiloxBlock block = philox(counter, (uint32_t)key, (uint32_t)(key >> 32));
    uint32_t word = block.word[i % 4], first = block.word[i % 4 / 2 * 2];
    uint32_t second = block.word[i % 4 / 2 * 2 + 1];
    double radius = sqrt(-2 * log(((first >> 8) + 1) / 16777216.0));
    double angle = 2 * acos(-1) * (second >> 8) / 16777216.0;
    assert_true(bits->data[i] == word);
    assert_true(uniform->data[i] == (word >> 8) / 16777216.0);
    assert_true(same_number(normal->data[i], radius * (i % 2 ? sin(angle) : cos(angle))));
  }
  arena_destroy(arena);
}

/* A batch drawn as a whole, and example by example, is the same. */
static void test_random_numbers_follow_the_example(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Type batch = type_make(DTYPE_F64, SHAPE(4, 3)), one = type_make(DTYPE_F64, SHAPE(1, 3));
  const Tensor *whole = random_values(arena, OP_RANDOM_NORMAL, batch, "k", 0,
                                      (EvaluateContext){.seed = 1, .example_offset = 10});
  for (int e = 0; e < 4; e++) {
    const Tensor *single =
        random_values(arena, OP_RANDOM_NORMAL, one, "k", 0,
                      (EvaluateContext){.seed = 1, .example_offset = 10 + (uint64_t)e});
    assert_memory_equal(single->data, whole->data + 3 * e, 3 * sizeof(double));
  }
  arena_destroy(arena);
}

/* Mean and variance of many numbers; different seeds, steps, keys and streams differ. */
static void test_random_numbers_are_plausible(void **state) {
  (void)state;
  Arena *arena = arena_create();
  enum { N = 40000 };
  Type type = type_make(DTYPE_F64, SHAPE(N));
  const Tensor *normal =
      random_values(arena, OP_RANDOM_NORMAL, type, "k", 0, (EvaluateContext){.seed = 1});
  double sum = 0, squares = 0, uniform_sum = 0;
  for (int i = 0; i < N; i++) sum += normal->data[i], squares += normal->data[i] * normal->data[i];
  assert_true(fabs(sum / N) < 0.02 && fabs(squares / N - 1) < 0.03);
  const EvaluateContext contexts[] = {{.seed = 1}, {.seed = 2}, {.seed = 1, .step = 1}};
  double first[5];
  for (int i = 0; i < 5; i++) {
    const Tensor *u = random_values(arena, OP_RANDOM_UNIFORM, type, i == 3 ? "l" : "k", i == 4,
                                    contexts[i < 3 ? i : 0]);
    first[i] = u->data[0];
    for (int k = 0; k < N; k++) uniform_sum += u->data[k];
    for (int k = 0; k < i; k++) assert_true(first[k] != first[i]);
  }
  assert_true(fabs(uniform_sum / (5 * N) - 0.5) < 0.005);
  arena_destroy(arena);
}

/* ---- the table ---- */

static void test_table(void **state) {
  (void)state;
  for (int i = 0; i < OP_COUNT; i++) {
    Op op = OP_COUNT;
    const OpInfo *info = op_info((Op)i);
    assert_true(op_parse(info->name, &op));
    assert_int_equal(op, i);
    assert_non_null(info->class->infer);
    bool is_bound = info->class->leaf != LEAF_NONE && info->class->leaf != LEAF_CONSTANT;
    bool is_special = info->class->family == FAMILY_SPECIAL;
    bool is_scan = i == OP_SCAN || i == OP_SCAN_RESULT; /* the interpreter runs bodies itself */
    bool evaluates = info->class->evaluate || info->class->draw;
    assert_int_equal(!evaluates, is_bound || is_special || is_scan);
    if (op_is_elementwise((Op)i) && (Op)i != OP_CAST) assert_non_null(info->class->scalar);
  }
  Op op;
  assert_false(op_parse("no such operator", &op));
}

static void test_costs(void **state) {
  (void)state;
  Arena *arena = arena_create();
  Graph *graph = graph_create(arena, "costs");
  Maker maker = maker_of(graph, "y");
  Node *x = leaf(graph, OP_INPUT, type_make(DTYPE_F32, SHAPE(100, 784)), "x");
  Node *w = leaf(graph, OP_PARAM, type_make(DTYPE_F32, SHAPE(784, 1000)), "w");
  Node *y = make_contract(&maker, x, w, &(ContractAxes){.sum_count = 1, .sum_left = {1}});
  assert_true(node_cost(y).flops == 2.0 * 100 * 784 * 1000);
  assert_true(node_cost(y).bytes == 4.0 * (100 * 784 + 784 * 1000 + 100 * 1000));
  assert_true(node_cost(x).bytes == 0);
  Node *sum = make_add(&maker, y, y);
  assert_true(node_cost(sum).flops == 100 * 1000 && node_cost(sum).bytes == 3 * 4 * 100 * 1000);
  Node *image = leaf(graph, OP_INPUT, type_make(DTYPE_F32, SHAPE(2, 3, 8, 8)), "image");
  Node *kernel = leaf(graph, OP_PARAM, type_make(DTYPE_F32, SHAPE(16, 3, 3, 3)), "kernel");
  Attribute same[] = {INTS(STRIDE, 1, 1), INTS(LOW, 1, 1), INTS(HIGH, 1, 1), INTS(DILATION, 1, 1),
                      INT(GROUPS, 1)};
  Node *conv =
      make_node(&(Maker){graph, (Span){0}, "y"}, OP_CONV, 2, (Node *[]){image, kernel}, 5, same);
  double flops = 2.0 * 2 * 16 * 8 * 8 * 27;
  assert_true(node_cost(conv).flops == flops);
  assert_true(
      node_cost(make_like(&maker, OP_CONV_INPUT, conv, kernel, conv, &image->type.shape)).flops ==
      flops);
  assert_true(
      node_cost(make_like(&maker, OP_CONV_WEIGHT, image, conv, conv, &kernel->type.shape)).flops ==
      flops);
  arena_destroy(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values),
      cmocka_unit_test(test_every_operator_has_a_value),
      cmocka_unit_test(test_scalars_are_what_evaluation_gives),
      cmocka_unit_test(test_commuting_operators_commute),
      cmocka_unit_test(test_type_rules_give_reasons),
      cmocka_unit_test(test_constants_fit_their_type),
      cmocka_unit_test(test_philox_known_answers),
      cmocka_unit_test(test_hash_known_answers),
      cmocka_unit_test(test_random_numbers_are_as_documented),
      cmocka_unit_test(test_random_numbers_follow_the_example),
      cmocka_unit_test(test_random_numbers_are_plausible),
      cmocka_unit_test(test_table),
      cmocka_unit_test(test_costs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
