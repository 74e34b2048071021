/* What back ends ask of a loop kernel before they choose its shape. */
#ifndef NNC_BACKEND_COMMON_LOOPS_H
#define NNC_BACKEND_COMMON_LOOPS_H

#include "kernel/kernel.h"

/* How many points the stage's own axes have. */
int64_t loops_stage_extent(const Stage *stage);
/* Whether every stage stores one element for each point of the domain: nothing is reduced. */
bool loops_are_points(const Kernel *kernel);
/* Whether more accesses are to neighbouring elements when neighbours along the last axis of the domain
 * run together, in columns, than when each point goes through its own axes, in rows.  No where that
 * last axis has fewer than `least_columns` points. */
bool loops_prefer_columns(const Kernel *kernel, int64_t least_columns);

#endif
