/* Rows of a kernel for which its conditions are decided: a concatenation of many parts, such as the
 * steps of a loop that is written out, asks for each element which part it is of; for all elements
 * of a row the answer is the same. */
#ifndef NNC_KERNEL_CASES_H
#define NNC_KERNEL_CASES_H

#include "kernel/kernel.h"

/* Along one axis of the domain: case i is of the indices from begin[i] to begin[i+1]. */
typedef struct KernelCases {
  int axis;
  int count;      /* 1: nothing is gained, or there is no such axis */
  int64_t *begin; /* count + 1 */
} KernelCases;

/* How a store stage without inner axes falls into cases. */
KernelCases kernel_cases(Arena *arena, const Kernel *kernel, int stage);
/* The kernel with that stage as it is in the cases from `first` to before `beyond`: conditions that
 * are decided for all of them are gone, and what only other cases compute. `kernel`: the whole, or
 * what was made so for more cases; going by halves, the work grows little faster than the stage. */
Kernel *kernel_in_cases(Arena *arena, const Kernel *kernel, int stage, const KernelCases *cases,
                        int first, int beyond);
/* How a row of such a stage falls into cases: along the last axis, for which each is a loop. */
KernelCases kernel_row_cases(Arena *arena, const Kernel *kernel, int stage);
/* The kernel of one of them: its last axis is as long as the case, 0 where the case begins, so that
 * divisions by the extents of parts come out even. */
Kernel *kernel_in_row_case(Arena *arena, const Kernel *kernel, int stage, const KernelCases *cases,
                           int number);

/* How many elements of a row of such a stage lie together, where its indices ask for the last axis by its quotient and
 * its rest, as those of split heads do: (i2 / 32) * 2048 + i2 % 32. 0: no such parts, or short ones. */
int64_t kernel_row_part(Arena *arena, const Kernel *kernel, int stage);
/* The kernel with two axes for the last one: the part, and the element in it. */
Kernel *kernel_in_row_parts(Arena *arena, const Kernel *kernel, int stage, int64_t length);

#endif
