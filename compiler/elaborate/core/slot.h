/* Slots: the variables as the current tracing of the program sees them. */
#ifndef NNC_ELABORATE_SLOT_H
#define NNC_ELABORATE_SLOT_H

#include "elaborate/core/elaborator.h"

Slot *slot_find(const Trace *trace, const char *path);
Variable *slot_find_variable(const Elaborator *e, const char *path); /* NULL when there is none */
/* What a reader sees of it; in the body of a scan, too. */
Value slot_value(Elaborator *e, const Slot *slot);
void slot_store(Slot *slot, Node *value);
/* In an initial value: what the parameter of this leaf begins with; NULL after a diagnostic. */
Node *slot_first_value(Elaborator *e, const Node *leaf, Span at);

#endif
