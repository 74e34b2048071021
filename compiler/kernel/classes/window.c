/* Windows over planes: see window.h. */
#include "kernel/classes/window.h"

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

static int64_t plane_elements(const ConvSlots *slots, const int64_t *extent) {
  int64_t elements = 1;
  for (int i = 0; i < slots->spatial; i++) elements *= extent[i];
  return elements;
}

int64_t window_x_elements(const ConvSlots *slots) {
  return slots->n * slots->c * plane_elements(slots, slots->in);
}

int64_t window_y_elements(const ConvSlots *slots) {
  return slots->n * slots->k * plane_elements(slots, slots->out);
}

int64_t window_w_elements(const ConvSlots *slots) {
  int64_t channels = slots->groups > 0 ? slots->c / slots->groups : 1;
  return slots->k * channels * plane_elements(slots, slots->kernel);
}

int64_t window_reads_pair(const Kernel *kernel, int operand) {
  return operand == 0   ? window_x_elements(&kernel->conv)
         : operand == 1 ? window_y_elements(&kernel->conv)
                        : -1;
}
