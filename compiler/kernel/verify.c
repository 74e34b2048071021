/* The kernel verifier: numbers in range, stages that refer to earlier ones, and every access
 * inside its operand.
 *
 * An access under guards is inside when it is a sum of multiples of guarded indices: each such
 * part is taken out of the index and counted with the guard's bound, what remains with the axes'
 * ranges. Where that proves nothing (a reshape of a padded value), points are tried: all of them, or
 * many. */
#include "kernel/builder.h"
#include "kernel/class.h"
#include "kernel/feed.h"

#include <math.h>
#include "support/integers.h"
#include "support/panic.h"

typedef struct Checker {
  Arena *arena;
  const Kernel *kernel;
  int stage;
  int axis_count;
  int64_t extents[2 * KERNEL_MAX_AXES];
} Checker;

#define LARGEST_INDEX 0x1p52

static const char *check_index(Checker *checker, const Index *index, double *size);

static bool range_is_inside(const Checker *checker, const Index *index, int64_t elements,
                            int64_t more_least, int64_t more_greatest) {
  int64_t least, greatest;
  if (!index_range(index, checker->extents, checker->axis_count, &least, &greatest)) return false;
  return least + more_least >= 0 && greatest + more_greatest < elements;
}

/* ---- trying points ---- */

enum { MOST_POINTS = 1 << 20 };

/* The value at a point, where every load gives `loaded` modulo its bound. */
static int64_t value_at(const Index *index, const int64_t *axis, int64_t loaded) {
  int64_t left = index->left ? value_at(index->left, axis, loaded) : 0;
  switch (index->kind) {
  case INDEX_CONST: return index->value;
  case INDEX_AXIS: return axis[index->value];
  case INDEX_ADD: return left + value_at(index->right, axis, loaded);
  case INDEX_MUL: return left * value_at(index->right, axis, loaded);
  case INDEX_DIV: return floor_div(left, index->value);
  case INDEX_MOD: return floor_mod(left, index->value);
  case INDEX_LOAD: return loaded % index->value;
  }
  return 0;
}

/* The greatest bound of a load in the index; 1 when there is none. */
static int64_t loaded_values(const Index *index) {
  if (index == NULL) return 1;
  int64_t left = loaded_values(index->left), right = loaded_values(index->right);
  int64_t most = left > right ? left : right;
  return index->kind == INDEX_LOAD && index->value > most ? index->value : most;
}

static bool point_is_inside(const Index *index, int guard_count, const Guard *guards,
                            const int64_t *axis, int64_t loaded, int64_t elements) {
  for (int i = 0; i < guard_count; i++) {
    int64_t value = value_at(guards[i].index, axis, loaded);
    if (value < 0 || value >= guards[i].bound) return true;
  }
  int64_t value = value_at(index, axis, loaded);
  return value >= 0 && value < elements;
}

/* Every point of a small domain, with every value of a load; of a large one some, a constant
 * number of points apart. */
static bool points_are_inside(const Checker *checker, const Index *index, int guard_count,
                              const Guard *guards, int64_t elements) {
  int64_t points = loaded_values(index), axis[2 * KERNEL_MAX_AXES], values = points;
  for (int i = 0; i < checker->axis_count; i++)
    if (__builtin_mul_overflow(points, checker->extents[i], &points)) points = INT64_MAX / 2;
  int64_t step = points <= MOST_POINTS ? 1 : points / MOST_POINTS | 1;
  for (int64_t point = 0; point < points; point += step) {
    int64_t rest = point / values;
    for (int i = checker->axis_count - 1; i >= 0; i--) {
      axis[i] = rest % checker->extents[i];
      rest /= checker->extents[i];
    }
    if (!point_is_inside(index, guard_count, guards, axis, point % values, elements)) return false;
  }
  return true;
}

/* ---- accesses ---- */

