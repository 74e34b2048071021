/* Task grids: see tiles.h. */
#include "backend/c/tiles.h"
#include "backend/common/loops.h"
#include "kernel/builder.h"
#include "nnc_block.h"
#include "ops/op.h"

enum {
  TASK_LEAST_WORK = 4096, /* element operations worth a task of their own */
  LOOP_MOST_TASKS = 64,
  STREAM_POINTS = 256,  /* of an innermost loop that are worth blocks */
  ROW_WORK = 256,       /* element operations of a row that may be a task of its own */
  ENOUGH_TASKS = 16,    /* for the usual numbers of workers */
  FUNCTION_WORK = 4,    /* operations that an elementary function counts for beside its loads */
  BLOCK_ALIGNMENT = 64, /* elements: no two tasks write one cache line */
  LONG_BLOCK = 64 * NNC_BLOCK /* tasks of more points have whole blocks */
};

/* Elementary functions of a stage, and random numbers: what costs more than what it loads. */
static int64_t count_functions(Arena *arena, const Kernel *kernel, int stage) {
  ExprList list = kernel_expressions(arena, kernel, stage);
  int64_t count = 0;
  for (int i = 0; i < list.count; i++) {
    const Expr *expr = list.items[i];
    count += expr->kind == EXPR_RANDOM ||
             (expr->kind == EXPR_OP && expr->op != OP_DIV && op_info(expr->op)->class->is_costly);
  }
  return count;
}

/* Element operations at one point of the domain. */
static int64_t point_work(const Kernel *kernel) {
  Arena *scratch = arena_create();
  int64_t work = 0;
  for (int i = 0; i < kernel->stage_count; i++) {
    int64_t inner = 1;
    for (int axis = 0; axis < kernel->stages[i].axis_count; axis++)
      inner *= kernel->stages[i].extent[axis];
    work += inner * (1 + FUNCTION_WORK * count_functions(scratch, kernel, i));
  }
  arena_destroy(scratch);
  return greatest(work, 1);
}

/* Stride of an index along an axis; 0 when it is no affine one. */
static int64_t stride_along(const Index *index, int axis_count, int axis) {
  int64_t base, coefficient[2 * KERNEL_MAX_AXES];
  if (!index_is_affine(index, axis_count, &base, coefficient)) return 0;
  return coefficient[axis] < 0 ? -coefficient[axis] : coefficient[axis];
}

/* Whether an index moves less along the columns than along the innermost loop. One that is the same in the whole inner loop
 * says nothing. */
static bool prefers_columns(const Index *index, int axis_count, int column_axis) {
  int64_t column = stride_along(index, axis_count, column_axis);
  int64_t row = stride_along(index, axis_count, axis_count - 1);
  return column != 0 && row != 0 && column < row;
}

bool runs_along_rows(const Kernel *kernel) {
  if (kernel->axis_count == 0) return true;
  Arena *scratch = arena_create();
  bool rows = true;
  for (int s = 0; s < kernel_stage_count(kernel); s++) {
    Stage stage = kernel_stage(kernel, s);
    int axes = kernel->axis_count + stage.axis_count;
    if (stage.axis_count == 0) continue;
    ExprList list = kernel_expressions(scratch, kernel, s);
    for (int i = 0; i < list.count; i++) {
      if (list.items[i]->kind != EXPR_LOAD) continue;
      if (prefers_columns(list.items[i]->index, axes, kernel->axis_count - 1)) rows = false;
    }
    for (int i = 0; stage.kind == STAGE_STORE && i < stage.store_count; i++)
      if (prefers_columns(stage.stores[i].index, axes, kernel->axis_count - 1)) rows = false;
  }
  arena_destroy(scratch);
  return rows;
}

