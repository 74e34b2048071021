/* The verifier: structure, types by the operators' rules, attributes, names of leaves and outputs.
 * It runs after elaboration and after every pass. */
#ifndef NNC_GRAPH_VERIFY_H
#define NNC_GRAPH_VERIFY_H

#include "graph/module.h"

typedef struct Violation {
  const char *message;
  EntryKind entry;  /* ENTRY_COUNT when it is in the module's tables */
  const Node *node; /* NULL when it is not in a node */
} Violation;

/* The same with the place, for the reader of dumps; false when there is none. */
bool module_find_violation(Arena *arena, const Module *module, Violation *violation);
/* NULL when the module is well-formed; otherwise a description that names entry, node and rule. */
const char *module_verify(Arena *arena, const Module *module);

#endif
