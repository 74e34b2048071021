/* Cases of rows: see cases.h.
 *
 * A condition compares an index that moves by one along a single axis with a number, or guards a
 * load by such an index. Where its answer changes, one case ends and the next begins; within a case
 * the condition is a constant and folds. Values are not touched, so the bits stay the same. */
#include "kernel/cases.h"

#include <math.h>
#include <stdlib.h>
#include "kernel/builder.h"

enum {
  FEW_CASES = 4,      /* fewer are not worth a loop each */
  SHORT_CASE = 16,    /* elements of a row; cases of fewer are not, either */
  SHORT_PART = 16,    /* elements of a row that lie together; loops of fewer are not */
  MOST_ROW_CASES = 16 /* of a row: each is a loop of its own */
};

typedef VEC(int64_t) Cuts;

/* index = base + the axis, and no other axis. */
static bool is_along_one_axis(const Kernel *kernel, const Index *index, int *axis, int64_t *base) {
  int64_t coefficient[2 * KERNEL_MAX_AXES];
  if (index == NULL || !index_is_affine(index, kernel->axis_count, base, coefficient)) return false;
  int count = 0;
  for (int i = 0; i < kernel->axis_count; i++) {
    if (coefficient[i] == 0) continue;
    *axis = i;
    count += coefficient[i] == 1 ? 1 : 2;
  }
  return count == 1;
}

/* ---- conditions ---------------------------------------------------------------------------- */

/* For which values of the axis a comparison of an index with a constant holds: [from, to). */
typedef struct Range {
  int axis;
  int64_t from, to;
} Range;

static bool comparison_range(const Kernel *kernel, const Expr *expr, Range *range) {
  if (expr->kind != EXPR_OP || expr->arg_count != 2 || expr->args[0]->kind != EXPR_INDEX ||
      expr->args[1]->kind != EXPR_CONST || !dtype_is_int(expr->args[0]->dtype))
    return false;
  int64_t base, limit = (int64_t)expr->args[1]->value;
  if (!is_along_one_axis(kernel, expr->args[0]->index, &range->axis, &base)) return false;
  range->from = INT64_MIN;
  range->to = INT64_MAX;
  switch (expr->op) {
  case OP_LT: range->to = limit - base; return true;
  case OP_LE: range->to = limit - base + 1; return true;
  case OP_GE: range->from = limit - base; return true;
  case OP_GT: range->from = limit - base + 1; return true;
  default: return false;
  }
}

static bool guard_range(const Kernel *kernel, const Guard *guard, Range *range) {
  int64_t base;
  if (!is_along_one_axis(kernel, guard->index, &range->axis, &base)) return false;
  range->from = -base;
  range->to = guard->bound - base;
  return true;
}

/* ---- finding the cases --------------------------------------------------------------------- */

static void add_cut(Arena *arena, Cuts *cuts, int64_t at, int64_t extent) {
  if (at > 0 && at < extent) vec_push(arena, cuts, at);
}

static void add_range(Arena *arena, const Kernel *kernel, Cuts *cuts, const Range *range) {
  add_cut(arena, &cuts[range->axis], range->from, kernel->extent[range->axis]);
  add_cut(arena, &cuts[range->axis], range->to, kernel->extent[range->axis]);
}

