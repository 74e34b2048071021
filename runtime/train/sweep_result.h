/* What a run of a sweep has reached, from its log: the last report, and the best one. */
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

/* What runs are compared by: save = best(...) of the program, else the loss of the first set that is evaluated, else
 * that of training. */
typedef struct nnc_sweep_measure {
  int set, metric;  /* their numbers, of the set in a report */
  bool is_greatest; /* more is better */
} nnc_sweep_measure;
nnc_sweep_measure nnc_sweep_compared_by(void);
const char *nnc_sweep_set(int set);
/* Whose metric a set is compared with: "train" where training alone has it. */
const char *nnc_sweep_set_of(int set, int metric);
/* Whether reports have metrics of that set. */
bool nnc_sweep_has_set(int set);
/* The metrics of that set; and that metric, or its negative where more is better: the best report has the least. */
const double *nnc_sweep_compared(const nnc_sweep_report *report);
double nnc_sweep_badness(const nnc_sweep_report *report);

/* {"step":300,"train/loss":0.1,...} */
void nnc_sweep_report_put(FILE *file, const nnc_sweep_report *report);

#endif
