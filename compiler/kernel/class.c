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

void kernel_allow_tf32(Kernel *kernel) {
  bool multiplies = kernel->kind == KERNEL_CONTRACT || kernel->kind == KERNEL_CONV ||
                    kernel->kind == KERNEL_CONV_INPUT || kernel->kind == KERNEL_CONV_WEIGHT ||
                    kernel->kind == KERNEL_ATTENTION || kernel->kind == KERNEL_ATTENTION_LSE ||
                    kernel->kind == KERNEL_ATTENTION_GRAD_Q ||
                    kernel->kind == KERNEL_ATTENTION_GRAD_KV;
  kernel->is_tf32 = multiplies && kernel->operands[0].dtype == DTYPE_F32 &&
                    kernel->operands[1].dtype == DTYPE_F32;
}

/* Of a vector, whose product waits for memory. */
static bool is_of_vector(const Kernel *kernel) {
  const ContractSlots *slots = &kernel->contract;
  return kernel->kind == KERNEL_CONTRACT &&
         (axis_group_extent(&slots->m) == 1 || axis_group_extent(&slots->n) == 1);
}

void kernel_split_products(Kernel *kernel) {
  bool multiplies = kernel->kind == KERNEL_CONTRACT || kernel->kind == KERNEL_CONV ||
                    kernel->kind == KERNEL_CONV_INPUT || kernel->kind == KERNEL_CONV_WEIGHT;
  kernel->is_x3 = multiplies && !is_of_vector(kernel) && kernel->operands[0].dtype == DTYPE_F32 &&
                  kernel->operands[1].dtype == DTYPE_F32 && kernel_sum_type(kernel) == DTYPE_F32;
}

DType kernel_sum_type(const Kernel *kernel) {
  DType left = kernel->operands[0].dtype, right = kernel->operands[1].dtype;
  if (left == DTYPE_F64 || right == DTYPE_F64) return DTYPE_F64;
  if (!dtype_is_float(left) && !dtype_is_float(right))
    return left == DTYPE_I64 || right == DTYPE_I64 ? DTYPE_I64 : DTYPE_I32;
  return kernel->accumulate == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;
}

bool kernel_multiplies_bf16(const Kernel *kernel) {
  bool is_conv = kernel->kind == KERNEL_CONV || kernel->kind == KERNEL_CONV_INPUT ||
                 kernel->kind == KERNEL_CONV_WEIGHT;
  bool multiplies = kernel->kind == KERNEL_CONTRACT || (is_conv && kernel->conv.last != 0);
  return multiplies && kernel->operands[0].dtype == DTYPE_BF16 &&
         kernel->operands[1].dtype == DTYPE_BF16 && kernel_sum_type(kernel) == DTYPE_F32;
}
