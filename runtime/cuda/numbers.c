/* Spans of the arena that hold accumulators: numbers.h. Each is one copy, which costs more than some
 * kilobytes between two accumulators. */
#include "cuda/numbers.h"

#include <stdlib.h>

#include "core/number.h"
#include "os/message.h"

enum { GAP = 2048, ALIGNMENT = 64 };

static int compare_spans(const void *a, const void *b) {
  const nnc_span *x = a, *y = b;
  return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Joins spans that are near each other, and lays them one after the other. */
static void join_spans(nnc_numbers *numbers, int count) {
  nnc_span *spans = numbers->spans;
  for (int i = 0; i < count; i++) {
    nnc_span *last = numbers->count > 0 ? &spans[numbers->count - 1] : NULL;
    int64_t end = spans[i].offset + spans[i].bytes;
    if (last && spans[i].offset - (last->offset + last->bytes) <= GAP) {
      if (end - last->offset > last->bytes) last->bytes = end - last->offset;
      continue;
    }
    spans[numbers->count++] = spans[i];
  }
  for (int i = 0; i < numbers->count; i++) {
    spans[i].at = numbers->bytes;
    numbers->bytes += (spans[i].bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }
}

bool nnc_numbers_open(nnc_numbers *numbers, const nnc_entry *entry) {
  int count = entry->run ? entry->accumulator_count : 0;
  *numbers = (nnc_numbers){.spans = calloc((size_t)count + 1, sizeof *numbers->spans)};
  if (!numbers->spans) {
    nnc_error("cannot allocate the places of %d accumulators", count);
    return false;
  }
  for (int i = 0; i < count; i++) {
    const nnc_tensor *tensor = &entry->accumulators[i].tensor;
    numbers->spans[i] = (nnc_span){tensor->offset, nnc_dtype_size(tensor->dtype), 0};
  }
  qsort(numbers->spans, (size_t)count, sizeof *numbers->spans, compare_spans);
  join_spans(numbers, count);
  return true;
}

void nnc_numbers_close(nnc_numbers *numbers) {
  free(numbers->spans);
  *numbers = (nnc_numbers){0};
}

int64_t nnc_numbers_find(const nnc_numbers *numbers, const nnc_tensor *tensor) {
  int64_t size = nnc_dtype_size(tensor->dtype);
  for (int i = 0; i < numbers->count; i++) {
    const nnc_span *span = &numbers->spans[i];
    int64_t within = tensor->offset - span->offset;
    if (within >= 0 && within + size <= span->bytes) return span->at + within;
  }
  return -1;
}
