/* Kernels over a part of their domain: see block.h. */
#include "kernel/block.h"

#include <string.h>

#include "kernel/builder.h"
#include "kernel/class.h"
#include "support/panic.h"

typedef enum Touch { TOUCH_NONE, TOUCH_WHOLE, TOUCH_PART } Touch;

typedef struct Blocker {
  Arena *arena;
  const Kernel *kernel;
  BlockCut cut;
  int64_t first;                        /* extent of the first axis */
  int64_t extents[2 * KERNEL_MAX_AXES]; /* of the stage; 1 for the first axis */
  int axis_count;
  Touch *touch;     /* by operand */
  bool needs_proof; /* an access whose range within a row does not show by itself */
} Blocker;

/* ---- the first axis in an index ------------------------------------------------------------ */

/* Adds up the coefficients of axis 0; false when it is anywhere but in the sum itself. What a load
 * gives is a number within its bound, whatever its own place depends on. */
static bool add_first_axis(const Index *index, int64_t factor, int64_t *coefficient) {
  int64_t inside = 0;
  switch (index->kind) {
  case INDEX_CONST:
  case INDEX_LOAD: return true;
  case INDEX_AXIS:
    if (index->value == 0) *coefficient += factor;
    return true;
  case INDEX_ADD:
    return add_first_axis(index->left, factor, coefficient) &&
           add_first_axis(index->right, factor, coefficient);
  case INDEX_MUL: return add_first_axis(index->left, factor * index->right->value, coefficient);
  case INDEX_DIV:
  case INDEX_MOD: return add_first_axis(index->left, 1, &inside) && inside == 0;
  }
  return false;
}

static bool is_free_of_first_axis(const Index *index) {
  int64_t coefficient = 0;
  return add_first_axis(index, 1, &coefficient) && coefficient == 0;
}

/* ---- accesses ------------------------------------------------------------------------------ */

static bool note_touch(Blocker *blocker, int operand, Touch touch) {
  if (blocker->touch[operand] != TOUCH_NONE && blocker->touch[operand] != touch) return false;
  blocker->touch[operand] = touch;
  return true;
}

static bool note_access(Blocker *blocker, int operand, const Index *index, bool is_store) {
  int64_t row = 0, least, greatest;
  if (!add_first_axis(index, 1, &row)) return false;
  if (row == 0) return !is_store && note_touch(blocker, operand, TOUCH_WHOLE);
  if (row < 0 || row * blocker->first != blocker->kernel->operands[operand].elements) return false;
  if (!index_range(index, blocker->extents, blocker->axis_count, &least, &greatest) || least < 0 ||
      greatest >= row)
    blocker->needs_proof = true;
  return note_touch(blocker, operand, TOUCH_PART);
}

/* Loads inside of an index. */
static bool note_index_loads(Blocker *blocker, const Index *index) {
  if (index == NULL) return true;
  if (index->kind == INDEX_LOAD && !note_access(blocker, index->operand, index->left, false))
    return false;
  return note_index_loads(blocker, index->left) && note_index_loads(blocker, index->right);
}

/* Blocks of whole examples, since the counter moves on by examples. */
static bool note_random(const Blocker *blocker, const Expr *expr) {
  int64_t step = 0;
  return blocker->cut.examples % blocker->cut.blocks == 0 &&
         add_first_axis(expr->index, 1, &step) &&
         step * blocker->first == blocker->cut.examples * (int64_t)expr->value;
}

static bool note_expr(Blocker *blocker, const Expr *expr) {
  for (int i = 0; i < expr->guard_count; i++)
    if (!is_free_of_first_axis(expr->guards[i].index) ||
        !note_index_loads(blocker, expr->guards[i].index))
      return false;
  if (!note_index_loads(blocker, expr->index)) return false;
  switch (expr->kind) {
  case EXPR_LOAD: return note_access(blocker, expr->operand, expr->index, false);
  case EXPR_INDEX: return is_free_of_first_axis(expr->index);
  case EXPR_RANDOM: return note_random(blocker, expr);
  default: return true;
  }
}

