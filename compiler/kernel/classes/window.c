/* Windows over planes: see window.h. */
#include "kernel/classes/window.h"

#include "support/integers.h"

static const Field axes[] = {
    SLOT("  in ", conv.in[0], 0),
    SLOT(", out ", conv.out[0], 0),
    SLOT(", kernel ", conv.kernel[0], 0),
    SLOT(", stride ", conv.stride[0], 0),
    SLOT(", low ", conv.low[0], -MAX_ELEMENTS),
    SLOT(", high ", conv.high[0], -MAX_ELEMENTS),
    SLOT(", dilation ", conv.dilation[0], 0),
    FIELD_LITERAL("\n"),
};

const Field window_slots[WINDOW_SLOT_COUNT] = {
    SLOT("  n ", conv.n, 0),
    SLOT(", c ", conv.c, 0),
    SLOT(", k ", conv.k, 0),
    SLOT(", groups ", conv.groups, 0),
    FIELD("\n  pieces ", OPTION, Kernel, conv.pieces, 1, MAX_ELEMENTS),
    FIELD(", last ", OPTION, Kernel, conv.last, 1, 3),
    FIELD(" winograd", FLAG, Kernel, conv.may_be_winograd),
    FIELD("\n", ROWS, Kernel, conv.spatial, .most = 3, .between = "", .columns = RECORD(axes)),
};

int64_t window_elements(const ConvSlots *slots, const int64_t *extent) {
  return extent_product(extent, slots->spatial);
}

int64_t window_element(const ConvSlots *slots, int operand, WindowPlane at, int64_t place) {
  if (slots->last >> operand & 1) return (at.row * at.plane + place) * at.channels + at.channel;
  return (at.row * at.channels + at.channel) * at.plane + place;
}

int64_t window_x_elements(const ConvSlots *slots) {
  return extent_product((int64_t[]){slots->n, slots->c, window_elements(slots, slots->in)}, 3);
}

int64_t window_y_elements(const ConvSlots *slots) {
  return extent_product((int64_t[]){slots->n, slots->k, window_elements(slots, slots->out)}, 3);
}

int64_t window_w_elements(const ConvSlots *slots) {
  int64_t channels = slots->groups > 0 ? slots->c / slots->groups : 1;
  return extent_product((int64_t[]){slots->k, channels, window_elements(slots, slots->kernel)}, 3);
}

/* Groups divide the channels and no window leaves its padded plane. */
const char *window_verify(Arena *arena, const Kernel *kernel) {
  const ConvSlots *s = &kernel->conv;
  (void)arena;
  if (s->spatial < 1 || s->groups < 1 || s->c % s->groups != 0 || s->k % s->groups != 0)
    return "groups that do not divide the channels";
  for (int i = 0; i < s->spatial; i++) {
    if (s->stride[i] < 1 || s->dilation[i] < 1 || s->kernel[i] < 1) return "a window of nothing";
    double padded = (double)(s->in[i] + s->low[i] + s->high[i]);
    double last = (double)(s->out[i] - 1) * (double)s->stride[i] +
                  (double)(s->kernel[i] - 1) * (double)s->dilation[i];
    if (padded > 0x1p40 || (last >= padded && s->out[i] > 0))
      return "windows that leave their plane";
  }
  return NULL;
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
