/* Kernels made simpler after they are built: axes that every access treats as one become one, an
 * operand that is updated in place becomes one operand, a division by a host scalar a
 * multiplication.
 *
 * Two neighbouring axes i and i+1 of extents a and b are replaced by one axis x of extent a*b: i =
 * x/b, i+1 = x%b. When the index algebra makes all those divisions vanish again, nothing is
 * lost. */
#include "kernel/builder.h"
#include "kernel/class.h"
#include "kernel/feed.h"

#include <string.h>
#include "support/panic.h"

/* ---- collapsing axes ----------------------------------------------------------------------- */

static int index_divisions(const Index *index) {
  if (index == NULL) return 0;
  int own = index->kind == INDEX_DIV || index->kind == INDEX_MOD;
  return own + index_divisions(index->left) + index_divisions(index->right);
}

static bool index_has_axis(const Index *index, int axis) {
  if (index == NULL) return false;
  if (index->kind == INDEX_AXIS) return index->value == axis;
  return index_has_axis(index->left, axis) || index_has_axis(index->right, axis);
}

/* Divisions and moduli of what goes with an axis. */
static int divisions_along(const Index *index, int axis) {
  if (index == NULL) return 0;
  int own = (index->kind == INDEX_DIV || index->kind == INDEX_MOD) && index_has_axis(index, axis);
  return own + divisions_along(index->left, axis) + divisions_along(index->right, axis);
}

typedef struct Collapse {
  Arena *arena;
  int axis;              /* which is joined with the next one */
  const int64_t *before; /* extents */
  Index *by[2 * KERNEL_MAX_AXES];
  int count; /* axes before */
  int64_t extents[2 * KERNEL_MAX_AXES];
  int after; /* axes after */
  bool commit;
  bool gets_worse;
} Collapse;

/* Whether the inner one of the axes is divided no more often where it is part of the joined axis. */
static bool stays_undivided(const Collapse *collapse, Index *index, Index *next) {
  if (index_divisions(next) == 0) return true;
  Index *before = index_shorten(collapse->arena, index, collapse->before, collapse->count);
  Index *after = index_shorten(collapse->arena, next, collapse->extents, collapse->after);
  return divisions_along(after, collapse->axis) <= divisions_along(before, collapse->axis + 1);
}

static void collapse_index(Collapse *collapse, Index **index) {
  if (*index == NULL) return;
  Index *next = index_substitute_in(collapse->arena, *index, collapse->by, collapse->count,
                                    collapse->extents, collapse->after);
  if (index_divisions(next) > index_divisions(*index) || !stays_undivided(collapse, *index, next))
    collapse->gets_worse = true;
  if (collapse->commit) *index = next;
}

static void collapse_stage(Collapse *collapse, Kernel *kernel, int number) {
  ExprList list = kernel_expressions(collapse->arena, kernel, number);
  for (int i = 0; i < list.count; i++) {
    Expr *expr = list.items[i];
    collapse_index(collapse, &expr->index);
    for (int k = 0; k < expr->guard_count; k++) {
      if (!collapse->commit) {
        Index *copy = expr->guards[k].index;
        collapse_index(collapse, &copy);
        continue;
      }
      if (k == 0) /* guards are shared between loads */
        expr->guards = arena_copy(collapse->arena, expr->guards,
                                  sizeof *expr->guards * (size_t)expr->guard_count);
      collapse_index(collapse, &expr->guards[k].index);
    }
  }
  Stage stage = kernel_stage(kernel, number);
  for (int i = 0; i < stage.store_count; i++) collapse_index(collapse, &stage.stores[i].index);
}

