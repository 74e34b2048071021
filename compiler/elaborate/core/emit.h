/* Nodes of the current region, made by the rules of the operators. */
#ifndef NNC_ELABORATE_EMIT_H
#define NNC_ELABORATE_EMIT_H

#include "elaborate/core/value.h"

struct Trace; /* elaborate/core/elaborator.h */

/* NULL after an error, which is reported at e->at. */
Node *emit_node(Elaborator *e, Op op, int operand_count, Node *const *operands, int attribute_count,
                const Attribute *attributes);
Node *emit_leaf(Elaborator *e, Op op, Type type, int attribute_count, const Attribute *attributes);
Node *emit_unary(Elaborator *e, Op op, Node *x);
Node *emit_binary(Elaborator *e, Op op, Node *x, Node *y);
Node *emit_constant(Elaborator *e, double value, Type type);
Node *emit_scalar(Elaborator *e, const char *name);  /* a host scalar leaf, one an entry */
Node *emit_iota(Elaborator *e, Type type, int axis); /* 0, 1, ... along the axis */
Node *emit_cast(Elaborator *e, Node *x, DType dtype);
/* The axis `from` at place `to`, the others in their order; NULL of NULL (scan.c). */
Node *emit_move_axis(Elaborator *e, Node *x, int from, int to);
/* check_index.c: `index`, which `taker` ("pick") uses along axis `axis` of that extent; checked where
 * the executable is to check. */
Node *emit_check_index(Elaborator *e, Node *index, const char *taker, int axis, int64_t extent);
Node *emit_reshape(Elaborator *e, Node *x, Shape shape);
Node *emit_transpose(Elaborator *e, Node *x, const int *permutation);
/* NumPy broadcasting; the shapes must fit. */
Node *emit_broadcast(Elaborator *e, Node *x, Shape shape);
Node *emit_broadcast_axes(Elaborator *e, Node *x, Shape shape, const int64_t *axes);
Node *emit_slice(Elaborator *e, Node *x, const int64_t *start, const int64_t *stop,
                 const int64_t *step);
Node *emit_reduce(Elaborator *e, Op op, Node *x, int axis_count, const int64_t *axes);
Node *emit_concat(Elaborator *e, int count, Node *const *parts, int axis);
/* An output of the current region's graph. */
/* A result of a trace that no statement of the program names. */
void emit_own_result(struct Trace *trace, const char *name, Node *node);
void emit_output(Elaborator *e, OutputKind kind, const char *name, Node *node, Span span);
/* Whether `count` more elements of lists are within the limit; else reports. */
bool emit_allow_elements(Elaborator *e, int64_t count);
/* True when a tensor of this shape may exist; else reports. */
bool emit_check_shape(Elaborator *e, Span at, Shape shape);
/* True when a tensor may have so many axes; else reports. */
bool emit_check_rank(Elaborator *e, Span at, int rank);

#endif
