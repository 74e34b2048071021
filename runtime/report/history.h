/* A run's log as columns of numbers. */
#ifndef NNC_HISTORY_H
#define NNC_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "nnc_model.h"

typedef struct nnc_series {
  char *name; /* "train/loss", "seconds" */
  double *values;
  bool *has; /* whether a report has it */
} nnc_series;

typedef struct nnc_history {
  int64_t count, room; /* reports */
  int series_count;
  nnc_series *series;
  int command_count;
  char **commands; /* that the run was started and resumed with */
  bool is_stopped; /* the run ended since a metric no longer improved */
  /* Of the same reports "epoch", "step", and of tables by class "recall/CLASS in SET" and "precision/CLASS in SET". */
  struct nnc_history *classes;
} nnc_history;

/* Reads the last run of a log; half a line at its end, which is just being written, is left out. A file that does not exist
 * is an empty history. False after a message. */
bool nnc_history_read(nnc_history *history, const char *path);
void nnc_history_free(nnc_history *history);

/* Whether it can be of this program; false after a message. */
bool nnc_history_fits(const nnc_history *history, const nnc_model *model, const char *path);

const nnc_series *nnc_history_find(const nnc_history *history, const char *name); /* or NULL */
/* What a report has under the name; NaN: nothing. */
double nnc_history_value(const nnc_history *history, const char *name, int64_t report);

#endif
