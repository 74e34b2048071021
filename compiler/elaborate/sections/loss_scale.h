/* The key loss_scale of train: see loss_scale.c. */
#ifndef NNC_ELABORATE_LOSS_SCALE_H
#define NNC_ELABORATE_LOSS_SCALE_H

#include "elaborate/sections/train.h"

void loss_scale_configure(Elaborator *e, const KeyValue *key);

/* Whether loss and gradients stay as they are. */
bool loss_scale_is_one(const Elaborator *e);
/* The loss times the scale; a gradient of that divided by it. NULL after an error. */
Node *loss_scale_loss(Elaborator *e, Node *loss);
Node *loss_scale_gradient(Elaborator *e, Node *gradient);

/* With a dynamic scale: whether all gradients are finite, a truth value, by which the scale moves. NULL:
 * the scale is a number. */
Node *loss_scale_judge(Elaborator *e, int count, Node *const *gradients);
/* The number, a scalar; 0 where they are not. */
Node *loss_scale_or_zero(Elaborator *e, Node *number, Node *is_finite);
/* What is stored in the slot unless the gradients are not finite; nothing with NULL. */
void loss_scale_guard(Elaborator *e, Slot *slot, Node *is_finite);

#endif
