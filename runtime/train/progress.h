/* The lines that tell how training goes. */
#ifndef NNC_PROGRESS_H
#define NNC_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/loader.h"
#include "nnc_model.h"

enum { NNC_PROGRESS_LINE = 1024 };

typedef struct nnc_progress {
  double shown;        /* when the last line was shown */
  double reported;     /* when the last report was shown */
  double period_start; /* of the rate */
  int64_t period_step;
  double rate;              /* steps a second, over the last period */
  const nnc_loader *loader; /* whose waits are shown; NULL: none */
  double period_waited;     /* what training had waited when the period began */
  double data_wait;         /* the part of the last period that training waited; of all, below 1 */
} nnc_progress;

/* How far a run is: in which epoch of how many (0: steps count), after which step of how many. */
typedef struct nnc_progress_place {
  int64_t epoch, epochs, step, steps;
  int64_t examples_per_step;
  const double *rate; /* the learning rate, where it is no constant; else NULL */
} nnc_progress_place;

/* `loader`: whose waits are shown, NULL: none. */
void nnc_progress_start(nnc_progress *progress, int64_t step, const nnc_loader *loader);
/* The rate's period starts anew: what was done since does not count (validation, saving). */
void nnc_progress_restart(nnc_progress *progress, int64_t step);
/* Is it time for a line?  Cheap. */
bool nnc_progress_is_due(const nnc_progress *progress);
/* "epoch 3/20  step 1500/12000  loss 0.0342  accuracy 0.989  rate 0.0012  41230 examples/s  data 3%  0:12 left" */
void nnc_progress_step(nnc_progress *progress, const nnc_model *model,
                       const nnc_progress_place *place, const double *metrics);
/* Appends "  loss 0.0342  accuracy 0.989" at `at`; the new end. */
size_t nnc_progress_metrics(char line[NNC_PROGRESS_LINE], size_t at, const nnc_model *model,
                            const char *prefix, const double *metrics);

#endif
