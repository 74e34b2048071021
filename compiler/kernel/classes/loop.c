/* Loops: the nest is written out in the stages, so there are no slots and no template. */
#include "kernel/builder.h"
#include "kernel/class.h"

static bool loop_can_block(const Kernel *kernel, int64_t blocks, bool *parts) {
  (void)kernel, (void)blocks, (void)parts;
  return true; /* the stages decide */
}

const KernelClass kernel_class_loop = {
    .collapse = kernel_collapse_stages,
    .can_block = loop_can_block,
};
