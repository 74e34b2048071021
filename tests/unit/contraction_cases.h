/* Contractions for test_emit.c, made by hand. */
#ifndef TESTS_CONTRACTION_CASES_H
#define TESTS_CONTRACTION_CASES_H

#include "kernel_cases.h"

typedef struct ContractShape {
  int64_t batch, m, n, k;
  bool left_transposed, right_transposed, result_transposed;
  DType left, right, result;
  bool split;   /* the m and n groups are two axes that do not join */
  int epilogue; /* 0: store; 1: relu(x + bias[n]); 2: two stores, one an update in place */
  bool is_x3;   /* f32 is split in bf16 */
} ContractShape;

static void group_set(AxisGroup *group, int64_t extent, int64_t left, int64_t right, int64_t result,
                      bool split) {
  if (split && extent % 2 == 0 &&
      extent > 0) { /* as (extent / 2) x 2, in the other order in memory */
    *group = (AxisGroup){.count = 2, .extent = {2, extent / 2}};
    int64_t stride[3] = {left, right, result};
    for (int i = 0; i < 3; i++)
      group->stride[i][0] = stride[i], group->stride[i][1] = 2 * stride[i];
    return;
  }
  *group = (AxisGroup){.count = 1, .extent = {extent}, .stride = {{left}, {right}, {result}}};
}

static Index *group_index(CaseList *list, const AxisGroup *group, int first, int slot) {
  Index *index = index_const(list->arena, 0);
  for (int i = 0; i < group->count; i++)
    index = index_add(
        list->arena, index,
        index_mul(list->arena, index_axis(list->arena, first + i), group->stride[slot][i]));
  return index;
}

static void make_contraction(CaseList *list, const ContractShape *s) {
  Kernel *kernel = new_kernel(list, KERNEL_CONTRACT, 0, NULL);
  ContractSlots *slots = &kernel->contract;
  if (s->batch > 1)
    group_set(&slots->batch, s->batch, s->m * s->k, s->k * s->n, s->m * s->n, s->split);
  group_set(&slots->m, s->m, s->left_transposed ? 1 : s->k, 0, s->result_transposed ? 1 : s->n,
            s->split);
  group_set(&slots->n, s->n, 0, s->right_transposed ? s->k : 1, s->result_transposed ? s->m : 1,
            s->split);
  group_set(&slots->k, s->k, s->left_transposed ? s->m : 1, s->right_transposed ? 1 : s->n, 0,
            s->split);
  const AxisGroup *groups[3] = {&slots->batch, &slots->m, &slots->n};
  Index *place = index_const(list->arena, 0), *column = NULL;
  for (int g = 0; g < 3; g++) {
    place = index_add(list->arena, place, group_index(list, groups[g], kernel->axis_count, 2));
    AxisGroup plain = *groups[g];
    if (g == 2) {
      for (int i = 0; i < plain.count; i++)
        plain.stride[2][i] /= s->result_transposed && s->m > 0 ? s->m : 1;
      column = group_index(list, &plain, kernel->axis_count, 2);
    }
    for (int i = 0; i < groups[g]->count; i++)
      kernel->extent[kernel->axis_count++] = groups[g]->extent[i];
  }
  add_operand(kernel, "x", s->left, s->batch * s->m * s->k, false);
  add_operand(kernel, "w", s->right, s->batch * s->k * s->n, false);
  int y = add_operand(kernel, "y", s->result, s->batch * s->m * s->n, true);
  Expr *result = new_expr(list, EXPR_RESULT, s->result), *value = result;
  if (s->epilogue == 1) {
    int bias = add_operand(kernel, "b", s->result, s->n, false);
    value = apply(list, OP_ADD, s->result, result, load_at(list, kernel, bias, column), NULL);
    value = apply(list, OP_MAX, s->result, value, number(list, s->result, 0), NULL);
  }
  if (s->epilogue == 2) {
    int w = add_operand(kernel, "w2", s->result, s->batch * s->m * s->n, true);
    Expr *next =
        apply(list, OP_ADD, s->result, load_at(list, kernel, w, place),
              apply(list, OP_MUL, s->result, result, number(list, s->result, 0.5), NULL), NULL);
    add_store(kernel->epilogue, &kernel->epilogue_count, w, place, next);
  }
  add_store(kernel->epilogue, &kernel->epilogue_count, y, place, value);
  if (s->is_x3) kernel_split_products(kernel);
  add_case(list, "contraction", kernel, s->is_x3 ? 1 : 1 + (double)s->k / 4);
}

