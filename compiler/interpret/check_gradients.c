/* Gradients against central differences.
 *
 * The gradient(loss, parameter) nodes of the train entry and their losses become the results of a
 * graph of their own, which the differentiate pass writes out; that gives the gradients. The
 * losses alone are a second graph, evaluated again with one element of a parameter moved by +-h
 * and +-h/2. What stop_gradient is applied to keeps its value, as it does for the gradient: so do
 * the parameters that an earlier loss of the same step has updated.
 *
 *   slope(h) = (L(+h) - L(-h)) / 2h          Richardson: (4 slope(h/2) - slope(h)) / 3
 *
 * Where the two slopes disagree, or the two sides do at both steps alike, the loss has a kink
 * within reach (relu, max): smaller steps are tried, and at last the element is skipped and
 * counted as a kink, since nothing is comparable. So the rounding of a small step cannot fail a
 * right gradient. Smaller steps are tried, too, where a difference is not the gradient: many small
 * kinks may look like a slope of their own. The least error counts: what is left of a wrong gradient
 * at a small step is more than its rounding. The error is relative to the largest element of the
 * parameter's gradient, with a floor from the loss, since differences of the loss carry its rounding.
 *
 * Half of the sample are the elements with the largest gradients (an embedding's other rows are
 * all 0), half are random. */
#include "interpret/check_gradients.h"

#include <math.h>
#include <string.h>

#include "interpret/inputs.h"
#include "ops/op.h"
#include "ops/philox.h"
#include "support/hash.h"
#include "support/names.h"
#include "support/panic.h"

/* One parameter of one loss. */
typedef struct Pair {
  const Node *gradient; /* the node of the train entry */
  const char *parameter;
  const Tensor *slope; /* the gradient to be judged */
  Node *loss, *leaf;   /* in the graph of the losses */
} Pair;

typedef struct Checker {
  Arena *arena;
  DifferentiatePass *differentiate;
  const GradientCheck *check;
  VEC(Pair) pairs;
  Evaluation *losses;
  const Graph *loss_graph, *gradients;
  int binding_count; /* of both graphs */
  const Binding *bindings;
} Checker;

typedef struct Verdict {
  int checked, kinks;
  double worst;
} Verdict;

/* ---- finding what to check ---- */

static bool is_parameter_gradient(const Node *node) {
  return op_info(node->op)->class->family == FAMILY_SPECIAL &&
         op_info(node->operands[1]->op)->class->leaf == LEAF_PARAM;
}

static void find_pairs(Checker *checker, const Graph *train) {
  const bool *live = graph_live_nodes(checker->arena, train);
  for (int i = 0; i < train->nodes.count; i++) {
    const Node *node = train->nodes.items[i];
    if (!live[node->id] || !is_parameter_gradient(node)) continue;
    bool known = false;
    for (int k = 0; k < checker->pairs.count && !known; k++) {
      const Node *other = checker->pairs.items[k].gradient;
      known = other->operands[0] == node->operands[0] && other->operands[1] == node->operands[1];
    }
    Pair pair = {.gradient = node, .parameter = node_string(node->operands[1], ATTR_NAME)};
    if (!known) vec_push(checker->arena, &checker->pairs, pair);
  }
}

static void add_result(Graph *graph, const char *name, Node *node) {
  graph_add_output(graph, (Output){.kind = OUTPUT_RESULT, .name = name_intern(name), .node = node});
}

/* The results of pair i are outputs 2i, its loss, and 2i + 1, its gradient; differentiated. */
static Module *module_of_gradients(Checker *checker, const Module *module) {
  const Graph *train = module->entries[ENTRY_TRAIN];
  Graph *graph = graph_create(checker->arena, "check_gradients");
  NodeMap map = node_map_create(checker->arena, train);
  for (int i = 0; i < checker->pairs.count; i++) {
    const Node *gradient = checker->pairs.items[i].gradient;
    add_result(graph, name_printf("loss.%d", i),
               graph_copy_tree(graph, gradient->operands[0], &map));
    add_result(graph, name_printf("gradient.%d", i),
               graph_copy_tree(graph, (Node *)gradient, &map));
  }
  Module *copy = arena_copy(checker->arena, module, sizeof *module);
  memset(copy->entries, 0, sizeof copy->entries);
  copy->arena = checker->arena;
  copy->entries[ENTRY_INIT] = module->entries[ENTRY_INIT];
  copy->entries[ENTRY_HOST] = module->entries[ENTRY_HOST];
  copy->entries[ENTRY_TRAIN] = graph;
  checker->differentiate(copy, diagnostics_create(checker->arena));
  return copy;
}

