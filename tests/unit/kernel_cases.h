/* Kernels for test_emit.c, made by hand. */
#ifndef TESTS_KERNEL_CASES_H
#define TESTS_KERNEL_CASES_H

#include <string.h>
#include "kernel/builder.h"
#include "ops/op.h"
#include "support/vec.h"

typedef struct KernelCase {
  const char *name;
  const Kernel *kernel;
  double scale; /* absolute part of the tolerance, in units of the type's */
  double
      times; /* errors are at most so many times those of the case before in the root mean square, and
                twice as many in the greatest; 0: whatever they are */
  bool
      is_same; /* as the case before, but for the variant: with the same operands, it gives the same */
  const char *mentions; /* what its C has, unless NULL */
  bool is_sparse; /* most numbers of its operands are 0, and so must be what is made of these */
  bool is_part; /* the results are parts of such as go past the caches, and lie where these would */
} KernelCase;

typedef struct CaseList {
  Arena *arena;
  VEC(KernelCase) cases;
} CaseList;

/* ---- building ---- */

static Kernel *new_kernel(CaseList *list, KernelKind kind, int axis_count, const int64_t *extent) {
  Kernel *kernel = ARENA_NEW(list->arena, Kernel);
  kernel->kind = kind;
  kernel->axis_count = axis_count;
  for (int i = 0; i < axis_count; i++) kernel->extent[i] = extent[i];
  kernel->operands = ARENA_ARRAY(list->arena, KernelOperand, 16);
  kernel->stages = ARENA_ARRAY(list->arena, Stage, 16);
  kernel->epilogue = ARENA_ARRAY(list->arena, Store, 8);
  kernel->accumulate = DTYPE_F32;
  return kernel;
}

static int add_operand(Kernel *kernel, const char *name, DType dtype, int64_t elements,
                       bool is_output) {
  kernel->operands[kernel->operand_count] =
      (KernelOperand){.dtype = dtype, .elements = elements, .is_output = is_output, .name = name};
  if (dtype == DTYPE_F64) kernel->accumulate = DTYPE_F64;
  return kernel->operand_count++;
}

static void add_case(CaseList *list, const char *name, const Kernel *kernel, double scale) {
  KernelCase test = {.name = name, .kernel = kernel, .scale = scale};
  vec_push(list->arena, &list->cases, test);
}

/* The case that was made last. */
static KernelCase *last_case(CaseList *list) { return &list->cases.items[list->cases.count - 1]; }

static Expr *new_expr(CaseList *list, ExprKind kind, DType dtype) {
  Expr *expr = ARENA_NEW(list->arena, Expr);
  expr->kind = kind;
  expr->dtype = dtype;
  return expr;
}

static Expr *load_at(CaseList *list, const Kernel *kernel, int operand, Index *index) {
  Expr *expr = new_expr(list, EXPR_LOAD, kernel->operands[operand].dtype);
  expr->operand = operand;
  expr->index = index;
  return expr;
}

static Expr *number(CaseList *list, DType dtype, double value) {
  Expr *expr = new_expr(list, EXPR_CONST, dtype);
  expr->value = value;
  return expr;
}

static Expr *apply(CaseList *list, Op op, DType dtype, Expr *a, Expr *b, Expr *c) {
  Expr *expr = new_expr(list, EXPR_OP, dtype);
  expr->op = op;
  expr->args[0] = a;
  expr->args[1] = b;
  expr->args[2] = c;
  expr->arg_count = c ? 3 : b ? 2 : 1;
  return expr;
}

static Expr *stage_value(CaseList *list, int stage, DType dtype) {
  Expr *expr = new_expr(list, EXPR_STAGE, dtype);
  expr->operand = stage;
  return expr;
}

/* sum of stride[i] * axis i */
static Index *strided(CaseList *list, int count, const int64_t *stride) {
  Index *index = index_const(list->arena, 0);
  for (int i = 0; i < count; i++)
    index = index_add(list->arena, index,
                      index_mul(list->arena, index_axis(list->arena, i), stride[i]));
  return index;
}

static Stage *add_stage(CaseList *list, Kernel *kernel, StageKind kind, int axis_count,
                        const int64_t *extent) {
  Stage *stage = &kernel->stages[kernel->stage_count++];
  stage->kind = kind;
  stage->axis_count = axis_count;
  for (int i = 0; i < axis_count; i++) stage->extent[i] = extent[i];
  stage->stores = ARENA_ARRAY(list->arena, Store, 8);
  return stage;
}

static void add_store(Store *stores, int *count, int operand, Index *index, Expr *value) {
  stores[(*count)++] = (Store){.operand = operand, .index = index, .value = value};
}

static int64_t product(int count, const int64_t *extent) {
  int64_t total = 1;
  for (int i = 0; i < count; i++) total *= extent[i];
  return total;
}

