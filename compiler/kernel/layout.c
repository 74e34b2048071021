/* Values that do not lie row-major: see layout.h. */
#include "kernel/layout.h"

#include "kernel/builder.h"
#include "support/integers.h"
#include "support/panic.h"

/* Axis `last` after all others. */
static Layout layout_last(int rank, int last) {
  Layout layout = {.rank = rank};
  for (int i = 0; i < rank; i++) layout.axis[i] = i < last ? i : i == rank - 1 ? last : i + 1;
  return layout;
}

Layout layout_channels_last(int rank) { return layout_last(rank, 1); }
Layout layout_pieces_last(int rank) { return layout_last(rank, 2); }

void layout_strides(const Layout *layout, Shape shape, int64_t *stride) {
  if (!layout) {
    shape_strides(shape, stride);
    return;
  }
  CHECK(layout->rank == shape.rank);
  int64_t below = 1;
  for (int i = shape.rank - 1; i >= 0; i--) {
    stride[layout->axis[i]] = below;
    below *= shape.dim[layout->axis[i]];
  }
}

/* ---- the order of loops -------------------------------------------------------------------- */

/* The access by which axes are put in order, with its coefficients, and the elements that it touches: those
 * of small operands come from a cache in any order. */
typedef struct Guide {
  double weight;
  int64_t coefficient[2 * KERNEL_MAX_AXES];
} Guide;

/* Takes the access if it touches more. One that moves along no axis orders nothing, and one that is looked
 * up is everywhere. */
static void consider(Guide *guide, const Index *index, int axis_count, const int64_t *extents,
                     double worth) {
  int64_t base, coefficient[2 * KERNEL_MAX_AXES];
  if (!index_is_affine(index, axis_count, &base, coefficient)) return;
  int moves = 0;
  double elements = 1;
  for (int i = 0; i < axis_count; i++) {
    moves += coefficient[i] != 0;
    if (coefficient[i] != 0) elements *= (double)extents[i];
  }
  if (moves < 2 || elements * worth <= guide->weight) return;
  guide->weight = elements * worth;
  for (int i = 0; i < axis_count; i++) guide->coefficient[i] = coefficient[i];
}

/* The accesses of one stage; a store goes before a load of as many elements. */
static void consider_stage(Arena *arena, const Kernel *kernel, int number, Guide *guide) {
  const Stage *stage = &kernel->stages[number];
  int axis_count = kernel->axis_count + stage->axis_count;
  int64_t extents[2 * KERNEL_MAX_AXES];
  for (int i = 0; i < axis_count; i++)
    extents[i] = i < kernel->axis_count ? kernel->extent[i] : stage->extent[i - kernel->axis_count];
  for (int i = 0; i < stage->store_count; i++)
    consider(guide, stage->stores[i].index, axis_count, extents, 1.5);
  ExprList list = kernel_expressions(arena, kernel, number);
  for (int i = 0; i < list.count; i++)
    if (list.items[i]->kind == EXPR_LOAD)
      consider(guide, list.items[i]->index, axis_count, extents, 1);
}

/* Orders axes [first, first + count) by falling coefficients; axes that do not move stay where they are
 * among their neighbours. order[i]: the old number of the new axis i. False when nothing changes. */
static bool sort_axes(const Guide *guide, int first, int count, int *order) {
  bool changed = false;
  for (int i = first; i < first + count; i++) {
    int64_t own = guide->coefficient[i];
    int to = i;
    while (to > first && own > 0 && guide->coefficient[order[to - 1]] < own) to--;
    for (int k = i; k > to; k--) order[k] = order[k - 1];
    order[to] = i;
    changed = changed || to != i;
  }
  return changed;
}

static void renumber(Arena *arena, Index **index, Index *const *by, int count) {
  if (*index) *index = index_substitute(arena, *index, by, count);
}

static void renumber_stage(Arena *arena, Kernel *kernel, int number, Index *const *by, int count) {
  ExprList list = kernel_expressions(arena, kernel, number);
  for (int i = 0; i < list.count; i++) {
    Expr *expr = list.items[i];
    renumber(arena, &expr->index, by, count);
    if (expr->guard_count > 0) /* guards are shared between loads */
      expr->guards =
          arena_copy(arena, expr->guards, sizeof *expr->guards * (size_t)expr->guard_count);
    for (int k = 0; k < expr->guard_count; k++) renumber(arena, &expr->guards[k].index, by, count);
  }
  Stage *stage = &kernel->stages[number];
  for (int i = 0; i < stage->store_count; i++) renumber(arena, &stage->stores[i].index, by, count);
}

/* The extents and the axes by their new numbers. */
static void permute(Arena *arena, int64_t *extent, int first, int count, const int *order,
                    Index **by) {
  int64_t old[KERNEL_MAX_AXES];
  for (int i = 0; i < count; i++) old[i] = extent[i];
  for (int i = 0; i < count; i++) {
    extent[i] = old[order[first + i] - first];
    by[order[first + i]] = index_axis(arena, first + i);
  }
}

static void order_domain(Arena *arena, Kernel *kernel) {
  Guide guide = {0};
  int order[2 * KERNEL_MAX_AXES];
  Index *by[2 * KERNEL_MAX_AXES] = {0};
  for (int s = 0; s < kernel->stage_count; s++) consider_stage(arena, kernel, s, &guide);
  if (guide.weight == 0 || !sort_axes(&guide, 0, kernel->axis_count, order)) return;
  permute(arena, kernel->extent, 0, kernel->axis_count, order, by);
  for (int s = 0; s < kernel->stage_count; s++)
    renumber_stage(arena, kernel, s, by, kernel->axis_count);
}

/* One axis of a search is its result. */
static void order_stage(Arena *arena, Kernel *kernel, int number) {
  Stage *stage = &kernel->stages[number];
  Guide guide = {0};
  int order[2 * KERNEL_MAX_AXES], first = kernel->axis_count;
  Index *by[2 * KERNEL_MAX_AXES] = {0};
  consider_stage(arena, kernel, number, &guide);
  if (guide.weight == 0 || !sort_axes(&guide, first, stage->axis_count, order)) return;
  permute(arena, stage->extent, first, stage->axis_count, order, by);
  renumber_stage(arena, kernel, number, by, first + stage->axis_count);
}

void kernel_order_axes(Arena *arena, Kernel *kernel) {
  if (kernel_is_template(kernel)) return;
  order_domain(arena, kernel);
  for (int s = 0; s < kernel->stage_count; s++) order_stage(arena, kernel, s);
}
