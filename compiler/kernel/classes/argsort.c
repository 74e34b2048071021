/* argsort: for each row the places of its elements in their order. */
#include "kernel/class.h"
#include "support/sort.h"

static void argsort_print(Text *text, const Kernel *kernel) {
  text_printf(text, "  rows %lld, elements of a row %lld%s\n", (long long)kernel->sort.rows,
              (long long)kernel->sort.elements, kernel->sort.descending ? ", descending" : "");
}

static int64_t argsort_reads(const Kernel *kernel, int operand) {
  return operand == 0 ? kernel->sort.rows * kernel->sort.elements : -1;
}

static void argsort_evaluate(const Kernel *kernel, const KernelReader *reader, double *result) {
  const SortSlots *slots = &kernel->sort;
  Arena *scratch = arena_create();
  double *row = ARENA_ARRAY(scratch, double, slots->elements + 1);
  int32_t *order = ARENA_ARRAY(scratch, int32_t, slots->elements + 1);
  for (int64_t r = 0; r < slots->rows; r++) {
    int64_t first = r * slots->elements;
    for (int64_t i = 0; i < slots->elements; i++) row[i] = reader_load(reader, 0, first + i);
    sort_order(row, slots->elements, slots->descending, order);
    for (int64_t i = 0; i < slots->elements; i++) result[first + i] = order[i];
  }
  arena_destroy(scratch);
}

const KernelClass kernel_class_argsort = {
    .print = argsort_print,
    .reads = argsort_reads,
    .evaluate = argsort_evaluate,
};