/* ---- elementwise ---- */

static const int64_t shapes[][3] = {{1, 1, 1},    {1, 1, 7},    {3, 5, 16},   {2, 9, 33},
                                    {1, 1, 5000}, {40, 10, 11}, {1, 3, 3000}, {2, 0, 5}};

/* y = op(a) or op(a, b) for every operator of a float type, over several shapes; b broadcast along the rows. */
static void make_operator(CaseList *list, Op op, int arity, DType from, DType to,
                          const int64_t *extent) {
  Kernel *kernel = new_kernel(list, KERNEL_LOOP, 3, extent);
  int64_t dense[3] = {extent[1] * extent[2], extent[2], 1}, row[3] = {0, 0, 1};
  int a = add_operand(kernel, "a", from, product(3, extent), false);
  int b = arity > 1 ? add_operand(kernel, "b", from, extent[2], false) : -1;
  int y = add_operand(kernel, "y", to, product(3, extent), true);
  Expr *x = load_at(list, kernel, a, strided(list, 3, dense));
  if (op == OP_LOG || op == OP_SQRT || op == OP_RSQRT || op == OP_POW)
    x = apply(list, OP_ABS, from, x, NULL, NULL);
  Expr *z = b < 0 ? NULL : load_at(list, kernel, b, strided(list, 3, row));
  Stage *stage = add_stage(list, kernel, STAGE_STORE, 0, NULL);
  add_store(stage->stores, &stage->store_count, y, strided(list, 3, dense),
            apply(list, op, to, x, z, NULL));
  add_case(list, op_info(op)->name, kernel, 1);
}

/* Adam in place: three operands that are read and written, a scalar from the host, a cast. */
static void make_update(CaseList *list, int64_t count, DType dtype) {
  Kernel *kernel = new_kernel(list, KERNEL_LOOP, 1, &count);
  int g = add_operand(kernel, "g", dtype, count, false),
      w = add_operand(kernel, "h1.w", dtype, count, true);
  int m = add_operand(kernel, "h1.w:m", dtype, count, true),
      v = add_operand(kernel, "h1.w:v", dtype, count, true);
  Index *i = index_axis(list->arena, 0);
  Expr *gradient = load_at(list, kernel, g, i), *rate = new_expr(list, EXPR_SCALAR, DTYPE_F64);
  kernel->scalar_count = 1;
  Expr *m_next =
      apply(list, OP_ADD, dtype,
            apply(list, OP_MUL, dtype, number(list, dtype, 0.9), load_at(list, kernel, m, i), NULL),
            apply(list, OP_MUL, dtype, number(list, dtype, 0.1), gradient, NULL), NULL);
  Expr *v_next = apply(list, OP_ADD, dtype,
                       apply(list, OP_ABS, dtype, load_at(list, kernel, v, i), NULL, NULL),
                       apply(list, OP_MUL, dtype, gradient, gradient, NULL), NULL);
  Expr *step = apply(list, OP_DIV, dtype, m_next,
                     apply(list, OP_ADD, dtype, apply(list, OP_SQRT, dtype, v_next, NULL, NULL),
                           number(list, dtype, 0.5), NULL),
                     NULL);
  Expr *rate_here = dtype == DTYPE_F64 ? rate : apply(list, OP_CAST, dtype, rate, NULL, NULL);
  Expr *w_next = apply(list, OP_SUB, dtype, load_at(list, kernel, w, i),
                       apply(list, OP_MUL, dtype, rate_here, step, NULL), NULL);
  Stage *stage = add_stage(list, kernel, STAGE_STORE, 0, NULL);
  add_store(stage->stores, &stage->store_count, m, i, m_next);
  add_store(stage->stores, &stage->store_count, v, i, v_next);
  add_store(stage->stores, &stage->store_count, w, i, w_next);
  add_case(list, "update", kernel, 1);
}

/* y[i, j] = table[index[i], j], zero-padded by two columns on each side; i32 indices out of range too. */
static void make_padded_gather(CaseList *list) {
  int64_t extent[2] = {37, 25};
  Kernel *kernel = new_kernel(list, KERNEL_LOOP, 2, extent);
  int table = add_operand(kernel, "table", DTYPE_F32, 6 * 21, false);
  int which = add_operand(kernel, "index", DTYPE_I32, 37, false);
  int y = add_operand(kernel, "y", DTYPE_F32, 37 * 25, true);
  Arena *arena = list->arena;
  Index *column = index_add(arena, index_axis(arena, 1), index_const(arena, -2));
  Index *row = index_load(arena, which, index_axis(arena, 0), 6);
  Expr *load = load_at(list, kernel, table, index_add(arena, index_mul(arena, row, 21), column));
  load->guard_count = 1;
  load->guards = ARENA_NEW(arena, Guard);
  load->guards[0] = (Guard){column, 21};
  load->value = 0.25;
  Stage *stage = add_stage(list, kernel, STAGE_STORE, 0, NULL);
  add_store(stage->stores, &stage->store_count, y, strided(list, 2, (int64_t[]){25, 1}), load);
  add_case(list, "padded_gather", kernel, 1);
}

