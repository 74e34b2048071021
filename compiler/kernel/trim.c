/* Trimming: an operand that is only read becomes the part of it that is read.
 *
 * The steps of a loop that is written out read slices of one tensor, which differ by the first
 * element alone. With that taken out of the indices, into the buffer that the Program binds, they
 * are one kernel. */
#include "kernel/builder.h"
#include "kernel/class.h"

#include <string.h>

typedef struct Part {
  int64_t least, beyond; /* elements that are read; least > beyond: none so far */
  bool is_fixed;         /* read at indices of unknown range, or as indices: stays whole */
} Part;

static void part_add(Part *part, int64_t least, int64_t greatest) {
  if (least < part->least) part->least = least;
  if (greatest + 1 > part->beyond) part->beyond = greatest + 1;
}

/* Operands that hold indices of a gather. */
static void fix_indices(const Index *index, Part *parts) {
  if (!index) return;
  if (index->kind == INDEX_LOAD) parts[index->operand].is_fixed = true;
  fix_indices(index->left, parts);
  fix_indices(index->right, parts);
}

/* The axes' values for which all guards hold: [from, to); false when a guard is of several axes. */
static bool guarded_axes(const Expr *load, const int64_t *extents, int count, int64_t *from,
                         int64_t *to) {
  for (int i = 0; i < count; i++) {
    from[i] = 0;
    to[i] = extents[i];
  }
  for (int g = 0; g < load->guard_count; g++) {
    int64_t base, coefficient[2 * KERNEL_MAX_AXES];
    int axis = -1, axes = 0;
    if (!index_is_affine(load->guards[g].index, count, &base, coefficient)) return false;
    for (int i = 0; i < count; i++)
      if (coefficient[i] != 0) axis = i, axes++;
    if (axes != 1 || coefficient[axis] != 1) return false;
    if (-base > from[axis]) from[axis] = -base;
    if (load->guards[g].bound - base < to[axis]) to[axis] = load->guards[g].bound - base;
  }
  return true;
}

/* The elements of a load under its guards; false when they are not known. */
static bool load_range(Arena *arena, const Expr *load, const int64_t *extents, int count,
                       int64_t *least, int64_t *greatest) {
  if (load->guard_count == 0) return index_range(load->index, extents, count, least, greatest);
  int64_t from[2 * KERNEL_MAX_AXES], to[2 * KERNEL_MAX_AXES], inside[2 * KERNEL_MAX_AXES];
  Index *by[2 * KERNEL_MAX_AXES];
  if (!guarded_axes(load, extents, count, from, to)) return false;
  for (int i = 0; i < count; i++) {
    inside[i] = to[i] - from[i];
    if (inside[i] <= 0) return false;
    by[i] = index_add(arena, index_axis(arena, i), index_const(arena, from[i]));
  }
  Index *index = index_substitute_in(arena, load->index, by, count, inside, count);
  return index_range(index, inside, count, least, greatest);
}

static void note_load(Arena *arena, const Kernel *kernel, const Stage *stage, const Expr *load,
                      Part *parts) {
  int64_t extents[2 * KERNEL_MAX_AXES], least, greatest;
  Part *part = &parts[load->operand];
  int count = kernel->axis_count + stage->axis_count;
  memcpy(extents, kernel->extent, sizeof kernel->extent);
  memcpy(extents + kernel->axis_count, stage->extent, sizeof stage->extent);
  if (load_range(arena, load, extents, count, &least, &greatest)) part_add(part, least, greatest);
  else part->is_fixed = true;
}

static void note_stage(Arena *arena, const Kernel *kernel, int number, Part *parts) {
  Stage stage = kernel_stage(kernel, number);
  ExprList list = kernel_expressions(arena, kernel, number);
  for (int i = 0; i < list.count; i++) {
    const Expr *expr = list.items[i];
    fix_indices(expr->index, parts);
    for (int k = 0; k < expr->guard_count; k++) fix_indices(expr->guards[k].index, parts);
    if (expr->kind == EXPR_LOAD) note_load(arena, kernel, &stage, expr, parts);
  }
  for (int i = 0; i < stage.store_count; i++) fix_indices(stage.stores[i].index, parts);
}

/* Operands of the template itself already begin where they are read. */
static void note_template(const Kernel *kernel, Part *parts) {
  const KernelClass *class = kernel_class(kernel);
  for (int i = 0; i < kernel_template_operands(kernel); i++) {
    if (class->trims_operands) part_add(&parts[i], 0, class->reads(kernel, i) - 1);
    else parts[i].is_fixed = true;
  }
}

static bool is_empty(const Kernel *kernel) {
  for (int i = 0; i < kernel->axis_count; i++)
    if (kernel->extent[i] == 0) return true;
  for (int s = 0; s < kernel_stage_count(kernel); s++) {
    Stage stage = kernel_stage(kernel, s);
    for (int i = 0; i < stage.axis_count; i++)
      if (stage.extent[i] == 0) return true;
  }
  const KernelClass *class = kernel_class(kernel);
  return class->trims_operands && class->reads(kernel, 0) == 0;
}

static bool has(const ExprList *list, const Expr *expr) {
  for (int i = 0; i < list->count; i++)
    if (list->items[i] == expr) return true;
  return false;
}

static void shift_loads(Arena *arena, Kernel *kernel, const int64_t *first) {
  ExprList loads = {0}; /* stages may share one */
  for (int s = 0; s < kernel_stage_count(kernel); s++) {
    ExprList list = kernel_expressions(arena, kernel, s);
    for (int i = 0; i < list.count; i++)
      if (list.items[i]->kind == EXPR_LOAD && !has(&loads, list.items[i]))
        vec_push(arena, &loads, list.items[i]);
  }
  for (int i = 0; i < loads.count; i++) {
    Expr *load = loads.items[i];
    int64_t shift = first[load->operand];
    if (shift > 0) load->index = index_add(arena, load->index, index_const(arena, -shift));
  }
}

void kernel_trim_operands(Arena *arena, Kernel *kernel, int64_t *first) {
  Arena *scratch = arena_create();
  Part *parts = ARENA_ARRAY(scratch, Part, kernel->operand_count);
  for (int i = 0; i < kernel->operand_count; i++) {
    parts[i].least = kernel->operands[i].elements;
    first[i] = 0;
  }
  if (!is_empty(kernel)) {
    note_template(kernel, parts);
    for (int s = 0; s < kernel_stage_count(kernel); s++) note_stage(scratch, kernel, s, parts);
    for (int i = 0; i < kernel->operand_count; i++) {
      const Part *part = &parts[i];
      KernelOperand *operand = &kernel->operands[i];
      bool is_inside =
          part->least >= 0 && part->least < part->beyond && part->beyond <= operand->elements;
      if (operand->is_output || part->is_fixed || !is_inside) continue;
      first[i] = part->least;
      operand->elements = part->beyond - part->least;
    }
    shift_loads(arena, kernel, first);
  }
  arena_destroy(scratch);
}
