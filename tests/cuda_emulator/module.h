/* Images of kernels, loaded. */
#ifndef MODULE_H
#define MODULE_H

#include "nnc_emulated_interface.h"

#include <stdbool.h>

typedef struct BlockVariable {
  char *begin;
  size_t size;
} BlockVariable;

typedef struct Module Module;

typedef struct Function {
  const nnc_emulated_kernel *kernel;
  Module *module;
  BlockVariable *variables; /* the block memory that it declares */
  int variable_count;
  size_t fixed_shared; /* bytes of these */
  int most_shared;     /* dynamic shared memory that a launch may ask for */
} Function;

/* What the stand-in for NVRTC made, for a device of this number (90 is 9.0). 0, or the driver's
 * error. */
int module_load(Module **to, const void *image, int device);
void module_unload(Module *module);
Function *module_function(Module *module, const char *name);
void *module_variable(Module *module, const char *name);
/* Whether the address is in the module; whether kernels may read there; whether it is block memory
 * of the function. */
bool module_has(const Module *module, const void *at);
bool module_has_constant(const Module *module, const void *at);
bool function_owns(const Function *function, const void *at, size_t bytes);
/* From now on that is block memory of all functions: what the launch asks for. */
void module_set_dynamic(char *begin, size_t size);
/* " (FILE:LINE)" of an instruction, or nothing. */
void module_locate(char *to, size_t size, const void *code);

#endif
