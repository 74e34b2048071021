/* Kernels over a part of their domain, for task loops over blocks of a batch.
 *
 * A kernel is cut into `blocks` equal parts along its first axis, of extent E. Each operand is
 * either a row-major [E, c] of which point i0 touches only row i0 - then a part of the kernel
 * touches a part of the operand, and the kernel of one part is given the address where that begins
 * - or it is only read, and the same for all parts. What of a kernel proves this is the index of
 * every access. A convolution's gradient in its weights has its pieces (ATTR_PIECES) as the first
 * axis; one block is one piece. */
#ifndef NNC_KERNEL_BLOCK_H
#define NNC_KERNEL_BLOCK_H

#include "kernel/kernel.h"

typedef struct BlockCut {
  int64_t blocks;
  int64_t examples; /* of the batch: random numbers are counted from the block's first example */
} BlockCut;

/* Whether the kernel can be cut so; parts[i]: operand i is touched part by part. */
bool kernel_can_block(const Kernel *kernel, BlockCut cut, bool *parts);
/* Makes it the kernel of one part, all of whose tasks one worker does. */
void kernel_block(Arena *arena, Kernel *kernel, BlockCut cut, const bool *parts);

#endif