/* The losses alone; finds each pair's loss and leaf in it. */
static Graph *graph_of_losses(Checker *checker, const Graph *gradients) {
  Graph *graph = graph_create(checker->arena, "losses");
  NodeMap map = node_map_create(checker->arena, gradients);
  for (int i = 0; i < checker->pairs.count; i++) {
    Node *loss = graph_copy_tree(graph, gradients->outputs.items[2 * i].node, &map);
    checker->pairs.items[i].loss = loss;
    add_result(graph, name_printf("loss.%d", i), loss);
  }
  for (int i = 0; i < checker->pairs.count; i++) {
    Pair *pair = &checker->pairs.items[i];
    for (int k = 0; k < graph->nodes.count; k++) {
      Node *node = graph->nodes.items[k];
      if (op_info(node->op)->class->leaf == LEAF_PARAM &&
          node_string(node, ATTR_NAME) == pair->parameter)
        pair->leaf = node; /* stays NULL when no loss depends on it */
    }
  }
  return graph;
}

static EvaluateContext context_of(const Checker *checker) {
  return (EvaluateContext){.seed = checker->check->seed, .step = 1};
}

static void evaluate_all(Checker *checker, const Module *module) {
  Module *gradients = module_of_gradients(checker, module);
  const Graph *graph = gradients->entries[ENTRY_TRAIN];
  Interpreter *interpreter = interpreter_create(checker->arena, gradients, checker->check->seed);
  Binding *inputs = random_inputs(checker->arena, module, checker->check->seed), *bindings;
  int count = interpreter_bind(interpreter, checker->arena, module->inputs.count, inputs,
                               (RunTime){1, 0, 100, 100}, &bindings);
  EvaluateContext context = context_of(checker);
  checker->gradients = graph;
  checker->binding_count = count;
  checker->bindings = bindings;
  Evaluation *evaluation = graph_evaluate_outputs(checker->arena, graph, count, bindings, &context);
  for (int i = 0; i < checker->pairs.count; i++)
    checker->pairs.items[i].slope = evaluation_output(evaluation, 2 * i + 1);
  checker->loss_graph = graph_of_losses(checker, graph);
  checker->losses = graph_evaluate(checker->arena, checker->loss_graph, count, bindings, &context);
  interpreter_destroy(interpreter);
}

/* ---- the sample ---- */

static bool is_chosen(const int64_t *sample, int count, int64_t element) {
  for (int i = 0; i < count; i++)
    if (sample[i] == element) return true;
  return false;
}

/* Distinct elements of the gradient; all of them when there are few. */
static int choose_sample(const Checker *checker, const Pair *pair, int64_t *sample) {
  int64_t elements = shape_elements(pair->slope->type.shape);
  int wanted = elements < checker->check->samples ? (int)elements : checker->check->samples;
  int count = 0;
  for (; count < (wanted + 1) / 2; count++) {
    int64_t best = -1;
    for (int64_t i = 0; i < elements; i++) {
      if (is_chosen(sample, count, i)) continue;
      if (best < 0 || fabs(pair->slope->data[i]) > fabs(pair->slope->data[best])) best = i;
    }
    sample[count] = best;
  }
  uint64_t key = philox_key(checker->check->seed, hash_text(pair->parameter));
  for (uint64_t draw = 0; count < wanted; draw++) {
    uint64_t word = philox_block(key, draw, 0, 0).word[draw % 4];
    int64_t element = (int64_t)(word * (uint64_t)elements >> 32);
    while (is_chosen(sample, count, element)) element = (element + 1) % elements;
    sample[count++] = element;
  }
  return count;
}

/* ---- the differences ---- */

static double loss_at(const Checker *checker, const Pair *pair, int64_t element, double value) {
  evaluation_leaf(checker->losses, pair->leaf)->data[element] = value;
  evaluation_refresh(checker->losses, pair->leaf);
  return evaluation_node(checker->losses, pair->loss)->data[0];
}

typedef struct Difference {
  double slope; /* central */
  double bend;  /* right slope - left slope */
} Difference;

