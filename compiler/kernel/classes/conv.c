/* Convolutions in their three directions:
 *
 *   conv         y  from x and w
 *   conv_input   dx from dy and w
 *   conv_weight  dw from x and dy */
#include "kernel/classes/window.h"
#include "support/integers.h"

/* Operand 0 of a kernel with a feeder is that of the feeder. */
static int64_t conv_reads(const Kernel *kernel, int operand) {
  if (operand == 0 && kernel->feeder) return kernel_class(kernel->feeder)->reads(kernel->feeder, 0);
  return operand == 0   ? window_x_elements(&kernel->conv)
         : operand == 1 ? window_w_elements(&kernel->conv)
                        : -1;
}

static int64_t conv_input_reads(const Kernel *kernel, int operand) {
  return operand == 0   ? window_y_elements(&kernel->conv)
         : operand == 1 ? window_w_elements(&kernel->conv)
                        : -1;
}

static int64_t conv_results(const Kernel *kernel) { return window_y_elements(&kernel->conv); }
static int64_t conv_input_results(const Kernel *kernel) { return window_x_elements(&kernel->conv); }
static int64_t conv_weight_results(const Kernel *kernel) {
  int64_t pieces = kernel->conv.pieces > 0 ? kernel->conv.pieces : 1;
  return extent_product((int64_t[]){pieces, window_w_elements(&kernel->conv)}, 2);
}

/* ---- evaluation ---------------------------------------------------------------------------- */

enum { X, W, Y };

/* What the operands and the result are, of X, W and Y. */
typedef struct Roles {
  int left, right, result;
} Roles;

/* The element of X, W or Y of an operand; `number` is that of the result where -1. */
static int64_t element_of(const ConvSlots *conv, int number, WindowPlane plane, int64_t place) {
  return number >= 0 ? window_element(conv, number, plane, place)
                     : (plane.row * plane.channels + plane.channel) * plane.plane + place;
}

/* Every product of elements that meet. In pieces each sums up its own images. */
static void add_products(const Kernel *kernel, const KernelReader *reader, Roles roles,
                         double *result) {
  const ConvSlots *conv = &kernel->conv;
  int64_t images = conv->n / greatest(conv->pieces, 1), weights = window_w_elements(conv);
  int number[] = {-1, -1, -1}; /* of the operand that is X, W or Y */
  number[roles.left] = 0;
  number[roles.right] = 1;
  int64_t in = window_elements(conv, conv->in), out = window_elements(conv, conv->out);
  int64_t taps = window_elements(conv, conv->kernel);
  int64_t c_group = conv->c / conv->groups, k_group = conv->k / conv->groups;
  for (int64_t n = 0; n < conv->n; n++)
    for (int64_t k = 0; k < conv->k; k++)
      for (int64_t o = 0; o < out; o++)
        for (int64_t c = 0; c < c_group; c++)
          for (int64_t t = 0; t < taps; t++) {
            int64_t position = window_position(conv, o, t);
            if (position < 0) continue;
            int64_t channel = k / k_group * c_group + c;
            const WindowPlane x = {n, conv->c, channel, in}, w = {k, c_group, c, taps};
            const WindowPlane y = {n, conv->k, k, out};
            const int64_t at[] = {[X] = element_of(conv, number[X], x, position),
                                  [W] = n / images * (conv->pieces > 0 ? weights : 0) +
                                        element_of(conv, number[W], w, t),
                                  [Y] = element_of(conv, number[Y], y, o)};
            result[at[roles.result]] +=
                reader_load(reader, 0, at[roles.left]) * reader_load(reader, 1, at[roles.right]);
          }
}

static void conv_evaluate(const Kernel *kernel, const KernelReader *reader, double *result) {
  add_products(kernel, reader, (Roles){X, W, Y}, result);
}

static void conv_input_evaluate(const Kernel *kernel, const KernelReader *reader, double *result) {
  add_products(kernel, reader, (Roles){Y, W, X}, result);
}

static void conv_weight_evaluate(const Kernel *kernel, const KernelReader *reader, double *result) {
  add_products(kernel, reader, (Roles){X, Y, W}, result);
}

/* ---- blocks of the weights' gradient: its pieces ------------------------------------------- */

static bool is_in_pieces(const Kernel *kernel) { return kernel->conv.pieces > 0; }

static bool conv_weight_can_block(const Kernel *kernel, int64_t blocks, bool *parts) {
  return kernel->conv.pieces == blocks && window_can_block_pair(kernel, blocks, parts);
}

static void conv_weight_block(Kernel *kernel, int64_t blocks) {
  window_block(kernel, blocks);
  kernel->conv.pieces = 0;
}

/* ---- the records --------------------------------------------------------------------------- */

const KernelClass kernel_class_conv = {
    .slots = RECORD(window_slots),
    .reads = conv_reads,
    .results = conv_results,
    .verify = window_verify,
    .evaluate = conv_evaluate,
    .can_block = window_can_block,
    .block = window_block,
};

const KernelClass kernel_class_conv_input = {
    .slots = RECORD(window_slots),
    .reads = conv_input_reads,
    .results = conv_input_results,
    .verify = window_verify,
    .evaluate = conv_input_evaluate,
    .can_block = window_can_block,
    .block = window_block,
};

const KernelClass kernel_class_conv_weight = {
    .slots = RECORD(window_slots),
    .reads = window_reads_pair,
    .results = conv_weight_results,
    .verify = window_verify,
    .evaluate = conv_weight_evaluate,
    .can_block = conv_weight_can_block,
    .block = conv_weight_block,
    .is_in_pieces = is_in_pieces,
};
