/* --float: every floating-point tensor of the module in one type. */
#ifndef NNC_PASSES_RETYPE_H
#define NNC_PASSES_RETYPE_H

#include "graph/module.h"

/* Replaces f64, f32, bf16 and f16 by `type` in the graphs, variables and inputs of `module`; host
 * scalars stay f64.  Runs once, before the pipeline, on an elaborated module. */
void module_retype_floats(Module *module, DType type);

#endif
