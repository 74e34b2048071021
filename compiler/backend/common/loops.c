/* Questions about loop kernels that more than one back end asks. */
#include "backend/common/loops.h"

#include "kernel/builder.h"
#include "support/integers.h"

int64_t loops_stage_extent(const Stage *stage) {
  return extent_product(stage->extent, stage->axis_count);
}

bool loops_are_points(const Kernel *kernel) {
  for (int i = 0; i < kernel->stage_count; i++)
    if (kernel->stages[i].kind != STAGE_STORE || kernel->stages[i].axis_count > 0) return false;
  return true;
}

/* Whether the index moves by one element or none along the axis. */
static bool is_smooth(const Index *index, int axis_count, int axis) {
  int64_t base, coefficient[2 * KERNEL_MAX_AXES];
  if (!index_is_affine(index, axis_count, &base, coefficient)) return false;
  return coefficient[axis] == 0 || coefficient[axis] == 1;
}

/* Accesses of a stage, weighted by its trips, that do not move smoothly along an axis; -1: the stage's
 * own last one. */
static double rough_accesses(Arena *arena, const Kernel *kernel, int number, int axis) {
  const Stage *stage = &kernel->stages[number];
  int axis_count = kernel->axis_count + stage->axis_count;
  bool has_axis = axis >= 0 || stage->axis_count > 0;
  if (axis < 0) axis = axis_count - 1;
  int rough = 0;
  ExprList list = kernel_expressions(arena, kernel, number);
  for (int i = 0; i < list.count; i++)
    if (list.items[i]->kind == EXPR_LOAD)
      rough += !has_axis || !is_smooth(list.items[i]->index, axis_count, axis);
  for (int i = 0; i < stage->store_count; i++)
    rough += !has_axis || !is_smooth(stage->stores[i].index, axis_count, axis);
  return (double)loops_stage_extent(stage) * rough;
}

bool loops_prefer_columns(const Kernel *kernel, int64_t least_columns) {
  int last = kernel->axis_count - 1;
  if (last < 0 || kernel->extent[last] < least_columns) return false;
  Arena *arena = arena_create();
  double rows = 0, columns = 0;
  for (int i = 0; i < kernel->stage_count; i++) {
    rows += rough_accesses(arena, kernel, i, -1);
    columns += rough_accesses(arena, kernel, i, last);
  }
  arena_destroy(arena);
  return columns < rows;
}