static const char *check_access(Checker *checker, int operand, Index *index, int guard_count,
                                const Guard *guards, const char *what) {
  const Kernel *kernel = checker->kernel;
  if (operand < 0 || operand >= kernel->operand_count)
    return arena_printf(checker->arena, "operand %d of %d", operand, kernel->operand_count);
  double size;
  const char *wrong = check_index(checker, index, &size);
  for (int i = 0; i < guard_count && !wrong; i++)
    wrong = check_index(checker, guards[i].index, &size);
  if (wrong) return wrong;
  for (int i = 0; i < checker->axis_count; i++)
    if (checker->extents[i] == 0) return NULL; /* nothing is accessed */
  int64_t elements = kernel->operands[operand].elements, least = 0, greatest = 0;
  const Index *whole = index;
  if (range_is_inside(checker, index, elements, 0, 0)) return NULL;
  for (int i = 0; i < guard_count; i++) {
    int64_t factor;
    if (!index_factor(checker->arena, index, guards[i].index, &factor)) continue;
    check_index(checker, guards[i].index, &size);
    double most = (size > (double)guards[i].bound ? size : (double)guards[i].bound);
    if (most * (double)(factor < 0 ? -factor : factor) > LARGEST_INDEX) continue;
    index = index_add(checker->arena, index, index_mul(checker->arena, guards[i].index, -factor));
    int64_t end = factor * (guards[i].bound - 1);
    least += end < 0 ? end : 0;
    greatest += end > 0 ? end : 0;
    if (range_is_inside(checker, index, elements, least, greatest)) return NULL;
  }
  if (points_are_inside(checker, whole, guard_count, guards, elements)) return NULL;
  return arena_printf(checker->arena, "%s of operand %d in stage %d leaves its %lld elements", what,
                      operand, checker->stage, (long long)elements);
}

/* `factor`: the product of what the index is multiplied with around here, up to a quotient or
 * remainder. *size: no value of it and no coefficient in it is larger. So none of the sums and
 * products that are made of them overflows. */
static const char *check_part(Checker *checker, const Index *index, double factor, double *size) {
  const char *wrong = NULL;
  double right;
  if (index == NULL) return "an index is missing";
  double value = fabs((double)index->value);
  *size = value;
  switch (index->kind) {
  case INDEX_CONST: break;
  case INDEX_AXIS:
    if (index->value < 0 || index->value >= checker->axis_count)
      return arena_printf(checker->arena, "axis %lld of %d in stage %d", (long long)index->value,
                          checker->axis_count, checker->stage);
    *size = fmax(1, (double)checker->extents[index->value]);
    break;
  case INDEX_LOAD:
    if (index->value < 1) return "a loaded index without a range";
    wrong = check_access(checker, index->operand, index->left, 0, NULL, "an index load");
    break;
  case INDEX_DIV:
  case INDEX_MOD:
    if (index->value < 1) return "a division by zero in an index";
    wrong = check_part(checker, index->left, 1, size);
    *size = index->kind == INDEX_MOD ? value : *size / value + 1;
    break;
  case INDEX_ADD:
    wrong = check_part(checker, index->left, factor, size);
    if (!wrong) wrong = check_part(checker, index->right, factor, &right);
    if (!wrong) *size += right;
    break;
  case INDEX_MUL:
    if (!index->right || index->right->kind != INDEX_CONST) return "an index times an index";
    value = fmax(1, fabs((double)index->right->value));
    wrong = check_part(checker, index->left, factor *= value, size);
    if (!wrong) *size *= value;
    break;
  }
  if (!wrong && fmax(*size, factor) > LARGEST_INDEX) return "an index that is too large";
  return wrong;
}

static const char *check_index(Checker *checker, const Index *index, double *size) {
  return check_part(checker, index, 1, size);
}

static const char *check_expr(Checker *checker, const Expr *expr) {
  const Kernel *kernel = checker->kernel;
  const char *wrong;
  double size;
  switch (expr->kind) {
  case EXPR_CONST: return NULL;
  case EXPR_LOAD:
    wrong = check_access(checker, expr->operand, expr->index, expr->guard_count, expr->guards,
                         "a load");
    if (wrong || kernel->operands[expr->operand].dtype == expr->dtype) return wrong;
    return "a load of another dtype";
  case EXPR_SCALAR:
    return expr->operand >= 0 && expr->operand < kernel->scalar_count ? NULL : "a scalar too many";
  case EXPR_INDEX: return check_index(checker, expr->index, &size);
  case EXPR_OP: return expr->arg_count >= 1 ? NULL : "an operator without operands";
  case EXPR_STAGE:
    if (expr->operand >= 0 && expr->operand < checker->stage && !kernel_is_template(kernel) &&
        kernel->stages[expr->operand].kind == STAGE_REDUCE)
      return NULL;
    return arena_printf(checker->arena, "stage %d refers to stage %d", checker->stage,
                        expr->operand);
  case EXPR_RESULT: return kernel_is_template(kernel) ? NULL : "a result without a template";
  case EXPR_RANDOM:
    if (expr->operand < 0 || expr->operand >= kernel->key_count) return "a random key too many";
    return check_index(checker, expr->index, &size);
  }
  return "an expression of unknown kind";
}

