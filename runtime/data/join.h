/* The tables of a set side by side. */
#ifndef NNC_DATA_JOIN_H
#define NNC_DATA_JOIN_H

#include <stdbool.h>

#include "data/set.h"

/* Checks that all tables have the same examples in the same order, and gives these to sources without
 * rows of their own.  `pipelines`: of the tables, whose split and shuffle stages were left out where
 * all rows are kept. */
int data_join(DataContext *context, const nnc_pipeline *const *pipelines, bool keeps_all_rows,
              nnc_data *data);

#endif
