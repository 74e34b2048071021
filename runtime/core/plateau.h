/* Schedules that fall when a metric no longer improves: the numbers that `plateau` begins a step
 * with. */
#ifndef NNC_PLATEAU_H
#define NNC_PLATEAU_H

#include <stdbool.h>

#include "nnc_model.h"

typedef struct nnc_plateau_state {
  double numbers[NNC_PLATEAU_PARTS]; /* as the run has them */
  double value;                      /* of the schedule now */
  double best;                       /* of the metric so far */
  int64_t bad;                       /* reports in a row without an improvement */
  int64_t resting;                   /* reports still to come that do not count */
} nnc_plateau_state;

typedef struct nnc_plateaus {
  const nnc_model *model;
  nnc_plateau_state *states; /* of the model's plateaus, in their order */
  int begun_anew; /* of those that were read: the first whose start is another now; -1: none */
} nnc_plateaus;

/* As when a run begins; false when there is no memory. */
bool nnc_plateaus_open(nnc_plateaus *plateaus, const nnc_model *model);
/* The numbers that options give, of the host's scalars; all begin with them. */
void nnc_plateaus_take(nnc_plateaus *plateaus, const double *scalars);
/* Whether they make sense; false after a message. */
bool nnc_plateaus_check(const nnc_plateaus *plateaus);
void nnc_plateaus_close(nnc_plateaus *plateaus);
/* A report: the metric of plateau number `i`. */
void nnc_plateau_advance(nnc_plateaus *plateaus, int i, double metric);
/* As text for a checkpoint, exact: "VALUE BEST BAD RESTING ...", and START where options give that; mallocs, NULL: no
 * memory. */
char *nnc_plateaus_format(const nnc_plateaus *plateaus);
/* False when it is not of this program; then all begin anew. So does one whose start is another now. */
bool nnc_plateaus_parse(nnc_plateaus *plateaus, const char *text);

#endif
