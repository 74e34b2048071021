/* Memory alive in an order of launches, before there is a plan. */
#ifndef NNC_PROGRAM_LOOP_MEMORY_H
#define NNC_PROGRAM_LOOP_MEMORY_H

#include "program/lowering.h"

/* Bytes of activations alive at once at most, by the order and its task loops. `parts`: by launch
 * and operand, whether a loop touches it block by block. */
int64_t order_peak(const Lowering *lowering, bool *const *parts);

#endif