/* Axes and extents when `axis` and `axis + 1` of `count` are one; those of a stage follow. */
static void collapse_prepare(Collapse *collapse, int axis, const int64_t *extent, int count) {
  collapse->axis = axis;
  collapse->before = extent;
  collapse->count = count;
  collapse->after = count - 1;
  for (int i = 0; i < count - 1; i++)
    collapse->extents[i] = i < axis    ? extent[i]
                           : i == axis ? extent[i] * extent[i + 1]
                                       : extent[i + 1];
  for (int i = 0; i < count; i++)
    collapse->by[i] = index_axis(collapse->arena, i <= axis ? i : i - 1);
  Index *joined = index_axis(collapse->arena, axis);
  collapse->by[axis] =
      index_div(collapse->arena, joined, extent[axis + 1], collapse->extents, count - 1);
  collapse->by[axis + 1] =
      index_mod(collapse->arena, joined, extent[axis + 1], collapse->extents, count - 1);
}

static int64_t *all_extents(Arena *arena, const Kernel *kernel, const Stage *stage, int *count) {
  int64_t *extent = ARENA_ARRAY(arena, int64_t, 2 * KERNEL_MAX_AXES);
  for (int i = 0; i < kernel->axis_count; i++) extent[i] = kernel->extent[i];
  for (int i = 0; i < stage->axis_count; i++) extent[kernel->axis_count + i] = stage->extent[i];
  *count = kernel->axis_count + stage->axis_count;
  return extent;
}

static void remove_extent(int64_t *extent, int *count, int axis) {
  extent[axis] *= extent[axis + 1];
  for (int i = axis + 1; i + 1 < *count; i++) extent[i] = extent[i + 1];
  --*count;
}

bool kernel_collapse_pair(Arena *arena, Kernel *kernel, int axis) {
  if (kernel->extent[axis + 1] == 0) return false; /* no points: nothing to divide by */
  for (int commit = 0; commit < 2; commit++) {
    Collapse collapse = {.arena = arena, .commit = commit};
    for (int i = 0; i < kernel_stage_count(kernel); i++) {
      Stage stage = kernel_stage(kernel, i);
      int count;
      int64_t *extent = all_extents(arena, kernel, &stage, &count);
      collapse_prepare(&collapse, axis, extent, count);
      collapse_stage(&collapse, kernel, i);
    }
    if (collapse.gets_worse) return false;
  }
  remove_extent(kernel->extent, &kernel->axis_count, axis);
  return true;
}

static bool collapse_inner_pair(Arena *arena, Kernel *kernel, int number, int axis) {
  Stage *stage = &kernel->stages[number];
  if (stage->extent[axis + 1] == 0) return false;
  int count;
  int64_t *extent = all_extents(arena, kernel, stage, &count);
  for (int commit = 0; commit < 2; commit++) {
    Collapse collapse = {.arena = arena, .commit = commit};
    collapse_prepare(&collapse, kernel->axis_count + axis, extent, count);
    collapse_stage(&collapse, kernel, number);
    if (collapse.gets_worse) return false;
  }
  remove_extent(stage->extent, &stage->axis_count, axis);
  return true;
}

void kernel_collapse_stages(Arena *arena, Kernel *kernel) {
  for (int i = 0; i + 1 < kernel->axis_count;)
    if (!kernel_collapse_pair(arena, kernel, i)) i++;
  for (int s = 0; s < kernel->stage_count; s++) {
    Op reduce = kernel->stages[s].reduce;
    if (kernel->stages[s].kind == STAGE_REDUCE && (reduce == OP_ARGMAX || reduce == OP_ARGMIN))
      continue;
    for (int i = 0; i + 1 < kernel->stages[s].axis_count;)
      if (!collapse_inner_pair(arena, kernel, s, i)) i++;
  }
}

/* ---- short indices ------------------------------------------------------------------------- */

static void shorten_index(Arena *arena, Index **index, const int64_t *extents, int count) {
  if (*index && index_divisions(*index) > 0) *index = index_shorten(arena, *index, extents, count);
}

static void shorten_stage(Arena *arena, Kernel *kernel, int number) {
  Stage stage = kernel_stage(kernel, number);
  int count;
  const int64_t *extents = all_extents(arena, kernel, &stage, &count);
  ExprList list = kernel_expressions(arena, kernel, number);
  for (int i = 0; i < list.count; i++) shorten_index(arena, &list.items[i]->index, extents, count);
  for (int i = 0; i < stage.store_count; i++)
    shorten_index(arena, &stage.stores[i].index, extents, count);
}

