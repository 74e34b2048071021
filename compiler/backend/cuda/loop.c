/* Loop kernels of CUDA. How the points of the domain go to threads:
 *
 *   points   no reductions: a thread computes one point, or some neighbours, which the compiler loads and
 *            stores 16 bytes at a time
 *   thread   a thread runs all stages of one point
 *   warp     the lanes of a warp share the inner axes of a point: rows of some hundred elements
 *   block    the threads of a block share them: long rows
 *   columns  the lanes of a warp are neighbours along the last axis of the domain, and the warps of a
 *            block share the inner axes: sums over a strided axis such as the gradient of a bias
 *
 * Parts of a reduction are joined in a fixed tree (nnc_cuda.h), so the bits depend on the shape alone.
 * Whether rows or columns is asked of the accesses: neighbouring lanes should touch neighbouring
 * elements. */
#include "backend/common/c.h"
#include "backend/common/loops.h"
#include "backend/common/reduction.h"
#include "backend/cuda/cuda.h"
#include "kernel/builder.h"
#include "support/integers.h"
#include "support/panic.h"

typedef enum LoopShape { POINTS, THREAD, WARPS, BLOCK, COLUMNS } LoopShape;

enum {
  TINY_ROW = 4,        /* a thread goes through such a row alone ... */
  SHORT_ROW = 16,      /* ... and through such a one where there are many */
  MANY_POINTS = 65536, /* more than the machine has threads at a time, about */
  WARP_ROW = 1024,     /* longer rows are a block's */
  LONG_ROW = 8192,     /* these a large block's */
  LONG_SUM = 128       /* floats that a thread adds up; more are added in double */
};

typedef struct LoopPlan {
  LoopShape shape;
  CudaGrid grid;
  int each; /* points of a thread */
} LoopPlan;

/* ---- the shape ---- */

static int64_t longest_stage(const Kernel *kernel) {
  int64_t longest = 1;
  for (int i = 0; i < kernel->stage_count; i++)
    longest = greatest(longest, loops_stage_extent(&kernel->stages[i]));
  return longest;
}

/* The widest vector of 16 bytes that neighbours along the last axis may form. */
static int vector_length(const Kernel *kernel, int64_t points) {
  int64_t size = 1, last = kernel->axis_count ? kernel->extent[kernel->axis_count - 1] : 1;
  if (points < MANY_POINTS) return 1;
  for (int i = 0; i < kernel->operand_count; i++)
    size = greatest(size, dtype_size(kernel->operands[i].dtype));
  for (int length = (int)(16 / size); length > 1; length /= 2)
    if (last % length == 0) return length;
  return 1;
}

static LoopPlan plan_rows(int64_t points, int64_t row) {
  LoopPlan plan = {.each = 1};
  if (row <= TINY_ROW || (row <= SHORT_ROW && points >= MANY_POINTS)) {
    plan.shape = THREAD;
    plan.grid = cuda_grid_of_points(points, 1);
  } else if (row <= WARP_ROW) {
    plan.shape = WARPS;
    plan.grid = (CudaGrid){divide_up(points, USUAL_THREADS / WARP), USUAL_THREADS};
  } else {
    plan.shape = BLOCK;
    bool is_large = row > LONG_ROW && points < 4 * PROCESSORS;
    plan.grid = (CudaGrid){points, is_large ? MOST_THREADS : USUAL_THREADS};
  }
  return plan;
}

static LoopPlan plan_columns(const Kernel *kernel, int64_t points, int64_t row) {
  LoopPlan plan = {.each = 1, .shape = THREAD, .grid = cuda_grid_of_points(points, 1)};
  if (row <= WARP || points >= MANY_POINTS) return plan;
  int64_t columns = kernel->extent[kernel->axis_count - 1];
  plan.shape = COLUMNS;
  plan.grid = (CudaGrid){points / columns * divide_up(columns, WARP),
                         row <= WARP_ROW ? USUAL_THREADS : MOST_THREADS};
  return plan;
}

static LoopPlan loop_plan(const Kernel *kernel) {
  int64_t points = extent_product(kernel->extent, kernel->axis_count);
  int64_t row = longest_stage(kernel);
  if (loops_are_points(kernel)) {
    int each = vector_length(kernel, points);
    return (LoopPlan){POINTS, cuda_grid_of_points(points, each), each};
  }
  if (points > 0 && row > TINY_ROW && loops_prefer_columns(kernel, WARP / 4))
    return plan_columns(kernel, points, row);
  return plan_rows(points, row);
}

static CudaGrid loop_grid(const Kernel *kernel) { return loop_plan(kernel).grid; }

/* ---- writing ---- */

