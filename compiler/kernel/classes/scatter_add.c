/* scatter_add: rows of values are added to the rows of the result that the indices name; an index
 * outside is dropped. */
#include "kernel/class.h"
#include "support/integers.h"

static const Field scatter_slots[] = {
    SLOT("  indices ", scatter.indices, 0),
    SLOT(", rows ", scatter.rows, 0),
    SLOT(", elements of a row ", scatter.row_elements, 0),
    FIELD_LITERAL("\n"),
};

static int64_t scatter_reads(const Kernel *kernel, int operand) {
  const ScatterSlots *slots = &kernel->scatter;
  return operand == 0   ? extent_product((int64_t[]){slots->indices, slots->row_elements}, 2)
         : operand == 1 ? slots->indices
                        : -1;
}

static int64_t scatter_results(const Kernel *kernel) {
  return extent_product((int64_t[]){kernel->scatter.rows, kernel->scatter.row_elements}, 2);
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
    .slots = RECORD(scatter_slots),
    .reads = scatter_reads,
    .results = scatter_results,
    .evaluate = scatter_evaluate,
};
