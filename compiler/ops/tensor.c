/* Copying between strided views, what movement operators and packing come down to: outer axes count
 * like an odometer, the last is a plain loop. */
#include "ops/tensor.h"

void strided_copy(int rank, const int64_t *dim, double *to, const int64_t *to_stride,
                  const double *from, const int64_t *from_stride) {
  for (int i = 0; i < rank; i++)
    if (dim[i] == 0) return;
  if (rank == 0) {
    *to = *from;
    return;
  }
  int last = rank - 1;
  int64_t at[MAX_RANK] = {0};
  for (;;) {
    for (int64_t i = 0; i < dim[last]; i++) to[i * to_stride[last]] = from[i * from_stride[last]];
    int axis = last - 1;
    for (; axis >= 0; axis--) {
      to += to_stride[axis];
      from += from_stride[axis];
      if (++at[axis] < dim[axis]) break;
      to -= to_stride[axis] * dim[axis];
      from -= from_stride[axis] * dim[axis];
      at[axis] = 0;
    }
    if (axis < 0) return;
  }
}

void strided_pack(double *to, const double *from, Shape shape, int count, const int64_t *axes) {
  int64_t dim[MAX_RANK], stride[MAX_RANK], plain[MAX_RANK], dense[MAX_RANK], elements = 1;
  shape_strides(shape, stride);
  for (int i = count - 1; i >= 0; i--) {
    dim[i] = shape.dim[axes[i]];
    plain[i] = stride[axes[i]];
    dense[i] = elements;
    elements *= dim[i];
  }
  strided_copy(count, dim, to, dense, from, plain);
}