static void make_contractions(CaseList *list) {
  static const int64_t sizes[][4] = {
      {1, 100, 130, 70},
      {1, 1, 1, 1},
      {3, 17, 5, 9},
      {1, 2, 200, 33},
      {1, 260, 10, 64},
      {1, 50, 49, 1100},
      {2, 8, 48, 0},
      {1, 33, 16, 1},
      {1, 0, 5, 3},
      {6, 24, 96, 8},
      /* rows of a 1024 bytes apart; then what is read ahead: panels of b, of a cut k, rows of a */
      {1, 256, 60, 70},
      {1, 9, 530, 130},
      {1, 15, 67, 1100},
      {1, 1030, 7, 66},
      {1, 300, 230, 66}, /* and what an epilogue writes */
      /* last panels of one vector */
      {1, 13, 64, 30},
      {1, 20, 100, 40},
      {1, 40, 28, 21},
      {1, 100, 64, 40},
      /* by dots where k is along lines of both sides, by lines where b's columns are: nnc_thin.h */
      {1, 8, 230, 101},
      {2, 5, 150, 150},
      {1, 211, 2, 130},
      {1, 130, 170, 8},
      {1, 210, 81, 3},
      {2, 70, 250, 5},
      /* several pieces of the depth, with both sides packed */
      {1, 90, 140, 2100}};
  int count = (int)(sizeof sizes / sizeof *sizes), number_of = 0;
  for (int transposition = 0; transposition < 8; transposition++)
    for (int i = 0; i < count; i++, number_of++) {
      DType dtype = (i + transposition) % 3 == 2 ? DTYPE_F64 : DTYPE_F32;
      ContractShape s = {.batch = sizes[i][0],
                         .m = sizes[i][1],
                         .n = sizes[i][2],
                         .k = sizes[i][3],
                         .left_transposed = transposition & 1,
                         .right_transposed = transposition & 2,
                         .result_transposed = transposition & 4,
                         .left = dtype,
                         .right = dtype,
                         .result = dtype,
                         .split = number_of % 7 == 3,
                         .epilogue = number_of % 3};
      make_contraction(list, &s);
    }
  static const DType others[][3] = {{DTYPE_BF16, DTYPE_BF16, DTYPE_BF16},
                                    {DTYPE_F16, DTYPE_F16, DTYPE_F16},
                                    {DTYPE_I32, DTYPE_I32, DTYPE_I32},
                                    {DTYPE_I64, DTYPE_I64, DTYPE_I64}};
  for (int i = 0; i < 4; i++) {
    ContractShape s = {.batch = 2,
                       .m = 13,
                       .n = 50,
                       .k = 21,
                       .left = others[i][0],
                       .right = others[i][1],
                       .result = others[i][2],
                       .left_transposed = i & 1,
                       .epilogue = 0};
    make_contraction(list, &s);
  }
  /* By pairs along k: depths odd, cut, of two axes (the inner of which may be odd). */
  static const int64_t pairs[][4] = {{1, 40, 100, 36}, {1, 66, 130, 1101}, {2, 20, 64, 42}};
  for (int i = 0; i < 12; i++) {
    ContractShape s = {.batch = pairs[i % 3][0],
                       .m = pairs[i % 3][1],
                       .n = pairs[i % 3][2],
                       .k = pairs[i % 3][3],
                       .left = DTYPE_BF16,
                       .right = DTYPE_BF16,
                       .result = i % 2 ? DTYPE_F32 : DTYPE_BF16,
                       .left_transposed = i & 4,
                       .right_transposed = i / 3 & 1,
                       .result_transposed = i == 5,
                       .split = i % 3 != 1,
                       .epilogue = i % 2};
    make_contraction(list, &s);
  }
  /* Steps of a matrix unit along k: whole, which it reads in place, cut, and with a rest. */
  static const int64_t steps[][4] = {
      {1, 70, 200, 96}, {3, 17, 16, 32}, {1, 35, 33, 2240}, {1, 129, 40, 2090}};
  for (int i = 0; i < 16; i++) {
    ContractShape s = {.batch = steps[i % 4][0],
                       .m = steps[i % 4][1],
                       .n = steps[i % 4][2],
                       .k = steps[i % 4][3],
                       .left = DTYPE_BF16,
                       .right = DTYPE_BF16,
                       .result = i % 3 ? DTYPE_F32 : DTYPE_BF16,
                       .left_transposed = i & 4,
                       .right_transposed = i & 8,
                       .result_transposed = i % 5 == 4,
                       .split = i % 7 == 3,
                       .epilogue = (i + i / 4) % 3};
    make_contraction(list, &s);
  }
}

