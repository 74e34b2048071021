/* Convolutions of planes so small that windows see many of the zeros around them: fills codegen_templates/conv_taps.c. */
#ifndef NNC_BACKEND_C_TAPS_H
#define NNC_BACKEND_C_TAPS_H

#include "backend/c/kernels.h"

/* How many products, for a channel of the sum and one of the result, a convolution needs so, or its adjoint in the input; 0: it
 * does not gain, beside all products with those of zeros. */
int64_t taps_products(const ConvSlots *conv, bool is_input);
/* Whether a kernel is computed so. */
bool kernel_goes_by_taps(const Kernel *kernel);
int64_t taps_tasks(const Kernel *kernel);
int64_t taps_worker_bytes(const Kernel *kernel);
int64_t taps_kept_bytes(const Kernel *kernel); /* of the weights as tiles read them */
void taps_write(Code *code, KernelFunction *function);

#endif
