/* Every rule of simplify by a golden pair, and every pass on random graphs: none may change what a
 * graph computes. */
#include "evaluate_graphs.h"
#include "mutate.h"
#include "passes/pass.h"
#include "passes/rules/rules.h"
#include "rule_cases.h"

/* ---- rules -------------------------------------------------------------------------------- */

static const char *input_type(const char *name) {
  for (size_t i = 0; i < sizeof rule_inputs / sizeof *rule_inputs; i++)
    if (strcmp(rule_inputs[i].name, name) == 0) return rule_inputs[i].type;
  fail_msg("there is no input '%s'", name);
  return NULL;
}

/* One short line, "%0 = x" or "%1 : f32[3] = 2.0" or a node without its path, in full; a line of a
 * body, or its end. */
static void add_line(Text *text, const char *line) {
  char id[16], rest[200], name[8];
  size_t length = strlen(line);
  if (*line == '}' || strstr(line, "result \"")) {
    text_printf(text, "  %s\n", line);
    return;
  }
  if (line[length - 1] == '{') {
    text_printf(text, "  %.*s\"p\" {\n", (int)length - 1, line);
    return;
  }
  if (sscanf(line, "%15s = %7s", id, name) == 2) {
    text_printf(text, "  %s : %s = input() {name = \"%s\"} \"p\"\n", id, input_type(name), name);
    return;
  }
  const char *equals = strstr(line, " = ");
  assert_non_null(equals);
  snprintf(rest, sizeof rest, "%.*s", (int)(equals - line), line);
  if (strchr("-0123456789", equals[3]))
    text_printf(text, "  %s = constant() {value = %s} \"p\"\n", rest, equals + 3);
  else text_printf(text, "  %s \"p\"\n", line);
}

/* The entry of a case, its last node as the result. */
static char *expand_case(Arena *arena, const char *lines) {
  Text text = {0};
  char *copy = arena_strdup(arena, lines), *rest = NULL, id[16] = "";
  text_add(&text, "entry predict {\n");
  for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    add_line(&text, line);
    if (*line == '%') assert_int_equal(sscanf(line, "%15s", id), 1);
  }
  text_printf(&text, "  result \"r\" = %s\n}\n", id);
  char *result = arena_strndup(arena, text.data, text.length);
  text_free(&text);
  return result;
}

static Module *read_case(Arena *arena, const char *entry) {
  Text text = {0};
  text_add(&text, "nnc_dump 1\nmodule \"m\"\n");
  for (size_t i = 0; i < sizeof rule_inputs / sizeof *rule_inputs; i++)
    text_printf(&text, "input \"%s\" : %s\n", rule_inputs[i].name, rule_inputs[i].type);
  text_add(&text, entry);
  char *errors;
  Module *module = parse_text(arena, text.data, text.length, &errors);
  if (!module) fail_msg("%s", errors);
  text_free(&text);
  return module;
}

static bool rule_fits(const RuleCase *test, const Rule *rule) {
  return test->rule && strcmp(rule->name, test->rule) == 0 && rule->op == test->op;
}

/* The named rule must itself fit some node of the graph. */
static void check_rule_applies(Arena *arena, const RuleCase *test) {
  Graph *graph = read_case(arena, expand_case(arena, test->before))->entries[ENTRY_PREDICT];
  Rewrite rewrite = {.maker = {graph, {0}, "p"}};
  int count = graph->nodes.count;
  for (int i = 0; i < rule_count; i++) {
    if (!rule_fits(test, &rule_table[i])) continue;
    for (int k = 0; k < count; k++) {
      Node *node = graph->nodes.items[k];
      if (rule_table[i].op != OP_COUNT && rule_table[i].op != node->op) continue;
      if (rule_table[i].apply(&rewrite, node)) return;
    }
  }
  fail_msg("rule %s (%s) does not fit:\n%s", test->rule,
           test->op == OP_COUNT ? "any" : op_info(test->op)->name, test->before);
}

static void check_case(const RuleCase *test) {
  Arena *arena = arena_create();
  if (test->rule) check_rule_applies(arena, test);
  const char *before = expand_case(arena, test->before);
  Module *module = read_case(arena, before);
  const Graph *original = module->entries[ENTRY_PREDICT];
  pass_simplify(module, diagnostics_create(arena));
  assert_verified(arena, module);
  const char *expected = test->after ? expand_case(arena, test->after) : before;
  assert_string_equal(print_graph(arena, module->entries[ENTRY_PREDICT]), expected);
  assert_same_results(arena, original, module->entries[ENTRY_PREDICT]);
  arena_destroy(arena);
}

