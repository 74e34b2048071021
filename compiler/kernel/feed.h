/* Kernels that feed others.
 *
 * A template may read its operand 0 in parts, each soon after the one before, such as the lines of an image. Where that
 * operand is the result of another template which nothing else reads, the other one may compute each part when it is
 * needed, into memory of the worker that needs it: it is the feeder. Its result as a whole is never in memory.
 *
 * The fed kernel has the feeder's operands after its own. Its operand 0 is the feeder's, which stands for what the feeder
 * makes of it. Which kernels can feed others so, the target knows (Target.can_feed). */
#ifndef NNC_KERNEL_FEED_H
#define NNC_KERNEL_FEED_H

#include "kernel/kernel.h"

/* Whether what `feeder` stores may be operand 0 of `kernel`: it stores one value and nothing else, of that size and type,
 * from operands alone, whose places in memory are known. */
bool kernel_can_be_fed(const Kernel *kernel, const Kernel *feeder);
/* Makes `feeder` that of the kernel. Gives the places of the feeder's operands among those of the kernel (feed). */
void kernel_take_feeder(Arena *arena, Kernel *kernel, const Kernel *feeder);
/* Whether the feeder reads the kernel's operand. */
bool kernel_feeder_reads(const Kernel *kernel, int operand);
/* The operand that the kernel, a feeder, stores. */
int feeder_result(const Kernel *feeder);
/* NULL, or what is wrong with the feeder of a kernel that has one. */
const char *kernel_verify_feeder(Arena *arena, const Kernel *kernel);

#endif