static Difference difference(const Checker *checker, const Pair *pair, int64_t element,
                             double value, double h, double loss) {
  double up = loss_at(checker, pair, element, value + h);
  double down = loss_at(checker, pair, element, value - h);
  double width = (value + h) - (value - h); /* as it was rounded */
  return (Difference){(up - down) / width, 2 * ((up - loss) - (loss - down)) / width};
}

/* A smooth loss bends half as much at half the step, and its slope hardly changes. */
static bool is_kink(Difference whole, Difference half, double allowed) {
  if (fabs(whole.slope - half.slope) > allowed) return true;
  return fabs(whole.bend) > 4 * allowed && fabs(half.bend) > 0.75 * fabs(whole.bend);
}

/* The least error of the derivative by one element over the steps; false when there is a kink within reach of each. */
static bool measure(const Checker *checker, const Pair *pair, int64_t element, double scale,
                    double *error) {
  double value = evaluation_leaf(checker->losses, pair->leaf)->data[element];
  double loss = evaluation_node(checker->losses, pair->loss)->data[0];
  double allowed = 0.25 * checker->check->tolerance * scale;
  static const double steps[] = {1e-4, 1e-5, 1e-6};
  bool is_smooth = false, is_right = false;
  for (int i = 0; i < 3 && !is_right; i++) {
    double h = steps[i] * fmax(1, fabs(value));
    Difference whole = difference(checker, pair, element, value, h, loss);
    Difference half = difference(checker, pair, element, value, h / 2, loss);
    if (is_kink(whole, half, allowed)) continue;
    double slope = (4 * half.slope - whole.slope) / 3;
    double own = fabs(slope - pair->slope->data[element]) / fmax(scale, fabs(slope));
    if (!is_smooth || own < *error) *error = own; /* a first NaN stays */
    is_right = own <= checker->check->tolerance;
    is_smooth = true;
  }
  loss_at(checker, pair, element, value);
  return is_smooth;
}

static void check_element(const Checker *checker, const Pair *pair, int64_t element, double scale,
                          Verdict *verdict) {
  double error;
  if (!measure(checker, pair, element, scale, &error)) {
    verdict->kinks++;
    return;
  }
  verdict->checked++;
  if (isnan(error) || error > verdict->worst) verdict->worst = error; /* NaN stays */
}

static Verdict check_pair(const Checker *checker, const Pair *pair) {
  Verdict verdict = {0};
  int64_t elements = shape_elements(pair->slope->type.shape);
  int64_t *sample = ARENA_ARRAY(checker->arena, int64_t, checker->check->samples);
  double scale = 0;
  for (int64_t i = 0; i < elements; i++) {
    scale = fmax(scale, fabs(pair->slope->data[i]));
    if (isnan(pair->slope->data[i])) verdict.worst = NAN;
  }
  if (!pair->leaf) { /* no loss depends on it: the gradient must be 0 */
    verdict.checked =
        (int)(elements < checker->check->samples ? elements : checker->check->samples);
    verdict.worst = scale;
    return verdict;
  }
  double loss = evaluation_node(checker->losses, pair->loss)->data[0];
  scale = fmax(scale, 1e-4 * (fabs(loss) + 1));
  int count = choose_sample(checker, pair, sample);
  for (int i = 0; i < count; i++) check_element(checker, pair, sample[i], scale, &verdict);
  return verdict;
}

/* ---- the table ---- */

static void add_row(Text *table, int width, const Pair *pair, const Verdict *verdict, bool passes) {
  Text shape = {0};
  text_add_shape(&shape, pair->slope->type.shape);
  const char *words = passes                  ? "ok"
                      : verdict->checked == 0 ? "nothing smooth to check"
                      : isnan(verdict->worst) ? "NaN at random inputs"
                                              : "WRONG";
  text_printf(table, "%-*s  %-18s  %7d  %5d  %9.2e  %s\n", width, pair->parameter, shape.data,
              verdict->checked, verdict->kinks, verdict->worst, words);
  text_free(&shape);
}

/* ---- what is not finite ---- */

