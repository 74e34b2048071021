/* Convolutions in their three directions:
 *
 *   conv         y  from x and w
 *   conv_input   dx from dy and w
 *   conv_weight  dw from x and dy */
#include "kernel/classes/window.h"

static int64_t conv_reads(const Kernel *kernel, int operand) {
  return operand == 0   ? window_x_elements(&kernel->conv)
         : operand == 1 ? window_w_elements(&kernel->conv)
                        : -1;
}

static int64_t conv_input_reads(const Kernel *kernel, int operand) {
  return operand == 0   ? window_y_elements(&kernel->conv)
         : operand == 1 ? window_w_elements(&kernel->conv)
                        : -1;
}

const KernelClass kernel_class_conv = {
    .print = window_print,
    .reads = conv_reads,
};

const KernelClass kernel_class_conv_input = {
    .print = window_print,
    .reads = conv_input_reads,
};

const KernelClass kernel_class_conv_weight = {
    .print = window_print,
    .reads = window_reads_pair,
};
