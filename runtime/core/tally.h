/* What the accumulators of an entry add up to over many batches, in double. */
#ifndef NNC_TALLY_H
#define NNC_TALLY_H

#include <stdbool.h>

#include "core/device.h"

typedef struct nnc_tally {
  int count;
  double *sums;       /* NNC_MEAN, NNC_BATCHES: weighted by examples */
  double *values;     /* for nnc_tally_metrics to work in */
  int64_t examples;   /* seen since the last reset */
  int64_t in_batches; /* of these in whole batches */
  int64_t batch;      /* examples of a whole one */
} nnc_tally;

bool nnc_tally_open(nnc_tally *tally, const nnc_entry *entry); /* false after a message */
void nnc_tally_reset(nnc_tally *tally);
/* What a run of the entry has left in its accumulators. */
void nnc_tally_add(nnc_tally *tally, const nnc_entry *entry, const nnc_device *device);
/* The model's metrics of all that was added; `metrics` has model->metric_count elements. */
void nnc_tally_metrics(nnc_tally *tally, const nnc_model *model, const nnc_entry *entry,
                       double *metrics);
void nnc_tally_close(nnc_tally *tally);

/* As text for a checkpoint: "EXAMPLES SUM SUM ...", exact.  `format` mallocs, NULL: no memory. */
char *nnc_tally_format(const nnc_tally *tally);
bool nnc_tally_parse(nnc_tally *tally, const char *text);

#endif
