/* Schedules that fall when a metric no longer improves: the numbers that `plateau` begins a step
 * with. */
#ifndef NNC_PLATEAU_H
#define NNC_PLATEAU_H

#include "core/session.h"

struct nnc_plateau_state {
  double value;    /* of the schedule now */
  double best;     /* of the metric so far */
  int64_t bad;     /* reports in a row without an improvement */
  int64_t resting; /* reports still to come that do not count */
};

/* All as when a run begins. */
void nnc_plateaus_reset(nnc_session *session);
/* A report: the metric of plateau number `i`. */
void nnc_plateau_advance(nnc_session *session, int i, double metric);
/* As text for a checkpoint, exact: "VALUE BEST BAD RESTING ..."; mallocs, NULL: no memory. */
char *nnc_plateaus_format(const nnc_session *session);
/* False when it is not of this program; then all begin anew. */
bool nnc_plateaus_parse(nnc_session *session, const char *text);

#endif
