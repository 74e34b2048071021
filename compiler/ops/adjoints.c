/* Reverse mode: see adjoints.h.
 *
 * Going back through the nodes, each operator's rule gives what its operands receive, which is
 * added up (users in decreasing order, so the sum is the same in every run). Only nodes on a way
 * from a marked one are visited. What the rules add carries the forward node's place and its path
 * with ".grad". */
#include "ops/adjoints.h"

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

/* Hands the adjoint of `node` on to its operand number `k`. */
static void propagate(Adjoints *adjoints, Node *node, int k) {
  GradientContext context = {adjoints_maker(adjoints->into, node), node,
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