static bool is_reduction(Op op) {
  return op == OP_REDUCE_SUM || op == OP_REDUCE_MAX || op == OP_REDUCE_MIN ||
         op == OP_REDUCE_PROD || op == OP_ARGMAX || op == OP_ARGMIN;
}

/* A store along strides writes each element of its operand once: sorted by stride, each axis goes
 * through all that the axes before it leave between its elements. (Other indices are not looked at.) */
static bool writes_each_once(const Checker *checker, const Store *store) {
  int64_t base, stride[2 * KERNEL_MAX_AXES], step = 1;
  int64_t points = extent_product(checker->extents, checker->axis_count);
  if (points == 0 || !index_is_affine(store->index, checker->axis_count, &base, stride))
    return true;
  for (int axis = 0; axis < checker->axis_count; axis++) {
    int next = 0;
    while (next < checker->axis_count && (checker->extents[next] == 1 || stride[next] != step))
      next++;
    if (next < checker->axis_count) step *= checker->extents[next];
  }
  return base == 0 && step == points && step == checker->kernel->operands[store->operand].elements;
}

static const char *check_stage(Checker *checker, int number) {
  const Kernel *kernel = checker->kernel;
  Stage stage = kernel_stage(kernel, number);
  checker->stage = number;
  checker->axis_count = kernel->axis_count + stage.axis_count;
  for (int i = 0; i < kernel->axis_count; i++) checker->extents[i] = kernel->extent[i];
  for (int i = 0; i < stage.axis_count; i++)
    checker->extents[kernel->axis_count + i] = stage.extent[i];
  double points = 1;
  for (int i = 0; i < checker->axis_count; i++) points *= (double)checker->extents[i];
  if (points > LARGEST_INDEX) return "a stage with too many turns";
  if (stage.kind == STAGE_REDUCE && stage.value == NULL) return "a reduction of nothing";
  if (stage.kind == STAGE_REDUCE && !is_reduction(stage.reduce)) return "no reduction";
  if (stage.kind == STAGE_STORE && stage.store_count == 0) return "a store stage without stores";
  ExprList list = kernel_expressions(checker->arena, kernel, number);
  for (int i = 0; i < list.count; i++) {
    const char *wrong = check_expr(checker, list.items[i]);
    if (wrong) return wrong;
  }
  for (int i = 0; i < stage.store_count; i++) {
    const Store *store = &stage.stores[i];
    const char *wrong = check_access(checker, store->operand, store->index, 0, NULL, "a store");
    if (wrong) return wrong;
    if (!kernel->operands[store->operand].is_output) return "a store into an input";
    if (kernel->operands[store->operand].dtype != store->value->dtype)
      return arena_printf(checker->arena, "a store of %s into operand %d, which is %s",
                          dtype_name(store->value->dtype), store->operand,
                          dtype_name(kernel->operands[store->operand].dtype));
    if (!writes_each_once(checker, store))
      return arena_printf(checker->arena, "operand %d is not written once everywhere",
                          store->operand);
  }
  return NULL;
}

/* ---- slots of templates -------------------------------------------------------------------- */

/* What the template reads is there, and its result has the elements of the domain. */
static const char *check_slots(Arena *arena, const Kernel *kernel) {
  const KernelClass *class = kernel_class(kernel);
  if (!kernel_is_template(kernel)) return NULL;
  const char *wrong = class->verify ? class->verify(arena, kernel) : NULL;
  if (wrong) return wrong;
  int count = kernel_template_operands(kernel);
  if (class->reads(kernel, count) >= 0) return "an operand of the template is missing";
  for (int i = 0; i < count; i++)
    if (class->reads(kernel, i) > kernel->operands[i].elements)
      return arena_printf(arena, "the template reads %lld elements of operand %d, which has %lld",
                          (long long)class->reads(kernel, i), i,
                          (long long)kernel->operands[i].elements);
  int64_t points = extent_product(kernel->extent, kernel->axis_count);
  if (class->results(kernel) == points) return NULL;
  return arena_printf(arena, "the template computes %lld elements, the domain has %lld",
                      (long long)class->results(kernel), (long long)points);
}

const char *kernel_verify(Arena *arena, const Kernel *kernel) {
  Checker checker = {.arena = arena, .kernel = kernel};
  const char *misfit = kernel->feeder ? kernel_verify_feeder(arena, kernel) : NULL;
  if (!misfit) misfit = check_slots(arena, kernel);
  if (misfit) return misfit;
  for (int i = 0; i < kernel_stage_count(kernel); i++) {
    const char *wrong = check_stage(&checker, i);
    if (wrong) return wrong;
  }
  return NULL;
}