static Expr *number_of(CaseList *list, Index *index) {
  Expr *expr = new_expr(list, EXPR_INDEX, DTYPE_I64);
  expr->index = index;
  return expr;
}

/* x times the row, in the columns below 20 of rows of its own. */
static Expr *left_columns(CaseList *list, Expr *x, Index *own) {
  Expr *row = number_of(list, index_axis(list->arena, 0));
  Expr *column = number_of(list, index_axis(list->arena, 2));
  Expr *is_left = apply(list, OP_LT, DTYPE_BOOL, column, number(list, DTYPE_I64, 20), NULL);
  Expr *is_own =
      apply(list, OP_GE, DTYPE_BOOL, number_of(list, own), number(list, DTYPE_I64, 0), NULL);
  Expr *factor = apply(list, OP_CAST, DTYPE_F32, row, NULL, NULL);
  return apply(list, OP_WHERE, DTYPE_F32, apply(list, OP_AND, DTYPE_BOOL, is_left, is_own, NULL),
               apply(list, OP_MUL, DTYPE_F32, x, factor, NULL), number(list, DTYPE_F32, 0));
}

/* Parts of 1, 2, 3, 1 and 2 rows, one after the other, as a concatenation has them: y[i, r, j] is
 * part[k][i - begin, r, j]; of the third the left columns, of the fifth a number. */
static void make_stacked(CaseList *list) {
  static const int64_t begin[] = {0, 1, 3, 6}, end[] = {1, 3, 6, 7};
  Kernel *kernel = new_kernel(list, KERNEL_LOOP, 3, (int64_t[]){9, 4, 33});
  Arena *arena = list->arena;
  int parts[4];
  for (int k = 0; k < 4; k++)
    parts[k] = add_operand(kernel, arena_printf(arena, "part_%d", k), DTYPE_F32,
                           (end[k] - begin[k]) * 132, false);
  int y = add_operand(kernel, "y", DTYPE_F32, 9 * 132, true);
  Expr *row = number_of(list, index_axis(arena, 0)), *value = number(list, DTYPE_F32, 0.75);
  for (int k = 3; k >= 0; k--) {
    Index *own = index_add(arena, row->index, index_const(arena, -begin[k]));
    Index *inside = strided(list, 3, (int64_t[]){0, 33, 1});
    Index *at = index_add(arena, index_mul(arena, own, 132), inside);
    Expr *part = load_at(list, kernel, parts[k], at);
    part->guard_count = 1;
    part->guards = ARENA_NEW(arena, Guard);
    part->guards[0] = (Guard){own, end[k] - begin[k]};
    if (k == 2) part = left_columns(list, part, own);
    Expr *limit = number(list, DTYPE_I64, (double)end[k]);
    Expr *is_before = apply(list, OP_LT, DTYPE_BOOL, row, limit, NULL);
    value = apply(list, OP_WHERE, DTYPE_F32, is_before, part, value);
  }
  Stage *stage = add_stage(list, kernel, STAGE_STORE, 0, NULL);
  Index *at = strided(list, 3, (int64_t[]){132, 33, 1});
  add_store(stage->stores, &stage->store_count, y, at, value);
  add_case(list, "stacked", kernel, 1);
}

/* Three parts side by side, as the sum of what is padded with zeros: y[i, j] = sum_k part[k][i, j'] for j' =
 * j - begin[k], which is read as a matrix of `width[k]` rows is transposed. */
static void make_side_by_side(CaseList *list, int64_t rows, const int64_t width[3]) {
  int64_t all = width[0] + width[1] + width[2], begin = 0;
  Kernel *kernel = new_kernel(list, KERNEL_LOOP, 2, (int64_t[]){rows, all});
  Arena *arena = list->arena;
  Expr *value = NULL;
  for (int k = 0; k < 3; begin += width[k++]) {
    int part =
        add_operand(kernel, arena_printf(arena, "part_%d", k), DTYPE_F32, rows * width[k], false);
    Index *own = index_add(arena, index_axis(arena, 1), index_const(arena, -begin));
    int64_t step = width[k] / 8;
    Index *turned =
        index_add(arena, index_mul(arena, index_mod(arena, own, 8, kernel->extent, 2), step),
                  index_div(arena, own, 8, kernel->extent, 2));
    Index *row = index_mul(arena, index_axis(arena, 0), width[k]);
    Expr *load = load_at(list, kernel, part, index_add(arena, row, turned));
    load->guard_count = 1;
    load->guards = ARENA_NEW(arena, Guard);
    load->guards[0] = (Guard){own, width[k]};
    value = value == NULL ? load : apply(list, OP_ADD, DTYPE_F32, value, load, NULL);
  }
  int y = add_operand(kernel, "y", DTYPE_F32, rows * all, true);
  Stage *stage = add_stage(list, kernel, STAGE_STORE, 0, NULL);
  add_store(stage->stores, &stage->store_count, y, strided(list, 2, (int64_t[]){all, 1}), value);
  add_case(list, "side_by_side", kernel, 1);
}