void kernel_collapse(Arena *arena, Kernel *kernel) {
  const KernelClass *class = kernel_class(kernel);
  if (class->collapse) class->collapse(arena, kernel);
  for (int s = 0; s < kernel_stage_count(kernel); s++) shorten_stage(arena, kernel, s);
}

/* ---- division by host scalars -------------------------------------------------------------- */

/* A number that is the same in the whole launch: host scalars, constants, arithmetic on them. */
static bool is_launch_constant(const Expr *expr, bool *has_scalar) {
  if (expr->kind == EXPR_CONST) return true;
  if (expr->kind == EXPR_SCALAR) return *has_scalar = true;
  if (expr->kind != EXPR_OP) return false;
  for (int i = 0; i < expr->arg_count; i++)
    if (!is_launch_constant(expr->args[i], has_scalar)) return false;
  return true;
}

static Expr *make_op(Arena *arena, Op op, DType dtype, Expr *a, Expr *b) {
  Expr *expr = ARENA_NEW(arena, Expr);
  *expr = (Expr){.kind = EXPR_OP, .op = op, .dtype = dtype, .arg_count = b ? 2 : 1, .args = {a, b}};
  return expr;
}

/* 1 / divisor, divided in double where the divisor comes from one. */
static Expr *reciprocal(Arena *arena, Expr *divisor) {
  bool from_double =
      divisor->kind == EXPR_OP && divisor->op == OP_CAST && divisor->args[0]->dtype == DTYPE_F64;
  Expr *wide = from_double ? divisor->args[0] : divisor, *one = ARENA_NEW(arena, Expr);
  *one = (Expr){.kind = EXPR_CONST, .dtype = wide->dtype, .value = 1};
  Expr *result = make_op(arena, OP_DIV, wide->dtype, one, wide);
  return from_double ? make_op(arena, OP_CAST, divisor->dtype, result, NULL) : result;
}

void kernel_multiply_by_reciprocals(Arena *arena, Kernel *kernel) {
  for (int s = 0; s < kernel_stage_count(kernel); s++) {
    ExprList list = kernel_expressions(arena, kernel, s), divisors = {0}, reciprocals = {0};
    for (int i = 0; i < list.count; i++) {
      Expr *expr = list.items[i];
      bool has_scalar = false;
      if (expr->kind != EXPR_OP || expr->op != OP_DIV || !dtype_is_float(expr->dtype) ||
          dtype_is_half(expr->dtype) || /* 1 / s would be rounded too */
          is_launch_constant(expr->args[0], &has_scalar) ||
          !is_launch_constant(expr->args[1], &has_scalar) || !has_scalar)
        continue;
      int at = 0;
      while (at < divisors.count && divisors.items[at] != expr->args[1]) at++;
      if (at == divisors.count) {
        vec_push(arena, &divisors, expr->args[1]);
        vec_push(arena, &reciprocals, reciprocal(arena, expr->args[1]));
      }
      expr->op = OP_MUL;
      expr->args[1] = reciprocals.items[at];
    }
  }
}

/* ---- updates in place ---------------------------------------------------------------------- */

static bool index_loads_from(const Index *index, int operand) {
  if (index == NULL) return false;
  if (index->kind == INDEX_LOAD && index->operand == operand) return true;
  return index_loads_from(index->left, operand) || index_loads_from(index->right, operand);
}

/* The loops of two stages run over the same points. */
static bool same_loop(const Stage *a, const Stage *b) {
  if (a->axis_count != b->axis_count) return false;
  return memcmp(a->extent, b->extent, sizeof *a->extent * (size_t)a->axis_count) == 0;
}

