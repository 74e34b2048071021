/* scatter_add: rows of values are added to the rows of the result that the indices name; an index
 * outside is dropped. */
#include "kernel/class.h"

static void scatter_print(Text *text, const Kernel *kernel) {
  text_printf(text, "  indices %lld, rows %lld, elements of a row %lld\n",
              (long long)kernel->scatter.indices, (long long)kernel->scatter.rows,
              (long long)kernel->scatter.row_elements);
}

static int64_t scatter_reads(const Kernel *kernel, int operand) {
  const ScatterSlots *slots = &kernel->scatter;
  return operand == 0 ? slots->indices * slots->row_elements : operand == 1 ? slots->indices : -1;
}

static void scatter_evaluate(const Kernel *kernel, const KernelReader *reader, double *result) {
  const ScatterSlots *slots = &kernel->scatter;
  for (int64_t i = 0; i < slots->indices; i++) {
    double row = reader_load(reader, 1, i);
    if (!(row >= 0 && row < (double)slots->rows)) continue; /* dropped */
    int64_t first = (int64_t)row * slots->row_elements;
    for (int64_t k = 0; k < slots->row_elements; k++)
      result[first + k] += reader_load(reader, 0, i * slots->row_elements + k);
  }
}

const KernelClass kernel_class_scatter_add = {
    .print = scatter_print,
    .reads = scatter_reads,
    .evaluate = scatter_evaluate,
};
