/* argsort: for each row the places of its elements in their order. */
#include "kernel/class.h"

static void argsort_print(Text *text, const Kernel *kernel) {
  text_printf(text, "  rows %lld, elements of a row %lld%s\n", (long long)kernel->sort.rows,
              (long long)kernel->sort.elements, kernel->sort.descending ? ", descending" : "");
}

static int64_t argsort_reads(const Kernel *kernel, int operand) {
  return operand == 0 ? kernel->sort.rows * kernel->sort.elements : -1;
}

const KernelClass kernel_class_argsort = {
    .print = argsort_print,
    .reads = argsort_reads,
};