LoopGrid loop_grid(const Kernel *kernel) {
  LoopGrid grid = {.rows = 1, .last = 1};
  for (int i = 0; i + 1 < kernel->axis_count; i++) grid.rows *= kernel->extent[i];
  if (kernel->axis_count > 0) grid.last = kernel->extent[kernel->axis_count - 1];
  int64_t work = point_work(kernel);
  int64_t points = grid.rows * grid.last;
  int64_t most = kernel->is_serial ? 1 : LOOP_MOST_TASKS;
  int64_t wanted = least(most, greatest(1, points * work / TASK_LEAST_WORK));
  grid.block = greatest(grid.last, 1);
  grid.row_chunk = greatest(divide_up(grid.rows, wanted), 1);
  /* Rows of much work each may be tasks of their own, in whatever cache line their results lie. */
  bool are_rows = work >= ROW_WORK && runs_along_rows(kernel);
  /* Sums over rows of memory had better read them whole, where there are tasks enough without. */
  bool are_columns = work >= ROW_WORK && !are_rows && grid.rows >= ENOUGH_TASKS;
  int64_t alignment = are_rows ? 1 : BLOCK_ALIGNMENT;
  if (2 * grid.rows <= wanted && grid.last > alignment && !are_columns) {
    grid.row_chunk = 1;
    int64_t pieces = divide_up(wanted, greatest(grid.rows, 1));
    int64_t block = divide_up(grid.last, pieces);
    bool is_long = alignment > 1 && block >= LONG_BLOCK;
    grid.block = align_up(block, is_long ? NNC_BLOCK : alignment);
  }
  grid.blocks = greatest(divide_up(grid.last, grid.block), 1);
  /* Without rows, one task that finds nothing to do. */
  grid.tasks = greatest(divide_up(grid.rows, grid.row_chunk), 1) * grid.blocks;
  return grid;
}

static bool is_read(const Kernel *kernel, int operand) {
  Arena *scratch = arena_create();
  bool found = false;
  for (int s = 0; s < kernel_stage_count(kernel); s++) {
    ExprList list = kernel_expressions(scratch, kernel, s);
    for (int i = 0; i < list.count; i++)
      found |= list.items[i]->kind == EXPR_LOAD && list.items[i]->operand == operand;
  }
  arena_destroy(scratch);
  return found;
}

bool is_streamed_size(const Kernel *kernel, int operand) {
  const KernelOperand *memory = &kernel->operands[operand];
  return memory->elements >= STREAM_BYTES / dtype_size(memory->dtype) && !is_read(kernel, operand);
}

bool streams_store(const Kernel *kernel, const Stage *stage, const Store *store) {
  int axes = kernel->axis_count + stage->axis_count;
  int64_t base, coefficient[2 * KERNEL_MAX_AXES];
  if (axes == 0 || !is_streamed_size(kernel, store->operand)) return false;
  bool has_own_loops = stage->axis_count > 0 && !loops_prefer_columns(kernel, SHORT_ROW);
  if (!loops_are_points(kernel) && !has_own_loops) return false;
  int64_t points = stage->axis_count > 0 ? stage->extent[stage->axis_count - 1]
                                         : kernel->extent[kernel->axis_count - 1];
  return points >= STREAM_POINTS && index_is_affine(store->index, axes, &base, coefficient) &&
         coefficient[axes - 1] == 1;
}

bool streams_operand(const Kernel *kernel, int operand) {
  if (kernel->kind != KERNEL_LOOP) return false;
  for (int s = 0; s < kernel->stage_count; s++)
    for (int i = 0; i < kernel->stages[s].store_count; i++)
      if (kernel->stages[s].stores[i].operand == operand &&
          streams_store(kernel, &kernel->stages[s], &kernel->stages[s].stores[i]))
        return true;
  return false;
}

LoopGrid rows_grid(const Kernel *kernel, int64_t rows, int64_t work) {
  LoopGrid grid = {.rows = rows, .blocks = 1};
  int64_t most = kernel->is_serial ? 1 : LOOP_MOST_TASKS;
  int64_t wanted = least(most, greatest(1, rows * work / TASK_LEAST_WORK));
  grid.row_chunk = greatest(divide_up(rows, wanted), 1);
  grid.tasks = divide_up(rows, grid.row_chunk);
  return grid;
}