/* f32 as three products of bf16, where there is a matrix unit. */
static void make_split_contractions(CaseList *list) {
  static const int64_t sizes[][4] = {
      {1, 70, 200, 96}, {3, 17, 16, 33}, {1, 35, 33, 1100}, {1, 129, 40, 7}};
  for (int i = 0; i < 16; i++) {
    ContractShape s = {.batch = sizes[i % 4][0],
                       .m = sizes[i % 4][1],
                       .n = sizes[i % 4][2],
                       .k = sizes[i % 4][3],
                       .left = DTYPE_F32,
                       .right = DTYPE_F32,
                       .result = DTYPE_F32,
                       .left_transposed = i & 4,
                       .right_transposed = i & 8,
                       .result_transposed = i % 5 == 4,
                       .split = i % 7 == 3,
                       .epilogue = (i + i / 4) % 3,
                       .is_x3 = true};
    make_contraction(list, &s);
  }
}

/* By dots and by lines, in every type that has them, with depths that are no whole vectors. */
static void make_thin_contractions(CaseList *list) {
  enum { DOTS = 8, ALL = 11 };
  static const DType types[] = {DTYPE_F32, DTYPE_F64, DTYPE_I32, DTYPE_I64};
  static const int64_t sizes[ALL][4] = {{1, 8, 231, 101},  {1, 211, 2, 131}, {2, 5, 151, 150},
                                        {1, 3, 300, 64},   {1, 1, 331, 101}, {1, 203, 1, 130},
                                        {1, 17, 262, 139}, {1, 261, 9, 150}, {1, 131, 171, 8},
                                        {1, 211, 81, 3},   {2, 71, 251, 5}};
  for (int i = 0; i < 4 * ALL; i++) {
    const int64_t *size = sizes[i % ALL];
    DType type = types[i / ALL];
    bool by_dots = i % ALL < DOTS;
    ContractShape s = {.batch = size[0],
                       .m = size[1],
                       .n = size[2],
                       .k = size[3],
                       .right_transposed = by_dots,
                       .left = type,
                       .right = type,
                       .result = type,
                       .epilogue = i % 3};
    make_contraction(list, &s);
    const Kernel *kernel = last_case(list)->kernel;
    assert_int_equal(contract_grid(kernel, NULL).way, by_dots ? CONTRACT_DOTS : CONTRACT_LINES);
  }
  /* Lines that come from memory. */
  ContractShape far = {.batch = 1,
                       .m = 20,
                       .n = 4100,
                       .k = 523,
                       .right_transposed = true,
                       .left = DTYPE_F32,
                       .right = DTYPE_F32,
                       .result = DTYPE_F32,
                       .epilogue = 1};
  make_contraction(list, &far);
  last_case(list)->mentions = "nnc_dots_f32(20, cols, true, ";
}

/* By sums of lines of a far matrix, which is either side, in every type, of one group of rows and of several. Lines and depths
 * are whole vectors and groups or not. */
static void make_axpy_contractions(CaseList *list) {
  enum { ALL = 5 };
  static const DType types[] = {DTYPE_F32, DTYPE_F64, DTYPE_I32, DTYPE_I64};
  static const int64_t sizes[ALL][4] = {
      {1, 3, 701, 400}, {1, 4, 700, 401}, {1, 1, 1000, 301}, {1, 902, 2, 333}, {2, 2, 512, 523}};
  for (int i = 0; i < 4 * ALL + 2; i++) {
    static const int64_t many[2][4] = {{1, 7, 1031, 2040}, {1, 9, 4100, 2051}};
    const int64_t *size = i < 4 * ALL ? sizes[i % ALL] : many[i - 4 * ALL];
    DType type = i < 4 * ALL ? types[i / ALL] : DTYPE_F32;
    ContractShape s = {.batch = size[0],
                       .m = size[1],
                       .n = size[2],
                       .k = size[3],
                       .left_transposed = size[1] > size[2],
                       .left = type,
                       .right = type,
                       .result = type,
                       .epilogue = i % 3};
    make_contraction(list, &s);
    assert_int_equal(contract_grid(last_case(list)->kernel, NULL).way, CONTRACT_AXPY);
    last_case(list)->mentions = "nnc_axpy_";
  }
}

