/* Options: numbers of the program whose values come from the command line of its executable.
 *
 * In a graph an option is a `scalar` leaf, which the host knows before the step as it knows t. */
#ifndef NNC_ELABORATE_OPTION_H
#define NNC_ELABORATE_OPTION_H

#include "elaborate/core/elaborator.h"

/* option NAME = NUMBER in LIMITS */
void option_declare(Elaborator *e, const AstStmt *stmt);

/* The option that the value is, itself; NULL for all else, values computed of options included. */
RunOption *option_of(const Elaborator *e, Value value);

#endif
