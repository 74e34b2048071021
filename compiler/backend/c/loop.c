/* Loop kernels as C.
 *
 * A function runs its worker's tasks; a task is a piece of the domain (backend/c/tiles.h). Three
 * shapes:
 *
 *   points   no reductions: a plain loop over the last axis of the domain, which the compiler
 *            vectorizes; where conditions cut the rows into cases (kernel/cases.h), a loop for
 *            each case
 *   rows     each point of the domain runs the stages one after the other; their inner loops are
 *            the ones that vectorize.  Reductions of floats go through blocks of NNC_BLOCK values
 *            and fixed lanes (nnc_lanes.h), since a compiler may not reorder them
 *   columns  up to COLUMN_BLOCK points of the last domain axis run together, the stages' results
 *            are small arrays, and the loop over those points is the innermost: for sums over a
 *            strided axis such as the gradient of a bias
 *
 * The choice between rows and columns counts which of the two makes more accesses contiguous. */
#include "backend/c/kernels.h"

#include <string.h>
#include "nnc_block.h"
#include "backend/common/loops.h"
#include "backend/common/reduction.h"
#include "backend/common/c.h"
#include "kernel/builder.h"
#include "kernel/cases.h"
#include "backend/c/tiles.h"
#include "support/integers.h"
#include "support/panic.h"

enum {
  COLUMN_BLOCK = 64,
  SHORT_ROW = 8,    /* a reduction over fewer elements is a scalar loop */
  LONG_SEARCH = 48, /* the same for argmax and argmin */
  FAR_BYTES = 1 << 20,
  MOST_KEPT = 1 << 14, /* of a row's expensive values, 128 KB of the stack */
  LONG_SUM = 4096      /* more floats than this are summed in double between blocks */
};

typedef struct LoopWriter {
  Code *code;
  KernelFunction *function;
  const Kernel *kernel;
  ExprScope scope;
  bool columns;
  size_t column_mark; /* where the axis of the columns is declared */
} LoopWriter;

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

/* ---- axes ---- */

static void stage_axes(LoopWriter *writer, const Stage *stage) {
  ExprScope *scope = &writer->scope;
  scope->axis_count = writer->kernel->axis_count + stage->axis_count;
  for (int i = 0; i < stage->axis_count; i++) {
    int axis = writer->kernel->axis_count + i;
    scope->axes[axis] = arena_printf(scope->arena, "j%d", i);
    scope->extents[axis] = stage->extent[i];
  }
}

static void open_inner_axes(LoopWriter *writer, const Stage *stage, int count) {
  for (int i = 0; i < count; i++)
    code_open(writer->code, "for (int64_t j%d = 0; j%d < %lld; j%d++)", i, i,
              (long long)stage->extent[i], i);
}

static void close_loops(LoopWriter *writer, int count) {
  for (int i = 0; i < count; i++) code_close(writer->code);
}

/* The type in which a stage's values are accumulated. */
static DType accumulator_type(const Stage *stage) {
  DType dtype = stage->value->dtype;
  return dtype_is_half(dtype) ? DTYPE_F32 : dtype;
}

/* ---- rows ---- */

/* Blocks of values, of which few hold one that is better than the best so far: only these are
 * looked through. */
static void write_row_arg_blocks(LoopWriter *writer, const Stage *stage, int number) {
  Code *code = writer->code;
  DType dtype = accumulator_type(stage);
  const char *type = c_value_type(dtype), *sign = stage->reduce == OP_ARGMAX ? "more" : "less";
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
  code_line(code, "if (!nnc_has_%s_%s(v, count, best)) continue;", sign, c_type_name(dtype));
  code_open(code, "for (int64_t l = 0; l < count; l++)");
  reduction_write_search(
      code, &dialect_c,
      &(Search){stage->reduce, dtype, "best", arena_printf(code->arena, "s%d", number)}, "v[l]",
      "(first + l)");
  code_close(code);
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
  code_line(code, "int32_t s%d = 0;", number);
  code_block(code);
  code_line(code, "%s best = %s;", c_value_type(dtype),
            dialect_c.reduction_start(stage->reduce, dtype));
  open_inner_axes(writer, stage, stage->axis_count);
  const char *value = expression_render(code, &writer->scope, number)[0];
  reduction_write_search(
      code, &dialect_c,
      &(Search){stage->reduce, dtype, "best", arena_printf(code->arena, "s%d", number)}, value,
      "j0");
  close_loops(writer, stage->axis_count);
  code_close(code);
}