/* Heads put together, whose parts of a row lie apart: y[i, t, 32 h + e] = log(x[i, h, t, e]). */
static void make_heads(CaseList *list, DType dtype) {
  enum { HEADS = 4, TIME = 5, LENGTH = 32, ALL = HEADS * TIME * LENGTH };
  Kernel *kernel = new_kernel(list, KERNEL_LOOP, 3, (int64_t[]){3, TIME, HEADS * LENGTH});
  int x = add_operand(kernel, "x", dtype, 3 * ALL, false),
      y = add_operand(kernel, "y", dtype, 3 * ALL, true);
  Arena *arena = list->arena;
  Index *last = index_axis(arena, 2);
  Index *head = index_div(arena, last, LENGTH, kernel->extent, 3);
  Index *own = index_mod(arena, last, LENGTH, kernel->extent, 3);
  Index *at = index_add(arena, strided(list, 3, (int64_t[]){ALL, LENGTH, 0}),
                        index_add(arena, index_mul(arena, head, (int64_t)TIME * LENGTH), own));
  Stage *stage = add_stage(list, kernel, STAGE_STORE, 0, NULL);
  add_store(stage->stores, &stage->store_count, y,
            strided(list, 3, (int64_t[]){TIME * HEADS * LENGTH, HEADS * LENGTH, 1}),
            apply(list, OP_LOG, dtype, load_at(list, kernel, x, at), NULL, NULL));
  add_case(list, "heads", kernel, 1);
}

/* Channels put last, a few of them: y[i, p, c] = x[i, c, p] + c. */
static void make_channels_last(CaseList *list, DType dtype, int64_t images, int64_t places,
                               int64_t channels) {
  Kernel *kernel = new_kernel(list, KERNEL_LOOP, 3, (int64_t[]){images, places, channels});
  int64_t all = images * places * channels;
  int x = add_operand(kernel, "x", dtype, all, false),
      y = add_operand(kernel, "y", dtype, all, true);
  Expr *load =
      load_at(list, kernel, x, strided(list, 3, (int64_t[]){places * channels, 1, places}));
  Expr *channel = number_of(list, index_axis(list->arena, 2));
  Expr *sum =
      apply(list, OP_ADD, dtype, load, apply(list, OP_CAST, dtype, channel, NULL, NULL), NULL);
  Stage *stage = add_stage(list, kernel, STAGE_STORE, 0, NULL);
  add_store(stage->stores, &stage->store_count, y,
            strided(list, 3, (int64_t[]){places * channels, channels, 1}), sum);
  add_case(list, "channels_last", kernel, 1);
}

/* Two guards on one load; logic on calls. */
static void make_twice_padded(CaseList *list) {
  int64_t extent[2] = {12, 40};
  Kernel *kernel = new_kernel(list, KERNEL_LOOP, 2, extent);
  int x = add_operand(kernel, "x", DTYPE_F32, 10 * 33, false),
      y = add_operand(kernel, "y", DTYPE_BOOL, 480, true);
  Arena *arena = list->arena;
  Index *row = index_add(arena, index_axis(arena, 0), index_const(arena, -1));
  Index *column = index_add(arena, index_axis(arena, 1), index_const(arena, -3));
  Expr *load = load_at(list, kernel, x, index_add(arena, index_mul(arena, row, 33), column));
  load->guard_count = 2;
  load->guards = ARENA_ARRAY(arena, Guard, 2);
  load->guards[0] = (Guard){row, 10};
  load->guards[1] = (Guard){column, 33};
  Expr *floor_of = apply(list, OP_FLOOR, DTYPE_F32, load, NULL, NULL),
       *zero = number(list, DTYPE_F32, 0);
  Expr *both = apply(
      list, OP_AND, DTYPE_BOOL, apply(list, OP_EQ, DTYPE_BOOL, floor_of, load, NULL),
      apply(list, OP_NE, DTYPE_BOOL, apply(list, OP_CEIL, DTYPE_F32, load, NULL, NULL), zero, NULL),
      NULL);
  Expr *any = apply(
      list, OP_OR, DTYPE_BOOL, both,
      apply(list, OP_GT, DTYPE_BOOL, apply(list, OP_ABS, DTYPE_F32, load, NULL, NULL), zero, NULL),
      NULL);
  Stage *stage = add_stage(list, kernel, STAGE_STORE, 0, NULL);
  add_store(stage->stores, &stage->store_count, y, strided(list, 2, (int64_t[]){40, 1}), any);
  add_case(list, "twice_padded", kernel, 0);
}

