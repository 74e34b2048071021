/* own_gradient: see own_gradient.h.
 *
 * Its value is operand 0. The gradient rule copies what the rule graph computes for the target that
 * is asked for, with the adjoint in the place of argument 0. The pass expand drops the node. */
#include "ops/own_gradient.h"

#include "ops/op.h"
#include "ops/scan.h"
#include "support/panic.h"

bool own_gradient_leads(const Node *node, int operand) {
  return operand >= 1 && operand <= node->rule->outputs.count;
}

static bool own_gradient_infer(Inference *in) {
  in->type = in->node->operands[0]->type;
  if (!in->node->rule) return infer_fail(in, "it has no rule");
  int targets = in->node->rule->outputs.count;
  if (targets < 1 || targets >= in->node->operand_count)
    return infer_fail(in, "its rule gives %d gradients to %d operands", targets,
                      in->node->operand_count - 1);
  for (int i = 0; i <= targets; i++)
    if (!infer_dtype(in, i, DTYPES_FLOAT)) return false;
  for (int i = 0; i < targets; i++) {
    Type given = in->node->rule->outputs.items[i].node->type,
         wanted = in->node->operands[i + 1]->type;
    if (!type_equal(given, wanted))
      return infer_fail(in, "result %d of its rule is %s and the operand %s", i,
                        type_text(in->arena, given), type_text(in->arena, wanted));
  }
  return scan_infer_arguments(in, &(ScanShape){.carries = in->node->operand_count});
}

Node *make_own_gradient(const Maker *maker, const Graph *rule, int operand_count,
                        Node *const *operands) {
  Node *node = graph_add(maker->graph, &(Node){.op = OP_OWN_GRADIENT,
                                               .operand_count = operand_count,
                                               .operands = (Node **)operands,
                                               .rule = rule,
                                               .span = maker->span,
                                               .path = maker->path});
  make_type(maker, node);
  return node;
}

static bool is_zero(const Node *node) {
  return node->op == OP_CONSTANT && node_float(node, ATTR_VALUE) == 0;
}

/* Zeros, `none` in the program, are nothing: what the target was made of gets nothing through it. */
static Node *own_gradient_gradient(const GradientContext *context, int operand) {
  const Node *node = context->node;
  if (!own_gradient_leads(node, operand)) return NULL;
  const Graph *rule = node->rule;
  if (is_zero(rule->outputs.items[operand - 1].node)) return NULL;
  Graph *into = context->maker.graph;
  NodeMap map = node_map_create(into->arena, rule);
  for (int i = 0; i < rule->nodes.count; i++) {
    const Node *argument = rule->nodes.items[i];
    if (op_info(argument->op)->class->leaf != LEAF_ARGUMENT) continue;
    int64_t index = node_int(argument, ATTR_INDEX);
    node_map_set(&map, argument, index == 0 ? context->adjoint : node->operands[index]);
  }
  return graph_copy_tree(into, rule->outputs.items[operand - 1].node, &map);
}

const OpClass op_class_own_gradient = {
    .family = FAMILY_SCAN,
    .infer = own_gradient_infer,
    .gradient = own_gradient_gradient,
    .evaluate = evaluate_copy,
    .cost = cost_nothing,
    .owns_rule = true,
    .is_alias = true,
};
