/* Loop kernels by rows: the stages of one point of the domain, one after the other.
 *
 * Sums, products and extrema of floats go through fixed lanes (nnc_lanes.h), since a compiler may not
 * reorder them: blocks of NNC_BLOCK values, straight from memory or computed into a block on the
 * stack. Expensive values that a later stage computes again, such as the exponentials of softmax, are
 * kept for it. */
#include "backend/c/loop.h"

#include <string.h>
#include "backend/common/c.h"
#include "backend/common/reduction.h"
#include "kernel/builder.h"
#include "nnc_block.h"
#include "support/integers.h"
#include "support/panic.h"

enum {
  LONG_SEARCH = 48,     /* argmax and argmin over fewer elements are scalar loops */
  FAR_BYTES = 1 << 20,  /* more than a core's own cache */
  MOST_STREAMED = 4096, /* bytes of a row that go past the caches at a time */
  MOST_KEPT = 1 << 14   /* of a row's expensive values, 128 KB of the stack */
};

/* ---- reductions ---- */

/* "sum", "prod", "max", "min": the family of functions in nnc_lanes.h. */
static const char *reduction_name(Op reduce) {
  switch (reduce) {
  case OP_REDUCE_SUM: return "sum";
  case OP_REDUCE_PROD: return "prod";
  case OP_REDUCE_MAX: return "max";
  case OP_REDUCE_MIN: return "min";
  default: panic("operator %d is no reduction", (int)reduce);
  }
}

/* Whether a stage reduces neighbours in memory as they are. */
static bool reduces_memory(const LoopWriter *writer, const Stage *stage) {
  const Expr *value = stage->value;
  int64_t base, coefficient[2 * KERNEL_MAX_AXES];
  int axes = writer->kernel->axis_count + stage->axis_count;
  return value->kind == EXPR_LOAD && value->guard_count == 0 && !dtype_is_half(value->dtype) &&
         writer->kernel->operands[value->operand].dtype == value->dtype &&
         index_is_affine(value->index, axes, &base, coefficient) && coefficient[axes - 1] == 1;
}

/* "&x[i0 * 10]": where such a stage's values lie, from element `first` of the last axis on. */
static const char *row_in_memory(LoopWriter *writer, const Stage *stage, const char *first) {
  ExprScope *scope = &writer->scope;
  const char *axis = scope->axes[scope->axis_count - 1];
  scope->axes[scope->axis_count - 1] = first;
  const char *index = expression_index(scope, stage->value->index);
  scope->axes[scope->axis_count - 1] = axis;
  return arena_printf(writer->code->arena, "&%s[%s]", scope->operands[stage->value->operand],
                      index);
}

/* Blocks of values, of which few hold one that is better than the best so far: only of these it is asked which it is. */
static void write_row_arg_blocks(LoopWriter *writer, const Stage *stage, int number) {
  Code *code = writer->code;
  DType dtype = loop_accumulator(stage);
  const char *type = c_value_type(dtype), *name = c_type_name(dtype);
  bool is_max = stage->reduce == OP_ARGMAX;
  code_line(code, "int32_t s%d = 0;", number);
  code_block(code);
  code_line(code, "%s best = %s;", type, dialect_c.reduction_start(stage->reduce, dtype));
  code_line(code, "%s v[NNC_BLOCK] NNC_ALIGNED;", type); /* inside, gcc 12 takes it for unset */
  code_open(code, "for (int64_t first = 0; first < %lld; first += NNC_BLOCK)",
            (long long)stage->extent[0]);
  code_line(code, "const int64_t count = nnc_least(NNC_BLOCK, %lld - first);",
            (long long)stage->extent[0]);
  code_open(code, "for (int64_t l = 0; l < count; l++)");
  size_t mark = code_mark(code);
  code_line(code, "v[l] = %s;", expression_render(code, &writer->scope, number)[0]);
  code_declare(code, mark, "j0", "const int64_t j0 = first + l;");
  code_close(code);
  code_line(code, "if (!nnc_has_%s_%s(v, count, best)) continue;", is_max ? "more" : "less", name);
  code_line(code, "best = nnc_%s_%s_row(v, count);", is_max ? "max" : "min", name);
  code_line(code, "s%d = (int32_t)first + nnc_place_of_%s(v, count, best);", number, name);
  code_close(code);
  code_close(code);
}

