/* The verifier: structure, types by the operators' rules, attributes, names of leaves and outputs.
 * It runs after elaboration and after every pass. */
#ifndef NNC_OPS_VERIFY_H
#define NNC_OPS_VERIFY_H

#include "graph/textual.h"
#include "kernel/kernel.h"

/* False when the module is well-formed. */
bool module_find_violation(Arena *arena, const Module *module, Violation *violation);
/* NULL when the module is well-formed; otherwise a description that names entry, node and rule. */
const char *module_verify(Arena *arena, const Module *module);
/* NULL, or which operator in the kernel's expressions does not fit its operands: of a kernel that comes
 * from a dump, since those that are built have what the rules gave. */
const char *kernel_verify_operators(Arena *arena, const Kernel *kernel);

#endif
