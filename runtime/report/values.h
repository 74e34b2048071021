/* The values of curves as a table, folded: what the curves tell those who cannot see them. */
#ifndef NNC_VALUES_H
#define NNC_VALUES_H

#include <stdio.h>

#include "report/history.h"

typedef struct nnc_values {
  const char *title;
  int64_t best;       /* a report in bold type; -1: none */
  const bool *chosen; /* by series: it is a column; NULL: all are */
} nnc_values;

void nnc_values_put(FILE *file, const nnc_history *history, const nnc_values *values);

#endif
