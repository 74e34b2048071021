/* argsort: the order of the elements along the last axis. */
#ifndef NNC_OPS_SORT_H
#define NNC_OPS_SORT_H

#include <stdbool.h>
#include <stdint.h>

/* order[i] is the place of the element that comes i-th: the least first, or the greatest with
 * `descending`; NaN is the greatest, equal elements keep their order. */
void sort_order(const double *x, int64_t count, bool descending, int32_t *order);

#endif
