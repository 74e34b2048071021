/* --float: every floating-point tensor of the module in one type. */
#ifndef NNC_OPS_RETYPE_H
#define NNC_OPS_RETYPE_H

#include "graph/module.h"

/* Replaces f64 and f32 by `type` in the graphs, variables and inputs of `module`; bf16 and f16, which a
 * program asks for by name, stay, and so do host scalars. The module's precision becomes `type`: nothing
 * is computed in 16 bits on its account. Runs once, before the pipeline, on an elaborated module. */
void module_retype_floats(Module *module, DType type);
/* The same for all floats: where rounding would hide what is looked for. */
void module_retype_all_floats(Module *module, DType type);

#endif