static void write_row_scalar(LoopWriter *writer, const Stage *stage, int number) {
  Code *code = writer->code;
  DType dtype = accumulator_type(stage);
  const char *accumulator = arena_printf(code->arena, "s%d", number);
  code_line(code, "%s %s = %s;", c_value_type(dtype), accumulator,
            dialect_c.reduction_start(stage->reduce, dtype));
  open_inner_axes(writer, stage, stage->axis_count);
  const char *value = expression_render(code, &writer->scope, number)[0];
  reduction_write_join(code, &dialect_c, stage, dtype, accumulator, value);
  close_loops(writer, stage->axis_count);
}

/* The loop that computes a part of a row's values. */
typedef struct RowLoop {
  LoopWriter *writer;
  int number, axis;
  const char *count, *place; /* how many there are; the axis at element l */
  const char *value;         /* where that of element l goes */
  size_t mark;               /* where the axis is declared */
} RowLoop;

static void open_row_values(void *context) {
  RowLoop *loop = context;
  code_open(loop->writer->code, "for (int64_t l = 0; l < %s; l++)", loop->count);
  loop->mark = code_mark(loop->writer->code);
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

/* Whether a stage reduces neighbours in memory as they are. */
static bool reduces_memory(const LoopWriter *writer, const Stage *stage) {
  const Expr *value = stage->value;
  int64_t base, coefficient[2 * KERNEL_MAX_AXES];
  int axes = writer->kernel->axis_count + stage->axis_count;
  return value->kind == EXPR_LOAD && value->guard_count == 0 && !dtype_is_half(value->dtype) &&
         writer->kernel->operands[value->operand].dtype == value->dtype &&
         index_is_affine(value->index, axes, &base, coefficient) && coefficient[axes - 1] == 1;
}

/* Whether an operand is too large for a core's own cache. */
static bool is_far(const LoopWriter *writer, int operand) {
  const KernelOperand *memory = &writer->kernel->operands[operand];
  return memory->elements > FAR_BYTES / dtype_size(memory->dtype);
}

/* Where the values from element `first` on are, when they are there; writes the loop that computes
 * them. */
static const char *write_row_values(LoopWriter *writer, int number, const RowLanes *lanes,
                                    const char *first, const char *count) {
  Code *code = writer->code;
  Arena *arena = code->arena;
  ExprScope *scope = &writer->scope;
  const Stage *stage = &writer->kernel->stages[number];
  bool is_start = strcmp(first, "0") == 0;
  if (lanes->is_load) {
    const char *axis = scope->axes[scope->axis_count - 1];
    scope->axes[scope->axis_count - 1] = first;
    const char *index = expression_index(scope, stage->value->index);
    scope->axes[scope->axis_count - 1] = axis;
    return arena_printf(arena, "&%s[%s]", scope->operands[stage->value->operand], index);
  }
  const char *place = is_start ? "l" : arena_printf(arena, "%s + l", first);
  RowLoop loop = {.writer = writer,
                  .number = number,
                  .axis = stage->axis_count - 1,
                  .count = count,
                  .place = place,
                  .value =
                      lanes->kept ? arena_printf(arena, "%s[%s]", lanes->kept, place) : "v[l]"};
  if (!lanes->kept) code_line(code, "%s v[NNC_BLOCK] NNC_ALIGNED;", lanes->type);
  expression_write_loop(code, scope, number,
                        &(LoopParts){open_row_values, write_row_value, declare_row_axis, &loop});
  if (!lanes->kept) return "v";
  return is_start ? lanes->kept : arena_printf(arena, "%s + %s", lanes->kept, first);
}

/* Whole blocks of values through fixed lanes, then the rest. */
static void write_row_lanes(LoopWriter *writer, const Stage *stage, int number) {
  Code *code = writer->code;
  Arena *arena = code->arena;
  int last = stage->axis_count - 1;
  int64_t extent = stage->extent[last], whole = extent / NNC_BLOCK * NNC_BLOCK;
  bool is_kept = extent <= MOST_KEPT && expression_is_computed_again(&writer->scope, number);
  RowLanes lanes = {.functions = arena_printf(arena, "nnc_%s_%s", reduction_name(stage->reduce),
                                              c_type_name(accumulator_type(stage))),
                    .type = c_value_type(accumulator_type(stage)),
                    .kept = is_kept ? arena_printf(arena, "r%d", number) : NULL,
                    .is_load = reduces_memory(writer, stage)};
  code_line(code, "%s s%d;", lanes.type, number);
  if (is_kept)
    code_line(code, "%s %s[%lld] NNC_ALIGNED;", lanes.type, lanes.kept,
              (long long)align_up(extent, NNC_BLOCK));
  code_block(code);
  code_line(code, "%s_lanes acc;", lanes.functions);
  code_line(code, "%s_begin(&acc);", lanes.functions);
  open_inner_axes(writer, stage, last);
  if (whole > 0) {
    code_open(code, "for (int64_t first = 0; first < %lld; first += NNC_BLOCK)", (long long)whole);
    const char *v = write_row_values(writer, number, &lanes, "first", "NNC_BLOCK");
    if (lanes.is_load && is_far(writer, stage->value->operand))
      v = arena_printf(arena, "nnc_ahead_%s(%s)", c_type_name(stage->value->dtype), v);
    code_line(code, "%s_block(&acc, %s);", lanes.functions, v);
    code_close(code);
  }
  if (whole < extent) {
    const char *rest = code_integer(arena, extent - whole);
    const char *v = write_row_values(writer, number, &lanes, code_integer(arena, whole), rest);
    code_line(code, "%s_rest(&acc, %s, %s);", lanes.functions, v, rest);
  }
  close_loops(writer, last);
  code_line(code, "s%d = %s_end(&acc);", number, lanes.functions);
  code_close(code);
  if (is_kept)
    vec_push(arena, &writer->scope.hoisted,
             ((Hoisted){stage->value, arena_printf(arena, "%s[j%d]", lanes.kept, last)}));
}

static void write_row_stage(LoopWriter *writer, int number) {
  const Stage *stage = &writer->kernel->stages[number];
  stage_axes(writer, stage);
  if (stage->axis_count > 0) expression_hoist(writer->code, &writer->scope, number);
  if (stage->kind == STAGE_STORE) {
    open_inner_axes(writer, stage, stage->axis_count);
    expression_write_stores(writer->code, &writer->scope, number);
    close_loops(writer, stage->axis_count);
    return;
  }
  bool is_short = stage->axis_count == 0 || stage->extent[stage->axis_count - 1] < SHORT_ROW;
  if (reduction_is_search(stage->reduce)) write_row_arg(writer, stage, number);
  else if (is_short || !dtype_is_float(stage->value->dtype))
    write_row_scalar(writer, stage, number);
  else write_row_lanes(writer, stage, number);
  writer->scope.stages[number] = arena_printf(writer->code->arena, "s%d", number);
}

/* ---- columns ---- */

static void open_columns(LoopWriter *writer) {
  code_open(writer->code, "for (int64_t l = 0; l < count; l++)");
  writer->column_mark = code_mark(writer->code);
}

static void close_columns(LoopWriter *writer) {
  Arena *arena = writer->code->arena;
  const char *axis = arena_printf(arena, "i%d", writer->kernel->axis_count - 1);
  code_declare(writer->code, writer->column_mark, axis,
               arena_printf(arena, "const int64_t %s = first + l;", axis));
  code_close(writer->code);
}

static void write_column_reduction(LoopWriter *writer, int number) {
  Code *code = writer->code;
  const Stage *stage = &writer->kernel->stages[number];
  DType dtype = accumulator_type(stage);
  bool is_long = loops_stage_extent(stage) > LONG_SUM && stage->reduce == OP_REDUCE_SUM;
  if (dtype == DTYPE_F32 && is_long) dtype = DTYPE_F64;
  const char *start = dialect_c.reduction_start(stage->reduce, dtype);
  code_line(code, "%s a%d[%d] NNC_ALIGNED;", c_value_type(dtype), number, COLUMN_BLOCK);
  code_line(code, "for (int64_t l = 0; l < %d; l++) a%d[l] = %s;", COLUMN_BLOCK, number, start);
  if (reduction_is_search(stage->reduce)) {
    code_line(code, "int32_t s%d[%d] NNC_ALIGNED;", number, COLUMN_BLOCK);
    code_line(code, "for (int64_t l = 0; l < %d; l++) s%d[l] = 0;", COLUMN_BLOCK, number);
  }
  open_inner_axes(writer, stage, stage->axis_count);
  open_columns(writer);
  const char *value = expression_render(code, &writer->scope, number)[0];
  const char *accumulator = arena_printf(code->arena, "a%d[l]", number);
  const char *place = arena_printf(code->arena, "s%d[l]", number);
  if (reduction_is_search(stage->reduce))
    reduction_write_search(code, &dialect_c, &(Search){stage->reduce, dtype, accumulator, place},
                           value, "j0");
  else reduction_write_join(code, &dialect_c, stage, dtype, accumulator, value);
  close_columns(writer);
  close_loops(writer, stage->axis_count);
  bool narrow = dtype == DTYPE_F64 && stage->value->dtype != DTYPE_F64;
  writer->scope.stages[number] = reduction_is_search(stage->reduce) ? place
                                 : narrow ? arena_printf(code->arena, "(float)%s", accumulator)
                                          : accumulator;
}

static void write_column_stage(LoopWriter *writer, int number) {
  const Stage *stage = &writer->kernel->stages[number];
  stage_axes(writer, stage);
  if (stage->kind == STAGE_REDUCE) {
    write_column_reduction(writer, number);
    return;
  }
  open_inner_axes(writer, stage, stage->axis_count);
  open_columns(writer);
  expression_write_stores(writer->code, &writer->scope, number);
  close_columns(writer);
  close_loops(writer, stage->axis_count);
}

/* ---- the function ---- */

/* The domain's axes but the last, from the number of the row, for what was written after the
 * mark. */
static void declare_row_axes(LoopWriter *writer, size_t mark) {
  const Kernel *kernel = writer->kernel;
  int64_t below = 1;
  for (int i = kernel->axis_count - 2; i >= 0; i--) {
    int64_t extent = kernel->extent[i];
    Arena *arena = writer->code->arena;
    const char *text = below == 1 ? "row" : arena_printf(arena, "row / %lld", (long long)below);
    if (i > 0) text = arena_printf(arena, "%s %% %lld", text, (long long)extent);
    const char *axis = arena_printf(arena, "i%d", i);
    code_declare(writer->code, mark, axis,
                 arena_printf(arena, "const int64_t %s = %s;", axis, text));
    below *= extent;
  }
}

/* The loop over points of a row. */
typedef struct PointLoop {
  LoopWriter *writer;
  int number;
  const char *begin, *end;
} PointLoop;

static void open_points(void *context) {
  const PointLoop *loop = context;
  int last = loop->writer->kernel->axis_count - 1;
  code_open(loop->writer->code, "for (int64_t i%d = %s; i%d < %s; i%d++)", last, loop->begin, last,
            loop->end, last);
}

static void write_point(void *context) {
  const PointLoop *loop = context;
  expression_write_stores(loop->writer->code, &loop->writer->scope, loop->number);
}

/* A stage's stores for the points of a row. */
static void write_row_points(LoopWriter *writer, int number, const char *begin, const char *end) {
  Code *code = writer->code;
  PointLoop loop = {writer, number, begin, end};
  stage_axes(writer, &writer->kernel->stages[number]);
  if (writer->kernel->axis_count == 0) {
    expression_write_stores(code, &writer->scope, number);
    return;
  }
  bool has_near = expression_has_near(&writer->scope, number);
  if (has_near) {
    code_open(code, "for (int64_t first = %s; first < %s; first += NNC_BLOCK)", begin, end);
    code_line(code, "const int64_t beyond = nnc_least(first + NNC_BLOCK, %s);", end);
    loop.begin = "first";
    loop.end = "beyond";
  }
  expression_write_loop(code, &writer->scope, number,
                        &(LoopParts){open_points, write_point, NULL, &loop});
  if (has_near) code_close(code);
}

/* The cases of a stage, and the points of the row that each of them is written for. */
typedef struct CaseLoop {
  int number;
  KernelCases cases;
  const char *begin, *end;
} CaseLoop;

/* A choice by halves between the cases from `first` to before `beyond`; in a half, what is the same
 * in all of its cases is decided. */
static void write_cases(LoopWriter *writer, const CaseLoop *loop, int first, int beyond) {
  Code *code = writer->code;
  if (beyond - first == 1) {
    write_row_points(writer, loop->number, loop->begin, loop->end);
    return;
  }
  const Kernel *whole = writer->kernel;
  int middle = (first + beyond) / 2;
  for (int half = 0; half < 2; half++) {
    int from = half == 0 ? first : middle, to = half == 0 ? middle : beyond;
    if (half == 0)
      code_open(code, "if (i%d < %lld)", loop->cases.axis, (long long)loop->cases.begin[middle]);
    else code_open(code, "else");
    writer->kernel = writer->scope.kernel =
        kernel_in_cases(code->arena, whole, loop->number, &loop->cases, from, to);
    write_cases(writer, loop, from, to);
    writer->kernel = writer->scope.kernel = whole;
    code_close(code);
  }
}

static void write_points(LoopWriter *writer, const char *begin, const char *end) {
  Code *code = writer->code;
  const Kernel *kernel = writer->kernel;
  int last = kernel->axis_count - 1;
  if (loops_are_points(kernel)) {
    for (int i = 0; i < kernel->stage_count; i++) {
      CaseLoop loop = {i, kernel_cases(code->arena, kernel, i), begin, end};
      write_cases(writer, &loop, 0, loop.cases.count);
    }
  } else if (writer->columns) {
    code_open(code, "for (int64_t first = %s; first < %s; first += %d)", begin, end, COLUMN_BLOCK);
    code_line(code, "const int64_t count = nnc_least(%d, %s - first);", COLUMN_BLOCK, end);
    for (int i = 0; i < kernel->stage_count; i++) write_column_stage(writer, i);
    code_close(code);
  } else {
    if (last >= 0)
      code_open(code, "for (int64_t i%d = %s; i%d < %s; i%d++)", last, begin, last, end, last);
    for (int i = 0; i < kernel->stage_count; i++) write_row_stage(writer, i);
    if (last >= 0) code_close(code);
  }
}

static void write_task(LoopWriter *writer, const LoopGrid *grid) {
  Code *code = writer->code;
  Arena *arena = code->arena;
  const char *piece =
      grid->blocks == 1 ? "task" : arena_printf(arena, "task / %lld", (long long)grid->blocks);
  const char *begin = "0", *end = code_integer(arena, grid->last);
  if (grid->blocks > 1) {
    const char *number =
        grid->rows == 1 ? "task" : arena_printf(arena, "task %% %lld", (long long)grid->blocks);
    code_line(code, "const int64_t begin = %s * %lld;", number, (long long)grid->block);
    code_line(code, "const int64_t end = nnc_least(begin + %lld, %lld);", (long long)grid->block,
              (long long)grid->last);
    begin = "begin";
    end = "end";
  }
  bool has_rows = writer->kernel->axis_count > 1;
  if (has_rows && grid->row_chunk == 1) {
    code_line(code, "const int64_t row = %s;", piece);
  } else if (has_rows) {
    code_line(code, "const int64_t rows = nnc_least((%s + 1) * %lld, %lld);", piece,
              (long long)grid->row_chunk, (long long)grid->rows);
    code_open(code, "for (int64_t row = %s * %lld; row < rows; row++)",
              grid->blocks == 1 ? piece : arena_printf(arena, "(%s)", piece),
              (long long)grid->row_chunk);
  }
  size_t mark = code_mark(code);
  write_points(writer, begin, end);
  if (has_rows) declare_row_axes(writer, mark);
  if (has_rows && grid->row_chunk != 1) code_close(code);
}

static void loop_write(Code *code, KernelFunction *function) {
  if (function_write_empty(code, function)) return;
  LoopWriter writer = {.code = code,
                       .function = function,
                       .kernel = function->kernel,
                       .scope = function_scope(code->arena, function)};
  LoopGrid grid = loop_grid(function->kernel);
  writer.columns =
      !loops_are_points(function->kernel) && loops_prefer_columns(function->kernel, SHORT_ROW);
  function_write_head(code, function);
  function_keys(code, function);
  code_open(code, "NNC_TASKS(worker, %lld, task)", (long long)grid.tasks);
  write_task(&writer, &grid);
  if (grid.tasks == 1) code_line(code, "(void)task;");
  code_close(code);
  code_close(code);
}

static int64_t loop_tasks(const Kernel *kernel) { return loop_grid(kernel).tasks; }

const TargetKernel c_kernel_loop = {.tasks = loop_tasks, .write = loop_write, .weight = 10};
