/* The table of the kinds of kernels: kernels.def joined with the records of kernel/classes/. */
#include "kernel/class.h"

#include "support/panic.h"

static const KernelClass *const class_table[KERNEL_KIND_COUNT] = {
#define KERNEL(identifier, name) [KERNEL_##identifier] = &kernel_class_##name,
#include "kernel/kernels.def"
};

const KernelClass *kernel_class(const Kernel *kernel) {
  if ((unsigned)kernel->kind >= KERNEL_KIND_COUNT)
    panic("there is no kind of kernel number %d", (int)kernel->kind);
  return class_table[kernel->kind];
}

int kernel_template_operands(const Kernel *kernel) {
  const KernelClass *class = kernel_class(kernel);
  int count = 0;
  while (count < kernel->operand_count && class->reads && class->reads(kernel, count) >= 0) count++;
  return count;
}

bool kernel_is_in_pieces(const Kernel *kernel) {
  const KernelClass *class = kernel_class(kernel);
  return class->is_in_pieces && class->is_in_pieces(kernel);
}