/* Transposition with division and modulus: y[i] = x[i % 6, i / 6] and a negative dividend. */
static void make_divided(CaseList *list) {
  int64_t extent[1] = {66};
  Kernel *kernel = new_kernel(list, KERNEL_LOOP, 1, extent);
  int x = add_operand(kernel, "x", DTYPE_F32, 66, false),
      y = add_operand(kernel, "y", DTYPE_F32, 66, true);
  int z = add_operand(kernel, "z", DTYPE_I64, 66, true);
  Arena *arena = list->arena;
  Index *i = index_axis(arena, 0);
  Index *from = index_add(arena, index_mul(arena, index_mod(arena, i, 6, extent, 1), 11),
                          index_div(arena, i, 6, extent, 1));
  Index *shifted = index_add(arena, i, index_const(arena, -20));
  Expr *floor_of = new_expr(list, EXPR_INDEX, DTYPE_I64),
       *rest = new_expr(list, EXPR_INDEX, DTYPE_I64);
  floor_of->index = index_div(arena, shifted, 7, extent, 1);
  rest->index = index_mod(arena, shifted, 7, extent, 1);
  Stage *stage = add_stage(list, kernel, STAGE_STORE, 0, NULL);
  add_store(stage->stores, &stage->store_count, y, i, load_at(list, kernel, x, from));
  add_store(stage->stores, &stage->store_count, z, i,
            apply(list, OP_ADD, DTYPE_I64,
                  apply(list, OP_MUL, DTYPE_I64, floor_of, number(list, DTYPE_I64, 100), NULL),
                  rest, NULL));
  add_case(list, "divided", kernel, 0);
}

static void make_random(CaseList *list, Op op, DType dtype) {
  int64_t extent[2] = {7, 33};
  Kernel *kernel = new_kernel(list, KERNEL_LOOP, 2, extent);
  kernel->key_count = 2;
  int y = add_operand(kernel, "y", dtype, 7 * 33, true);
  Expr *random = new_expr(list, EXPR_RANDOM, dtype);
  random->op = op;
  random->operand = 1;
  random->stream = 2;
  random->value = 33;
  random->index = strided(list, 2, (int64_t[]){33, 1});
  Stage *stage = add_stage(list, kernel, STAGE_STORE, 0, NULL);
  add_store(stage->stores, &stage->store_count, y, random->index, random);
  add_case(list, op_info(op)->name, kernel, op == OP_RANDOM_NORMAL ? 1 : 0);
}

/* y = where(x >= high, high, where(x <= low, low, x)), and both alone; where the bounds are the other way round x is not
 * limited by both. */
static void make_limits(CaseList *list, DType dtype, double low, double high) {
  Kernel *kernel = new_kernel(list, KERNEL_LOOP, 1, (int64_t[]){333});
  int x = add_operand(kernel, "x", dtype, 333, false);
  Index *at = index_axis(list->arena, 0);
  Expr *value = load_at(list, kernel, x, at);
  Expr *least = apply(list, OP_WHERE, dtype,
                      apply(list, OP_LE, DTYPE_BOOL, value, number(list, dtype, low), NULL),
                      number(list, dtype, low), value);
  Expr *is_high = apply(list, OP_GE, DTYPE_BOOL, value, number(list, dtype, high), NULL);
  Expr *results[] = {least, apply(list, OP_WHERE, dtype, is_high, number(list, dtype, high), value),
                     apply(list, OP_WHERE, dtype, is_high, number(list, dtype, high), least)};
  Stage *stage = add_stage(list, kernel, STAGE_STORE, 0, NULL);
  static const char *const names[] = {"least", "most", "both"};
  for (int i = 0; i < 3; i++)
    add_store(stage->stores, &stage->store_count, add_operand(kernel, names[i], dtype, 333, true),
              at, results[i]);
  add_case(list, "limits", kernel, 0);
}

