/* What a run of a sweep has reached, from its log: the last report, and the one with the least loss. */
#ifndef NNC_SWEEP_RESULT_H
#define NNC_SWEEP_RESULT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct nnc_sweep_report {
  int64_t step;
  double
      *metrics; /* of training, then of each data set: as many as the model has; NaN: not there */
} nnc_sweep_report;

typedef struct nnc_sweep_result {
  bool is_there; /* the log has a report */
  double seconds;
  nnc_sweep_report last, best;
} nnc_sweep_result;

/* Reads OUT/log.jsonl; without one, or one that cannot be read, the result is not there. False when there is no memory. */
bool nnc_sweep_result_read(nnc_sweep_result *result, const char *folder);
void nnc_sweep_result_free(nnc_sweep_result *result);

/* The metrics of the set that runs are compared by: the first that is evaluated, else that of training. */
const double *nnc_sweep_compared(const nnc_sweep_report *report);
const char *nnc_sweep_compared_set(void);

/* {"step":300,"train/loss":0.1,...} */
void nnc_sweep_report_put(FILE *file, const nnc_sweep_report *report);

#endif
