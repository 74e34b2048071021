/* The adjoint of max pooling: each element of dy goes to the first greatest element of x under its
 * window. */
#include "kernel/classes/window.h"
#include "support/sort.h"

static int64_t max_pool_grad_results(const Kernel *kernel) {
  return window_x_elements(&kernel->conv);
}

static void max_pool_grad_evaluate(const Kernel *kernel, const KernelReader *reader,
                                   double *result) {
  const ConvSlots *conv = &kernel->conv;
  int64_t in = window_elements(conv, conv->in), out = window_elements(conv, conv->out);
  int64_t taps = window_elements(conv, conv->kernel);
  for (int64_t plane = 0; plane < conv->n * conv->c; plane++)
    for (int64_t o = 0; o < out; o++) {
      const WindowPlane own = {plane / conv->c, conv->c, plane % conv->c, in};
      const WindowPlane given = {own.row, own.channels, own.channel, out};
      int64_t best = -1;
      double greatest = 0;
      for (int64_t t = 0; t < taps; t++) {
        int64_t at = window_position(conv, o, t);
        if (at < 0) continue;
        double x = reader_load(reader, 0, window_element(conv, 0, own, at));
        if (best >= 0 && !sort_comes_before(x, greatest, true)) continue;
        best = at;
        greatest = x;
      }
      if (best >= 0)
        result[plane * in + best] += reader_load(reader, 1, window_element(conv, 1, given, o));
    }
}

/* Without channels there are no groups either, and nothing to do. */
static const char *max_pool_grad_verify(Arena *arena, const Kernel *kernel) {
  return kernel->conv.c == 0 ? NULL : window_verify(arena, kernel);
}

const KernelClass kernel_class_max_pool_grad = {
    .slots = RECORD(window_slots),
    .reads = window_reads_pair,
    .results = max_pool_grad_results,
    .verify = max_pool_grad_verify,
    .evaluate = max_pool_grad_evaluate,
    .can_block = window_can_block_pair,
    .block = window_block,
};
