/* Depthwise convolutions with their channels last, and their adjoints in the input. */
#ifndef NNC_BACKEND_C_DEPTHWISE_H
#define NNC_BACKEND_C_DEPTHWISE_H

#include "backend/c/kernels.h"

/* Whether a convolution of operands with their channels last, or its adjoint in the input, is one. */
bool kernel_is_depthwise(const Kernel *kernel);
int64_t depthwise_tasks(const Kernel *kernel);
int64_t depthwise_worker_bytes(const Kernel *kernel);
void depthwise_write(Code *code, KernelFunction *function);

#endif
