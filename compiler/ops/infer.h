/* Clauses that the type rules of operators share. Each returns false (or NULL) with *reason set to
 * a clause in the arena when the node does not fit. */
#ifndef NNC_OPS_INFER_H
#define NNC_OPS_INFER_H

#include "graph/graph.h"

/* Sets *reason; always false, so that a rule can return it. */
bool infer_fail(Arena *arena, const char **reason, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

const Attribute *infer_attribute(Arena *arena, const Node *node, AttributeKey key,
                                 const char **reason);
/* An integer list of `count` entries, each at least `least`. */
const Attribute *infer_ints(Arena *arena, const Node *node, AttributeKey key, int count,
                            int64_t least, const char **reason);
/* The attribute `axis`, in [0, rank). */
bool infer_axis(Arena *arena, const Node *node, int rank, int *axis, const char **reason);
/* Distinct axes in [0, rank), of any count; `increasing` asks for their order too. */
const Attribute *infer_axes(Arena *arena, const Node *node, AttributeKey key, int rank,
                            bool increasing, const char **reason);
/* The attribute `shape`. */
bool infer_shape(Arena *arena, const Node *node, Shape *shape, const char **reason);
/* All operands have one dtype and, with `shapes`, one shape. */
bool infer_same(Arena *arena, const Node *node, bool shapes, const char **reason);

/* Sets of dtypes that an operator takes. */
enum {
  DTYPES_FLOAT = 1 << DTYPE_F64 | 1 << DTYPE_F32 | 1 << DTYPE_BF16 | 1 << DTYPE_F16,
  DTYPES_NUMBER = DTYPES_FLOAT | 1 << DTYPE_I64 | 1 << DTYPE_I32, /* those with arithmetic */
  DTYPES_INT = 1 << DTYPE_I64 | 1 << DTYPE_I32 | 1 << DTYPE_U8,
  DTYPES_ORDERED = DTYPES_FLOAT | DTYPES_INT,
  DTYPES_BOOL = 1 << DTYPE_BOOL,
  DTYPES_ANY = DTYPES_ORDERED | DTYPES_BOOL
};
/* Operand `i` is of one of the dtypes of the set. */
bool infer_dtype(Arena *arena, const Node *node, int i, int dtypes, const char **reason);

#endif
