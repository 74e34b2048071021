/* The end of a random train entry: losses, gradients by parameters, updates with optimizer state,
 * outputs that show values, and stores that tempt the memory plan.
 *
 * The whole is differentiated and played on its values; where a node of it is not steady, other
 * draws are tried, then there are no gradients, and at last nothing is computed that the recipes did
 * not settle. */
#include <math.h>

#include "generate.h"
#include "passes/pass.h"
#include "support/names.h"
#include "support/panic.h"

enum { TRIES_FOR_ALL_STEPS = 5, TRIES_WITH_GRADIENTS = 7, MOST_TRIES = 9 };

/* What an attempt adds to, for taking it back. */
typedef struct Snapshot {
  int nodes, outputs, variables, init_nodes, init_outputs, inputs, params, leaf_count;
  int metrics, finish_nodes, finish_outputs;
} Snapshot;

static Snapshot snapshot_take(Generator *g) {
  const Module *module = g->test->module;
  const Graph *train = module->entries[ENTRY_TRAIN], *init = module->entries[ENTRY_INIT];
  const Graph *finish = module->entries[ENTRY_FINISH];
  return (Snapshot){train->nodes.count,  train->outputs.count, module->variables.count,
                    init->nodes.count,   init->outputs.count,  module->inputs.count,
                    g->params.count,     g->leaf_count,        module->metrics.count,
                    finish->nodes.count, finish->outputs.count};
}

static void snapshot_restore(Generator *g, const Snapshot *s) {
  Module *module = g->test->module;
  Graph *train = module->entries[ENTRY_TRAIN], *init = module->entries[ENTRY_INIT];
  take_back(g, s->nodes);
  train->outputs.count = s->outputs;
  module->variables.count = g->test->start.count = s->variables;
  init->nodes.count = init->next_id = s->init_nodes;
  init->outputs.count = s->init_outputs;
  module->inputs.count = g->test->inputs.count = s->inputs;
  Graph *finish = module->entries[ENTRY_FINISH];
  module->metrics.count = s->metrics;
  finish->nodes.count = finish->next_id = s->finish_nodes;
  finish->outputs.count = s->finish_outputs;
  g->params.count = s->params;
  g->leaf_count = s->leaf_count;
}

static void add_output(Generator *g, OutputKind kind, const char *name, Node *node) {
  graph_add_output(g->maker.graph, (Output){.kind = kind, .name = name, .node = node});
}

static const char *name_of(Generator *g, const char *what, int number) {
  return name_printf("%s%s%d", g->prefix, what, number);
}

static Node *spread(Generator *g, Node *scalar, Type type) {
  return make_broadcast(&g->maker, make_cast(&g->maker, scalar, type.dtype), type.shape, NULL);
}

/* ---- the loss ---- */

static Node *total(Generator *g, Op op, Node *x) {
  int64_t axes[MAX_RANK];
  for (int i = 0; i < x->type.shape.rank; i++) axes[i] = i;
  return make_reduce(&g->maker, op, x, x->type.shape.rank, axes);
}

/* A scalar of `x` that its gradients flow back from. */
static Node *loss_term(Generator *g, Node *x) {
  const Maker *m = &g->maker;
  Node *term;
  switch (draw_below(g, 4)) {
  case 0: term = total(g, OP_REDUCE_SUM, make_unary(m, OP_TANH, x)); break;
  case 1: term = total(g, OP_REDUCE_MEAN, make_binary(m, OP_MUL, x, x)); break;
  case 2: term = total(g, OP_REDUCE_SUM, make_binary_value(m, OP_MUL, x, 0.25)); break;
  default: term = total(g, OP_REDUCE_MEAN, x);
  }
  return make_cast(m, make_binary_value(m, OP_MUL, term, draw_real(g, 0.25, 1.5)), g->real);
}

static bool *find_ways(Generator *g) {
  const Graph *graph = g->maker.graph;
  bool *leads = ARENA_ARRAY(g->arena, bool, graph->next_id);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    leads[i] = node->op == OP_PARAM;
    if (!node_passes_gradient(node)) continue;
    for (int k = 0; k < node->operand_count && !leads[i]; k++)
      leads[i] = leads[node->operands[k]->id];
  }
  return leads;
}

static Node *make_loss(Generator *g) {
  Node *loss = NULL;
  const bool *leads = find_ways(g);
  int terms = 1 + (int)draw_below(g, 4);
  for (int tries = 0; tries < 40 && terms > 0; tries++) {
    Node *x = draw_node(g, KIND_FLOAT | KIND_ELEMENTS);
    if (!x || !leads[x->id]) continue;
    Node *term = loss_term(g, x);
    loss = loss ? make_binary(&g->maker, OP_ADD, loss, term) : term;
    terms--;
  }
  return loss;
}