/* The index is made of the domain's axes alone. */
static bool is_of_domain(const Kernel *kernel, const Index *index) {
  if (index == NULL) return true;
  if (index->kind == INDEX_LOAD) return false;
  if (index->kind == INDEX_AXIS) return index->value < kernel->axis_count;
  return is_of_domain(kernel, index->left) && is_of_domain(kernel, index->right);
}

bool kernel_can_unify(const Kernel *kernel, int into, int from) {
  if (kernel_feeder_reads(kernel, into))
    return false; /* other points may still need the old value */
  Arena *arena = arena_create();
  const Index *at = NULL;
  int store_stage = -1;
  Stage storing = {0};
  bool fits = kernel->operands[into].dtype == kernel->operands[from].dtype &&
              kernel->operands[into].elements == kernel->operands[from].elements &&
              into >= kernel_template_operands(kernel);
  for (int s = 0; s < kernel_stage_count(kernel); s++) {
    Stage stage = kernel_stage(kernel, s);
    for (int i = 0; i < stage.store_count; i++)
      if (stage.stores[i].operand == from) {
        at = stage.stores[i].index;
        store_stage = s;
        storing = stage;
      }
  }
  for (int s = 0; s < kernel_stage_count(kernel) && fits; s++) {
    ExprList list = kernel_expressions(arena, kernel, s);
    Stage stage = kernel_stage(kernel, s);
    for (int i = 0; i < list.count && fits; i++) {
      const Expr *expr = list.items[i];
      if (index_loads_from(expr->index, into)) fits = false;
      for (int k = 0; k < expr->guard_count; k++)
        if (index_loads_from(expr->guards[k].index, into)) fits = false;
      if (expr->kind != EXPR_LOAD || expr->operand != into) continue;
      /* Earlier stages have read this point's elements before; later ones would see the new
       * value.  One element a row may be read in any loop of the row. */
      bool same_elements = same_loop(&stage, &storing) || is_of_domain(kernel, at);
      if (s > store_stage || !same_elements || !index_equal(expr->index, at)) fits = false;
    }
  }
  arena_destroy(arena);
  return fits && at != NULL;
}

static void index_renumber(Arena *arena, Index **index, const int *to) {
  if (*index == NULL) return;
  *index = arena_copy(arena, *index, sizeof **index);
  if ((*index)->kind == INDEX_LOAD) (*index)->operand = to[(*index)->operand];
  index_renumber(arena, &(*index)->left, to);
  index_renumber(arena, &(*index)->right, to);
}

void kernel_unify(Arena *arena, Kernel *kernel, int into, int from) {
  int *to = ARENA_ARRAY(arena, int, kernel->operand_count);
  for (int i = 0; i < kernel->operand_count; i++) to[i] = i - (i > from);
  to[from] = to[into];
  for (int s = 0; s < kernel_stage_count(kernel); s++) {
    ExprList list = kernel_expressions(arena, kernel, s);
    for (int i = 0; i < list.count; i++) {
      Expr *expr = list.items[i];
      if (expr->kind == EXPR_LOAD) expr->operand = to[expr->operand];
      index_renumber(arena, &expr->index, to);
      Guard *guards = ARENA_ARRAY(arena, Guard, expr->guard_count);
      for (int k = 0; k < expr->guard_count; k++) {
        guards[k] = expr->guards[k];
        index_renumber(arena, &guards[k].index, to);
      }
      expr->guards = guards;
    }
    Stage stage = kernel_stage(kernel, s);
    for (int i = 0; i < stage.store_count; i++) {
      stage.stores[i].operand = to[stage.stores[i].operand];
      index_renumber(arena, &stage.stores[i].index, to);
    }
  }
  for (int i = 0; kernel->feeder && i < kernel->feeder->operand_count; i++)
    if (kernel->feed[i] >= 0) kernel->feed[i] = to[kernel->feed[i]];
  kernel->operands[into].is_output = true;
  for (int i = from; i + 1 < kernel->operand_count; i++)
    kernel->operands[i] = kernel->operands[i + 1];
  kernel->operand_count--;
}
