/* Kernels over a part of their domain: see block.h. */
#include "kernel/block.h"

#include <string.h>

#include "kernel/builder.h"
#include "kernel/tiles.h"
#include "support/integers.h"
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

/* ---- templates ----------------------------------------------------------------------------- */

/* The group to which the domain's first axis belongs. */
static AxisGroup *first_group(ContractSlots *slots) {
  return slots->batch.count > 0 ? &slots->batch : slots->m.count > 0 ? &slots->m : &slots->n;
}

static int64_t reach(const AxisGroup *group, int slot, int from) {
  int64_t reach = 0;
  for (int i = from; i < group->count; i++)
    reach += (group->extent[i] - 1) * group->stride[slot][i];
  return reach;
}

/* Side 0 or 1 of a contraction: rows of its own for each element of the first axis, or all of
 * it. */
static bool note_side(Blocker *blocker, const ContractSlots *slots, const AxisGroup *first,
                      int slot) {
  int64_t row = first->stride[slot][0], others = 0;
  if (row == 0) return note_touch(blocker, slot, TOUCH_WHOLE);
  const AxisGroup *groups[] = {&slots->batch, &slots->m, &slots->n, &slots->k};
  for (int i = 0; i < 4; i++) others += reach(groups[i], slot, groups[i] == first);
  if (row * first->extent[0] != blocker->kernel->operands[slot].elements || others >= row)
    return false;
  return note_touch(blocker, slot, TOUCH_PART);
}

static bool note_contract(Blocker *blocker) {
  ContractSlots slots = blocker->kernel->contract;
  const AxisGroup *first = first_group(&slots);
  return first->count > 0 && first->extent[0] % blocker->cut.blocks == 0 &&
         note_side(blocker, &slots, first, 0) && note_side(blocker, &slots, first, 1);
}

static int64_t images_elements(const ConvSlots *conv, int64_t channels, const int64_t *extent) {
  return conv->n * channels * extent_product(extent, conv->spatial);
}

static bool note_slots(Blocker *blocker) {
  const ConvSlots *conv = &blocker->kernel->conv;
  const KernelOperand *operands = blocker->kernel->operands;
  int64_t x = images_elements(conv, conv->c, conv->in);
  int64_t y = images_elements(conv, conv->k, conv->out);
  bool is_even = conv->n > 0 && conv->n % blocker->cut.blocks == 0;
  bool is_x = operands[0].elements == x; /* all of it, not a view into something larger */
  bool is_pair = is_x && operands[1].elements == y;
  switch (blocker->kernel->kind) {
  case KERNEL_LOOP: return true;
  case KERNEL_CONTRACT: return note_contract(blocker);
  case KERNEL_CONV:
    return is_even && is_x && note_touch(blocker, 0, TOUCH_PART) &&
           note_touch(blocker, 1, TOUCH_WHOLE);
  case KERNEL_CONV_INPUT:
    return is_even && operands[0].elements == y && note_touch(blocker, 0, TOUCH_PART) &&
           note_touch(blocker, 1, TOUCH_WHOLE);
  case KERNEL_CONV_WEIGHT:
    return is_even && is_pair && conv->pieces == blocker->cut.blocks &&
           note_touch(blocker, 0, TOUCH_PART) && note_touch(blocker, 1, TOUCH_PART);
  case KERNEL_MAX_POOL_GRAD:
    return is_even && is_pair && note_touch(blocker, 0, TOUCH_PART) &&
           note_touch(blocker, 1, TOUCH_PART);
  default: return false;
  }
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
  if (kernel->kind == KERNEL_CONTRACT) first_group(&kernel->contract)->extent[0] /= cut.blocks;
  else if (kernel->kind != KERNEL_LOOP) kernel->conv.n /= cut.blocks;
}

void kernel_block(Arena *arena, Kernel *kernel, BlockCut cut, const bool *parts) {
  shrink(arena, kernel, cut, parts);
  if (kernel->kind != KERNEL_CONV_WEIGHT) return;
  kernel->conv.pieces = 0;
  drop_first_axis(arena, kernel);
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
  if (!has_axis || kernel->extent[0] % cut.blocks != 0) return false;
  Blocker blocker = {
      .arena = arena_create(), .kernel = kernel, .cut = cut, .first = kernel->extent[0]};
  blocker.touch = ARENA_ARRAY(blocker.arena, Touch, kernel->operand_count);
  bool can = note_slots(&blocker);
  for (int i = 0; can && i < kernel_stage_count(kernel); i++) can = note_stage(&blocker, i);
  for (int i = 0; i < kernel->operand_count; i++) {
    parts[i] = blocker.touch[i] == TOUCH_PART;
    if (parts[i] && kernel->operands[i].elements % cut.blocks != 0) can = false;
  }
  if (can && blocker.needs_proof)
    can = kernel->kind != KERNEL_CONV_WEIGHT && part_is_proved(&blocker, parts);
  arena_destroy(blocker.arena);
  return can;
}
