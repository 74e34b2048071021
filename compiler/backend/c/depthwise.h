/* Depthwise convolutions with their channels last, in all three directions. */
#ifndef NNC_BACKEND_C_DEPTHWISE_H
#define NNC_BACKEND_C_DEPTHWISE_H

#include "backend/c/kernels.h"

/* Whether a convolution, or one of its adjoints, is one whose operands have their channels last. */
bool kernel_is_depthwise(const Kernel *kernel);
int64_t depthwise_tasks(const Kernel *kernel);
int64_t depthwise_worker_bytes(const Kernel *kernel);
int64_t depthwise_kept_bytes(const Kernel *kernel); /* of the weights by taps */
void depthwise_write(Code *code, KernelFunction *function);

#endif
