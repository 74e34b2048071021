/* argsort: for each row the places of its elements in their order. */
#include "kernel/class.h"
#include "support/integers.h"
#include "support/sort.h"

static const Field argsort_slots[] = {
    SLOT("  rows ", sort.rows, 0),
    SLOT(", elements of a row ", sort.elements, 0),
    FIELD(", descending", FLAG, Kernel, sort.descending),
    FIELD_LITERAL("\n"),
};

static int64_t argsort_results(const Kernel *kernel) {
  return extent_product((int64_t[]){kernel->sort.rows, kernel->sort.elements}, 2);
}

static int64_t argsort_reads(const Kernel *kernel, int operand) {
  return operand == 0 ? argsort_results(kernel) : -1;
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
    .slots = RECORD(argsort_slots),
    .reads = argsort_reads,
    .results = argsort_results,
    .evaluate = argsort_evaluate,
};
