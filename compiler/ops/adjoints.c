/* Reverse mode: see adjoints.h.
 *
 * Going back through the nodes, each operator's rule gives what its operands receive, which is
 * added up (users in decreasing order, so the sum is the same in every run). Only nodes on a way
 * from a marked one are visited. What the rules add carries the forward node's place and its path
 * with ".grad"; what a parameter receives has the parameter's, "h1.w.grad", and what goes on through
 * a product with one is "h1.x.grad". */
#include "ops/adjoints.h"

#include <string.h>
#include "ops/op.h"
#include "support/names.h"
#include "support/panic.h"

Maker adjoints_maker(Graph *into, const Node *of) {
  return (Maker){into, of->span, name_printf("%s.grad", of->path)};
}

Adjoints adjoints_create(Graph *into, int count) {
  return (Adjoints){.into = into,
                    .count = count,
                    .leads = ARENA_ARRAY(into->arena, bool, count),
                    .adjoint = ARENA_ARRAY(into->arena, Node *, count)};
}

void adjoints_spread(Adjoints *adjoints) {
  bool *leads = adjoints->leads;
  for (int i = 0; i < adjoints->count; i++) {
    const Node *node = adjoints->into->nodes.items[i];
    if (!node_passes_gradient(node)) continue;
    for (int k = 0; k < node->operand_count && !leads[i]; k++)
      leads[i] = leads[node->operands[k]->id];
  }
}

void adjoints_add(Adjoints *adjoints, const Node *node, Node *part) {
  if (node->id >= adjoints->count || !adjoints->leads[node->id]) return;
  if (!type_equal(part->type, node->type))
    panic("the adjoint of %s (%%%d, %s) gets another type", op_info(node->op)->name, node->id,
          node->path);
  Node **sum = &adjoints->adjoint[node->id];
  Maker maker = adjoints_maker(adjoints->into, node);
  *sum = *sum ? make_add(&maker, *sum, part) : part;
}

Node *adjoints_get(const Adjoints *adjoints, const Node *node) {
  Node *adjoint = node->id < adjoints->count ? adjoints->adjoint[node->id] : NULL;
  Maker maker = adjoints_maker(adjoints->into, node);
  return adjoint ? adjoint : make_constant(&maker, node->type, 0);
}

/* The parameter that the node is, moved or of another shape or type; NULL. */
static const Node *find_parameter(const Node *node) {
  while (node->operand_count == 1 && (op_info(node->op)->class->family == FAMILY_MOVEMENT ||
                                      node->op == OP_CAST || node->op == OP_BROADCAST))
    node = node->operands[0];
  return op_info(node->op)->class->leaf == LEAF_PARAM ? node : NULL;
}

/* "h1.x.grad" for the operand of "h1.y" that is multiplied by a parameter; NULL where it is not. */
static const char *input_path(const Node *node, int k) {
  OpFamily family = op_info(node->op)->class->family;
  const char *dot = strrchr(node->path, '.');
  bool is_product = family == FAMILY_CONTRACTION || family == FAMILY_CONVOLUTION;
  if (!is_product || node->operand_count != 2 || !dot || !find_parameter(node->operands[1 - k]))
    return NULL;
  return name_printf("%.*s.x.grad", (int)(dot - node->path), node->path);
}

/* What is made for operand number `k` of `node`. */
static Maker part_maker(Graph *into, const Node *node, int k) {
  const Node *parameter = find_parameter(node->operands[k]);
  const char *input = parameter ? NULL : input_path(node, k);
  if (!parameter && !input) return adjoints_maker(into, node);
  return (Maker){into, node->span, parameter ? name_printf("%s.grad", parameter->path) : input};
}

/* Hands the adjoint of `node` on to its operand number `k`. */
static void propagate(Adjoints *adjoints, Node *node, int k) {
  GradientContext context = {part_maker(adjoints->into, node, k), node,
                             adjoints->adjoint[node->id]};
  Node *part = op_info(node->op)->class->gradient(&context, k);
  if (part) adjoints_add(adjoints, node->operands[k], part);
}

void adjoints_run(Adjoints *adjoints) {
  for (int i = adjoints->count - 1; i >= 0; i--) {
    Node *node = adjoints->into->nodes.items[i];
    if (!adjoints->leads[i]) continue;
    if (node->body) {
      scan_propagate(adjoints, node);
      continue;
    }
    if (!adjoints->adjoint[i] || !op_info(node->op)->class->gradient) continue;
    for (int k = 0; k < node->operand_count; k++)
      if (adjoints->leads[node->operands[k]->id]) propagate(adjoints, node, k);
  }
}
