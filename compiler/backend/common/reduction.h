/* What a loop does with each value that it reduces. */
#ifndef NNC_BACKEND_COMMON_REDUCTION_H
#define NNC_BACKEND_COMMON_REDUCTION_H

#include "backend/common/expression.h"

/* A search for the index of the greatest value (OP_ARGMAX) or the least (OP_ARGMIN). */
typedef struct Search {
  Op reduce;
  DType dtype;              /* of the values */
  const char *best, *place; /* variables: the best value so far, its index */
} Search;

bool reduction_is_search(Op reduce);
/* The statement that joins `value` to the accumulator of this type. */
void reduction_write_join(Code *code, const Dialect *dialect, const Stage *stage, DType dtype,
                          const char *accumulator, const char *value);
/* The first of the best wins; NaN counts as better than anything. */
void reduction_write_search(Code *code, const Dialect *dialect, const Search *search,
                            const char *value, const char *axis);

#endif
