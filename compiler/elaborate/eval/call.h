/* Calls of values, and of definers: optimizers, initializers, schedules. */
#ifndef NNC_ELABORATE_CALL_H
#define NNC_ELABORATE_CALL_H

#include "elaborate/core/elaborator.h"

Value call_value(Elaborator *e, Value callee, const Arguments *arguments);
/* Enters the frame of a definer, with its formals bound and `ambient` names; NULL after an error. */
Frame *call_definer(Elaborator *e, const Deferred *deferred, int ambient_count,
                    const Symbol *ambient, const char *path);
/* Leaves it. */
void call_leave(Elaborator *e, Frame *frame);
/* An application with default arguments; NULL after an error. */
Deferred *call_defaults(Elaborator *e, Function *function, Span at);
/* The arguments of a builtin by its signature; false after an error. */
bool call_bind(Elaborator *e, const Builtin *builtin, const Arguments *arguments, Bound *bound);

#endif
