/* The adjoint of max pooling: each element of dy goes to the first greatest element of x under its
 * window. */
#include "kernel/classes/window.h"

const KernelClass kernel_class_max_pool_grad = {
    .print = window_print,
    .reads = window_reads_pair,
};
