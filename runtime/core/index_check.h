/* What the kernels of an executable made with --check-indices have found: nnc_check_index.h. */
#ifndef NNC_INDEX_CHECK_H
#define NNC_INDEX_CHECK_H

#include <stdbool.h>
#include <stdint.h>

struct nnc_model;

/* Whether an index lay outside of its axis in the run that has ended: of step `step` of training, or, with
 * 0, of an evaluation or prediction whose batch begins with example `example` of its data. Then the
 * message has been printed; all results of that run are worthless. */
bool nnc_index_check_failed(const struct nnc_model *model, int64_t step, int64_t example);

#endif