static void write_row_arg(LoopWriter *writer, const Stage *stage, int number) {
  Code *code = writer->code;
  DType dtype = stage->value->dtype;
  if (dtype_is_float(dtype) && stage->extent[0] >= LONG_SEARCH) {
    write_row_arg_blocks(writer, stage, number);
    return;
  }
  if (stage->axis_count == 1 && dtype_is_float(dtype) && reduces_memory(writer, stage)) {
    code_line(code, "const int32_t s%d = nnc_%s_%s(%s, %lld);", number,
              stage->reduce == OP_ARGMAX ? "argmax" : "argmin", c_type_name(dtype),
              row_in_memory(writer, stage, "0"), (long long)stage->extent[0]);
    return;
  }
  code_line(code, "int32_t s%d = 0;", number);
  code_block(code);
  code_line(code, "%s best = %s;", c_value_type(dtype),
            dialect_c.reduction_start(stage->reduce, dtype));
  loop_open_axes(writer, stage, 0, stage->axis_count);
  const char *value = expression_render(code, &writer->scope, number)[0];
  reduction_write_search(
      code, &dialect_c,
      &(Search){stage->reduce, dtype, "best", arena_printf(code->arena, "s%d", number)}, value,
      "j0");
  loop_close(writer, stage->axis_count);
  code_close(code);
}

static void write_row_scalar(LoopWriter *writer, const Stage *stage, int number) {
  Code *code = writer->code;
  DType dtype = loop_accumulator(stage);
  const char *accumulator = arena_printf(code->arena, "s%d", number);
  code_line(code, "%s %s = %s;", c_value_type(dtype), accumulator,
            dialect_c.reduction_start(stage->reduce, dtype));
  loop_open_axes(writer, stage, 0, stage->axis_count);
  const char *value = expression_render(code, &writer->scope, number)[0];
  reduction_write_join(code, &dialect_c, stage, dtype, accumulator, value);
  loop_close(writer, stage->axis_count);
}

/* The loop that computes a part of a row's values. */
typedef struct RowLoop {
  LoopWriter *writer;
  int number, axis;
  const char *count, *place; /* how many there are; the axis at element l */
  const char *value;         /* where that of element l goes */
  int64_t points;            /* what the count is */
  size_t mark;               /* where the axis is declared */
} RowLoop;

static void open_row_values(void *context) {
  RowLoop *loop = context;
  loop_write_hint(loop->writer, loop->number, loop->points);
  code_open(loop->writer->code, "for (int64_t l = 0; l < %s; l++)", loop->count);
  loop->mark = code_mark(loop->writer->code);
}

/* A whole row, by its axis. */
static void open_row(void *context) {
  const RowLoop *loop = context;
  loop_write_hint(loop->writer, loop->number, loop->points);
  code_open(loop->writer->code, "for (int64_t j0 = 0; j0 < %s; j0++)", loop->count);
}

static void write_row_value(void *context) {
  const RowLoop *loop = context;
  Code *code = loop->writer->code;
  code_line(code, "%s = %s;", loop->value,
            expression_render(code, &loop->writer->scope, loop->number)[0]);
}

static void declare_row_axis(void *context) {
  const RowLoop *loop = context;
  Code *code = loop->writer->code;
  const char *axis = arena_printf(code->arena, "j%d", loop->axis);
  code_declare(code, loop->mark, axis,
               arena_printf(code->arena, "const int64_t %s = %s;", axis, loop->place));
}

