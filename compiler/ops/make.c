/* Building nodes by operator: see make.h. */
#include "ops/make.h"

#include "ops/number.h"
#include "ops/op.h"
#include "support/panic.h"

static Node model_of(const Maker *maker, Op op, int attribute_count, const Attribute *attributes) {
  return (Node){.op = op,
                .attribute_count = attribute_count,
                .attributes = (Attribute *)attributes,
                .span = maker->span,
                .path = maker->path};
}

Node *make_leaf(const Maker *maker, Op op, Type type, int attribute_count,
                const Attribute *attributes) {
  Node model = model_of(maker, op, attribute_count, attributes);
  model.type = type;
  return graph_add(maker->graph, &model);
}

Node *make_node(const Maker *maker, Op op, int operand_count, Node *const *operands,
                int attribute_count, const Attribute *attributes) {
  const OpInfo *info = op_info(op);
  Node model = model_of(maker, op, attribute_count, attributes);
  model.operand_count = operand_count;
  model.operands = (Node **)operands;
  if (operand_count < info->least_operands ||
      (info->most_operands >= 0 && operand_count > info->most_operands))
    panic("%s (%s) is built with %d operands", info->name, maker->path, operand_count);
  Node *node = graph_add(maker->graph, &model);
  make_type(maker, node);
  return node;
}

void make_type(const Maker *maker, Node *node) {
  const char *reason;
  if (!node_infer(maker->graph->arena, node, &node->type, &reason))
    panic("%s (%s) in graph %s cannot be built: %s", op_info(node->op)->name, node->path,
          maker->graph->name, reason);
}

Node *make_constant(const Maker *maker, Type type, double value) {
  Attribute attribute = attr_make_float(ATTR_VALUE, number_round(value, type.dtype));
  return make_leaf(maker, OP_CONSTANT, type, 1, &attribute);
}

Node *make_iota(const Maker *maker, Type type, int axis) {
  Attribute attribute = attr_make_int(ATTR_AXIS, axis);
  return make_leaf(maker, OP_IOTA, type, 1, &attribute);
}

Node *make_unary(const Maker *maker, Op op, Node *a) {
  return make_node(maker, op, 1, &a, 0, NULL);
}

Node *make_binary(const Maker *maker, Op op, Node *a, Node *b) {
  return make_node(maker, op, 2, (Node *[]){a, b}, 0, NULL);
}

Node *make_binary_value(const Maker *maker, Op op, Node *a, double value) {
  return make_binary(maker, op, a, make_constant(maker, a->type, value));
}

Node *make_add(const Maker *maker, Node *a, Node *b) { return make_binary(maker, OP_ADD, a, b); }

Node *make_alias(const Maker *maker, Node *a) {
  Attribute shape = attr_make_ints(ATTR_SHAPE, a->type.shape.rank, a->type.shape.dim);
  return make_node(maker, OP_RESHAPE, 1, &a, 1, &shape);
}

Node *make_where(const Maker *maker, Node *condition, Node *a, Node *b) {
  return make_node(maker, OP_WHERE, 3, (Node *[]){condition, a, b}, 0, NULL);
}

Node *make_cast(const Maker *maker, Node *a, DType dtype) {
  if (a->type.dtype == dtype) return a;
  Attribute attribute = attr_make_int(ATTR_DTYPE, dtype);
  return make_node(maker, OP_CAST, 1, &a, 1, &attribute);
}

Node *make_reshape(const Maker *maker, Node *a, Shape shape) {
  if (shape_equal(a->type.shape, shape)) return a;
  Attribute attribute = attr_make_ints(ATTR_SHAPE, shape.rank, shape.dim);
  return make_node(maker, OP_RESHAPE, 1, &a, 1, &attribute);
}

