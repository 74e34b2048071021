/* Differentiate: gradient(loss, target) nodes become the backward pass.
 *
 * Reverse mode, one sweep for each distinct loss (ops/adjoints.c; ops/scan_gradient.c for scans).
 * The graph is copied in order; at the first gradient node of a loss all gradients of that loss
 * are built.
 *
 * A loss that contains gradients is no exception: they stand before it and are written out by
 * then, and every rule is made of operators that have rules. A target that the loss does not
 * depend on gets zeros (the elaborator warns of it).
 *
 * Before: a sound module. After: the same without gradient nodes. */
#include "ops/make.h"
#include "ops/op.h"
#include "ops/adjoints.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

/* The adjoints of one loss. */
typedef struct Sweep {
  const Node *loss; /* in the old graph */
  Adjoints adjoints;
} Sweep;

typedef struct Differentiation {
  const Graph *from;
  Graph *into;
  NodeMap map;
  VEC(Sweep) sweeps;
} Differentiation;

/* gradient(loss, target) is the one special operator. */
static bool is_gradient(const Node *node) {
  return op_info(node->op)->class->family == FAMILY_SPECIAL;
}

/* Marks the targets of the loss and what depends on them. */
static void mark_ways(const Differentiation *d, const Node *loss, Adjoints *adjoints) {
  for (int i = 0; i < d->from->nodes.count; i++) {
    const Node *node = d->from->nodes.items[i];
    if (!is_gradient(node) || node->operands[0] != loss) continue;
    const Node *target = node_map_get(&d->map, node->operands[1]);
    if (target && target->id < adjoints->count) adjoints->leads[target->id] = true;
  }
  adjoints_spread(adjoints);
}

static const Adjoints *sweep_loss(Differentiation *d, const Node *loss) {
  for (int i = 0; i < d->sweeps.count; i++)
    if (d->sweeps.items[i].loss == loss) return &d->sweeps.items[i].adjoints;
  Node *root = node_map_get(&d->map, loss);
  Sweep sweep = {loss, adjoints_create(d->into, root->id + 1)};
  mark_ways(d, loss, &sweep.adjoints);
  Maker maker = adjoints_maker(d->into, root);
  sweep.adjoints.leads[root->id] = true;
  adjoints_add(&sweep.adjoints, root, make_constant(&maker, root->type, 1));
  adjoints_run(&sweep.adjoints);
  vec_push(d->into->arena, &d->sweeps, sweep);
  return &d->sweeps.items[d->sweeps.count - 1].adjoints;
}

static bool is_target(const Graph *graph, const Node *node) {
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *user = graph->nodes.items[i];
    if (is_gradient(user) && user->operands[1] == node) return true;
  }
  return false;
}

static Node *write_out(Differentiation *d, const Node *gradient) {
  const Adjoints *adjoints = sweep_loss(d, gradient->operands[0]);
  Node *target = node_map_get(&d->map, gradient->operands[1]);
  Node *adjoint = adjoints_get(adjoints, target);
  Maker maker = adjoints_maker(d->into, target);
  if (!is_target(d->from, gradient)) return adjoint;
  /* Someone differentiates by this very gradient: it needs a node that nothing else shares. */
  return make_alias(&maker, adjoint);
}

static bool has_gradients(const Graph *graph) {
  for (int i = 0; i < graph->nodes.count; i++)
    if (is_gradient(graph->nodes.items[i])) return true;
  return false;
}

static Graph *differentiate(const Graph *from) {
  bool saves = has_gradients(from);
  Differentiation d = {.from = from, .into = rewrite_start(from)};
  d.map = node_map_create(d.into->arena, from);
  for (int i = 0; i < from->nodes.count; i++) {
    const Node *node = from->nodes.items[i];
    node_map_set(&d.map, node,
                 is_gradient(node) ? write_out(&d, node)
                 : saves           ? scan_copy_node(d.into, node, &d.map)
                                   : graph_copy_node(d.into, node, &d.map));
  }
  graph_map_outputs(d.into, from, &d.map);
  return d.into;
}

void pass_differentiate(Module *module, Diagnostics *diagnostics) {
  rewrite_entries(module, differentiate);
}
