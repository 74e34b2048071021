/* Differentiate: gradient(loss, target) nodes become the backward pass.
 *
 * Reverse mode, one sweep for each distinct loss. The graph is copied in order; at the first
 * gradient node of a loss all gradients of that loss are built: the loss has the adjoint 1, and
 * going back through the nodes each operator's rule gives what its operands receive, which is
 * added up (users in decreasing order, so the sum is the same in every run). Only nodes on a way
 * from a target to the loss are visited. What the rules add carries the forward node's place and
 * its path with ".grad".
 *
 * A loss that contains gradients is no exception: they stand before it and are written out by
 * then, and every rule is made of operators that have rules. A target that the loss does not
 * depend on gets zeros (the elaborator warns of it).
 *
 * Before: a sound module. After: the same without gradient nodes. */
#include "ops/make.h"
#include "ops/op.h"
#include "passes/pass.h"
#include "passes/rewrite.h"
#include "support/names.h"
#include "support/panic.h"

/* The adjoints of one loss. */
typedef struct Sweep {
  const Node *loss; /* in the old graph */
  int count;        /* of nodes up to the loss, in the new one */
  Node **adjoint;   /* by id; NULL where the loss does not depend on the node */
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

static Maker adjoint_maker(Graph *graph, const Node *of) {
  return (Maker){graph, of->span, name_printf("%s.grad", of->path)};
}

/* Marks the nodes that depend on a target of the loss, through operators with gradients. */
static bool *mark_ways(const Differentiation *d, const Node *loss, int count) {
  Arena *arena = d->into->arena;
  bool *leads = ARENA_ARRAY(arena, bool, count);
  for (int i = 0; i < d->from->nodes.count; i++) {
    const Node *node = d->from->nodes.items[i];
    if (!is_gradient(node) || node->operands[0] != loss) continue;
    const Node *target = node_map_get(&d->map, node->operands[1]);
    if (target && target->id < count) leads[target->id] = true;
  }
  for (int i = 0; i < count; i++) {
    const Node *node = d->into->nodes.items[i];
    if (!dtype_is_float(node->type.dtype) || !op_info(node->op)->class->gradient) continue;
    for (int k = 0; k < node->operand_count && !leads[i]; k++)
      leads[i] = leads[node->operands[k]->id];
  }
  return leads;
}

/* Hands the adjoint of `node` on to its operand number `k`. */
static void propagate(Graph *into, Sweep *sweep, Node *node, int k) {
  Node *operand = node->operands[k];
  GradientContext context = {into, node, sweep->adjoint[node->id]};
  Node *part = op_info(node->op)->class->gradient(&context, k);
  if (!part) return;
  if (!type_equal(part->type, operand->type))
    panic("the gradient rule of %s (%%%d, %s) gives operand %d another type",
          op_info(node->op)->name, node->id, node->path, k);
  Node **sum = &sweep->adjoint[operand->id];
  Maker maker = adjoint_maker(into, operand);
  *sum = *sum ? make_add(&maker, *sum, part) : part;
}

static Sweep *sweep_loss(Differentiation *d, const Node *loss) {
  for (int i = 0; i < d->sweeps.count; i++)
    if (d->sweeps.items[i].loss == loss) return &d->sweeps.items[i];
  Node *root = node_map_get(&d->map, loss);
  Sweep sweep = {.loss = loss, .count = root->id + 1};
  const bool *leads = mark_ways(d, loss, sweep.count);
  sweep.adjoint = ARENA_ARRAY(d->into->arena, Node *, sweep.count);
  Maker maker = adjoint_maker(d->into, root);
  sweep.adjoint[root->id] = make_constant(&maker, root->type, 1);
  for (int i = root->id; i >= 0; i--) {
    Node *node = d->into->nodes.items[i];
    if (!sweep.adjoint[i] || !leads[i] || !op_info(node->op)->class->gradient) continue;
    for (int k = 0; k < node->operand_count; k++)
      if (leads[node->operands[k]->id]) propagate(d->into, &sweep, node, k);
  }
  vec_push(d->into->arena, &d->sweeps, sweep);
  return &d->sweeps.items[d->sweeps.count - 1];
}

static bool is_target(const Graph *graph, const Node *node) {
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *user = graph->nodes.items[i];
    if (is_gradient(user) && user->operands[1] == node) return true;
  }
  return false;
}

static Node *write_out(Differentiation *d, const Node *gradient) {
  Sweep *sweep = sweep_loss(d, gradient->operands[0]);
  Node *target = node_map_get(&d->map, gradient->operands[1]);
  Node *adjoint = target->id < sweep->count ? sweep->adjoint[target->id] : NULL;
  Maker maker = adjoint_maker(d->into, target);
  if (!adjoint) adjoint = make_constant(&maker, target->type, 0);
  if (!is_target(d->from, gradient)) return adjoint;
  /* Someone differentiates by this very gradient: it needs a node that nothing else shares. */
  return make_alias(&maker, adjoint);
}

static Graph *differentiate(const Graph *from) {
  Differentiation d = {.from = from, .into = rewrite_start(from)};
  d.map = node_map_create(d.into->arena, from);
  for (int i = 0; i < from->nodes.count; i++) {
    const Node *node = from->nodes.items[i];
    node_map_set(&d.map, node,
                 is_gradient(node) ? write_out(&d, node) : graph_copy_node(d.into, node, &d.map));
  }
  rewrite_outputs(d.into, from, &d.map);
  return d.into;
}

void pass_differentiate(Module *module, Diagnostics *diagnostics) {
  (void)diagnostics;
  rewrite_entries(module, differentiate);
}