Node *make_transpose(const Maker *maker, Node *a, const int64_t *permutation) {
  int rank = a->type.shape.rank, kept = 0;
  while (kept < rank && permutation[kept] == kept) kept++;
  if (kept == rank) return a;
  Attribute attribute = attr_make_ints(ATTR_PERMUTATION, rank, permutation);
  return make_node(maker, OP_TRANSPOSE, 1, &a, 1, &attribute);
}

Node *make_broadcast(const Maker *maker, Node *a, Shape shape, const int64_t *axes) {
  if (shape_equal(a->type.shape, shape)) return a;
  Attribute attributes[] = {attr_make_ints(ATTR_SHAPE, shape.rank, shape.dim),
                            attr_make_ints(ATTR_AXES, a->type.shape.rank, axes)};
  return make_node(maker, OP_BROADCAST, 1, &a, 2, attributes);
}

Node *make_slice(const Maker *maker, Node *a, const int64_t *start, const int64_t *stop,
                 const int64_t *step) {
  Shape shape = a->type.shape;
  bool whole = true;
  for (int i = 0; i < shape.rank; i++)
    whole = whole && start[i] == 0 && stop[i] == shape.dim[i] && step[i] == 1;
  if (whole) return a;
  Attribute attributes[] = {attr_make_ints(ATTR_START, shape.rank, start),
                            attr_make_ints(ATTR_STOP, shape.rank, stop),
                            attr_make_ints(ATTR_STEP, shape.rank, step)};
  return make_node(maker, OP_SLICE, 1, &a, 3, attributes);
}

Node *make_range(const Maker *maker, Node *a, int axis, int64_t start, int64_t stop) {
  int64_t from[MAX_RANK] = {0}, to[MAX_RANK], step[MAX_RANK];
  for (int i = 0; i < a->type.shape.rank; i++) {
    to[i] = a->type.shape.dim[i];
    step[i] = 1;
  }
  from[axis] = start;
  to[axis] = stop;
  return make_slice(maker, a, from, to, step);
}

Node *make_pad(const Maker *maker, Node *a, const int64_t *low, const int64_t *high,
               const int64_t *step, double value) {
  int rank = a->type.shape.rank;
  bool nothing = true;
  for (int i = 0; i < rank; i++)
    nothing = nothing && low[i] == 0 && high[i] == 0 && (step[i] == 1 || a->type.shape.dim[i] <= 1);
  if (nothing) return a;
  Attribute attributes[] = {
      attr_make_ints(ATTR_LOW, rank, low), attr_make_ints(ATTR_HIGH, rank, high),
      attr_make_ints(ATTR_STEP, rank, step), attr_make_float(ATTR_VALUE, value)};
  return make_node(maker, OP_PAD, 1, &a, 4, attributes);
}

Node *make_concat(const Maker *maker, int count, Node *const *parts, int axis) {
  if (count == 1) return parts[0];
  Attribute attribute = attr_make_int(ATTR_AXIS, axis);
  return make_node(maker, OP_CONCAT, count, parts, 1, &attribute);
}

Node *make_reduce(const Maker *maker, Op op, Node *a, int count, const int64_t *axes) {
  if (count == 0) return a;
  Attribute attribute = attr_make_ints(ATTR_AXES, count, axes);
  return make_node(maker, op, 1, &a, 1, &attribute);
}

Node *make_arg(const Maker *maker, Op op, Node *a, int axis) {
  Attribute attribute = attr_make_int(ATTR_AXIS, axis);
  return make_node(maker, op, 1, &a, 1, &attribute);
}

Node *make_contract(const Maker *maker, Node *left, Node *right, const ContractAxes *axes) {
  return make_contract_of(maker, left, right, axes, left->type.dtype);
}

