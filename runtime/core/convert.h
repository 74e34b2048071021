/* Conversions between number types (number.h): those of tensors, and those of files alone. */
#ifndef NNC_CONVERT_H
#define NNC_CONVERT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct nnc_conversion {
  int64_t bad;  /* index of the first value that cannot be represented; -1 */
  double value; /* that value */
} nnc_conversion;

/* Can a batch be converted without checking?  (Every value of `from` is one of `to`.) */
bool nnc_is_widening(int from, int to);
void nnc_widen(int from, const void *source, int to, void *target, int64_t count);
/* One double to a value of type `to`, an input's; false when it cannot be represented. */
bool nnc_store_double(double number, int to, void *value);
/* In place; *values may move when the type grows.  -1 with `bad` < 0: no memory. */
int nnc_convert(char **values, int from, int to, int64_t count, nnc_conversion *conversion);
void nnc_swap_bytes(void *values, int size, int64_t count);
/* Reads `count` values as doubles. */
void nnc_load_doubles(int dtype, const void *values, int64_t count, double *doubles);

/* a * b into *product, false on overflow of int64_t; both >= 0. */
bool nnc_multiply(int64_t a, int64_t b, int64_t *product);

#endif
