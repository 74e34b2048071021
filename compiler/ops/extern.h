/* extern: an operator that a function of the user's computes, in C.
 *
 * Operands are whole tensors, row-major; the type of the result is given by attributes. The
 * function is linked into the executable: nothing of the compiler can evaluate it. */
#ifndef NNC_OPS_EXTERN_H
#define NNC_OPS_EXTERN_H

#include "graph/module.h"

enum { EXTERN_MOST_OPERANDS = 16 };

/* Which of module->externs the entries call. */
const bool *extern_called(Arena *arena, const Module *module);
/* The first such call, or NULL. */
const Node *extern_first(const Module *module);

#endif