typedef struct LoopWriter {
  Code *code;
  const Kernel *kernel;
  const KernelFunction *function;
  ExprScope scope;
  LoopPlan plan;
  const char *index_type;
  const char *part,
      *parts; /* the thread's number among those that share a point, and how many these are;
                             * NULL: it is alone */
} LoopWriter;

/* The barrier of the threads that share a point. */
static const char *barrier_text(LoopShape shape) {
  return shape == WARPS ? "nnc_sync_warp();" : shape == THREAD ? NULL : "nnc_sync();";
}

static int warps_of(const LoopWriter *writer) { return writer->plan.grid.threads / WARP; }

/* How many elements of a stage one thread goes through. */
static int64_t trips(const LoopWriter *writer, const Stage *stage) {
  LoopShape shape = writer->plan.shape;
  int64_t threads = shape == THREAD  ? 1
                    : shape == WARPS ? WARP
                    : shape == BLOCK ? writer->plan.grid.threads
                                     : warps_of(writer);
  return divide_up(loops_stage_extent(stage), threads);
}

/* Opens the loops over a stage's own axes, shared by the parts; returns how many. */
static int open_stage(LoopWriter *writer, const Stage *stage) {
  Code *code = writer->code;
  ExprScope *scope = &writer->scope;
  int outer = writer->kernel->axis_count, last = stage->axis_count - 1;
  scope->axis_count = outer + stage->axis_count;
  for (int i = 0; i <= last; i++) {
    scope->axes[outer + i] = arena_printf(code->arena, "j%d", i);
    scope->extents[outer + i] = stage->extent[i];
  }
  if (last < 0) return 0;
  const char *type = writer->index_type;
  if (writer->part == NULL || last == 0 || stage->extent[last] >= writer->plan.grid.threads) {
    for (int i = 0; i < last; i++)
      code_open(code, "for (%s j%d = 0; j%d < %lld; j%d++)", type, i, i,
                (long long)stage->extent[i], i);
    if (writer->part == NULL)
      code_open(code, "for (%s j%d = 0; j%d < %lld; j%d++)", type, last, last,
                (long long)stage->extent[last], last);
    else
      code_open(code, "for (%s j%d = %s; j%d < %lld; j%d += %s)", type, last, writer->part, last,
                (long long)stage->extent[last], last, writer->parts);
    return last + 1;
  }
  code_open(code, "for (%s j = %s; j < %lld; j += %s)", type, writer->part,
            (long long)loops_stage_extent(stage), writer->parts);
  int64_t below = 1;
  for (int i = last; i >= 0; i--) {
    const char *text = below == 1 ? "j" : arena_printf(code->arena, "j / %lld", (long long)below);
    if (i > 0) text = arena_printf(code->arena, "%s %% %lld", text, (long long)stage->extent[i]);
    code_line(code, "const %s j%d = %s;", type, i, text);
    below *= stage->extent[i];
  }
  return 1;
}

static void close_loops(Code *code, int count) {
  for (int i = 0; i < count; i++) code_close(code);
}

/* "sum", "max": in the names of nnc_cuda.h. */
static const char *join_name(Op reduce, DType dtype) {
  switch (reduce) {
  case OP_REDUCE_SUM: return dtype == DTYPE_BOOL ? "max" : "sum"; /* whether any is true */
  case OP_REDUCE_PROD: return "prod";
  case OP_REDUCE_MAX: return "max";
  case OP_REDUCE_MIN: return "min";
  case OP_ARGMAX: return "argmax";
  case OP_ARGMIN: return "argmin";
  default: panic("operator %d is no reduction", (int)reduce);
  }
}

/* The parts' results of a reduction in columns: one for each warp and lane, in memory that all such
 * reductions of the kernel share. */
static void join_columns(const LoopWriter *writer, const Stage *stage, int number, DType sum) {
  Code *code = writer->code;
  const char *type = c_value_type(sum), *name = arena_printf(code->arena, "a%d", number);
  bool is_search = reduction_is_search(stage->reduce);
  code_line(code, "%s *const m%d = (%s *)memory;", type, number, type);
  code_line(code, "nnc_sync();");
  code_line(code, "m%d[NNC_THREAD] = %s;", number, name);
  if (is_search) code_line(code, "places[NNC_THREAD] = p%d;", number);
  code_line(code, "nnc_sync();");
  code_line(code, "%s = m%d[NNC_THREAD %% %d];", name, number, WARP);
  if (is_search) code_line(code, "p%d = places[NNC_THREAD %% %d];", number, WARP);
  code_open(code, "for (int each = NNC_THREAD %% %d + %d; each < %d; each += %d)", WARP, WARP,
            writer->plan.grid.threads, WARP);
  if (is_search) {
    code_line(code, "nnc_join_%s_%s(&%s, &p%d, m%d[each], places[each]);",
              join_name(stage->reduce, sum), c_type_name(sum), name, number, number);
  } else {
    Stage join = *stage;
    if (stage->value->dtype == DTYPE_BOOL) join.reduce = OP_REDUCE_MAX;
    reduction_write_join(code, &dialect_cuda, &join, sum, name,
                         arena_printf(code->arena, "m%d[each]", number));
  }
  code_close(code);
}

