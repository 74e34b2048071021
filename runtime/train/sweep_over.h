/* Means over runs of a sweep that differ in one flag: of folds, of seeds. */
#ifndef NNC_SWEEP_OVER_H
#define NNC_SWEEP_OVER_H

#include "train/sweep_table.h"

/* A row, or an object of JSON, for each combination of the other flags: of the runs that are done the means of the
 * metrics and their standard deviations (divided by the runs less one). */
void nnc_sweep_print_over(const nnc_sweep_plan *plan, const nnc_sweep_row *rows, bool as_json);

#endif