static Node *gradient_of(Generator *g, Node *loss, Node *target) {
  return make_node(&(Maker){g->maker.graph, (Span){0}, name_printf("%sgradient", g->prefix)},
                   OP_GRADIENT, 2, (Node *[]){loss, target}, 0, NULL);
}

/* The loss, or the loss and a penalty of its gradients: second derivatives. */
static Node *with_penalty(Generator *g, Node *loss) {
  if (!draw_chance(g, 15) || g->params.count == 0) return loss;
  Node *slope = gradient_of(g, loss, g->params.items[draw_below(g, g->params.count)]);
  if (shape_elements(slope->type.shape) == 0) return loss;
  Node *penalty = total(g, OP_REDUCE_MEAN, make_binary(&g->maker, OP_MUL, slope, slope));
  return make_binary(
      &g->maker, OP_ADD, loss,
      make_binary_value(&g->maker, OP_MUL, make_cast(&g->maker, penalty, g->real), 0.125));
}

/* ---- updates: each gives the new value of a parameter, and stores its own states ---- */

typedef Node *UpdateRule(Generator *g, Node *param, Node *slope, Node *rate);

static Node *optimizer_state(Generator *g, const Node *param, const char *name) {
  const char *path = name_printf("%s:%s", node_string(param, ATTR_NAME), name);
  return leaf_state(g, VARIABLE_OPTIMIZER, param->type, path);
}

/* old * keep + new * (1 - keep), stored. */
static Node *average(Generator *g, Node *state, Node *next, double keep) {
  const Maker *m = &g->maker;
  Node *kept = make_binary_value(m, OP_MUL, state, keep);
  Node *sum = make_binary(m, OP_ADD, kept, make_binary_value(m, OP_MUL, next, 1 - keep));
  add_output(g, OUTPUT_STORE, node_string(state, ATTR_NAME), sum);
  return sum;
}

static Node *update_sgd(Generator *g, Node *param, Node *slope, Node *rate) {
  const Maker *m = &g->maker;
  return make_binary(m, OP_SUB, param, make_binary(m, OP_MUL, slope, spread(g, rate, param->type)));
}

static Node *update_momentum(Generator *g, Node *param, Node *slope, Node *rate) {
  Node *velocity = average(g, optimizer_state(g, param, "v"), slope, 0.75);
  return update_sgd(g, param, velocity, rate);
}

static Node *update_adam(Generator *g, Node *param, Node *slope, Node *rate) {
  const Maker *m = &g->maker;
  Node *first = average(g, optimizer_state(g, param, "m"), slope, 0.875);
  Node *second =
      average(g, optimizer_state(g, param, "s"), make_binary(m, OP_MUL, slope, slope), 0.9375);
  /* The states start at 1/2 and above, so the root stays away from 0. */
  Node *root = make_binary_value(m, OP_ADD, make_unary(m, OP_SQRT, second), 1e-3);
  return update_sgd(g, param, make_binary(m, OP_DIV, first, root), rate);
}

/* Adam as it is: corrections of the host scalar t, and a decay of the weights. */
static Node *update_corrected(Generator *g, Node *param, Node *slope, Node *rate) {
  const Maker *m = &g->maker;
  Node *first = average(g, optimizer_state(g, param, "m"), slope, 0.875);
  Node *second =
      average(g, optimizer_state(g, param, "s"), make_binary(m, OP_MUL, slope, slope), 0.9375);
  Node *base = constant_of(g, type_scalar(DTYPE_F64), 0.875);
  Node *power = make_binary(m, OP_POW, base, add_scalar_leaf(g, "t"));
  Node *correction = make_binary(m, OP_SUB, constant_of(g, base->type, 1), power);
  Node *mean = make_binary(m, OP_DIV, first, spread(g, correction, param->type));
  Node *root = make_binary_value(m, OP_ADD, make_unary(m, OP_SQRT, second), 1e-3);
  Node *decay = make_binary_value(m, OP_MUL, param, 0.0625);
  return update_sgd(g, param, make_binary(m, OP_ADD, make_binary(m, OP_DIV, mean, root), decay),
                    rate);
}

/* Nesterov: a look ahead along the velocity. */
static Node *update_nesterov(Generator *g, Node *param, Node *slope, Node *rate) {
  const Maker *m = &g->maker;
  Node *velocity = average(g, optimizer_state(g, param, "v"), slope, 0.75);
  return update_sgd(
      g, param, make_binary(m, OP_ADD, slope, make_binary_value(m, OP_MUL, velocity, 0.75)), rate);
}

