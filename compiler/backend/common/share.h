/* Kernels whose functions differ in numbers alone are one function, which is told the numbers. */
#ifndef NNC_BACKEND_COMMON_SHARE_H
#define NNC_BACKEND_COMMON_SHARE_H

#include "backend/common/function.h"
#include "backend/common/units.h"

/* When the functions of all kernels are written, before their comments: those that can share one get the
 * first one's (KernelFunction.shared) and have no text any more; the first one gets parameters. Numbers
 * on which the speed of the code depends stay constants (share_text.h). */
void share_functions(Arena *arena, KernelFunction *functions, KernelPart *parts, int count);

#endif