static inline void make_elementwise(CaseList *list) {
  static const Op unary[] = {OP_NEG,  OP_ABS,   OP_SIGN, OP_EXP,   OP_EXPM1,        OP_LOG,
                             OP_SQRT, OP_RSQRT, OP_SIN,  OP_COS,   OP_TANH,         OP_SIGMOID,
                             OP_ERF,  OP_FLOOR, OP_CEIL, OP_ROUND, OP_STOP_GRADIENT};
  static const Op binary[] = {OP_ADD, OP_SUB, OP_MUL, OP_MIN, OP_MAX};
  static const Op compare[] = {OP_EQ, OP_NE, OP_LT, OP_LE, OP_GT, OP_GE};
  static const DType floats[] = {DTYPE_F64, DTYPE_F32, DTYPE_BF16, DTYPE_F16};
  int shape = 0, shape_count = (int)(sizeof shapes / sizeof *shapes);
#define NEXT_SHAPE shapes[shape++ % shape_count]
  for (int t = 0; t < 2; t++) {
    for (size_t i = 0; i < sizeof unary / sizeof *unary; i++)
      make_operator(list, unary[i], 1, floats[t], floats[t], NEXT_SHAPE);
    make_operator(list, OP_DIV, 2, floats[t], floats[t], shapes[3]);
    make_operator(list, OP_POW, 2, floats[t], floats[t], shapes[2]);
  }
  for (int t = 0; t < 4; t++) {
    for (size_t i = 0; i < sizeof binary / sizeof *binary; i++)
      make_operator(list, binary[i], 2, floats[t], floats[t], NEXT_SHAPE);
    make_update(list, 1000 + t, floats[t]);
    make_limits(list, floats[t], 0, 0.5);
    make_limits(list, floats[t], 0.5, -0.25);
    make_limits(list, floats[t], -0.0, 0.5);
  }
  static const DType ints[] = {DTYPE_I64, DTYPE_I32};
  for (int t = 0; t < 2; t++) {
    for (size_t i = 0; i < sizeof binary / sizeof *binary; i++)
      make_operator(list, binary[i], 2, ints[t], ints[t], NEXT_SHAPE);
    make_operator(list, OP_FLOORDIV, 2, ints[t], ints[t], shapes[3]);
    make_operator(list, OP_MOD, 2, ints[t], ints[t], shapes[3]);
    make_operator(list, OP_NEG, 1, ints[t], ints[t], shapes[2]);
  }
  for (int from = 0; from < DTYPE_COUNT; from++) {
    for (size_t i = 0; i < sizeof compare / sizeof *compare && from != DTYPE_BOOL; i++)
      make_operator(list, compare[i], 2, (DType)from, DTYPE_BOOL, NEXT_SHAPE);
    for (int to = 0; to < DTYPE_COUNT; to++)
      make_operator(list, OP_CAST, 1, (DType)from, (DType)to, NEXT_SHAPE);
  }
  make_operator(list, OP_AND, 2, DTYPE_BOOL, DTYPE_BOOL, shapes[3]);
  make_operator(list, OP_OR, 2, DTYPE_BOOL, DTYPE_BOOL, shapes[3]);
  make_operator(list, OP_NOT, 1, DTYPE_BOOL, DTYPE_BOOL, shapes[3]);
  make_padded_gather(list);
  make_twice_padded(list);
  make_stacked(list);
  make_side_by_side(list, 6, (const int64_t[]){64, 40, 24});
  make_side_by_side(list, 2, (const int64_t[]){7000, 6000, 8008});
  make_divided(list);
  make_heads(list, DTYPE_F32);
  make_heads(list, DTYPE_BF16);
  make_channels_last(list, DTYPE_F32, 5, 3000, 3);
  make_channels_last(list, DTYPE_BF16, 3, 7, 4);
  make_channels_last(list, DTYPE_F16, 1, 9000, 2);
  make_random(list, OP_RANDOM_UNIFORM, DTYPE_F32);
  make_random(list, OP_RANDOM_UNIFORM, DTYPE_F64);
  make_random(list, OP_RANDOM_NORMAL, DTYPE_F32);
  make_random(list, OP_RANDOM_NORMAL, DTYPE_F64);
  make_random(list, OP_RANDOM_BITS, DTYPE_I64);
}

/* ---- reductions ---- */

/* Domain [m, n], reduced over [k, j]; the operand is laid out in the order given by the strides. */
static void make_reduction(CaseList *list, Op op, DType dtype, int64_t m, int64_t n, int64_t k,
                           int64_t j, bool columns) {
  bool is_arg = op == OP_ARGMAX || op == OP_ARGMIN;
  if (is_arg) k = 1;
  int64_t extent[2] = {m, n}, inner[2] = {k, j};
  Kernel *kernel = new_kernel(list, KERNEL_LOOP, 2, extent);
  DType result = is_arg ? DTYPE_I32 : dtype;
  int x = add_operand(kernel, "x", dtype, m * n * k * j, false),
      y = add_operand(kernel, "y", result, m * n, true);
  int64_t rows[4] = {n * k * j, k * j, j, 1}, cols[4] = {n * k * j, 1, n * j, n};
  Stage *stage = add_stage(list, kernel, STAGE_REDUCE, is_arg ? 1 : 2, is_arg ? &inner[1] : inner);
  stage->reduce = op;
  int64_t arg_rows[3] = {n * j, j, 1}, arg_cols[3] = {n * j, 1, n};
  const int64_t *stride = is_arg ? (columns ? arg_cols : arg_rows) : (columns ? cols : rows);
  stage->value = load_at(list, kernel, x, strided(list, is_arg ? 3 : 4, stride));
  Stage *store = add_stage(list, kernel, STAGE_STORE, 0, NULL);
  add_store(store->stores, &store->store_count, y, strided(list, 2, (int64_t[]){n, 1}),
            stage_value(list, 0, result));
  add_case(list, op_info(op)->name, kernel, (double)(k * j) / 8 + 1);
}

