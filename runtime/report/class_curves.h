/* Curves by class, of the tables that a log has of `--per-class`. */
#ifndef NNC_CLASS_CURVES_H
#define NNC_CLASS_CURVES_H

#include <stdio.h>

#include "report/history.h"

/* `classes`: the history's; NULL: it has none. `mark`: the best report; -1: none. */
void nnc_class_curves_put(FILE *file, const nnc_history *classes, int64_t mark);

#endif