static int by_value(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static void sort_cuts(Cuts *cuts) {
  if (cuts->count < 2) return;
  qsort(cuts->items, (size_t)cuts->count, sizeof *cuts->items, by_value);
  int kept = 1;
  for (int i = 1; i < cuts->count; i++)
    if (cuts->items[i] != cuts->items[kept - 1]) cuts->items[kept++] = cuts->items[i];
  cuts->count = kept;
}

/* Where the answers change, along each axis. */
static void find_cuts(Arena *arena, const Kernel *kernel, int stage, Cuts *cuts) {
  ExprList list = kernel_expressions(arena, kernel, stage);
  Range range;
  for (int i = 0; i < list.count; i++) {
    const Expr *expr = list.items[i];
    if (comparison_range(kernel, expr, &range)) add_range(arena, kernel, cuts, &range);
    for (int k = 0; k < expr->guard_count; k++)
      if (guard_range(kernel, &expr->guards[k], &range)) add_range(arena, kernel, cuts, &range);
  }
  for (int i = 0; i < kernel->axis_count; i++) sort_cuts(&cuts[i]);
}

static KernelCases cases_along(Arena *arena, const Kernel *kernel, int axis, const Cuts *cuts) {
  KernelCases cases = {axis, cuts->count + 1, ARENA_ARRAY(arena, int64_t, cuts->count + 2)};
  for (int k = 0; k < cuts->count; k++) cases.begin[k + 1] = cuts->items[k];
  cases.begin[cases.count] = kernel->extent[axis];
  return cases;
}

KernelCases kernel_cases(Arena *arena, const Kernel *kernel, int stage) {
  KernelCases cases = {.count = 1};
  Cuts cuts[KERNEL_MAX_AXES] = {0};
  find_cuts(arena, kernel, stage, cuts);
  for (int i = 0; i + 1 < kernel->axis_count; i++)
    if (cuts[i].count >= FEW_CASES - 1 && cuts[i].count >= cases.count)
      cases = cases_along(arena, kernel, i, &cuts[i]);
  return cases;
}

KernelCases kernel_row_cases(Arena *arena, const Kernel *kernel, int stage) {
  KernelCases cases = {.count = 1};
  Cuts cuts[KERNEL_MAX_AXES] = {0};
  int last = kernel->axis_count - 1;
  if (last < 0) return cases;
  find_cuts(arena, kernel, stage, cuts);
  int count = cuts[last].count + 1;
  if (count > MOST_ROW_CASES || kernel->extent[last] < (int64_t)count * SHORT_CASE) return cases;
  return cases_along(arena, kernel, last, &cuts[last]);
}

/* ---- in some cases ------------------------------------------------------------------------- */

typedef struct Narrow {
  Arena *arena;
  const Kernel *kernel;
  int axis;
  int64_t from, to; /* of the axis */
  ExprList list;    /* before */
  Expr **now;       /* by place in the list */
} Narrow;

typedef enum Answer { NEVER, ALWAYS, DEPENDS } Answer;

static Answer answer(const Narrow *narrow, const Range *range) {
  if (range->axis != narrow->axis) return DEPENDS;
  if (range->from <= narrow->from && narrow->to <= range->to) return ALWAYS;
  return range->to <= narrow->from || narrow->to <= range->from ? NEVER : DEPENDS;
}

static Expr *constant(const Narrow *narrow, DType dtype, double value) {
  Expr *expr = ARENA_NEW(narrow->arena, Expr);
  *expr = (Expr){.kind = EXPR_CONST, .dtype = dtype, .value = value};
  return expr;
}

/* A load without the guards that hold; a constant when one does not. */
static Expr *narrow_load(const Narrow *narrow, Expr *load) {
  Guard *guards = ARENA_ARRAY(narrow->arena, Guard, load->guard_count);
  int count = 0;
  Range range;
  for (int i = 0; i < load->guard_count; i++) {
    Answer holds = DEPENDS;
    if (guard_range(narrow->kernel, &load->guards[i], &range)) holds = answer(narrow, &range);
    if (holds == NEVER) return constant(narrow, load->dtype, load->value);
    if (holds == DEPENDS) guards[count++] = load->guards[i];
  }
  if (count == load->guard_count) return load;
  Expr *less = arena_copy(narrow->arena, load, sizeof *load);
  less->guards = guards;
  less->guard_count = count;
  return less;
}

static bool is_truth(const Expr *expr, bool value) {
  return expr->kind == EXPR_CONST && (expr->value != 0) == value;
}

static bool is_nought(const Expr *expr) {
  return expr->kind == EXPR_CONST && expr->value == 0 && !signbit(expr->value);
}

/* The operator on narrowed operands, or what it is when they decide it. */
static Expr *narrow_operator(const Narrow *narrow, Expr *expr, Expr *const *args) {
  if (expr->op == OP_WHERE && args[0]->kind == EXPR_CONST)
    return is_truth(args[0], true) ? args[1] : args[2];
  if (expr->op == OP_ADD && is_nought(args[0]) && is_nought(args[1])) return args[0];
  if (expr->op == OP_AND || expr->op == OP_OR) {
    bool decides = expr->op == OP_OR;
    for (int i = 0; i < 2; i++) {
      if (is_truth(args[i], decides)) return args[i];
      if (is_truth(args[i], !decides)) return args[1 - i];
    }
  }
  bool is_same = true;
  for (int i = 0; i < expr->arg_count; i++) is_same = is_same && args[i] == expr->args[i];
  if (is_same) return expr;
  Expr *copy = arena_copy(narrow->arena, expr, sizeof *expr);
  for (int i = 0; i < expr->arg_count; i++) copy->args[i] = args[i];
  return copy;
}

static Expr *now(const Narrow *narrow, const Expr *expr) {
  for (int i = 0;; i++)
    if (narrow->list.items[i] == expr) return narrow->now[i];
}

static Expr *narrow_expression(const Narrow *narrow, Expr *expr) {
  Range range;
  if (comparison_range(narrow->kernel, expr, &range)) {
    Answer holds = answer(narrow, &range);
    if (holds != DEPENDS) return constant(narrow, DTYPE_BOOL, holds == ALWAYS);
  }
  if (expr->kind == EXPR_LOAD) return narrow_load(narrow, expr);
  if (expr->kind != EXPR_OP) return expr;
  Expr *args[EXPR_MOST_ARGS] = {NULL};
  for (int i = 0; i < expr->arg_count; i++) args[i] = now(narrow, expr->args[i]);
  return narrow_operator(narrow, expr, args);
}

Kernel *kernel_in_cases(Arena *arena, const Kernel *kernel, int stage, const KernelCases *cases,
                        int first, int beyond) {
  Narrow narrow = {.arena = arena,
                   .kernel = kernel,
                   .axis = cases->axis,
                   .from = cases->begin[first],
                   .to = cases->begin[beyond],
                   .list = kernel_expressions(arena, kernel, stage)};
  narrow.now = ARENA_ARRAY(arena, Expr *, narrow.list.count);
  for (int i = 0; i < narrow.list.count; i++)
    narrow.now[i] = narrow_expression(&narrow, narrow.list.items[i]);
  Kernel *copy = arena_copy(arena, kernel, sizeof *kernel);
  copy->stages =
      arena_copy(arena, kernel->stages, sizeof *copy->stages * (size_t)copy->stage_count);
  Stage *own = &copy->stages[stage];
  own->stores = arena_copy(arena, own->stores, sizeof *own->stores * (size_t)own->store_count);
  for (int i = 0; i < own->store_count; i++)
    own->stores[i].value = now(&narrow, own->stores[i].value);
  return copy;
}

/* ---- a part of a row ----------------------------------------------------------------------- */

typedef struct Shift {
  Arena *arena;
  const Kernel *kernel; /* with the part's extent */
  Index *by[KERNEL_MAX_AXES];
} Shift;

static Index *shifted(const Shift *shift, Index *index) {
  const Kernel *kernel = shift->kernel;
  if (index == NULL) return NULL;
  return index_substitute_in(shift->arena, index, shift->by, kernel->axis_count, kernel->extent,
                             kernel->axis_count);
}

static Expr *shifted_expression(const Shift *shift, const ExprList *list, Expr *const *moved,
                                const Expr *expr) {
  Expr *copy = arena_copy(shift->arena, expr, sizeof *expr);
  copy->index = shifted(shift, expr->index);
  copy->guards = ARENA_ARRAY(shift->arena, Guard, expr->guard_count);
  for (int i = 0; i < expr->guard_count; i++)
    copy->guards[i] = (Guard){shifted(shift, expr->guards[i].index), expr->guards[i].bound};
  for (int i = 0; i < expr->arg_count; i++)
    for (int k = 0; k < list->count; k++)
      if (list->items[k] == expr->args[i]) copy->args[i] = moved[k];
  return copy;
}

/* Replaces axes in a stage's indices; `part` has the stage for its own. */
static void shift_stage(const Shift *shift, const Kernel *part, int stage) {
  ExprList list = kernel_expressions(shift->arena, part, stage);
  Expr **moved = ARENA_ARRAY(shift->arena, Expr *, list.count);
  for (int i = 0; i < list.count; i++)
    moved[i] = shifted_expression(shift, &list, moved, list.items[i]);
  Stage *own = &part->stages[stage];
  for (int i = 0; i < own->store_count; i++) {
    own->stores[i].index = shifted(shift, own->stores[i].index);
    for (int k = 0; k < list.count; k++)
      if (list.items[k] == own->stores[i].value) {
        own->stores[i].value = moved[k];
        break;
      }
  }
}

Kernel *kernel_in_row_case(Arena *arena, const Kernel *kernel, int stage, const KernelCases *cases,
                           int number) {
  Kernel *part = kernel_in_cases(arena, kernel, stage, cases, number, number + 1);
  int64_t from = cases->begin[number];
  part->extent[cases->axis] = cases->begin[number + 1] - from;
  Shift shift = {.arena = arena, .kernel = part};
  for (int i = 0; i < part->axis_count; i++) shift.by[i] = index_axis(arena, i);
  shift.by[cases->axis] = index_add(arena, shift.by[cases->axis], index_const(arena, from));
  shift_stage(&shift, part, stage);
  return part;
}

/* ---- parts of a row that lie together -------------------------------------------------------- */

/* Notes down the number by which the axis is divided; -1 where there are several. */
static void find_divisor(const Index *index, int axis, int64_t *divisor) {
  if (index == NULL) return;
  bool divides = index->kind == INDEX_DIV || index->kind == INDEX_MOD;
  if (divides && index->left->kind == INDEX_AXIS && index->left->value == axis) {
    *divisor = *divisor == 0 || *divisor == index->value ? index->value : -1;
    return;
  }
  find_divisor(index->left, axis, divisor);
  find_divisor(index->right, axis, divisor);
}

int64_t kernel_row_part(Arena *arena, const Kernel *kernel, int stage) {
  int last = kernel->axis_count - 1;
  if (last < 0 || kernel->axis_count == KERNEL_MAX_AXES) return 0;
  int64_t length = 0;
  ExprList list = kernel_expressions(arena, kernel, stage);
  for (int i = 0; i < list.count; i++) {
    find_divisor(list.items[i]->index, last, &length);
    for (int k = 0; k < list.items[i]->guard_count; k++)
      find_divisor(list.items[i]->guards[k].index, last, &length);
  }
  const Stage *own = &kernel->stages[stage];
  for (int i = 0; i < own->store_count; i++) find_divisor(own->stores[i].index, last, &length);
  bool is_even = length >= SHORT_PART && kernel->extent[last] % length == 0;
  return is_even && length < kernel->extent[last] ? length : 0;
}

Kernel *kernel_in_row_parts(Arena *arena, const Kernel *kernel, int stage, int64_t length) {
  Kernel *parts = arena_copy(arena, kernel, sizeof *kernel);
  parts->stages =
      arena_copy(arena, kernel->stages, sizeof *parts->stages * (size_t)parts->stage_count);
  Stage *own = &parts->stages[stage];
  own->stores = arena_copy(arena, own->stores, sizeof *own->stores * (size_t)own->store_count);
  int last = kernel->axis_count - 1;
  parts->axis_count++;
  parts->extent[last] = kernel->extent[last] / length;
  parts->extent[last + 1] = length;
  Shift shift = {.arena = arena, .kernel = parts};
  for (int i = 0; i < parts->axis_count; i++) shift.by[i] = index_axis(arena, i);
  shift.by[last] = index_add(arena, index_mul(arena, shift.by[last], length), shift.by[last + 1]);
  shift_stage(&shift, parts, stage);
  return parts;
}
