/* Clauses that the type rules of operators share. Each returns false (or NULL) with a reason when the
 * node does not fit. */
#ifndef NNC_OPS_INFER_H
#define NNC_OPS_INFER_H

#include "graph/graph.h"

/* A type rule at work on a node. */
typedef struct Inference {
  Arena *arena; /* of texts */
  const Node *node;
  Type type;          /* of the result; at first what the node has, which that of a leaf is */
  const char *reason; /* a clause such as "operands have shapes [2, 3] and [3]" */
} Inference;

/* Sets the reason; always false, so that a rule can return it. */
bool infer_fail(Inference *in, const char *format, ...) __attribute__((format(printf, 2, 3)));

const Attribute *infer_attribute(Inference *in, AttributeKey key);
/* An integer list of `count` entries, each at least `least`. */
const Attribute *infer_ints(Inference *in, AttributeKey key, int count, int64_t least);
/* The attribute `axis`, in [0, rank). */
bool infer_axis(Inference *in, int rank, int *axis);
/* Distinct axes in [0, rank), of any count; `increasing` asks for their order too. */
const Attribute *infer_axes(Inference *in, AttributeKey key, int rank, bool increasing);
/* The attribute `shape`. */
bool infer_shape(Inference *in, Shape *shape);
/* All operands have one dtype and, with `shapes`, one shape. */
bool infer_same(Inference *in, bool shapes);

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
bool infer_dtype(Inference *in, int i, int dtypes);
/* Sums of 16 bits may be of f32 (ATTR_DTYPE), which the type is then. */
bool infer_wide_sum(Inference *in);

#endif