static void test_each_rule_rewrites_as_it_says(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rule_cases / sizeof *rule_cases; i++) check_case(&rule_cases[i]);
}

static void test_each_rule_has_a_case(void **state) {
  (void)state;
  for (int i = 0; i < rule_count; i++) {
    bool found = false;
    for (size_t k = 0; k < sizeof rule_cases / sizeof *rule_cases; k++)
      found = found || rule_fits(&rule_cases[k], &rule_table[i]);
    if (!found) fail_msg("rule %s: %s", rule_table[i].name, rule_table[i].text);
  }
}

/* ---- random graphs ------------------------------------------------------------------------ */

/* A node of the same type as `like`, an earlier one if there is one. */
static Node *pick_like(const Maker *maker, uint64_t *seed, Type type) {
  for (int tries = 0; tries < 8; tries++) {
    Node *node = maker->graph->nodes.items[noise(seed) % (uint32_t)maker->graph->nodes.count];
    if (type_equal(node->type, type)) return node;
  }
  static const double values[] = {0, 1, -1, 2, 0.5, 3};
  return make_constant(maker, type, values[noise(seed) % (type.dtype == DTYPE_BOOL ? 2 : 6)]);
}

static Node *random_elementwise(const Maker *maker, uint64_t *seed, Node *x) {
  static const Op unary[] = {OP_NEG,   OP_ABS,  OP_SIGN,         OP_FLOOR,
                             OP_ROUND, OP_TANH, OP_STOP_GRADIENT};
  static const Op binary[] = {OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_MIN, OP_MAX, OP_POW};
  if (x->type.dtype == DTYPE_BOOL) {
    if (noise(seed) % 2) return make_unary(maker, OP_NOT, x);
    Node *y = pick_like(maker, seed, x->type);
    return make_binary(maker, noise(seed) % 2 ? OP_AND : OP_OR, x, y);
  }
  switch (noise(seed) % 4) {
  case 0: return make_unary(maker, unary[noise(seed) % 7], x);
  case 1: {
    Type condition = type_make(DTYPE_BOOL, x->type.shape);
    return make_where(maker, pick_like(maker, seed, condition), x, pick_like(maker, seed, x->type));
  }
  default: {
    Node *y = pick_like(maker, seed, x->type);
    Op op = binary[noise(seed) % 7];
    return noise(seed) % 2 ? make_binary(maker, op, x, y) : make_binary(maker, op, y, x);
  }
  }
}

static Node *random_broadcast(const Maker *maker, uint64_t *seed, Node *x) {
  Shape shape = {0};
  int64_t axes[MAX_RANK];
  for (int i = 0; i <= x->type.shape.rank; i++) {
    if (noise(seed) % 2 && shape.rank < 4) shape.dim[shape.rank++] = 1 + noise(seed) % 3;
    if (i == x->type.shape.rank) break;
    axes[i] = shape.rank;
    shape.dim[shape.rank++] = x->type.shape.dim[i];
  }
  return make_broadcast(maker, x, shape, axes);
}

static Node *random_slice(const Maker *maker, uint64_t *seed, Node *x) {
  int64_t start[MAX_RANK], stop[MAX_RANK], step[MAX_RANK];
  for (int i = 0; i < x->type.shape.rank; i++) {
    int64_t extent = x->type.shape.dim[i];
    bool down = noise(seed) % 4 == 0;
    start[i] = down ? extent - 1 : noise(seed) % (uint32_t)extent;
    stop[i] = down ? -1 : extent;
    step[i] = down ? -1 : 1 + (int)(noise(seed) % 2);
  }
  return make_slice(maker, x, start, stop, step);
}

static Node *random_movement(const Maker *maker, uint64_t *seed, Node *x) {
  Shape shape = x->type.shape;
  int rank = shape.rank, turn = rank > 0 ? (int)(noise(seed) % (uint32_t)rank) : 0;
  int64_t ints[MAX_RANK], zeros[MAX_RANK] = {0}, ones[MAX_RANK];
  for (int i = 0; i < rank; i++) {
    ints[i] = (i + turn) % rank;
    ones[i] = 1;
  }
  switch (noise(seed) % 6) {
  case 0: return make_transpose(maker, x, ints);
  case 1: return rank < 4 ? random_broadcast(maker, seed, x) : x;
  case 2: return random_slice(maker, seed, x);
  case 3: return make_pad(maker, x, rank > 0 && noise(seed) % 2 ? ones : zeros, zeros, ones, 0);
  case 4: return rank > 0 ? make_concat(maker, 2, (Node *[]){x, x}, turn) : x;
  default: return make_reshape(maker, x, SHAPE(shape_elements(shape)));
  }
}