/* Blocks of four of the widest vectors, whole and not, whose panels are two of two: read in place, then packed. */
static void make_even_panels(CaseList *list) {
  static const int64_t sizes[][3] = {{8, 256, 40}, {8, 250, 21}, {100, 64, 40}, {100, 60, 33}};
  for (int i = 0; i < 4; i++) {
    bool packs = i >= 2;
    ContractShape s = {.batch = 1,
                       .m = sizes[i][0],
                       .n = sizes[i][1],
                       .k = sizes[i][2],
                       .right_transposed = packs,
                       .left = DTYPE_F32,
                       .right = DTYPE_F32,
                       .result = DTYPE_F32,
                       .epilogue = i % 2};
    make_contraction(list, &s);
    ContractGrid grid = contract_grid(last_case(list)->kernel, NULL);
    assert_int_equal(grid.pack_b, packs);
    assert_int_equal(divide_up(grid.n_block, 16), 4);
  }
}

/* Sides beyond the second-level cache that are copied, whose next part is fetched early: the next piece of the depth, along
 * its rows and across them, and the next block's. */
static void make_far_contractions(CaseList *list) {
  enum { ALL = 4, A = 1, B = 2 };
  static const struct {
    int64_t m, n, k;
    bool left_transposed, right_transposed;
    int packs; /* at least */
  } sizes[ALL] = {{72, 256, 1110, false, false, B},
                  {72, 250, 1110, false, true, B},
                  {256, 80, 1110, true, false, A},
                  {72, 512, 520, false, false, B}};
  for (int i = 0; i < ALL; i++) {
    ContractShape s = {.batch = 1,
                       .m = sizes[i].m,
                       .n = sizes[i].n,
                       .k = sizes[i].k,
                       .left_transposed = sizes[i].left_transposed,
                       .right_transposed = sizes[i].right_transposed,
                       .left = DTYPE_F64,
                       .right = DTYPE_F64,
                       .result = DTYPE_F64,
                       .epilogue = i % 3};
    make_contraction(list, &s);
    const Kernel *kernel = last_case(list)->kernel;
    ContractGrid grid = contract_grid(kernel, NULL);
    assert_true(grid.pack_a || !(sizes[i].packs & A));
    assert_true(grid.pack_b || !(sizes[i].packs & B));
    assert_true(kernel->operands[sizes[i].packs & A ? 0 : 1].elements * 8 > FAR_SIDE_BYTES);
  }
}

/* Rows of two axes whose results follow each other along the inner one: its outer axis becomes one of the batch, which one
 * matrix of columns is for. */
static void make_turned_rows(CaseList *list) {
  static const int64_t sizes[][4] = {{3, 64, 40, 70}, {5, 130, 100, 33}, {2, 528, 20, 200}};
  for (int i = 0; i < 12; i++) {
    const int64_t *size = sizes[i % 3];
    ContractShape s = {.batch = 1,
                       .m = size[0] * size[1],
                       .n = size[2],
                       .k = size[3],
                       .right_transposed = i & 1,
                       .left = i & 2 ? DTYPE_F64 : DTYPE_F32,
                       .right = i & 2 ? DTYPE_F64 : DTYPE_F32,
                       .result = i & 2 ? DTYPE_F64 : DTYPE_F32,
                       .epilogue = i / 4};
    make_contraction(list, &s);
    Kernel *kernel = (Kernel *)last_case(list)->kernel;
    AxisGroup *rows = &kernel->contract.m;
    bool is_turned = i % 4 < 2; /* on the left, too */
    *rows =
        (AxisGroup){.count = 2,
                    .extent = {size[0], size[1]},
                    .stride = {{size[1] * s.k, is_turned ? 1 : s.k}, {0, 0}, {size[1] * s.n, s.n}}};
    if (is_turned) kernel->contract.k.stride[0][0] = size[1];
    kernel->axis_count = 3;
    kernel->extent[0] = size[0], kernel->extent[1] = size[1], kernel->extent[2] = s.n;
    Index *place = strided(list, 3, (int64_t[]){size[1] * s.n, 1, size[1]});
    ExprList loads = kernel_expressions(list->arena, kernel, 0);
    for (int e = 0; e < loads.count; e++)
      if (loads.items[e]->kind == EXPR_LOAD) {
        bool is_bias = kernel->operands[loads.items[e]->operand].elements == s.n;
        loads.items[e]->index = is_bias ? index_axis(list->arena, 2) : place;
      }
    for (int e = 0; e < kernel->epilogue_count; e++) kernel->epilogue[e].index = place;
    assert_true(contract_is_turned(kernel));
    kernel_part_turned_rows(kernel);
    assert_int_equal(kernel->contract.batch.count, 1);
    assert_int_equal(kernel->contract.m.count, 1);
    assert_true(contract_is_turned(kernel));
  }
}

#endif
