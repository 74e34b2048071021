/* Sums of few rows of a large result, whose epilogue leaves the other rows as they are: an update in place
 * of a table of embeddings. */
#ifndef NNC_BACKEND_C_SPARSE_H
#define NNC_BACKEND_C_SPARSE_H

#include "backend/common/function.h"

enum { SPARSE_TASKS = 64 };

/* Whether scatter_add had better go through the rows that are named alone: there are fewer indices than
 * rows, and where the sum is 0 each element that the epilogue stores keeps its value. */
bool scatter_is_sparse(const Kernel *kernel);
/* Of such a kernel: the condition in C, of host scalars, under which they do keep it. */
const char *scatter_keeps(Arena *arena, const KernelFunction *function);

#endif
