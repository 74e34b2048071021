/* The plan of memory as a picture: addresses over the steps of an entry. */
#ifndef NNC_REPORT_PLAN_H
#define NNC_REPORT_PLAN_H

#include <stdio.h>

#include "nnc_model.h"

void nnc_plan_put(FILE *file, const nnc_model *model, const nnc_entry *entry);

#endif
