/* Template kernels for test_emit.c, made by hand: contractions, convolutions, pooling, sums at places. */
#ifndef TESTS_TEMPLATE_CASES_H
#define TESTS_TEMPLATE_CASES_H

#include "convolution_cases.h"

/* ---- pooling ---- */

/* With an epilogue, or without: the result is then computed where it belongs if its order is that of x. */
static void make_pool_case(CaseList *list, const ConvShape *s, DType dtype, int last, bool bare) {
  ConvSlots slots = conv_slots(s);
  int64_t x[5] = {s->n, s->c}, y[5] = {s->n, s->c};
  for (int i = 0; i < s->spatial; i++) x[2 + i] = slots.in[i], y[2 + i] = slots.out[i];
  int rank = 2 + s->spatial;
  Kernel *kernel = new_kernel(list, KERNEL_MAX_POOL_GRAD, rank, x);
  kernel->conv = slots;
  kernel->conv.k = kernel->conv.groups = s->c;
  kernel->conv.last = last & ~RESULT_LAST;
  add_operand(kernel, "x", dtype, product(rank, x), false);
  add_operand(kernel, "dy", dtype, product(rank, y), false);
  int out = add_operand(kernel, "dx", dtype, product(rank, x), true);
  Index *place = planes_place(list, rank, x, last & RESULT_LAST);
  Index *own = planes_place(list, rank, x, last & 1);
  Expr *value = new_expr(list, EXPR_RESULT, dtype);
  if (!bare) value = apply(list, OP_MUL, dtype, value, load_at(list, kernel, 0, own), NULL);
  add_store(kernel->epilogue, &kernel->epilogue_count, out, place, value);
  add_case(list, "max_pool_grad", kernel, 1);
}

static void make_pool(CaseList *list, const ConvShape *s, DType dtype, int last) {
  for (int bare = 0; bare < 2; bare++) make_pool_case(list, s, dtype, last, bare);
}

static void make_unpool_case(CaseList *list, const ConvShape *s, DType dtype, int last, bool bare) {
  ConvSlots slots = conv_slots(s);
  int64_t x[5] = {s->n, s->c}, y[5] = {s->n, s->c};
  for (int i = 0; i < s->spatial; i++) x[2 + i] = slots.in[i], y[2 + i] = slots.out[i];
  int rank = 2 + s->spatial;
  Kernel *kernel = new_kernel(list, KERNEL_MAX_UNPOOL, rank, x);
  kernel->conv = slots;
  kernel->conv.k = kernel->conv.groups = s->c;
  kernel->conv.last = last & ~RESULT_LAST;
  add_operand(kernel, "place", DTYPE_U8, product(rank, y), false);
  add_operand(kernel, "dy", dtype, product(rank, y), false);
  int factor = bare ? -1 : add_operand(kernel, "factor", dtype, product(rank, x), false);
  int out = add_operand(kernel, "dx", dtype, product(rank, x), true);
  Index *place = planes_place(list, rank, x, last & RESULT_LAST);
  Expr *value = new_expr(list, EXPR_RESULT, dtype);
  if (!bare) value = apply(list, OP_MUL, dtype, value, load_at(list, kernel, factor, place), NULL);
  add_store(kernel->epilogue, &kernel->epilogue_count, out, place, value);
  add_case(list, "max_unpool", kernel, 1);
}

static void make_unpool(CaseList *list, const ConvShape *s, DType dtype, int last) {
  for (int bare = 0; bare < 2; bare++) make_unpool_case(list, s, dtype, last, bare);
}

/* ---- at places ---- */

static void make_scatter(CaseList *list, int64_t indices, int64_t rows, int64_t a, int64_t b,
                         DType dtype, DType index) {
  int64_t extent[3] = {rows, a, b};
  int rank = b > 1 ? 3 : 2;
  Kernel *kernel = new_kernel(list, KERNEL_SCATTER_ADD, rank, extent);
  kernel->scatter = (ScatterSlots){indices, rows, a * b};
  add_operand(kernel, "values", dtype, indices * a * b, false);
  add_operand(kernel, "index", index, indices, false);
  int out = add_operand(kernel, "table", dtype, rows * a * b, true);
  Index *place = strided(list, rank, b > 1 ? (int64_t[]){a * b, b, 1} : (int64_t[]){a, 1});
  Expr *value = apply(list, OP_ADD, dtype, load_at(list, kernel, out, place),
                      new_expr(list, EXPR_RESULT, dtype), NULL);
  add_store(kernel->epilogue, &kernel->epilogue_count, out, place, value);
  add_case(list, "scatter_add", kernel, 4);
}