/* The memory for that. */
static void declare_columns(const LoopWriter *writer) {
  bool has_search = false;
  for (int i = 0; i < writer->kernel->stage_count; i++) {
    const Stage *stage = &writer->kernel->stages[i];
    has_search |= stage->kind == STAGE_REDUCE && reduction_is_search(stage->reduce);
  }
  int threads = writer->plan.grid.threads;
  code_line(writer->code, "NNC_BLOCK_MEMORY uint64_t memory[%d];", threads);
  if (has_search) code_line(writer->code, "NNC_BLOCK_MEMORY int32_t places[%d];", threads);
}

/* Joins what the threads that share a point have. */
static void join_parts(const LoopWriter *writer, const Stage *stage, int number, DType sum) {
  Code *code = writer->code;
  const char *name = join_name(stage->reduce, stage->value->dtype), *type = c_type_name(sum);
  bool is_search = reduction_is_search(stage->reduce);
  int warps = warps_of(writer);
  switch (writer->plan.shape) {
  case WARPS:
    if (is_search)
      code_line(code, "p%d = nnc_warp_%s_%s(a%d, p%d);", number, name, type, number, number);
    else code_line(code, "a%d = nnc_warp_%s_%s(a%d);", number, name, type, number);
    return;
  case BLOCK:
    code_line(code, "NNC_BLOCK_MEMORY %s m%d[%d];", c_value_type(sum), number, warps);
    if (is_search) {
      code_line(code, "NNC_BLOCK_MEMORY int32_t n%d[%d];", number, warps);
      code_line(code, "p%d = nnc_block_%s_%s(a%d, p%d, m%d, n%d, %d);", number, name, type, number,
                number, number, number, warps);
    } else {
      code_line(code, "a%d = nnc_block_%s_%s(a%d, m%d, %d);", number, name, type, number, number,
                warps);
    }
    return;
  case COLUMNS: join_columns(writer, stage, number, sum); return;
  default: return;
  }
}

static void write_reduction(LoopWriter *writer, int number) {
  Code *code = writer->code;
  const Stage *stage = &writer->kernel->stages[number];
  DType dtype = stage->value->dtype, sum = cuda_sum_type(dtype);
  bool is_search = reduction_is_search(stage->reduce);
  bool is_wide =
      sum == DTYPE_F32 && stage->reduce == OP_REDUCE_SUM && trips(writer, stage) > LONG_SUM;
  if (is_wide) sum = DTYPE_F64;
  code_line(code, "%s a%d = %s;", c_value_type(sum), number,
            c_reduction_start(stage->reduce, dtype));
  if (is_search) code_line(code, "int32_t p%d = -1;", number);
  if (stage->axis_count > 0) expression_hoist(code, &writer->scope, number);
  int loops = open_stage(writer, stage);
  const char *value = expression_render(code, &writer->scope, number)[0];
  const char *accumulator = arena_printf(code->arena, "a%d", number);
  if (is_search)
    code_line(code, "nnc_join_%s_%s(&a%d, &p%d, %s, (int32_t)j0);", join_name(stage->reduce, dtype),
              c_type_name(sum), number, number, value);
  else reduction_write_join(code, &dialect_cuda, stage, sum, accumulator, value);
  close_loops(code, loops);
  join_parts(writer, stage, number, sum);
  writer->scope.stages[number] = is_search ? arena_printf(code->arena, "p%d", number)
                                 : dtype == DTYPE_BOOL
                                     ? arena_printf(code->arena, "(a%d != 0)", number)
                                 : is_wide ? arena_printf(code->arena, "(float)a%d", number)
                                           : accumulator;
}

/* What lanes have read for a reduction may be stored now. Other shapes join their parts between barriers;
 * the operations by which a warp does are none for memory. */
static bool follows_warp_reduction(const LoopWriter *writer, int number) {
  return writer->plan.shape == WARPS && number > 0 &&
         writer->kernel->stages[number - 1].kind == STAGE_REDUCE;
}