/* How a row is reduced: by these functions, from a block `v`, from the row that is kept (its name,
 * else NULL) or, where `is_load`, from the operand itself. */
typedef struct RowLanes {
  const char *functions, *type, *kept;
  bool is_load;
} RowLanes;

/* Whether an operand is too large for a core's own cache. */
static bool is_far(const LoopWriter *writer, int operand) {
  const KernelOperand *memory = &writer->kernel->operands[operand];
  return memory->elements > FAR_BYTES / dtype_size(memory->dtype);
}

/* Where the values from element `first` on are, when they are there; writes the loop that computes
 * them. */
static const char *write_row_values(LoopWriter *writer, int number, const RowLanes *lanes,
                                    const char *first, int64_t points) {
  Code *code = writer->code;
  Arena *arena = code->arena;
  ExprScope *scope = &writer->scope;
  const Stage *stage = &writer->kernel->stages[number];
  bool is_start = strcmp(first, "0") == 0;
  if (lanes->is_load) return row_in_memory(writer, stage, first);
  const char *place = is_start ? "l" : arena_printf(arena, "%s + l", first);
  RowLoop loop = {.writer = writer,
                  .number = number,
                  .axis = stage->axis_count - 1,
                  .count = code_integer(arena, points),
                  .place = place,
                  .points = points,
                  .value =
                      lanes->kept ? arena_printf(arena, "%s[%s]", lanes->kept, place) : "v[l]"};
  if (!lanes->kept) code_line(code, "%s v[NNC_BLOCK] NNC_ALIGNED;", lanes->type);
  expression_write_loop(code, scope, number,
                        &(LoopParts){open_row_values, write_row_value, declare_row_axis, &loop});
  if (!lanes->kept) return "v";
  return is_start ? lanes->kept : arena_printf(arena, "%s + %s", lanes->kept, first);
}

/* A row by one call: of memory, or of some values that are computed before. */
static void write_whole_row(LoopWriter *writer, int number, const RowLanes *lanes) {
  Code *code = writer->code;
  Arena *arena = code->arena;
  const Stage *stage = &writer->kernel->stages[number];
  const bool is_far_away = lanes->is_load && is_far(writer, stage->value->operand);
  long long extent = (long long)stage->extent[0];
  const char *values = lanes->kept ? lanes->kept : arena_printf(arena, "v%d", number);
  if (lanes->is_load) {
    values = row_in_memory(writer, stage, "0");
  } else {
    bool has_near = expression_has_near(&writer->scope, number); /* which declares */
    code_line(code, "%s %s[NNC_BLOCK] NNC_ALIGNED;", lanes->type, values);
    if (has_near) code_block(code);
    RowLoop loop = {.writer = writer,
                    .number = number,
                    .count = code_integer(arena, extent),
                    .value = arena_printf(arena, "%s[j0]", values),
                    .points = extent};
    expression_write_loop(code, &writer->scope, number,
                          &(LoopParts){open_row, write_row_value, NULL, &loop});
    if (has_near) code_close(code);
  }
  code_line(code, "const %s s%d = %s_%srow(%s, %lld);", lanes->type, number, lanes->functions,
            is_far_away ? "far_" : "", values, extent);
  if (lanes->kept)
    vec_push(arena, &writer->scope.hoisted,
             ((Hoisted){stage->value, arena_printf(arena, "%s[j0]", lanes->kept)}));
}

