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
/* Whether the value is a definer of that kind; *deferred: its application, with its default arguments
 * where it has none; NULL after an error, and where it is none. */
bool call_is_definer(Elaborator *e, Value value, AstStmtKind kind, Span at, Deferred **deferred);
/* Runs a definer of the form of an optimizer, which sees w and g and stores into w. For the message
 * that it does not: WHAT it is, and an EXAMPLE. */
void call_optimizer(Elaborator *e, const Deferred *definer, Slot *w, Node *g, const char *what,
                    const char *example);
/* The arguments of a builtin by its signature; false after an error. */
bool call_bind(Elaborator *e, const Builtin *builtin, const Arguments *arguments, Bound *bound);

#endif
