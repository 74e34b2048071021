/* The adjoint of max pooling by the places of the maxima: each element of dy goes to the element under its window
 * whose number its place is. Operands: places and dy, both like y. */
#include "kernel/classes/window.h"

static int64_t max_unpool_reads(const Kernel *kernel, int operand) {
  return operand < 2 ? window_y_elements(&kernel->conv) : -1;
}

static int64_t max_unpool_results(const Kernel *kernel) { return window_x_elements(&kernel->conv); }

static void max_unpool_evaluate(const Kernel *kernel, const KernelReader *reader, double *result) {
  const ConvSlots *conv = &kernel->conv;
  int64_t in = window_elements(conv, conv->in), out = window_elements(conv, conv->out);
  int64_t taps = window_elements(conv, conv->kernel);
  for (int64_t plane = 0; plane < conv->n * conv->c; plane++)
    for (int64_t o = 0; o < out; o++) {
      const WindowPlane own = {plane / conv->c, conv->c, plane % conv->c, out};
      double tap = reader_load(reader, 0, window_element(conv, 0, own, o));
      int64_t at = tap < (double)taps ? window_position(conv, o, (int64_t)tap) : -1;
      if (at >= 0)
        result[plane * in + at] += reader_load(reader, 1, window_element(conv, 1, own, o));
    }
}

/* Without channels there are no groups either, and nothing to do. */
static const char *max_unpool_verify(Arena *arena, const Kernel *kernel) {
  return kernel->conv.c == 0 ? NULL : window_verify(arena, kernel);
}

const KernelClass kernel_class_max_unpool = {
    .slots = RECORD(window_slots),
    .reads = max_unpool_reads,
    .results = max_unpool_results,
    .verify = max_unpool_verify,
    .evaluate = max_unpool_evaluate,
    .can_block = window_can_block_pair,
    .block = window_block,
};
