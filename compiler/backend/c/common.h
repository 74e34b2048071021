/* Functions of the runtime's headers that kernels of all units call, and that one unit has (runtime/abi/nnc_common.h). */
#ifndef NNC_BACKEND_C_COMMON_H
#define NNC_BACKEND_C_COMMON_H

#include "support/text.h"

/* Those that the function of a kernel calls: a set, of types and of whether there are windows; 0: none. */
unsigned common_functions(const char *kernel);
/* Lines for each type of the set. */
void common_write(Text *text, unsigned set);

#endif
