/* The order of numbers, as argsort has it. */
#ifndef NNC_SUPPORT_SORT_H
#define NNC_SUPPORT_SORT_H

#include <stdbool.h>
#include <stdint.h>

/* NaN is the greatest, and equal to itself. */
bool sort_comes_before(double a, double b, bool descending);
/* order[i] is the place of the element that comes i-th: the least first, or the greatest with
 * `descending`; NaN is the greatest, equal elements keep their order. */
void sort_order(const double *x, int64_t count, bool descending, int32_t *order);

#endif