/* The order, and an operand of the same shape in the epilogue. */
static void make_argsort(CaseList *list, int64_t rows, int64_t elements, bool descending,
                         DType dtype) {
  int64_t extent[2] = {rows, elements};
  Kernel *kernel = new_kernel(list, KERNEL_ARGSORT, 2, extent);
  kernel->sort = (SortSlots){rows, elements, descending};
  add_operand(kernel, "x", dtype, rows * elements, false);
  int shift = add_operand(kernel, "shift", DTYPE_I32, rows * elements, false);
  int out = add_operand(kernel, "order", DTYPE_I32, rows * elements, true);
  Index *place = strided(list, 2, (int64_t[]){elements, 1});
  Expr *value = apply(list, OP_ADD, DTYPE_I32, load_at(list, kernel, shift, place),
                      new_expr(list, EXPR_RESULT, DTYPE_I32), NULL);
  add_store(kernel->epilogue, &kernel->epilogue_count, out, place, value);
  add_case(list, "argsort", kernel, 1);
}

static void make_indexed(CaseList *list) {
  static const ConvShape pools[] = {
      {2, 3, 3, 3, 2, {8, 8}, {2, 2}, {2, 2}, {0, 0}, {0, 0}, {1, 1}},
      {2, 5, 5, 5, 2, {9, 7}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
      {1, 2, 2, 2, 1, {30}, {3}, {1}, {0}, {0}, {2}},
      {1, 2, 2, 2, 3, {4, 5, 6}, {2, 2, 3}, {2, 1, 2}, {0, 1, 1}, {0, 0, 1}, {1, 1, 1}},
      {1, 2, 2, 2, 2, {5, 700}, {3, 5}, {1, 2}, {1, 2}, {1, 2}, {1, 2}}, /* two spans */
      {1, 3, 3, 3, 1, {9}, {5}, {3}, {4}, {3}, {1}},
      {2, 3, 3, 3, 2, {7, 7}, {7, 7}, {1, 1}, {0, 0}, {0, 0}, {1, 1}},
      {2, 70, 70, 70, 2, {8, 9}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
      /* spans of windows that lie side by side: a last one that repeats some, places that no window has */
      {2, 3, 3, 3, 2, {10, 28}, {2, 2}, {2, 2}, {0, 0}, {0, 0}, {1, 1}},
      {1, 2, 2, 2, 2, {7, 23}, {3, 2}, {3, 2}, {0, 0}, {0, 0}, {1, 1}},
      {1, 3, 3, 3, 1, {36}, {2}, {2}, {0}, {0}, {1}},
      {1, 2, 2, 2, 3, {4, 6, 10}, {2, 3, 2}, {2, 3, 2}, {0, 0, 0}, {0, 0, 0}, {1, 1, 1}},
      /* windows that share no places, with gaps, beside padding; several blocks of channels */
      {2, 20, 20, 20, 2, {11, 9}, {2, 2}, {3, 3}, {1, 1}, {1, 2}, {1, 1}},
      {1, 18, 18, 18, 2, {7, 5}, {2, 3}, {2, 1}, {1, 1}, {1, 1}, {1, 1}},
      {2, 80, 80, 80, 2, {20, 18}, {2, 2}, {2, 2}, {0, 0}, {0, 0}, {1, 1}},
      {3, 17, 17, 17, 1, {40}, {3}, {4}, {1}, {2}, {1}},
      {1, 16, 16, 16, 3, {5, 6, 4}, {2, 2, 2}, {2, 1, 2}, {0, 1, 0}, {1, 0, 0}, {1, 1, 1}},
  };
  static const DType dtypes[] = {DTYPE_F32, DTYPE_F64, DTYPE_BF16};
  static const int lasts[] = {7, 6, 1};
  for (size_t i = 0; i < sizeof pools / sizeof *pools; i++)
    for (int t = 0; t < 3; t++) {
      make_pool(list, &pools[i], dtypes[t], 0);
      make_pool(list, &pools[i], dtypes[t], lasts[t]);
      make_unpool(list, &pools[i], dtypes[t], 0);
      make_unpool(list, &pools[i], dtypes[t], lasts[t]);
    }
  make_scatter(list, 50, 9, 33, 1, DTYPE_F32, DTYPE_I32);
  make_scatter(list, 70, 5, 4, 5, DTYPE_F64, DTYPE_I64);
  make_scatter(list, 20, 300, 200, 1, DTYPE_F32, DTYPE_U8);
  make_scatter(list, 0, 3, 2, 1, DTYPE_F32, DTYPE_I32);
  static const DType sorted[] = {DTYPE_F32, DTYPE_F64, DTYPE_I32, DTYPE_I64, DTYPE_U8, DTYPE_BF16};
  for (int t = 0; t < 6; t++)
    for (int descending = 0; descending < 2; descending++) {
      make_argsort(list, 3, 20, descending, sorted[t]);
      make_argsort(list, 2, 300, descending, sorted[t]);
    }
  make_argsort(list, 400, 90, false, DTYPE_F32);
  make_argsort(list, 3, 0, false, DTYPE_F32);
}

#endif
