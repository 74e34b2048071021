/* Metrics over data sets, and where examples mix. */
#ifndef NNC_ELABORATE_METRICS_H
#define NNC_ELABORATE_METRICS_H

#include "elaborate/sections/train.h"
#include "ops/flow.h"

/* Accumulators in the graph of each trace (NULL where there is none), the finish entry. */
void metrics_build(Elaborator *e, Trace *eval, Trace *eval_one, Trace *train, Trace *accumulate);

/* Of a value whose flow is FLOW_MIXED or FLOW_SIZED: "... what TEXT"; help; a note at the place where
 * the examples mix (mixing.c). */
const char *metrics_mixing_text(const Flow *mixed);
const char *metrics_mixing_advice(const Flow *mixed);
void metrics_note_mixing(Elaborator *e, Diagnostic *diagnostic, const Flow *mixed);
/* Warns of what predict gives that other examples of a batch would have a part in. */
void metrics_check_predictions(Elaborator *e, Trace *eval, const Trace *eval_one);

#endif
