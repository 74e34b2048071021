/* Made-up inputs that a program can be tried on: deterministic, and in range where it indexes. */
#ifndef NNC_INTERPRET_INPUTS_H
#define NNC_INTERPRET_INPUTS_H

#include "interpret/interpret.h"

/* A value for an input of the module, a function of `seed` and the input's name. Floats are
 * standard normal, bools fair. Integers are uniform in the values that the program's use of the
 * input tells (ops/values.h), else from 0 to 255 for u8 and from 1 to 10 for others. */
Tensor *random_input(Arena *arena, const Module *module, const InputInfo *input, uint64_t seed);
/* One binding for each input, in the module's order. */
Binding *random_inputs(Arena *arena, const Module *module, uint64_t seed);

#endif
