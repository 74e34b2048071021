/* Indexing by integers, random tensors, the index along an axis. */
#include "generate.h"

/* Mostly floats; scatter_add takes no bool and no u8. */
static Node *draw_table(Generator *g, bool is_number) {
  Node *x = draw_node(g, draw_chance(g, 80) ? KIND_FLOAT | KIND_AXES : KIND_ANY | KIND_AXES);
  if (!x || !is_number || dtype_is_float(x->type.dtype)) return x;
  return x->type.dtype == DTYPE_I32 || x->type.dtype == DTYPE_I64 ? x : NULL;
}

Node *grow_gather(Generator *g) {
  Node *table = draw_table(g, false);
  if (!table || table->type.shape.rank > 4) return NULL;
  Node *index = draw_index(g, draw_shape(g, 0, 2), table->type.shape.dim[0]);
  return index ? try_add(g, OP_GATHER, 2, (Node *[]){table, index}, 0, NULL) : NULL;
}

/* The leading axes of the values are those of the index. */
Node *grow_scatter(Generator *g) {
  Node *values = draw_table(g, true);
  if (!values) return NULL;
  int rank = (int)draw_below(g, values->type.shape.rank + 1);
  if (rank > 2) rank = 2;
  Shape index_shape = shape_make(rank, values->type.shape.dim), result = {.rank = 1};
  result.dim[0] = 1 + draw_below(g, 12);
  for (int i = rank; i < values->type.shape.rank; i++)
    result.dim[result.rank++] = values->type.shape.dim[i];
  Node *index = draw_index(g, index_shape, result.dim[0]);
  Attribute shape = attr_make_ints(ATTR_SHAPE, result.rank, result.dim);
  return index ? try_add(g, OP_SCATTER_ADD, 2, (Node *[]){values, index}, 1, &shape) : NULL;
}

Node *grow_argsort(Generator *g) {
  Node *x = draw_node(g, (draw_chance(g, 60) ? KIND_FLOAT : KIND_ANY) | KIND_AXES);
  Attribute descending = attr_make_int(ATTR_DESCENDING, draw_chance(g, 50));
  return x ? try_add(g, OP_ARGSORT, 1, &x, 1, &descending) : NULL;
}

static Shape without_axis(Shape shape, int axis) {
  Shape result = {.rank = 0};
  for (int i = 0; i < shape.rank; i++)
    if (i != axis) result.dim[result.rank++] = shape.dim[i];
  return result;
}

Node *grow_pick(Generator *g) {
  Node *x = draw_table(g, false);
  if (!x) return NULL;
  int axis = (int)draw_below(g, x->type.shape.rank);
  Node *index = draw_index(g, without_axis(x->type.shape, axis), x->type.shape.dim[axis]);
  Attribute attribute = attr_make_int(ATTR_AXIS, axis);
  return index ? try_add(g, OP_PICK, 2, (Node *[]){x, index}, 1, &attribute) : NULL;
}

Node *grow_unpick(Generator *g) {
  Node *y = draw_node(g, draw_chance(g, 80) ? KIND_FLOAT : KIND_ANY);
  if (!y || y->type.shape.rank > 4) return NULL;
  Shape shape = y->type.shape;
  int axis = (int)draw_below(g, shape.rank + 1);
  for (int i = shape.rank++; i > axis; i--) shape.dim[i] = shape.dim[i - 1];
  shape.dim[axis] = 1 + draw_below(g, 9);
  Node *index = draw_index(g, y->type.shape, shape.dim[axis]);
  Attribute attributes[] = {attr_make_int(ATTR_AXIS, axis),
                            attr_make_ints(ATTR_SHAPE, shape.rank, shape.dim)};
  return index ? try_add(g, OP_UNPICK, 2, (Node *[]){y, index}, 2, attributes) : NULL;
}

Node *grow_random(Generator *g) {
  if (g->outer) return NULL; /* random numbers come as a sequence */
  static const Op ops[] = {OP_RANDOM_UNIFORM, OP_RANDOM_NORMAL, OP_RANDOM_BITS};
  Op op = ops[draw_below(g, 3)];
  Type type = type_make(op == OP_RANDOM_BITS ? DTYPE_I64 : g->real, draw_shape(g, 0, 4));
  Attribute attributes[] = {attr_make_int(ATTR_STREAM, 1),
                            attr_make_string(ATTR_KEY, g->maker.path)};
  return make_leaf(&(Maker){g->maker.graph, (Span){0}, g->maker.path}, op, type, 2, attributes);
}

Node *grow_iota(Generator *g) {
  static const DType whole[] = {DTYPE_I32, DTYPE_I64};
  Type type =
      type_make(draw_chance(g, 50) ? g->real : whole[draw_below(g, 2)], draw_shape(g, 1, 4));
  return make_iota(&g->maker, type, (int)draw_below(g, type.shape.rank));
}
