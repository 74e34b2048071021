/* Layers that follow others: averaged(layer, average). */
#ifndef NNC_ELABORATE_FOLLOW_H
#define NNC_ELABORATE_FOLLOW_H

#include "elaborate/core/elaborator.h"

/* Whether the parameter of this path is an average of another layer's: then a state. */
bool follow_is_average(const Elaborator *e, const char *path);
/* That state; new in this trace. */
Slot *follow_slot(Elaborator *e, const char *path, Type type, Span span);

#endif
