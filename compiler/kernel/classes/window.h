/* What convolutions and the adjoint of pooling share: a window that goes over planes. */
#ifndef NNC_KERNEL_CLASSES_WINDOW_H
#define NNC_KERNEL_CLASSES_WINDOW_H

#include "kernel/class.h"

enum { WINDOW_SLOT_COUNT = 8 };
extern const Field window_slots[WINDOW_SLOT_COUNT];
/* Elements of x, [n, c, in...], of y, [n, k, out...], and of w, [k, c / groups, kernel...]. */
int64_t window_x_elements(const ConvSlots *slots);
int64_t window_y_elements(const ConvSlots *slots);
int64_t window_w_elements(const ConvSlots *slots);
const char *window_verify(Arena *arena, const Kernel *kernel);
/* KernelClass.reads of templates whose operands are x and dy. */
int64_t window_reads_pair(const Kernel *kernel, int operand);

int64_t window_elements(const ConvSlots *slots, const int64_t *extent); /* of a plane */
/* The element of operand `operand` at a place of the plane of `plane` elements that is number `channel` of
 * `channels` in row `row`, an image. */
typedef struct WindowPlane {
  int64_t row, channels, channel, plane;
} WindowPlane;
int64_t window_element(const ConvSlots *slots, int operand, WindowPlane plane, int64_t place);
/* The input position under tap `tap` of output `out`, all flat; -1 in the padding. */
int64_t window_position(const ConvSlots *slots, int64_t out, int64_t tap);

/* By images. The operands must be all of x or y, not views into something larger. */
bool window_can_block(const Kernel *kernel, int64_t blocks, bool *parts);
bool window_can_block_pair(const Kernel *kernel, int64_t blocks, bool *parts);
void window_block(Kernel *kernel, int64_t blocks);

#endif
