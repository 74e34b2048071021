/* The verifier: structure, types by the operators' rules, attributes, names of leaves and outputs.
 * It runs after elaboration and after every pass. */
#ifndef NNC_OPS_VERIFY_H
#define NNC_OPS_VERIFY_H

#include "graph/textual.h"

/* False when the module is well-formed. */
bool module_find_violation(Arena *arena, const Module *module, Violation *violation);
/* NULL when the module is well-formed; otherwise a description that names entry, node and rule. */
const char *module_verify(Arena *arena, const Module *module);

#endif