/* Whole blocks of values through fixed lanes, then the rest. */
static void write_row_lanes(LoopWriter *writer, const Stage *stage, int number) {
  Code *code = writer->code;
  Arena *arena = code->arena;
  int last = stage->axis_count - 1;
  int64_t extent = stage->extent[last], whole = extent / NNC_BLOCK * NNC_BLOCK;
  bool is_kept = extent <= MOST_KEPT && expression_is_computed_again(&writer->scope, number);
  RowLanes lanes = {.functions = arena_printf(arena, "nnc_%s_%s", reduction_name(stage->reduce),
                                              c_type_name(loop_accumulator(stage))),
                    .type = c_value_type(loop_accumulator(stage)),
                    .kept = is_kept ? arena_printf(arena, "r%d", number) : NULL,
                    .is_load = reduces_memory(writer, stage)};
  const char *far = lanes.is_load && is_far(writer, stage->value->operand) ? "far_" : "";
  if (last == 0 && (lanes.is_load || extent <= NNC_BLOCK)) {
    write_whole_row(writer, number, &lanes);
    return;
  }
  code_line(code, "%s s%d;", lanes.type, number);
  if (is_kept)
    code_line(code, "%s %s[%lld] NNC_ALIGNED;", lanes.type, lanes.kept,
              (long long)align_up(extent, NNC_BLOCK));
  code_block(code);
  code_line(code, "%s_lanes acc;", lanes.functions);
  code_line(code, "%s_begin(&acc);", lanes.functions);
  loop_open_axes(writer, stage, 0, last);
  if (whole > 0) {
    /* unrolled, loads and comparisons of several blocks would be gathered apart */
    if (lanes.is_load && whole > NNC_BLOCK) code_line(code, "NNC_ROLLED");
    code_open(code, "for (int64_t first = 0; first < %lld; first += NNC_BLOCK)", (long long)whole);
    const char *v = write_row_values(writer, number, &lanes, "first", NNC_BLOCK);
    code_line(code, "%s_%sblock(&acc, %s);", lanes.functions, far, v);
    code_close(code);
  }
  if (whole < extent) {
    const char *first = code_integer(arena, whole);
    const char *v = write_row_values(writer, number, &lanes, first, extent - whole);
    code_line(code, "%s_%srest(&acc, %s, %lld);", lanes.functions, far, v,
              (long long)(extent - whole));
  }
  loop_close(writer, last);
  code_line(code, "s%d = %s_end(&acc);", number, lanes.functions);
  code_close(code);
  if (is_kept)
    vec_push(arena, &writer->scope.hoisted,
             ((Hoisted){stage->value, arena_printf(arena, "%s[j%d]", lanes.kept, last)}));
}

static void write_row_stores(LoopWriter *writer, const Stage *stage, int number) {
  int last = stage->axis_count - 1;
  if (last < 0) {
    expression_write_stores(writer->code, &writer->scope, number);
    return;
  }
  loop_open_axes(writer, stage, 0, last);
  if (loop_streams(writer, number)) {
    /* a row may begin anywhere in a line: few pieces */
    int64_t extent = stage->extent[last],
            most = MOST_STREAMED / dtype_size(stage->stores[0].value->dtype);
    loop_write_streamed(writer, number, "0", code_integer(writer->code->arena, extent), extent,
                        least(extent, most));
  } else {
    loop_write_hint(writer, number, stage->extent[last]);
    loop_open_axes(writer, stage, last, last + 1);
    expression_write_stores(writer->code, &writer->scope, number);
    loop_close(writer, 1);
  }
  loop_close(writer, last);
}

void loop_write_row_stage(LoopWriter *writer, int number) {
  const Stage *stage = &writer->kernel->stages[number];
  loop_stage_axes(writer, stage);
  if (stage->axis_count > 0) expression_hoist(writer->code, &writer->scope, number);
  if (stage->kind == STAGE_STORE) {
    write_row_stores(writer, stage, number);
    return;
  }
  bool is_short = stage->axis_count == 0 || stage->extent[stage->axis_count - 1] < SHORT_ROW;
  if (reduction_is_search(stage->reduce)) write_row_arg(writer, stage, number);
  else if (is_short || !dtype_is_float(stage->value->dtype))
    write_row_scalar(writer, stage, number);
  else write_row_lanes(writer, stage, number);
  writer->scope.stages[number] = arena_printf(writer->code->arena, "s%d", number);
}
