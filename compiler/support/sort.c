/* Sorting of the reference evaluations: see sort.h. */
#include "support/sort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/panic.h"

bool sort_comes_before(double a, double b, bool descending) {
  if (isnan(a) || isnan(b)) return descending ? isnan(a) && !isnan(b) : !isnan(a) && isnan(b);
  return descending ? a > b : a < b;
}

/* Merges order[0, half) and order[half, count), each in order; the left one first among equals. */
static void merge(const double *x, int64_t half, int64_t count, bool descending, int32_t *order,
                  int32_t *spare) {
  memcpy(spare, order, (size_t)half * sizeof *spare);
  for (int64_t left = 0, right = half, to = 0; left < half; to++) {
    bool takes_right =
        right < count && sort_comes_before(x[order[right]], x[spare[left]], descending);
    order[to] = takes_right ? order[right++] : spare[left++];
  }
}

static void sort_part(const double *x, int64_t count, bool descending, int32_t *order,
                      int32_t *spare) {
  int64_t half = count / 2;
  if (count < 2) return;
  sort_part(x, half, descending, order, spare);
  sort_part(x, count - half, descending, order + half, spare);
  merge(x, half, count, descending, order, spare);
}

void sort_order(const double *x, int64_t count, bool descending, int32_t *order) {
  int32_t *spare = malloc((size_t)count * sizeof *spare + 1);
  if (!spare) panic("no memory to sort %lld elements", (long long)count);
  for (int64_t i = 0; i < count; i++) order[i] = (int32_t)i;
  sort_part(x, count, descending, order, spare);
  free(spare);
}
