/* Copying between strided views: outer axes count like an odometer, the last is a plain loop. */
#include "ops/strided.h"

typedef void (*RowRule)(int64_t count, double *to, int64_t to_step, const double *from,
                        int64_t from_step);

static void copy_row(int64_t count, double *to, int64_t to_step, const double *from,
                     int64_t from_step) {
  for (int64_t i = 0; i < count; i++) to[i * to_step] = from[i * from_step];
}

static void add_row(int64_t count, double *to, int64_t to_step, const double *from,
                    int64_t from_step) {
  for (int64_t i = 0; i < count; i++) to[i * to_step] += from[i * from_step];
}

static void walk(RowRule rule, int rank, const int64_t *dim, double *to, const int64_t *to_stride,
                 const double *from, const int64_t *from_stride) {
  for (int i = 0; i < rank; i++)
    if (dim[i] == 0) return;
  if (rank == 0) {
    rule(1, to, 0, from, 0);
    return;
  }
  int last = rank - 1;
  int64_t at[MAX_RANK] = {0};
  for (;;) {
    rule(dim[last], to, to_stride[last], from, from_stride[last]);
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

void strided_copy(int rank, const int64_t *dim, double *to, const int64_t *to_stride,
                  const double *from, const int64_t *from_stride) {
  walk(copy_row, rank, dim, to, to_stride, from, from_stride);
}

void strided_add(int rank, const int64_t *dim, double *to, const int64_t *to_stride,
                 const double *from, const int64_t *from_stride) {
  walk(add_row, rank, dim, to, to_stride, from, from_stride);
}

/* Extents and row-major strides of the axes in the given order, and the dense strides of that
 * order. */
static void order_axes(Shape shape, int count, const int64_t *axes, int64_t *dim, int64_t *plain,
                       int64_t *dense) {
  int64_t stride[MAX_RANK];
  shape_strides(shape, stride);
  int64_t elements = 1;
  for (int i = count - 1; i >= 0; i--) {
    dim[i] = shape.dim[axes[i]];
    plain[i] = stride[axes[i]];
    dense[i] = elements;
    elements *= dim[i];
  }
}

void strided_pack(double *to, const double *from, Shape shape, int count, const int64_t *axes) {
  int64_t dim[MAX_RANK], plain[MAX_RANK], dense[MAX_RANK];
  order_axes(shape, count, axes, dim, plain, dense);
  strided_copy(count, dim, to, dense, from, plain);
}

void strided_unpack(double *to, const double *from, Shape shape, int count, const int64_t *axes) {
  int64_t dim[MAX_RANK], plain[MAX_RANK], dense[MAX_RANK];
  order_axes(shape, count, axes, dim, plain, dense);
  strided_copy(count, dim, to, plain, from, dense);
}
