/* Convolutions by Winograd's minimal filtering, in all three directions: see runtime/abi/nnc_winograd.h. */
#ifndef NNC_BACKEND_C_WINOGRAD_H
#define NNC_BACKEND_C_WINOGRAD_H

#include "backend/c/kernels.h"

/* Whether a convolution of operands of this type, with their channels last, or the gradient in its weights, gains by it:
 * for the target's choice. Sums and products are f32. */
bool winograd_gains(const ConvSlots *slots, DType dtype, bool is_weight);
/* Whether a kernel is computed so: its target chose it, its operands lie for it, and if it is part of a task loop its
 * blocks gain, too, although each transforms the weights. */
bool kernel_is_winograd(const Kernel *kernel);
/* Whether it is in variant 0. */
bool kernel_gains_by_winograd(const Kernel *kernel);
/* In how many pieces of the images its gradient in the weights is made, so that many workers have much to multiply. */
int64_t winograd_pieces(const ConvSlots *slots);
int64_t winograd_tasks(const Kernel *kernel);
int64_t winograd_worker_bytes(const Kernel *kernel);
int64_t winograd_kept_bytes(const Kernel *kernel); /* of the transformed weights */
void winograd_write(Code *code, KernelFunction *function);

#endif
