/* Windows over planes: see window.h. */
#include "kernel/classes/window.h"

#include "support/integers.h"

void window_print(Text *text, const Kernel *kernel) {
  const ConvSlots *conv = &kernel->conv;
  text_printf(text, "  n %lld, c %lld, k %lld, groups %lld\n", (long long)conv->n,
              (long long)conv->c, (long long)conv->k, (long long)conv->groups);
  if (conv->pieces > 0) text_printf(text, "  pieces %lld\n", (long long)conv->pieces);
  for (int i = 0; i < conv->spatial; i++)
    text_printf(text,
                "  in %lld, out %lld, kernel %lld, stride %lld, low %lld, high %lld, "
                "dilation %lld\n",
                (long long)conv->in[i], (long long)conv->out[i], (long long)conv->kernel[i],
                (long long)conv->stride[i], (long long)conv->low[i], (long long)conv->high[i],
                (long long)conv->dilation[i]);
}

int64_t window_elements(const ConvSlots *slots, const int64_t *extent) {
  return extent_product(extent, slots->spatial);
}

int64_t window_x_elements(const ConvSlots *slots) {
  return slots->n * slots->c * window_elements(slots, slots->in);
}

int64_t window_y_elements(const ConvSlots *slots) {
  return slots->n * slots->k * window_elements(slots, slots->out);
}

int64_t window_w_elements(const ConvSlots *slots) {
  int64_t channels = slots->groups > 0 ? slots->c / slots->groups : 1;
  return slots->k * channels * window_elements(slots, slots->kernel);
}

int64_t window_reads_pair(const Kernel *kernel, int operand) {
  return operand == 0   ? window_x_elements(&kernel->conv)
         : operand == 1 ? window_y_elements(&kernel->conv)
                        : -1;
}

int64_t window_position(const ConvSlots *conv, int64_t out, int64_t tap) {
  int64_t position = 0, scale = 1;
  for (int i = conv->spatial - 1; i >= 0; i--) {
    int64_t o = out % conv->out[i], t = tap % conv->kernel[i];
    int64_t at = o * conv->stride[i] - conv->low[i] + t * conv->dilation[i];
    if (at < 0 || at >= conv->in[i]) return -1;
    position += at * scale;
    scale *= conv->in[i];
    out /= conv->out[i];
    tap /= conv->kernel[i];
  }
  return position;
}

bool window_can_block(const Kernel *kernel, int64_t blocks, bool *parts) {
  int64_t images = kernel->conv.n;
  parts[0] = true;
  parts[1] = false;
  return images > 0 && images % blocks == 0 &&
         kernel->operands[0].elements == kernel_class(kernel)->reads(kernel, 0);
}

bool window_can_block_pair(const Kernel *kernel, int64_t blocks, bool *parts) {
  bool can = window_can_block(kernel, blocks, parts);
  parts[1] = true;
  return can && kernel->operands[1].elements == kernel_class(kernel)->reads(kernel, 1);
}

void window_block(Kernel *kernel, int64_t blocks) { kernel->conv.n /= blocks; }
