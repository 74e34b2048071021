/* Loop kernels over windows that lie side by side along the last axis of the domain, two wide: pooling on
 * planes.
 *
 * A span of windows runs together: what they see of a row are neighbours in memory, which are taken
 * apart once into the first and the second value of each window (nnc_pool.h). Element by element the
 * order of the reduction is that of the rows, so the bits are the same. */
#include "backend/c/loop.h"

#include "backend/common/c.h"
#include "backend/common/reduction.h"
#include "kernel/builder.h"
#include "support/integers.h"
#include "support/panic.h"

enum { PAIR = 2, MOST_TAPS = 16 }; /* each tap is code of its own */

int loop_span(int64_t count) { return count >= 8 ? 8 : LEAST_SPAN; }

typedef enum Access { IS_ROUGH, IS_SAME, IS_PAIR } Access;

/* How a load of the reduction moves along the domain's last axis and the window's. */
static Access access_of(const Kernel *kernel, const Expr *load) {
  const Stage *stage = &kernel->stages[0];
  int axes = kernel->axis_count + stage->axis_count;
  int64_t base, coefficient[2 * KERNEL_MAX_AXES];
  if (load->guard_count > 0 || !index_is_affine(load->index, axes, &base, coefficient))
    return IS_ROUGH;
  int64_t along = coefficient[kernel->axis_count - 1], within = coefficient[axes - 1];
  if (along == 0 && within == 0) return IS_SAME;
  DType dtype = kernel->operands[load->operand].dtype;
  bool is_pair = along == PAIR && within == 1 && dtype == load->dtype;
  return is_pair && (dtype == DTYPE_F32 || dtype == DTYPE_F64) ? IS_PAIR : IS_ROUGH;
}

/* The first stages, which reduce; stores follow. */
static int reduction_count(const Kernel *kernel) {
  int count = 0;
  while (count < kernel->stage_count && kernel->stages[count].kind == STAGE_REDUCE) count++;
  return count;
}

/* Some loads of the reduction are of pairs, and the others the same for all windows of a row. */
static bool reads_pairs(Arena *arena, const Kernel *kernel, int number) {
  bool has_pair = false;
  ExprList list = kernel_expressions(arena, kernel, number);
  for (int i = 0; i < list.count; i++) {
    if (list.items[i]->kind == EXPR_RANDOM) return false;
    if (list.items[i]->kind != EXPR_LOAD) continue;
    Access access = access_of(kernel, list.items[i]);
    if (access == IS_ROUGH) return false;
    has_pair = has_pair || access == IS_PAIR;
  }
  return has_pair;
}

/* The last span of a row repeats windows unless the row is whole spans: what stages after the reduction
 * read might be overwritten by then. */
static bool may_repeat(Arena *arena, const Kernel *kernel) {
  int64_t count = kernel->extent[kernel->axis_count - 1];
  if (count % loop_span(count) == 0) return true;
  for (int i = reduction_count(kernel); i < kernel->stage_count; i++) {
    ExprList list = kernel_expressions(arena, kernel, i);
    for (int k = 0; k < list.count; k++)
      if (list.items[k]->kind == EXPR_LOAD) return false;
  }
  return true;
}

/* A reduction of windows as those of the first stage: all reductions go over the same. */
static bool reduces_pairs(Arena *arena, const Kernel *kernel, int number) {
  const Stage *stage = &kernel->stages[number], *first = &kernel->stages[0];
  DType dtype = stage->value->dtype;
  if (stage->axis_count == 0 || stage->axis_count != first->axis_count ||
      stage->extent[stage->axis_count - 1] != PAIR || reduction_is_search(stage->reduce) ||
      extent_product(stage->extent, stage->axis_count) > MOST_TAPS ||
      (dtype != DTYPE_F32 && dtype != DTYPE_F64 && dtype != DTYPE_I32))
    return false;
  for (int i = 0; i < stage->axis_count; i++)
    if (stage->extent[i] != first->extent[i]) return false;
  return reads_pairs(arena, kernel, number);
}

bool loop_has_windows(Arena *arena, const Kernel *kernel) {
  int reductions = reduction_count(kernel);
  if (kernel->axis_count == 0 || kernel->extent[kernel->axis_count - 1] < LEAST_SPAN ||
      reductions == 0)
    return false;
  for (int i = 0; i < reductions; i++)
    if (!reduces_pairs(arena, kernel, i)) return false;
  for (int i = reductions; i < kernel->stage_count; i++)
    if (kernel->stages[i].kind != STAGE_STORE || kernel->stages[i].axis_count > 0) return false;
  return may_repeat(arena, kernel);
}

/* A loop over a span's windows, and the domain's last axis in it. */
static size_t open_span(LoopWriter *writer, int lanes) {
  code_open(writer->code, "NNC_UNROLL for (int64_t l = 0; l < %d; l++)", lanes);
  return code_mark(writer->code);
}