/* A step in proportion to the norm of the parameter (LARS). */
static Node *update_proportional(Generator *g, Node *param, Node *slope, Node *rate) {
  const Maker *m = &g->maker;
  Node *norm = total(g, OP_REDUCE_SUM, make_binary(m, OP_MUL, param, param));
  Node *slope_norm = total(g, OP_REDUCE_SUM, make_binary(m, OP_MUL, slope, slope));
  Node *ratio = make_binary(m, OP_DIV, make_binary_value(m, OP_ADD, norm, 0.25),
                            make_binary_value(m, OP_ADD, slope_norm, 1));
  Node *scale = spread(g, make_unary(m, OP_SQRT, ratio), param->type);
  return update_sgd(g, param, make_binary(m, OP_MUL, slope, scale), rate);
}

/* The gradient itself as a state: it is seen as it is. */
static Node *update_none(Generator *g, Node *param, Node *slope, Node *rate) {
  (void)rate;
  Node *seen = optimizer_state(g, param, "g");
  add_output(g, OUTPUT_STORE, node_string(seen, ATTR_NAME), slope);
  return param;
}

static UpdateRule *const update_rules[] = {update_sgd,         update_momentum,  update_adam,
                                           update_none,        update_corrected, update_nesterov,
                                           update_proportional};
enum { UPDATE_RULES = sizeof update_rules / sizeof *update_rules };

/* All gradients scaled to a norm of at most `limit`. */
static void clip(Generator *g, int count, Node **slopes) {
  const Maker *m = &g->maker;
  Node *sum = constant_of(g, type_scalar(g->real), 0.5);
  for (int i = 0; i < count; i++) {
    Node *part = total(g, OP_REDUCE_SUM, make_binary(m, OP_MUL, slopes[i], slopes[i]));
    sum = make_binary(m, OP_ADD, sum, make_cast(m, part, g->real));
  }
  Node *limit = constant_of(g, type_scalar(g->real), draw_real(g, 0.5, 4));
  Node *ratio = make_binary(m, OP_DIV, limit, make_unary(m, OP_SQRT, sum));
  Node *scale = make_binary(m, OP_MIN, ratio, constant_of(g, type_scalar(g->real), 1));
  for (int i = 0; i < count; i++)
    slopes[i] = make_binary(m, OP_MUL, slopes[i], spread(g, scale, slopes[i]->type));
}

static void add_updates(Generator *g, Node *loss) {
  int count = 0, most = g->params.count;
  Node **params = ARENA_ARRAY(g->arena, Node *, most + 1),
       **slopes = ARENA_ARRAY(g->arena, Node *, most + 1);
  for (int i = 0; i < most; i++)
    if (draw_chance(g, 85)) params[count++] = g->params.items[i];
  for (int i = 0; i < count; i++) slopes[i] = gradient_of(g, loss, params[i]);
  if (count > 0 && draw_chance(g, 25)) clip(g, count, slopes);
  Node *rate = add_scalar_leaf(g, g->rate_name);
  UpdateRule *usual = update_rules[draw_below(g, UPDATE_RULES)];
  for (int i = 0; i < count; i++) {
    UpdateRule *rule = draw_chance(g, 60) ? usual : update_rules[draw_below(g, UPDATE_RULES)];
    Node *updated = rule(g, params[i], slopes[i], rate);
    if (updated != params[i])
      add_output(g, OUTPUT_STORE, node_string(params[i], ATTR_NAME), updated);
  }
}

/* ---- outputs ---- */

static bool is_stored(Generator *g, const char *name) {
  return graph_find_output(g->maker.graph, OUTPUT_STORE, name) != NULL;
}

/* Nodes of the pool as new values of states that nothing reads. */
static void add_shown(Generator *g) {
  int count = 2 + (int)draw_below(g, 5);
  for (int i = 0; i < count; i++) {
    Node *node =
        i < 2 && g->pool.count > i ? g->pool.items[g->pool.count - 1 - i] : draw_node(g, KIND_ANY);
    const char *name = name_of(g, "out", i);
    leaf_state(g, VARIABLE_STATE, node->type, name);
    add_output(g, OUTPUT_STORE, name, node);
  }
}

