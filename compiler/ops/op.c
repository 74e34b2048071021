/* The table of operators: ops.def joined with the records of the op files. */
#include "ops/op.h"

#include "ops/number.h"
#include "support/panic.h"

static const OpInfo op_table[OP_COUNT] = {
#define OP(identifier, name, least, most, table)                                                   \
  [OP_##identifier] = {name, least, most, &op_class_##table},
#include "ops/ops.def"
#undef OP
};

const OpInfo *op_info(Op op) {
  if ((unsigned)op >= OP_COUNT) panic("there is no operator number %d", (int)op);
  return &op_table[op];
}

const char *op_sign(Op op) {
  static const char *const signs[OP_COUNT] = {
      [OP_ADD] = "+", [OP_SUB] = "-", [OP_MUL] = "*", [OP_DIV] = "/", [OP_EQ] = "==",
      [OP_NE] = "!=", [OP_LT] = "<",  [OP_LE] = "<=", [OP_GT] = ">",  [OP_GE] = ">="};
  return signs[op];
}

bool node_infer(Arena *arena, const Node *node, Type *type, const char **reason) {
  Inference in = {arena, node, node->type, "operands and attributes do not fit"};
  bool fits = op_info(node->op)->class->infer(&in);
  *type = in.type;
  *reason = in.reason;
  return fits;
}

bool op_has_kernel(Op op, const Target *target) {
  KernelKind kind = op_info(op)->class->needs;
  return kind == KERNEL_LOOP || (target && target->kernels[kind]);
}

bool op_values_are_remade(const Target *target) { return target && target->computes_again; }

bool op_attention_has_kernels(const Target *target) {
  static const Op apart[] = {OP_ATTENTION, OP_ATTENTION_LSE, OP_ATTENTION_GRAD_Q,
                             OP_ATTENTION_GRAD_KV};
  if (op_has_kernel(OP_ATTENTION_ROWS, target) && op_has_kernel(OP_ATTENTION_GRADS, target))
    return true;
  for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
    if (!op_has_kernel(apart[i], target)) return false;
  return true;
}

bool op_attention_fits(const Target *target, DType dtype, int64_t depth, int64_t value_depth) {
  return !target || !target->attention_fits || target->attention_fits(dtype, depth, value_depth);
}

bool node_has_kernel(const Node *node, const Target *target) {
  if (!op_has_kernel(node->op, target)) return false;
  if (op_info(node->op)->class->family != FAMILY_ATTENTION) return true;
  const Type *q = &node->operands[0]->type;
  int values = node->op == OP_ATTENTION_LSE ? 1 : 2; /* q and k alone have scores */
  return op_attention_fits(target, q->dtype, q->shape.dim[3],
                           node->operands[values]->type.shape.dim[3]);
}

bool op_attention_has_units(const Target *target, DType dtype, int64_t depth, int64_t value_depth) {
  return !target || !target->attention_has_units ||
         target->attention_has_units(dtype, depth, value_depth);
}

bool op_attention_gains(const Target *target, const AttentionUse *use) {
  return !target || !target->attention_gains || target->attention_gains(use);
}

bool *op_forward_nodes(Arena *arena, const Graph *graph) {
  bool *is_forward = graph_forward_nodes(arena, graph);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    bool is_noted = op_info(node->op)->class->is_note;
    for (int k = 0; k < node->operand_count; k++)
      is_noted = is_noted && is_forward[node->operands[k]->id];
    if (is_noted) is_forward[node->id] = true;
  }
  return is_forward;
}

bool op_is_elementwise(Op op) { return op_info(op)->class->family == FAMILY_ELEMENTWISE; }

bool op_is_view(const Node *node) {
  const OpClass *class = op_info(node->op)->class;
  return class->family == FAMILY_MOVEMENT && class->moves_values && node->operand_count == 1;
}

bool op_joins_parts(const Node *node) {
  const OpClass *class = op_info(node->op)->class;
  return class->family == FAMILY_MOVEMENT && !class->moves_values;
}

bool op_passes_gradient(Op op) {
  const OpClass *class = op_info(op)->class;
  return class->gradient || class->family == FAMILY_SCAN;
}

bool node_passes_gradient(const Node *node) {
  return dtype_is_float(node->type.dtype) && op_passes_gradient(node->op);
}

double node_bytes(const Node *node) {
  double bytes = (double)type_bytes(node->type);
  for (int i = 0; i < node->operand_count; i++)
    bytes += (double)type_bytes(node->operands[i]->type);
  return bytes;
}

Cost node_cost(const Node *node) {
  const OpClass *class = op_info(node->op)->class;
  return class->cost ? class->cost(node) : (Cost){.bytes = node_bytes(node)};
}

Cost cost_nothing(const Node *node) { return (Cost){0}; }

bool node_is_expensive(const Node *node) {
  enum { LEAST_OPERATIONS = 8 };
  double elements = (double)shape_elements(node->type.shape);
  if (elements == 0 || node->body) return false;
  if (node_is_scan_result(node) || op_info(node->op)->class->stands_alone) return true;
  return node_cost(node).flops >= LEAST_OPERATIONS * elements;
}

double node_scalar(const Node *node, const double *operands) {
  if (node->op == OP_CAST)
    return number_convert(operands[0], node->operands[0]->type.dtype, node->type.dtype);
  const OpClass *class = op_info(node->op)->class;
  if (!class->scalar) panic("%s is not elementwise", op_info(node->op)->name);
  return number_round(class->scalar(operands, node->type.dtype), node->type.dtype);
}