static void close_span(LoopWriter *writer, size_t mark) {
  Arena *arena = writer->code->arena;
  const char *axis = arena_printf(arena, "i%d", writer->kernel->axis_count - 1);
  code_declare(writer->code, mark, axis,
               arena_printf(arena, "const int64_t %s = first + l;", axis));
  code_close(writer->code);
}

/* The load's index at the first value of the span's first window. */
static const Index *first_index(Arena *arena, const Kernel *kernel, const Expr *load) {
  int axes = kernel->axis_count + kernel->stages[0].axis_count;
  int64_t base, coefficient[2 * KERNEL_MAX_AXES];
  CHECK(index_is_affine(load->index, axes, &base, coefficient));
  coefficient[axes - 1] = 0;
  Index *index = NULL;
  for (int i = 0; i < axes; i++) {
    if (coefficient[i] == 0) continue;
    Index *term = index_mul(arena, index_axis(arena, i), coefficient[i]);
    index = index == NULL ? term : index_add(arena, index, term);
  }
  return base == 0 ? index : index_add(arena, index, index_const(arena, base));
}

/* The same, as text. */
static const char *span_index(LoopWriter *writer, const Expr *load) {
  ExprScope *scope = &writer->scope;
  int along = writer->kernel->axis_count - 1;
  const char *axis = scope->axes[along];
  scope->axes[along] = "first";
  const char *index =
      expression_index(scope, first_index(writer->code->arena, writer->kernel, load));
  scope->axes[along] = axis;
  return index;
}

/* Arrays of what the windows see under the taps j0, j1, ... of all axes but the last; counts those of the kernel. */
static void write_pairs(LoopWriter *writer, int stage, int lanes, int *number) {
  Code *code = writer->code;
  Arena *arena = code->arena;
  ExprScope *scope = &writer->scope;
  const Kernel *kernel = writer->kernel;
  int within = scope->axis_count - 1;
  ExprList list = kernel_expressions(arena, kernel, stage);
  for (int i = 0; i < list.count; i++) {
    const Expr *load = list.items[i];
    if (load->kind != EXPR_LOAD || access_of(kernel, load) != IS_PAIR) continue;
    const char *index = span_index(writer, load);
    const char *name = arena_printf(arena, "v%d", (*number)++);
    code_line(code, "%s %s[2][%d] NNC_ALIGNED;", c_value_type(load->dtype), name, lanes);
    code_line(code, "nnc_apart_%s_%d(%s, &%s[%s]);", c_type_name(load->dtype), lanes, name,
              scope->operands[load->operand], index);
    vec_push(arena, &scope->hoisted,
             ((Hoisted){load, arena_printf(arena, "%s[%s][l]", name, scope->axes[within])}));
  }
}

static bool is_op(const Expr *expr, Op op) { return expr->kind == EXPR_OP && expr->op == op; }

static bool is_same_load(const Expr *a, const Expr *b) {
  return a->kind == EXPR_LOAD && b->kind == EXPR_LOAD && a->operand == b->operand &&
         a->guard_count == 0 && b->guard_count == 0 && index_equal(a->index, b->index);
}

/* An index that counts the stage's taps in the order of its loops. */
static bool counts_taps(const Kernel *kernel, const Stage *stage, const Expr *number) {
  int axes = kernel->axis_count + stage->axis_count;
  int64_t base, coefficient[2 * KERNEL_MAX_AXES], taps = 1;
  if (number->kind != EXPR_INDEX || !index_is_affine(number->index, axes, &base, coefficient) ||
      base != 0)
    return false;
  for (int i = axes - 1; i >= kernel->axis_count; i--) {
    if (coefficient[i] != taps) return false;
    taps *= stage->extent[i - kernel->axis_count];
  }
  for (int i = 0; i < kernel->axis_count; i++)
    if (coefficient[i] != 0) return false;
  return true;
}

/* Whether a stage finds the first tap that sees the greatest value, or NaN, of what the stage before it reduces: as
 * max_place and max_pool of the same windows do. */
static bool finds_place(const Kernel *kernel, int number) {
  if (number == 0) return false;
  const Stage *stage = &kernel->stages[number], *greatest = stage - 1;
  const Expr *choice = stage->value, *x = greatest->value;
  if (stage->reduce != OP_REDUCE_MIN || greatest->reduce != OP_REDUCE_MAX ||
      !is_op(choice, OP_WHERE) || !is_op(choice->args[0], OP_OR) ||
      !counts_taps(kernel, stage, choice->args[1]))
    return false;
  const Expr *equal = choice->args[0]->args[0], *is_nan = choice->args[0]->args[1];
  return is_op(equal, OP_EQ) && is_op(is_nan, OP_NE) && is_same_load(equal->args[0], x) &&
         is_same_load(is_nan->args[0], x) && is_same_load(is_nan->args[1], x) &&
         equal->args[1]->kind == EXPR_STAGE && equal->args[1]->operand == number - 1;
}

