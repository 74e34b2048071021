/* How a value lies in memory, where that is not row-major; and kernels that go through such values in the
 * order of their memory.
 *
 * Nothing else knows of it: the builder makes the index of each access with the strides that its
 * host gives (BuilderHost.layout), so any value may have any layout. Blocks of channels, as processors'
 * vectors like them, would be another way to make an index of a point here. */
#ifndef NNC_KERNEL_LAYOUT_H
#define NNC_KERNEL_LAYOUT_H

#include "kernel/kernel.h"

/* The axes of a value, the innermost in memory last. */
typedef struct Layout {
  int rank;
  int axis[MAX_RANK];
} Layout;

/* Channels last: of a value [n, c, ...] axis 1 is the innermost. Of pieces of such a value, [p, n, c, ...],
 * axis 2 is. */
Layout layout_channels_last(int rank);
Layout layout_pieces_last(int rank);
/* The distance in memory of neighbours along each axis; NULL: row-major. */
void layout_strides(const Layout *layout, Shape shape, int64_t *stride);
/* Puts the domain's axes of a loop kernel, and those of its stages, in the order of the memory that it
 * touches most, the smallest stride last. What is stored at a point does not change; a sum is added up in
 * another order. */
void kernel_order_axes(Arena *arena, Kernel *kernel);

#endif