/* Variables that take each other's values, or their own in another order. */
static void add_hazards(Generator *g) {
  const Maker *m = &g->maker;
  Type type = type_make(g->real, draw_shape(g, 1, 3));
  Node *a = leaf_state(g, VARIABLE_STATE, type, name_of(g, "a", 0));
  Node *b = leaf_state(g, VARIABLE_STATE, type, name_of(g, "b", 0));
  Node *to_a = b, *to_b = a;
  if (draw_chance(g, 50)) to_a = make_binary(m, OP_ADD, a, b);
  if (draw_chance(g, 50)) to_b = make_binary_value(m, OP_MUL, draw_chance(g, 50) ? a : b, 0.5);
  if (draw_chance(g, 50)) {
    int64_t start[MAX_RANK], stop[MAX_RANK], step[MAX_RANK];
    for (int i = 0; i < type.shape.rank; i++) {
      start[i] = type.shape.dim[i] - 1;
      stop[i] = step[i] = -1;
    }
    to_b = make_slice(m, to_b, start, stop, step);
  }
  if (type.shape.rank == 2 && type.shape.dim[0] == type.shape.dim[1])
    to_a = make_transpose(m, a, (int64_t[]){1, 0});
  add_output(g, OUTPUT_STORE, node_string(a, ATTR_NAME), to_a);
  add_output(g, OUTPUT_STORE, node_string(b, ATTR_NAME), to_b);
}

/* A state of the first leaves moves on. */
static void add_state_update(Generator *g) {
  for (int i = 0; i < g->pool.count; i++) {
    Node *state = g->pool.items[i];
    if (state->op != OP_STATE || is_stored(g, node_string(state, ATTR_NAME))) continue;
    Node *next = draw_like(g, state->type);
    if (dtype_is_float(state->type.dtype)) average(g, state, next, 0.5);
    else add_output(g, OUTPUT_STORE, node_string(state, ATTR_NAME), next);
  }
}

/* Metrics: the accumulator itself, or a function of it in the finish entry. */
static void add_metric(Generator *g, const char *name, Node *value, Combine combine) {
  graph_add_output(
      g->maker.graph,
      (Output){.kind = OUTPUT_ACCUMULATOR, .combine = combine, .name = name, .node = value});
  Module *module = g->test->module;
  Maker maker = {module->entries[ENTRY_FINISH], {0}, name};
  Attribute attribute = attr_make_string(ATTR_NAME, name);
  Node *metric = make_leaf(&(Maker){maker.graph, (Span){0}, name}, OP_SCALAR,
                           type_scalar(DTYPE_F64), 1, &attribute);
  graph_add_output(maker.graph, (Output){.kind = OUTPUT_SCALAR, .name = name, .node = metric});
  vec_push(g->arena, &module->metrics, ((MetricInfo){.name = name}));
}

static void add_metrics(Generator *g, Node *loss) {
  static const Combine combines[] = {COMBINE_MEAN, COMBINE_SUM, COMBINE_MAX, COMBINE_MIN,
                                     COMBINE_LAST};
  if (loss) add_metric(g, name_printf("%sloss", g->prefix), loss, COMBINE_MEAN);
  for (int i = 0; i < g->pool.count; i++) {
    Node *node = g->pool.items[i];
    if (node->type.shape.rank == 0 && dtype_is_float(node->type.dtype) && draw_chance(g, 30))
      add_metric(g, name_of(g, "metric", i), node, combines[draw_below(g, 5)]);
  }
}

/* ---- attempts ---- */

/* How many steps are steady. Of the last attempt the first is: it stores what is there. */
static int attempt(Generator *g, int tries) {
  Node *loss = tries < TRIES_WITH_GRADIENTS ? make_loss(g) : NULL;
  add_shown(g);
  if (tries + 1 < MOST_TRIES) {
    if (draw_chance(g, 60)) add_hazards(g);
    add_state_update(g);
  }
  Node *whole = loss ? with_penalty(g, loss) : NULL;
  if (whole) add_updates(g, whole);
  return case_find_steps(g->test);
}

void train_finish(Generator *g) {
  Snapshot snapshot = snapshot_take(g);
  int steps = 0;
  for (int tries = 0; tries < MOST_TRIES && steps == 0; tries++) {
    snapshot_restore(g, &snapshot);
    steps = attempt(g, tries);
    if (steps < g->test->steps && tries < TRIES_FOR_ALL_STEPS) steps = 0;
  }
  if (steps == 0) panic("%s: not steady even as it was settled", g->prefix);
  Node *loss = NULL;
  const Graph *graph = g->maker.graph;
  for (int i = snapshot.nodes; i < graph->nodes.count && !loss; i++)
    if (graph->nodes.items[i]->op == OP_GRADIENT) loss = graph->nodes.items[i]->operands[0];
  add_metrics(g, loss);
  /* A metric computes what its gradient alone does not need. Cases of equal steps share an
   * executable. */
  steps = case_find_steps(g->test);
  if (steps == 0) {
    snapshot_restore(g, &snapshot);
    steps = attempt(g, TRIES_WITH_GRADIENTS);
  }
  g->test->steps = steps == 3 ? 2 : steps;
}