static bool note_stage(Blocker *blocker, int number) {
  const Kernel *kernel = blocker->kernel;
  Stage stage = kernel_stage(kernel, number);
  blocker->axis_count = kernel->axis_count + stage.axis_count;
  for (int i = 0; i < kernel->axis_count; i++) blocker->extents[i] = kernel->extent[i];
  for (int i = 0; i < stage.axis_count; i++)
    blocker->extents[kernel->axis_count + i] = stage.extent[i];
  blocker->extents[0] = 1;
  ExprList list = kernel_expressions(blocker->arena, kernel, number);
  for (int i = 0; i < list.count; i++)
    if (!note_expr(blocker, list.items[i])) return false;
  for (int i = 0; i < stage.store_count; i++)
    if (!note_index_loads(blocker, stage.stores[i].index) ||
        !note_access(blocker, stage.stores[i].operand, stage.stores[i].index, true))
      return false;
  return true;
}

/* What the template itself touches. */
static bool note_template(Blocker *blocker, bool *parts) {
  const KernelClass *class = kernel_class(blocker->kernel);
  if (!class->can_block || !class->can_block(blocker->kernel, blocker->cut.blocks, parts))
    return false;
  for (int i = 0; i < kernel_template_operands(blocker->kernel); i++)
    blocker->touch[i] = parts[i] ? TOUCH_PART : TOUCH_WHOLE;
  return true;
}

/* ---- the kernel of one part ---------------------------------------------------------------- */

/* The axis of the pieces, whose extent is 1 now, is left out. */
static void drop_first_axis(Arena *arena, Kernel *kernel) {
  Index *by[KERNEL_MAX_AXES];
  for (int i = 0; i < kernel->axis_count; i++)
    by[i] = i == 0 ? index_const(arena, 0) : index_axis(arena, i - 1);
  int count = kernel->axis_count--;
  memmove(kernel->extent, kernel->extent + 1, sizeof *kernel->extent * (size_t)kernel->axis_count);
  ExprList list = kernel_expressions(arena, kernel, 0);
  for (int i = 0; i < list.count; i++) {
    Expr *expr = list.items[i];
    if (expr->index) expr->index = index_substitute(arena, expr->index, by, count);
    expr->guards =
        arena_copy(arena, expr->guards, sizeof *expr->guards * (size_t)expr->guard_count);
    for (int k = 0; k < expr->guard_count; k++)
      expr->guards[k].index = index_substitute(arena, expr->guards[k].index, by, count);
  }
  for (int i = 0; i < kernel->epilogue_count; i++)
    kernel->epilogue[i].index = index_substitute(arena, kernel->epilogue[i].index, by, count);
}

static void shrink(Arena *arena, Kernel *kernel, BlockCut cut, const bool *parts) {
  kernel->is_serial = true;
  kernel->extent[0] /= cut.blocks;
  kernel->operands =
      arena_copy(arena, kernel->operands, sizeof *kernel->operands * (size_t)kernel->operand_count);
  for (int i = 0; i < kernel->operand_count; i++)
    if (parts[i]) kernel->operands[i].elements /= cut.blocks;
  if (kernel_class(kernel)->block) kernel_class(kernel)->block(kernel, cut.blocks);
}

void kernel_block(Arena *arena, Kernel *kernel, BlockCut cut, const bool *parts) {
  bool is_in_pieces = kernel_is_in_pieces(kernel);
  shrink(arena, kernel, cut, parts);
  if (is_in_pieces) drop_first_axis(arena, kernel);
}

/* A guard may keep an access in its row: then the part's own accesses are proved, within the part's
 * operands. */
static bool part_is_proved(const Blocker *blocker, const bool *parts) {
  Kernel part = *blocker->kernel;
  shrink(blocker->arena, &part, blocker->cut, parts);
  return kernel_verify(blocker->arena, &part) == NULL;
}

bool kernel_can_block(const Kernel *kernel, BlockCut cut, bool *parts) {
  bool has_axis = kernel->axis_count > 0 && kernel->extent[0] > 0;
  if (!has_axis || kernel->extent[0] % cut.blocks != 0 || kernel->feeder) return false;
  Blocker blocker = {
      .arena = arena_create(), .kernel = kernel, .cut = cut, .first = kernel->extent[0]};
  blocker.touch = ARENA_ARRAY(blocker.arena, Touch, kernel->operand_count);
  bool can = note_template(&blocker, parts);
  for (int i = 0; can && i < kernel_stage_count(kernel); i++) can = note_stage(&blocker, i);
  for (int i = 0; i < kernel->operand_count; i++) {
    parts[i] = blocker.touch[i] == TOUCH_PART;
    if (parts[i] && kernel->operands[i].elements % cut.blocks != 0) can = false;
  }
  if (can && blocker.needs_proof)
    can = !kernel_is_in_pieces(kernel) && part_is_proved(&blocker, parts);
  arena_destroy(blocker.arena);
  return can;
}