/* Stores of a stage without axes of its own are one thread's. */
static void write_stores(LoopWriter *writer, int number) {
  Code *code = writer->code;
  const Stage *stage = &writer->kernel->stages[number];
  bool is_single = stage->axis_count == 0 && writer->part != NULL;
  bool is_column = writer->plan.shape == COLUMNS;
  if (follows_warp_reduction(writer, number)) code_line(code, "nnc_sync_warp();");
  if (stage->axis_count > 0) expression_hoist(code, &writer->scope, number);
  if (is_single)
    code_open(code, is_column ? "if (%s == 0 && is_inside)" : "if (%s == 0)", writer->part);
  else if (is_column) code_open(code, "if (is_inside)");
  int loops = open_stage(writer, stage);
  expression_write_stores(code, &writer->scope, number);
  close_loops(code, loops + (is_single || is_column));
  const char *barrier = barrier_text(writer->plan.shape);
  if (barrier && number + 1 < writer->kernel->stage_count) code_line(code, "%s", barrier);
}

/* ---- the points ---- */

static void write_points(LoopWriter *writer, int64_t points) {
  Code *code = writer->code;
  const Kernel *kernel = writer->kernel;
  int each = writer->plan.each;
  code_line(code, "const %s point = (%s)NNC_POINT(%d)%s;", writer->index_type, writer->index_type,
            USUAL_THREADS, each > 1 ? arena_printf(code->arena, " * %d", each) : "");
  code_line(code, "if (point >= %lld) return;", (long long)points);
  for (int i = 0; i < kernel->stage_count; i++) {
    if (each > 1) {
      code_open(code, "NNC_UNROLL for (int l = 0; l < %d; l++)", each);
      int last = kernel->axis_count - 1;
      cuda_declare_axes(code, writer->function, writer->index_type, 0, last,
                        arena_printf(code->arena, "point / %lld", (long long)kernel->extent[last]));
      const char *place = kernel->axis_count == 1 ? "point"
                                                  : arena_printf(code->arena, "point %% %lld",
                                                                 (long long)kernel->extent[last]);
      code_line(code, "const %s i%d = %s + l;", writer->index_type, last, place);
    } else {
      code_block(code);
      cuda_declare_axes(code, writer->function, writer->index_type, 0, kernel->axis_count, "point");
    }
    expression_write_stores(code, &writer->scope, i);
    code_close(code);
  }
}

/* The point that this thread works on, alone or with others. */
static void open_point(LoopWriter *writer, int64_t points) {
  Code *code = writer->code;
  const Kernel *kernel = writer->kernel;
  const char *type = writer->index_type;
  const char *threads = code_integer(code->arena, writer->plan.grid.threads);
  int64_t columns = kernel->axis_count > 0 ? kernel->extent[kernel->axis_count - 1] : 1;
  switch (writer->plan.shape) {
  case THREAD:
    code_line(code, "const %s point = (%s)NNC_POINT(%s);", type, type, threads);
    code_line(code, "if (point >= %lld) return;", (long long)points);
    break;
  case WARPS:
    code_line(code, "const %s point = (%s)(NNC_POINT(%s) / %d);", type, type, threads, WARP);
    code_line(code, "if (point >= %lld) return;", (long long)points);
    writer->part = arena_printf(code->arena, "NNC_THREAD %% %d", WARP);
    writer->parts = code_integer(code->arena, WARP);
    break;
  case BLOCK:
    code_line(code, "const %s point = (%s)NNC_BLOCK;", type, type);
    writer->part = "NNC_THREAD";
    writer->parts = threads;
    break;
  default: {
    long long groups = (long long)divide_up(columns, WARP);
    code_line(code, "const %s column = (%s)(NNC_BLOCK %% %lld * %d + NNC_THREAD %% %d);", type,
              type, groups, WARP, WARP);
    code_line(code, "const bool is_inside = column < %lld;", (long long)columns);
    code_line(code, "const %s point = (%s)(NNC_BLOCK / %lld * %lld) + (is_inside ? column : %lld);",
              type, type, groups, (long long)columns, (long long)columns - 1);
    writer->part = arena_printf(code->arena, "NNC_THREAD / %d", WARP);
    writer->parts = code_integer(code->arena, warps_of(writer));
  }
  }
  cuda_declare_axes(code, writer->function, type, 0, kernel->axis_count, "point");
}

static void loop_write(Code *code, KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  int64_t points = extent_product(kernel->extent, kernel->axis_count);
  LoopWriter writer = {.code = code,
                       .kernel = kernel,
                       .function = function,
                       .scope = function_scope(code->arena, function),
                       .plan = loop_plan(kernel),
                       .index_type = cuda_index_type(kernel, points)};
  if (writer.plan.shape == POINTS) {
    write_points(&writer, points);
    return;
  }
  if (writer.plan.shape == COLUMNS) declare_columns(&writer);
  open_point(&writer, points);
  for (int i = 0; i < kernel->stage_count; i++) {
    if (kernel->stages[i].kind == STAGE_REDUCE) write_reduction(&writer, i);
    else write_stores(&writer, i);
  }
}

const CudaKernel cuda_kernel_loop = {.grid = loop_grid, .write = loop_write};