/* softmax over the last axis of [m, j], or over the first. */
static void make_softmax(CaseList *list, DType dtype, int64_t m, int64_t j, bool columns) {
  Kernel *kernel = new_kernel(list, KERNEL_LOOP, 1, &m);
  int x = add_operand(kernel, "x", dtype, m * j, false),
      y = add_operand(kernel, "y", dtype, m * j, true);
  int64_t stride[2] = {columns ? 1 : j, columns ? m : 1};
  Index *at = strided(list, 2, stride);
  Stage *most = add_stage(list, kernel, STAGE_REDUCE, 1, &j);
  most->reduce = OP_REDUCE_MAX;
  most->value = load_at(list, kernel, x, at);
  for (int i = 0; i < 2; i++) {
    Expr *shifted =
        apply(list, OP_SUB, dtype, load_at(list, kernel, x, at), stage_value(list, 0, dtype), NULL);
    Expr *power = apply(list, OP_EXP, dtype, shifted, NULL, NULL);
    if (i == 0) {
      Stage *sum = add_stage(list, kernel, STAGE_REDUCE, 1, &j);
      sum->reduce = OP_REDUCE_SUM;
      sum->value = power;
    } else {
      Stage *store = add_stage(list, kernel, STAGE_STORE, 1, &j);
      add_store(store->stores, &store->store_count, y, at,
                apply(list, OP_DIV, dtype, power, stage_value(list, 1, dtype), NULL));
    }
  }
  add_case(list, "softmax", kernel, 1);
}

/* The greatest value of windows of taps x 2 elements side by side, and the first place of it: rows of `count` windows.
 * A value of NaN, or beyond 3 from 0, is stored as 5 and as 3 or -3. */
static void make_first_places(CaseList *list, DType dtype, int64_t rows, int64_t count,
                              int64_t taps) {
  Kernel *kernel = new_kernel(list, KERNEL_LOOP, 2, (int64_t[]){rows, count});
  int64_t wide = 2 * count, inner[2] = {taps, 2};
  int x = add_operand(kernel, "x", dtype, rows * taps * wide, false),
      y = add_operand(kernel, "y", dtype, rows * count, true),
      place = add_operand(kernel, "place", DTYPE_U8, rows * count, true);
  Expr *value = load_at(list, kernel, x, strided(list, 4, (int64_t[]){taps * wide, 2, wide, 1}));
  Stage *most = add_stage(list, kernel, STAGE_REDUCE, 2, inner);
  most->reduce = OP_REDUCE_MAX;
  most->value = value;
  Expr *greatest = stage_value(list, 0, dtype), *tap = new_expr(list, EXPR_INDEX, DTYPE_I32);
  tap->index = strided(list, 4, (int64_t[]){0, 0, 2, 1});
  Expr *is_it =
      apply(list, OP_OR, DTYPE_BOOL, apply(list, OP_EQ, DTYPE_BOOL, value, greatest, NULL),
            apply(list, OP_NE, DTYPE_BOOL, value, value, NULL), NULL);
  Stage *first = add_stage(list, kernel, STAGE_REDUCE, 2, inner);
  first->reduce = OP_REDUCE_MIN;
  first->value = apply(list, OP_WHERE, DTYPE_I32, is_it, tap, number(list, DTYPE_I32, 255));
  Expr *is_nan = apply(list, OP_NE, DTYPE_BOOL, greatest, greatest, NULL);
  Expr *near = apply(list, OP_MAX, dtype, greatest, number(list, dtype, -3), NULL);
  near = apply(list, OP_MIN, dtype, near, number(list, dtype, 3), NULL);
  Stage *store = add_stage(list, kernel, STAGE_STORE, 0, NULL);
  Index *at = strided(list, 2, (int64_t[]){count, 1});
  add_store(store->stores, &store->store_count, y, at,
            apply(list, OP_WHERE, dtype, is_nan, number(list, dtype, 5), near));
  add_store(store->stores, &store->store_count, place, at,
            apply(list, OP_CAST, DTYPE_U8, stage_value(list, 1, DTYPE_I32), NULL, NULL));
  add_case(list, "first_places", kernel, 1);
}

/* Of columns of [m, k, j, n]: the sum, perhaps the greatest, the sum of products with another, of `links` operations more,
 * which go over the same rows, and the sum of what the first leaves, which is after them. */
