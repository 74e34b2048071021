/* The predict block. */
#ifndef NNC_ELABORATE_PREDICT_H
#define NNC_ELABORATE_PREDICT_H

#include "elaborate/core/elaborator.h"

void predict_evaluate(Elaborator *e, const AstStmt *stmt);

#endif