/* The inputs that the node is computed from, with their random values: "length from 1 to 5". */
static void list_inputs(Arena *arena, Text *list, const Graph *graph, const Node *node,
                        const Evaluation *evaluation) {
  bool *is_source = ARENA_ARRAY(arena, bool, graph->next_id);
  is_source[node->id] = true;
  for (int i = graph->nodes.count - 1; i >= 0; i--) {
    const Node *from = graph->nodes.items[i];
    for (int k = 0; is_source[from->id] && k < from->operand_count; k++)
      is_source[from->operands[k]->id] = true;
  }
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *input = graph->nodes.items[i];
    if (!is_source[input->id] || op_info(input->op)->class->leaf != LEAF_INPUT) continue;
    const Tensor *value = evaluation_node(evaluation, input);
    int64_t count = shape_elements(input->type.shape);
    double least = INFINITY, greatest = -INFINITY;
    for (int64_t k = 0; k < count; k++) {
      least = fmin(least, value->data[k]);
      greatest = fmax(greatest, value->data[k]);
    }
    text_printf(list, "%s%s from %.3g to %.3g", list->length ? ", " : "",
                node_string(input, ATTR_NAME), least, greatest);
  }
}

/* Where the first number came up that is not finite: in a loss, else in a gradient. */
static void explain_odd(const Checker *checker, Diagnostics *diagnostics) {
  int64_t element;
  const Evaluation *evaluation = checker->losses;
  const Graph *graph = checker->loss_graph;
  const Node *node = evaluation_find_odd(evaluation, &element);
  if (!node) {
    EvaluateContext context = context_of(checker);
    graph = checker->gradients;
    evaluation =
        graph_evaluate(checker->arena, graph, checker->binding_count, checker->bindings, &context);
    node = evaluation_find_odd(evaluation, &element);
  }
  if (!node) return;
  bool is_nan = isnan(evaluation_node(evaluation, node)->data[element]);
  Text from = {0}, inputs = {0};
  for (int i = 0; i < node->operand_count; i++) {
    const Tensor *operand = evaluation_node(evaluation, node->operands[i]);
    if (!shape_equal(operand->type.shape, node->type.shape)) continue;
    text_printf(&from, "%s%.6g", from.length ? " and " : " of ", operand->data[element]);
  }
  Diagnostic *d = diag_warning(diagnostics, node->span, "%s first comes up in '%s', %s%s",
                               is_nan ? "NaN" : "infinity", node->path, op_info(node->op)->name,
                               from.length ? from.data : "");
  const Node *infinity = is_nan ? evaluation_find_infinity(evaluation, node) : NULL;
  if (infinity)
    diag_note(d, infinity->span, "of an infinity, which first comes up here, in '%s', %s",
              infinity->path, op_info(infinity->op)->name);
  list_inputs(checker->arena, &inputs, graph, node, evaluation);
  if (inputs.length > 0) diag_help(d, "random inputs lead there: %s", inputs.data);
  diag_help(d, "if the data cannot, nothing is wrong: './OUT train --check-numerics' tells it of "
               "them. Else keep the operands in range, as with maximum(x, 1e-8)");
  text_free(&from);
  text_free(&inputs);
}

bool check_gradients(Arena *arena, const Module *module, DifferentiatePass *differentiate,
                     const GradientCheck *check, Text *table, Diagnostics *diagnostics) {
  Checker checker = {.arena = arena, .differentiate = differentiate, .check = check};
  const Graph *train = module->entries[ENTRY_TRAIN];
  if (train) find_pairs(&checker, train);
  if (checker.pairs.count == 0) {
    text_add(table, "no parameter is trained: there is no gradient to check\n");
    return true;
  }
  evaluate_all(&checker, module);
  int width = (int)strlen("parameter");
  for (int i = 0; i < checker.pairs.count; i++) {
    int length = (int)strlen(checker.pairs.items[i].parameter);
    if (length > width) width = length;
  }
  text_printf(table, "%-*s  %-18s  %7s  %5s  %9s  %s\n", width, "parameter", "shape", "checked",
              "kinks", "error", "verdict");
  bool all_pass = true, is_odd = false;
  for (int i = 0; i < checker.pairs.count; i++) {
    const Pair *pair = &checker.pairs.items[i];
    Verdict verdict = check_pair(&checker, pair);
    bool is_empty = shape_elements(pair->slope->type.shape) == 0;
    bool passes = verdict.worst <= check->tolerance && (verdict.checked > 0 || is_empty);
    all_pass = all_pass && passes;
    is_odd = is_odd || !isfinite(verdict.worst);
    add_row(table, width, pair, &verdict, passes);
  }
  if (is_odd) explain_odd(&checker, diagnostics);
  return all_pass;
}
