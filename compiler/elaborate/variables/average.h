/* Averages of parameters: averaged weights and layers. */
#ifndef NNC_ELABORATE_AVERAGE_H
#define NNC_ELABORATE_AVERAGE_H

#include "elaborate/core/elaborator.h"

/* In evaluation, the leaf that stands for a parameter with an average; else NULL. */
Node *average_leaf(Elaborator *e, const char *path, Type type);
/* The path of the average of averaged weights. */
const char *average_path(const char *path);
/* The initial value of `slot` for the variable `path`, too. */
void average_begin(Elaborator *e, const Slot *slot, const char *path);
/* Stores into `average` what the definer makes of it and of the value that it averages. */
void average_move(Elaborator *e, Deferred *definer, Slot *average, Node *value);

#endif
