/* Metrics of data sets that a program follows: a schedule that waits for one to improve, the best checkpoint, the
 * end of a run. */
#ifndef NNC_ELABORATE_CORE_FOLLOWED_H
#define NNC_ELABORATE_CORE_FOLLOWED_H

#include "elaborate/core/elaborator.h"

/* Reports a set that is not evaluated and a metric that it does not have. All data sets and metrics must be known. */
void followed_check(Elaborator *e, const char *set, Span set_span, const char *metric,
                    Span metric_span);

#endif