/* Both stages of finds_place at once, which compare each value but once. */
static void write_places(LoopWriter *writer, int number, int lanes, int *pairs) {
  Code *code = writer->code;
  Arena *arena = code->arena;
  const Stage *stage = &writer->kernel->stages[number];
  const Expr *x = writer->kernel->stages[number - 1].value;
  const char *type = arena_printf(arena, "%s_%d", c_type_name(x->dtype), lanes);
  int last = stage->axis_count - 1;
  loop_stage_axes(writer, stage);
  code_line(code, "%s a%d[%d] NNC_ALIGNED;", c_value_type(x->dtype), number - 1, lanes);
  code_line(code, "uint8_t a%d[%d] NNC_ALIGNED;", number, lanes);
  code_block(code);
  code_line(code, "nnc_span_%s best;", type);
  code_line(code, "nnc_span_bits_%s where;", type);
  for (int i = 0; i < last; i++)
    code_open(code, "NNC_UNROLL for (int64_t j%d = 0; j%d < %lld; j%d++)", i, i,
              (long long)stage->extent[i], i);
  int pair = (*pairs)++;
  code_line(code, "nnc_span_%s v%d[2];", type, pair);
  code_line(code, "nnc_span_apart_%s(v%d, &%s[%s]);", type, pair,
            writer->scope.operands[x->operand], span_index(writer, x));
  code_line(code, "NNC_UNROLL for (int j%d = 0; j%d < 2; j%d++)", last, last, last);
  code_line(code, "  nnc_span_take_%s(&best, &where, &v%d[j%d], (int)(%s));", type, pair, last,
            expression_index(&writer->scope, stage->value->args[1]->index));
  loop_close(writer, last);
  code_line(code, "nnc_span_found_%s(a%d, a%d, &best, &where);", type, number - 1, number);
  code_close(code);
  writer->scope.stages[number - 1] = arena_printf(arena, "a%d[l]", number - 1);
  writer->scope.stages[number] = arena_printf(arena, "a%d[l]", number);
}

static void write_reduction(LoopWriter *writer, int number, int lanes, int *pairs) {
  Code *code = writer->code;
  const Stage *stage = &writer->kernel->stages[number];
  DType dtype = stage->value->dtype;
  const char *all = arena_printf(code->arena, "a%d", number);
  const char *sum = arena_printf(code->arena, "%s[l]", all);
  int last = stage->axis_count - 1, hoisted = writer->scope.hoisted.count;
  loop_stage_axes(writer, stage);
  code_line(code, "%s %s[%d] NNC_ALIGNED;", c_value_type(dtype), all, lanes);
  code_line(code, "NNC_UNROLL for (int64_t l = 0; l < %d; l++) %s = %s;", lanes, sum,
            dialect_c.reduction_start(stage->reduce, dtype));
  for (int i = 0; i < last; i++)
    code_open(code, "NNC_UNROLL for (int64_t j%d = 0; j%d < %lld; j%d++)", i, i,
              (long long)stage->extent[i], i);
  write_pairs(writer, number, lanes, pairs);
  code_open(code, "NNC_UNROLL for (int64_t j%d = 0; j%d < 2; j%d++)", last, last, last);
  size_t mark = open_span(writer, lanes);
  const char *value = expression_render(code, &writer->scope, number)[0];
  reduction_write_join(code, &dialect_c, stage, dtype, sum, value);
  close_span(writer, mark);
  loop_close(writer, stage->axis_count);
  writer->scope.hoisted.count = hoisted;
  writer->scope.stages[number] = sum;
}

void loop_write_windows(LoopWriter *writer) {
  Code *code = writer->code;
  const Kernel *kernel = writer->kernel;
  long long count = (long long)kernel->extent[kernel->axis_count - 1];
  int lanes = loop_span(count);
  code_open(code, "for (int64_t first = 0; first < %lld; first = nnc_next_span(first, %d, %lld))",
            count, lanes, count);
  int reductions = reduction_count(kernel), pairs = 0;
  for (int i = 0; i < reductions; i++) {
    if (i + 1 < reductions && finds_place(kernel, i + 1)) write_places(writer, ++i, lanes, &pairs);
    else write_reduction(writer, i, lanes, &pairs);
  }
  for (int i = reductions; i < kernel->stage_count; i++) {
    loop_stage_axes(writer, &kernel->stages[i]);
    size_t mark = open_span(writer, lanes);
    expression_write_stores(code, &writer->scope, i);
    close_span(writer, mark);
  }
  code_close(code);
}