static Node *random_reduction(const Maker *maker, uint64_t *seed, Node *x) {
  static const Op ops[] = {OP_REDUCE_SUM, OP_REDUCE_MEAN, OP_REDUCE_MAX, OP_REDUCE_MIN,
                           OP_REDUCE_PROD};
  if (x->type.shape.rank == 0 || !dtype_is_float(x->type.dtype)) return x;
  int64_t axis = noise(seed) % (uint32_t)x->type.shape.rank;
  return make_reduce(maker, ops[noise(seed) % 5], x, 1, &axis);
}

static Node *random_conversion(const Maker *maker, uint64_t *seed, Node *x) {
  static const DType dtypes[] = {DTYPE_F32, DTYPE_F64, DTYPE_BOOL};
  if (noise(seed) % 2) return make_cast(maker, x, dtypes[noise(seed) % 3]);
  return make_binary(maker, noise(seed) % 2 ? OP_EQ : OP_NE, x, pick_like(maker, seed, x->type));
}

static Node *random_node(const Maker *maker, uint64_t *seed) {
  Node *x = maker->graph->nodes.items[noise(seed) % (uint32_t)maker->graph->nodes.count];
  uint32_t kind = noise(seed) % 8;
  if (kind < 4) return random_elementwise(maker, seed, x);
  if (kind < 6) return shape_elements(x->type.shape) < 2000 ? random_movement(maker, seed, x) : x;
  return kind == 6 ? random_reduction(maker, seed, x) : random_conversion(maker, seed, x);
}

static Module *random_module(Arena *arena, uint64_t seed) {
  Module *module = module_create(arena, "m", NULL);
  Maker maker = entry_maker(module, ENTRY_PREDICT, "p");
  static const char *const names[] = {"a", "b", "c", "d"};
  const Type types[] = {TYPE(F32, 2, 3), TYPE(F32, 2, 3), TYPE(F32, 3), type_scalar(DTYPE_F32)};
  for (int i = 0; i < 4; i++) {
    add_input(module, names[i], types[i], false);
    leaf(&maker, OP_INPUT, types[i], names[i]);
  }
  for (int i = 0; i < 40; i++) random_node(&maker, &seed);
  for (int i = 0; i < 4; i++) {
    int at = maker.graph->nodes.count - 1 - (int)(noise(&seed) % 8);
    output(maker.graph, OUTPUT_RESULT, names[i], maker.graph->nodes.items[at]);
  }
  return module;
}

static int graph_count(void) {
  const char *wanted = getenv("NNC_GRAPHS");
  return wanted ? atoi(wanted) : 400;
}

/* Signs of zeros are not observed by the rules, so a division by one may differ: then the whole
 * graph is left out, and few are. */
static bool divides_by_zero(Arena *arena, const Graph *graph) {
  const Evaluation *evaluation = evaluate(arena, graph);
  const bool *live = graph_live_nodes(arena, graph);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (!live[node->id] || (node->op != OP_DIV && node->op != OP_POW)) continue;
    const Tensor *divisor = evaluation_node(evaluation, node->operands[node->op == OP_DIV]);
    for (int64_t k = 0; k < shape_elements(divisor->type.shape); k++)
      if (divisor->data[k] == 0) return true;
  }
  return false;
}

/* False when the graph is left out. */
static bool check_passes(Arena *arena, uint64_t seed) {
  Module *module = random_module(arena, seed);
  assert_verified(arena, module);
  Graph *original = module->entries[ENTRY_PREDICT];
  if (divides_by_zero(arena, original)) return false;
  Diagnostics *diagnostics = diagnostics_create(arena);
  for (int i = 0; i < pass_count; i++) {
    pass_table[i].run(module, diagnostics);
    assert_verified(arena, module);
    assert_same_results(arena, original, module->entries[ENTRY_PREDICT]);
  }
  char *errors, *printed = print_module(arena, module);
  Module *read = parse_text(arena, printed, strlen(printed), &errors);
  assert_non_null(read);
  assert_string_equal(print_module(arena, read), printed);
  return true;
}

static void test_no_pass_changes_what_a_random_graph_computes(void **state) {
  (void)state;
  int checked = 0;
  for (int i = 0; i < graph_count(); i++) {
    Arena *arena = arena_create();
    checked += check_passes(arena, (uint64_t)i);
    arena_destroy(arena);
  }
  assert_true(checked > graph_count() / 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_rule_rewrites_as_it_says),
      cmocka_unit_test(test_each_rule_has_a_case),
      cmocka_unit_test(test_no_pass_changes_what_a_random_graph_computes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
