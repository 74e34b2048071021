/* Building nodes by operator, for gradient rules, passes and everything else that writes graphs.
 *
 * A Maker says where nodes go and whose place and path they carry. Types are inferred; identities
 * (a cast to the same type, a reshape to the same shape, ...) return their operand.
 *
 * C leaves open which argument of a call is computed first: at most one of them may make nodes, or
 * their ids would depend on the compiler that built nnc. */
#ifndef NNC_OPS_MAKE_H
#define NNC_OPS_MAKE_H

#include "graph/graph.h"

typedef struct Maker {
  Graph *graph;
  Span span;
  const char *path;
} Maker;

/* The general constructors: of a node, whose type the operator's rule infers; of a leaf, whose type is
 * given. They panic when the operands do not fit, since the elaborator has explained a user's mistake
 * before. */
Node *make_node(const Maker *maker, Op op, int operand_count, Node *const *operands,
                int attribute_count, const Attribute *attributes);
Node *make_leaf(const Maker *maker, Op op, Type type, int attribute_count,
                const Attribute *attributes);
/* Infers the type of a node that owns a graph, once it has it. */
void make_type(const Maker *maker, Node *node);

Node *make_constant(const Maker *maker, Type type, double value); /* every element */
Node *make_iota(const Maker *maker, Type type, int axis);
Node *make_unary(const Maker *maker, Op op, Node *a);
Node *make_binary(const Maker *maker, Op op, Node *a, Node *b);
/* a op value, the value in every element. */
Node *make_binary_value(const Maker *maker, Op op, Node *a, double value);
Node *make_add(const Maker *maker, Node *a, Node *b);
/* A node of its own with the value of `a`. */
Node *make_alias(const Maker *maker, Node *a);
Node *make_where(const Maker *maker, Node *condition, Node *a, Node *b);
Node *make_cast(const Maker *maker, Node *a, DType dtype);

Node *make_reshape(const Maker *maker, Node *a, Shape shape);
/* Result axis i is operand axis permutation[i]. */
Node *make_transpose(const Maker *maker, Node *a, const int64_t *permutation);
/* Operand axis i becomes result axis axes[i]. */
Node *make_broadcast(const Maker *maker, Node *a, Shape shape, const int64_t *axes);
Node *make_slice(const Maker *maker, Node *a, const int64_t *start, const int64_t *stop,
                 const int64_t *step);
/* Elements [start, stop) along one axis. */
Node *make_range(const Maker *maker, Node *a, int axis, int64_t start, int64_t stop);
Node *make_pad(const Maker *maker, Node *a, const int64_t *low, const int64_t *high,
               const int64_t *step, double value);
Node *make_concat(const Maker *maker, int count, Node *const *parts, int axis);
/* A reduction over sorted axes. */
Node *make_reduce(const Maker *maker, Op op, Node *a, int count, const int64_t *axes);
/* argmax, argmin. */
Node *make_arg(const Maker *maker, Op op, Node *a, int axis);

typedef struct ContractAxes { /* paired: batch_left[i] with batch_right[i], sums likewise */
  int batch_count, sum_count;
  int64_t batch_left[MAX_RANK], batch_right[MAX_RANK], sum_left[MAX_RANK], sum_right[MAX_RANK];
} ContractAxes;
Node *make_contract(const Maker *maker, Node *left, Node *right, const ContractAxes *axes);
/* The same with a result of this type: that of the sides, or f32 where they are of 16 bits. */
Node *make_contract_of(const Maker *maker, Node *left, Node *right, const ContractAxes *axes,
                       DType dtype);

Node *make_gather(const Maker *maker, Node *table, Node *index);
Node *make_scatter_add(const Maker *maker, Node *values, Node *index, Shape shape);
Node *make_pick(const Maker *maker, Node *a, Node *index, int axis);
Node *make_unpick(const Maker *maker, Node *a, Node *index, int axis, Shape shape);

/* Any operator with attributes of its own; `like`, if not NULL, lends its attributes but `shape`,
 * and `shape`, if not NULL, becomes that attribute. */
Node *make_like(const Maker *maker, Op op, Node *a, Node *b, const Node *like, const Shape *shape);
/* `node` with other operands and no padding. */
Node *make_unpadded(const Maker *maker, const Node *node, Node *a, Node *b);
/* The sums of `node`, which has two operands and ATTR_SHAPE, over equal pieces (ATTR_PIECES), of this
 * type: that of the operands, or f32 where they are of 16 bits. */
Node *make_pieces(const Maker *maker, const Node *node, Node *a, Node *b, int64_t pieces,
                  DType dtype);

#endif