static void make_sums_beside(CaseList *list, DType dtype, const int64_t *extents, bool has_max,
                             int links) {
  int64_t m = extents[0], k = extents[1], j = extents[2], n = extents[3];
  Kernel *kernel = new_kernel(list, KERNEL_LOOP, 2, (int64_t[]){m, n});
  int x = add_operand(kernel, "x", dtype, m * k * j * n, false),
      w = add_operand(kernel, "w", dtype, m * k * j * n, false);
  Index *at = strided(list, 4, (int64_t[]){k * j * n, 1, j * n, n});
  enum { SUM, GREATEST, PRODUCTS, REST, ALL };
  for (int i = 0; i < ALL; i++) {
    if (i == GREATEST && !has_max) continue;
    Expr *value = load_at(list, kernel, x, at);
    Stage *stage = add_stage(list, kernel, STAGE_REDUCE, 2, (int64_t[]){k, j});
    stage->reduce = i == GREATEST ? OP_REDUCE_MAX : OP_REDUCE_SUM;
    if (i == PRODUCTS) {
      value = apply(list, OP_MUL, dtype, value, load_at(list, kernel, w, at), NULL);
      for (int link = 0; link < links; link++)
        value = apply(list, OP_SUB, dtype, number(list, dtype, 1), value, NULL);
    }
    if (i == REST) {
      Expr *mean = apply(list, OP_MUL, dtype, stage_value(list, 0, dtype),
                         number(list, dtype, 1.0 / (double)(k * j)), NULL);
      value = apply(list, OP_SUB, dtype, value, mean, NULL);
      value = apply(list, OP_MUL, dtype, value, value, NULL);
    }
    stage->value = value;
  }
  int reductions = kernel->stage_count;
  Stage *store = add_stage(list, kernel, STAGE_STORE, 0, NULL);
  for (int i = 0; i < reductions; i++)
    add_store(store->stores, &store->store_count, add_operand(kernel, "y", dtype, m * n, true),
              strided(list, 2, (int64_t[]){n, 1}), stage_value(list, i, dtype));
  add_case(list, "sums_beside", kernel, (double)(k * j) / 8 + 1);
  /* Long ones go in turn. */
  if (links > 0) last_case(list)->mentions = "beyond = nnc_least(near";
}

static inline void make_reductions(CaseList *list) {
  static const Op ops[] = {OP_REDUCE_SUM, OP_REDUCE_MAX, OP_REDUCE_MIN, OP_ARGMAX, OP_ARGMIN};
  static const DType types[] = {DTYPE_F32, DTYPE_F64, DTYPE_BF16, DTYPE_I32, DTYPE_I64};
  static const int64_t sizes[][4] = {
      {3, 5, 1, 300}, {1, 100, 7, 28}, {2, 33, 4, 5}, {1, 1, 3, 129}, {4, 70, 1, 1}};
  for (size_t t = 0; t < sizeof types / sizeof *types; t++)
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
      for (int columns = 0; columns < 2; columns++) {
        const int64_t *s = sizes[(t + o + (size_t)columns * 2) % 5];
        make_reduction(list, ops[o], types[t], s[0], s[1], s[2], s[3], columns);
      }
  make_reduction(list, OP_REDUCE_SUM, DTYPE_F32, 1, 1, 100, 900, false);
  make_reduction(list, OP_REDUCE_SUM, DTYPE_F32, 1, 20, 10, 900, true);
  make_reduction(list, OP_REDUCE_SUM, DTYPE_F32, 2, 3, 0, 4, false);
  make_reduction(list, OP_REDUCE_MAX, DTYPE_U8, 2, 30, 2, 14, false);
  make_reduction(list, OP_REDUCE_PROD, DTYPE_F32, 3, 7, 1, 5, false);
  make_reduction(list, OP_REDUCE_PROD, DTYPE_F64, 3, 70, 1, 5, true);
  for (int64_t count = 4; count < 20;
       count += 5) { /* spans of 4 and of 8, the last one over some again */
    make_first_places(list, DTYPE_F32, 40, count, 2);
    make_first_places(list, DTYPE_F64, 40, count, 3);
  }
  for (int links = 0; links <= 30; links += 30) {
    make_sums_beside(list, DTYPE_F32, (int64_t[]){3, 2, 130, 40}, links == 0, links);
    make_sums_beside(list, DTYPE_F64, (int64_t[]){2, 1, 67, 200}, links > 0, links);
    make_sums_beside(list, DTYPE_F32, (int64_t[]){1, 50, 100, 70}, true, links);
  }
  for (int columns = 0; columns < 2; columns++) {
    make_softmax(list, DTYPE_F32, 100, 10, columns);
    make_softmax(list, DTYPE_F32, 9, 1000, columns);
    make_softmax(list, DTYPE_F64, 30, 257, columns);
  }
}

#endif
