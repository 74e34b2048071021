/* The predict block. */
#ifndef NNC_ELABORATE_PREDICT_H
#define NNC_ELABORATE_PREDICT_H

#include "elaborate/core/elaborator.h"

void predict_evaluate(Elaborator *e, const AstStmt *stmt);

/* The entry that predicts a batch at a time: made where every result of an example follows from that example
 * alone, so that it is what the entry of one example gives. `eval` and `single` are traces that have reached the
 * predict block. */
void predict_build_batch(Elaborator *e, const Trace *eval, const Trace *single);

#endif
