/* Numbers of 16 bits as floats of 32 that are rounded to them, where the processor multiplies no 16 bits.
 *
 * There a product of 16 bits widens both operands wherever it reads them, and has no kernels that
 * read operands where they lie, as f32 has. So each value is rounded once, where it is computed, and
 * stays as wide as its readers want it:
 *
 *     contract(cast bf16 x, cast bf16 w) : bf16   ->   round(contract(round(x), round(w)) : f32)
 *     round(x) = cast f32 (cast bf16 x)
 *
 * Values are those of 16 bits; sums, which are f32 either way, may be added up in another order. What is in memory for
 * others keeps its type: inputs, variables, results, what scans carry. The price is memory, so this is not done where
 * that is limited (ProgramOptions.widens_bf16). */
#include "program/stages.h"

#include "ops/make.h"
#include "ops/op.h"
#include "program/prepare.h"

typedef struct Widening {
  const Lowering *lowering;
  Graph *into;
  /* By id: of the node's type; as f32. A widened node has one of them until the other is wanted. */
  Node **own, **wide;
  VEC(Node *) rounded; /* by id of a node of `into`: what it is rounded to, if it was */
} Widening;

static bool is_widened(const Widening *widening, const Node *node) {
  return (node->type.dtype == DTYPE_BF16 && widening->lowering->widens_bf16) ||
         (node->type.dtype == DTYPE_F16 && widening->lowering->widens_f16);
}

static Maker maker_of(const Widening *widening, const Node *node) {
  return (Maker){widening->into, node->span, node->path};
}

static Node *own_form(Widening *widening, const Node *node) {
  Node **own = &widening->own[node->id];
  Maker maker = maker_of(widening, node);
  if (*own == NULL) *own = make_cast(&maker, widening->wide[node->id], node->type.dtype);
  return *own;
}

/* Of a widened node f32, of any other its own. */
static Node *wide_form(Widening *widening, const Node *node) {
  if (!is_widened(widening, node)) return widening->own[node->id];
  Node **wide = &widening->wide[node->id];
  Maker maker = maker_of(widening, node);
  if (*wide == NULL) *wide = make_cast(&maker, widening->own[node->id], DTYPE_F32);
  return *wide;
}

/* Whether the operator computes the same of f32. Leaves, scans and what others have written are of their types. */
static bool may_widen(const Node *node) {
  switch (op_info(node->op)->class->family) {
  case FAMILY_ELEMENTWISE:
  case FAMILY_REDUCTION:
  case FAMILY_MOVEMENT:
  case FAMILY_CONTRACTION:
  case FAMILY_CONVOLUTION:
  case FAMILY_POOLING:
  case FAMILY_INDEXING:
  case FAMILY_ATTENTION: return !node_is_scan_result(node);
  default: return false;
  }
}

/* Whether it gives back what it has read, which is rounded. */
static bool is_exact(const Widening *widening, const Node *node) {
  const OpClass *class = op_info(node->op)->class;
  return (class->family == FAMILY_MOVEMENT && !node_attribute(node, ATTR_VALUE)) ||
         (class->moves_values && is_widened(widening, node->operands[0]) &&
          node->operands[0]->type.dtype == node->type.dtype);
}

/* Rounded to the node's type. A value is rounded once: the gradients' own conversions are the same number. */
static Node *rounded(Widening *widening, const Node *node, Node *value) {
  while (widening->rounded.count <= value->id)
    vec_push(widening->into->arena, &widening->rounded, NULL);
  Node **known = &widening->rounded.items[value->id];
  if (*known && (*known)->operands[0]->type.dtype == node->type.dtype) return *known;
  Maker maker = maker_of(widening, node);
  return *known = make_cast(&maker, make_cast(&maker, value, node->type.dtype), DTYPE_F32);
}

static Node *copy_with(Widening *widening, const Node *node, bool is_wide) {
  Node model = *node;
  model.operands = ARENA_ARRAY(widening->into->arena, Node *, node->operand_count + 1);
  for (int i = 0; i < node->operand_count; i++)
    model.operands[i] =
        is_wide ? wide_form(widening, node->operands[i]) : own_form(widening, node->operands[i]);
  if (is_wide && is_widened(widening, node)) model.type.dtype = DTYPE_F32;
  return graph_add(widening->into, &model);
}

static bool has_widened(const Widening *widening, const Node *node) {
  bool found = is_widened(widening, node);
  for (int i = 0; i < node->operand_count; i++) found |= is_widened(widening, node->operands[i]);
  return found;
}

static void widen_node(Widening *widening, const Node *node) {
  Node **own = &widening->own[node->id], **wide = &widening->wide[node->id];
  if (!may_widen(node) || !has_widened(widening, node)) {
    *own = copy_with(widening, node, false);
    return;
  }
  bool is_cast = node->op == OP_CAST;
  Node *value = is_cast ? wide_form(widening, node->operands[0]) : copy_with(widening, node, true);
  Maker maker = maker_of(widening, node);
  if (!is_widened(widening, node))
    *own = is_cast ? make_cast(&maker, value, node->type.dtype) : value;
  else *wide = is_exact(widening, node) ? value : rounded(widening, node, value);
}

void stage_widen(Lowering *lowering) {
  if (!lowering->widens_bf16 && !lowering->widens_f16) return;
  const Graph *graph = lowering->graph;
  Widening widening = {.lowering = lowering, .into = graph_create(lowering->arena, graph->name)};
  widening.own = ARENA_ARRAY(lowering->arena, Node *, graph->next_id);
  widening.wide = ARENA_ARRAY(lowering->arena, Node *, graph->next_id);
  NodeMap map = node_map_create(lowering->arena, graph);
  for (int i = 0; i < graph->nodes.count; i++) widen_node(&widening, graph->nodes.items[i]);
  for (int i = 0; i < graph->outputs.count; i++) {
    const Node *node = graph->outputs.items[i].node;
    node_map_set(&map, node, own_form(&widening, node));
  }
  graph_copy_outputs(widening.into, graph, &map, NULL);
  lowering->graph = widening.into;
}
