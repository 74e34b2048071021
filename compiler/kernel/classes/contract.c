/* Contractions: result[b,m,n] = sum_k left[b,m,k] * right[b,k,n], each side a strided view. */
#include "kernel/class.h"

static void print_group(Text *text, const char *name, const AxisGroup *group) {
  text_printf(text, "  %s:", name);
  for (int i = 0; i < group->count; i++)
    text_printf(text, "%s %lld strides %lld %lld %lld", i > 0 ? "," : "",
                (long long)group->extent[i], (long long)group->stride[0][i],
                (long long)group->stride[1][i], (long long)group->stride[2][i]);
  text_add_char(text, '\n');
}

static void contract_print(Text *text, const Kernel *kernel) {
  print_group(text, "batch", &kernel->contract.batch);
  print_group(text, "m", &kernel->contract.m);
  print_group(text, "n", &kernel->contract.n);
  print_group(text, "k", &kernel->contract.k);
}

/* Up to the last element of a side. */
static int64_t contract_reads(const Kernel *kernel, int operand) {
  const ContractSlots *slots = &kernel->contract;
  const AxisGroup *groups[] = {&slots->batch, &slots->m, &slots->n, &slots->k};
  int64_t reach = 1;
  if (operand >= 2) return -1;
  for (int g = 0; g < 4; g++)
    for (int i = 0; i < groups[g]->count; i++) {
      if (groups[g]->extent[i] == 0) return 0;
      reach += (groups[g]->extent[i] - 1) * groups[g]->stride[operand][i];
    }
  return reach;
}

const KernelClass kernel_class_contract = {
    .print = contract_print,
    .reads = contract_reads,
    .trims_operands = true,
};
