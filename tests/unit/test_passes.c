/* The passes: every rule of simplify by a golden pair, cse, dce, expand, hoist, the runner; and that
 * none of them changes what a graph computes. */
#include <math.h>
#include "interpret/interpret.h"
#include "passes/pass.h"
#include "passes/rules/rules.h"
#include "rule_cases.h"
#include "sample_module.h"

static int make_arena(void **state) {
  *state = arena_create();
  return 0;
}

static int drop_arena(void **state) {
  arena_destroy(*state);
  return 0;
}

/* ---- what a graph computes ---------------------------------------------------------------- */

/* Values between -2 and 2 for floats, whole ones for integers, a function of the name alone. */
static Tensor *leaf_value(Arena *arena, const Node *node) {
  Tensor *value = tensor_create(arena, node->type);
  uint64_t seed = 1;
  for (const char *c = node_string(node, ATTR_NAME); *c; c++) seed = seed * 131 + (uint64_t)*c;
  for (int64_t i = 0; i < shape_elements(node->type.shape); i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    double real = (double)(seed >> 33) / (double)(1u << 29) - 2;
    if (node->type.dtype == DTYPE_BOOL) real = real > 0;
    else if (!dtype_is_float(node->type.dtype)) real = floor(fabs(real) * 100);
    value->data[i] = real;
  }
  return value;
}

static Evaluation *evaluate(Arena *arena, const Graph *graph) {
  VEC(Binding) bindings = {0};
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    LeafKind leaf = op_info(node->op)->class->leaf;
    if (leaf == LEAF_NONE || leaf == LEAF_CONSTANT) continue;
    Binding binding = {node->op, node_string(node, ATTR_NAME), leaf_value(arena, node)};
    vec_push(arena, &bindings, binding);
  }
  EvaluateContext context = {.seed = 5, .step = 1};
  return graph_evaluate(arena, graph, bindings.count, bindings.items, &context);
}

static void assert_same_value(const Tensor *a, const Tensor *b, const char *what) {
  assert_true(type_equal(a->type, b->type));
  for (int64_t i = 0; i < shape_elements(a->type.shape); i++) {
    double x = a->data[i], y = b->data[i];
    bool same = x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= 1e-13 * fmax(fabs(x), fabs(y));
    if (!same) fail_msg("%s: element %lld was %.17g and is %.17g", what, (long long)i, x, y);
  }
}

static void assert_same_results(Arena *arena, const Graph *before, const Graph *after) {
  const Evaluation *a = evaluate(arena, before), *b = evaluate(arena, after);
  assert_int_equal(before->outputs.count, after->outputs.count);
  for (int i = 0; i < before->outputs.count; i++)
    assert_same_value(evaluation_output(a, i), evaluation_output(b, i),
                      before->outputs.items[i].name);
}

/* ---- rules -------------------------------------------------------------------------------- */

static const char *input_type(const char *name) {
  for (size_t i = 0; i < sizeof rule_inputs / sizeof *rule_inputs; i++)
    if (strcmp(rule_inputs[i].name, name) == 0) return rule_inputs[i].type;
  fail_msg("there is no input '%s'", name);
  return NULL;
}

/* One short line, "%0 = x" or "%1 : f32[3] = 2.0" or a node without its path, in full. */
static void add_line(Text *text, const char *line) {
  char id[16], rest[200], name[8];
  if (sscanf(line, "%15s = %7s", id, name) == 2) {
    text_printf(text, "  %s : %s = input() {name = \"%s\"} \"p\"\n", id, input_type(name), name);
    return;
  }
  const char *equals = strstr(line, " = ");
  assert_non_null(equals);
  snprintf(rest, sizeof rest, "%.*s", (int)(equals - line), line);
  if (strchr("-0123456789", equals[3]))
    text_printf(text, "  %s = constant() {value = %s} \"p\"\n", rest, equals + 3);
  else
    text_printf(text, "  %s \"p\"\n", line);
}

/* The entry of a case, its last node as the result. */
static char *expand_case(Arena *arena, const char *lines) {
  Text text = {0};
  char *copy = arena_strdup(arena, lines), *rest = NULL, id[16] = "";
  text_add(&text, "entry predict {\n");
  for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
    add_line(&text, line);
    assert_int_equal(sscanf(line, "%15s", id), 1);
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

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_arena, drop_arena)

int main(void) {
  const struct CMUnitTest tests[] = {
    TEST(test_each_rule_rewrites_as_it_says),
    TEST(test_each_rule_has_a_case),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
