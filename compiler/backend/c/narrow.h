/* Gradients in the weights of convolutions of few channels, such as first layers have, where the result's channels
 * are last: fills codegen_templates/conv_weight_narrow.c. */
#ifndef NNC_BACKEND_C_NARROW_H
#define NNC_BACKEND_C_NARROW_H

#include "backend/c/kernels.h"

/* Whether a kernel is computed so. */
bool kernel_is_narrow(const Kernel *kernel);
int64_t narrow_tasks(const Kernel *kernel);
int64_t narrow_worker_bytes(const Kernel *kernel);
void narrow_write(Code *code, KernelFunction *function);

#endif
