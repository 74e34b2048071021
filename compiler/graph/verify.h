/* The verifier: structure, types by the operators' rules, attributes, names of leaves and outputs.
 * It runs after elaboration and after every pass. */
#ifndef NNC_GRAPH_VERIFY_H
#define NNC_GRAPH_VERIFY_H

#include "graph/module.h"

/* NULL when the module is well-formed; otherwise a description that names entry, node and rule. */
const char *module_verify(Arena *arena, const Module *module);

#endif