Node *make_contract_of(const Maker *maker, Node *left, Node *right, const ContractAxes *axes,
                       DType dtype) {
  Attribute attributes[] = {attr_make_ints(ATTR_BATCH_LEFT, axes->batch_count, axes->batch_left),
                            attr_make_ints(ATTR_BATCH_RIGHT, axes->batch_count, axes->batch_right),
                            attr_make_ints(ATTR_SUM_LEFT, axes->sum_count, axes->sum_left),
                            attr_make_ints(ATTR_SUM_RIGHT, axes->sum_count, axes->sum_right),
                            attr_make_int(ATTR_DTYPE, dtype)};
  int count = dtype == left->type.dtype ? 4 : 5;
  return make_node(maker, OP_CONTRACT, 2, (Node *[]){left, right}, count, attributes);
}

Node *make_gather(const Maker *maker, Node *table, Node *index) {
  return make_node(maker, OP_GATHER, 2, (Node *[]){table, index}, 0, NULL);
}

Node *make_scatter_add(const Maker *maker, Node *values, Node *index, Shape shape) {
  Attribute attribute = attr_make_ints(ATTR_SHAPE, shape.rank, shape.dim);
  return make_node(maker, OP_SCATTER_ADD, 2, (Node *[]){values, index}, 1, &attribute);
}

Node *make_pick(const Maker *maker, Node *a, Node *index, int axis) {
  Attribute attribute = attr_make_int(ATTR_AXIS, axis);
  return make_node(maker, OP_PICK, 2, (Node *[]){a, index}, 1, &attribute);
}

Node *make_unpick(const Maker *maker, Node *a, Node *index, int axis, Shape shape) {
  Attribute attributes[] = {attr_make_int(ATTR_AXIS, axis),
                            attr_make_ints(ATTR_SHAPE, shape.rank, shape.dim)};
  return make_node(maker, OP_UNPICK, 2, (Node *[]){a, index}, 2, attributes);
}

Node *make_like(const Maker *maker, Op op, Node *a, Node *b, const Node *like, const Shape *shape) {
  Attribute attributes[ATTR_COUNT];
  int count = 0;
  for (int i = 0; like && i < like->attribute_count; i++)
    if (like->attributes[i].key != ATTR_SHAPE) attributes[count++] = like->attributes[i];
  if (shape) attributes[count++] = attr_make_ints(ATTR_SHAPE, shape->rank, shape->dim);
  CHECK(count <= ATTR_COUNT);
  return make_node(maker, op, b ? 2 : 1, (Node *[]){a, b}, count, attributes);
}

Node *make_unpadded(const Maker *maker, const Node *node, Node *a, Node *b) {
  static const int64_t zeros[MAX_RANK];
  Attribute attributes[ATTR_COUNT];
  for (int i = 0; i < node->attribute_count; i++) {
    AttributeKey key = node->attributes[i].key;
    bool is_padding = key == ATTR_LOW || key == ATTR_HIGH;
    attributes[i] =
        is_padding ? attr_make_ints(key, node->attributes[i].count, zeros) : node->attributes[i];
  }
  return make_node(maker, node->op, 2, (Node *[]){a, b}, node->attribute_count, attributes);
}

Node *make_pieces(const Maker *maker, const Node *node, Node *a, Node *b, int64_t pieces,
                  DType dtype) {
  Attribute attributes[ATTR_COUNT];
  int count = 0;
  Shape shape = {.rank = node->type.shape.rank + 1, .dim = {pieces}};
  for (int i = 0; i < node->type.shape.rank; i++) shape.dim[i + 1] = node->type.shape.dim[i];
  for (int i = 0; i < node->attribute_count; i++)
    if (node->attributes[i].key != ATTR_SHAPE) attributes[count++] = node->attributes[i];
  attributes[count++] = attr_make_ints(ATTR_SHAPE, shape.rank, shape.dim);
  attributes[count++] = attr_make_int(ATTR_PIECES, pieces);
  if (dtype != a->type.dtype) attributes[count++] = attr_make_int(ATTR_DTYPE, dtype);
  CHECK(count <= ATTR_COUNT);
  return make_node(maker, node->op, 2, (Node *[]){a, b}, count, attributes);
}
