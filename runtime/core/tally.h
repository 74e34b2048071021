/* What the accumulators of an entry add up to over many batches, in double. */
#ifndef NNC_TALLY_H
#define NNC_TALLY_H

#include <stdbool.h>

#include "core/device.h"

typedef struct nnc_tally {
  int count;
  double *sums;       /* NNC_MEAN, NNC_BATCHES, NNC_STEPS: weighted by examples */
  double *values;     /* for nnc_tally_metrics to work in */
  double *rankings;   /* of the model, the caller's; NULL: not known, as in training */
  int64_t examples;   /* seen since the last reset */
  int64_t in_batches; /* of these in whole batches */
  int64_t batch;      /* examples of a whole one */
  /* A run that was added while it was under way: its numbers are still to be asked for. */
  const nnc_entry *entry; /* NULL: there is none */
  const nnc_device *device;
  int64_t run;
} nnc_tally;

bool nnc_tally_open(nnc_tally *tally, const nnc_entry *entry); /* false after a message */
void nnc_tally_reset(nnc_tally *tally);
/* What the last run has left in the accumulators of its entry. A run that is under way is not waited
 * for, but the one that was added before it is. */
void nnc_tally_add(nnc_tally *tally, const nnc_entry *entry, const nnc_device *device);
/* The same for run number `run`, which may be under way and is waited for; what was added before has been
 * settled. */
void nnc_tally_take(nnc_tally *tally, const nnc_entry *entry, const nnc_device *device,
                    int64_t run);
/* Waits for a run that was added: before NNC_DEVICE_KEEPS others have begun, unless they are added too. */
void nnc_tally_settle(nnc_tally *tally);
/* The model's metrics of all that was added; `metrics` has model->metric_count elements. */
void nnc_tally_metrics(nnc_tally *tally, const nnc_model *model, const nnc_entry *entry,
                       double *metrics);
/* Whether a report has the metric: training has none of the order of a set, evaluation none of steps. */
bool nnc_metric_is_told(const nnc_model *model, int metric, bool of_training);
/* Bytes of the list's name where a metric is an element of one, 4 of "rate.12"; 0: it is a number by itself. */
size_t nnc_metric_list(const nnc_model *model, int metric);
void nnc_tally_close(nnc_tally *tally);

/* As text for a checkpoint: "EXAMPLES SUM SUM ...", exact.  `format` mallocs, NULL: no memory. */
char *nnc_tally_format(nnc_tally *tally);
bool nnc_tally_parse(nnc_tally *tally, const char *text);

#endif
