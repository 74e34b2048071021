/* The norm of the gradients of a step: see gradient_norm.c. */
#ifndef NNC_ELABORATE_GRADIENT_NORM_H
#define NNC_ELABORATE_GRADIENT_NORM_H

#include "elaborate/sections/update.h"

/* The gradients of an objective join the norms of `loss` that the program asks for, unless those are not finite. */
void gradient_norm_add(const Update *update, int objective, const Node *loss, Node *is_finite);
/* When all objectives are through; reports norms of what is no loss of train. */
void gradient_norm_finish(const Update *update);
/* The norm in a trace: in that of training, and where there is none zero. */
Node *gradient_norm_value(Elaborator *e, Trace *trace, const Node *scalar);

#endif
