/* Indices and scalar expressions of kernels as text: see expression.h. Spellings are the dialect's. */
#include "backend/common/expression.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include "kernel/builder.h"
#include "ops/number.h"
#include "ops/op.h"
#include "support/panic.h"

/* ---- indices ---- */

const char *expression_index_atom(const ExprScope *scope, const Index *index) {
  return code_atom(scope->arena, expression_index(scope, index));
}

const char *expression_group_offset(Arena *arena, const AxisGroup *group, int slot,
                                    const char *flat) {
  const char *text = NULL;
  int64_t below = 1;
  for (int i = group->count - 1; i >= 0; i--) {
    const char *digit = flat;
    if (below > 1) digit = arena_printf(arena, "%s / %lld", digit, (long long)below);
    if (i > 0) digit = arena_printf(arena, "%s %% %lld", digit, (long long)group->extent[i]);
    int64_t stride = group->stride[slot][i];
    below *= group->extent[i];
    if (stride == 0) continue;
    const char *term =
        stride == 1 ? digit : arena_printf(arena, "%s * %lld", digit, (long long)stride);
    text = text == NULL ? term : arena_printf(arena, "%s + %s", term, text);
  }
  return text;
}

static bool is_never_negative(const ExprScope *scope, const Index *index) {
  int64_t least, greatest;
  return index_range(index, scope->extents, scope->axis_count, &least, &greatest) && least >= 0;
}

static const char *division_text(const ExprScope *scope, const Index *index) {
  if (!is_never_negative(scope, index->left))
    return scope->dialect->index_division(scope->arena, index->kind,
                                          expression_index(scope, index->left), index->value);
  return arena_printf(scope->arena, "%s %s %lld", expression_index_atom(scope, index->left),
                      index->kind == INDEX_DIV ? "/" : "%", (long long)index->value);
}

static const char *sum_text(const ExprScope *scope, const Index *index) {
  const char *left = expression_index(scope, index->left);
  if (index->right->kind == INDEX_CONST && index->right->value < 0)
    return arena_printf(scope->arena, "%s - %lld", left, -(long long)index->right->value);
  const char *right = expression_index(scope, index->right);
  return strcmp(right, "0") == 0 ? left : arena_printf(scope->arena, "%s + %s", left, right);
}

static const char *element_text(const ExprScope *scope, int operand, const Index *index) {
  return arena_printf(scope->arena, "%s[%s]", scope->operands[operand],
                      expression_index(scope, index));
}

const char *expression_index(const ExprScope *scope, const Index *index) {
  switch (index->kind) {
  case INDEX_CONST: return code_integer(scope->arena, index->value);
  case INDEX_AXIS: CHECK(index->value < scope->axis_count); return scope->axes[index->value];
  case INDEX_ADD: return sum_text(scope, index);
  case INDEX_MUL: {
    const char *left = index->left->kind == INDEX_ADD || index->left->kind == INDEX_CONST
                           ? expression_index_atom(scope, index->left)
                           : expression_index(scope, index->left);
    if (index->left->kind == INDEX_DIV || index->left->kind == INDEX_MOD)
      left = expression_index_atom(scope, index->left);
    return arena_printf(scope->arena, "%s * %s", left, expression_index_atom(scope, index->right));
  }
  case INDEX_DIV:
  case INDEX_MOD: return division_text(scope, index);
  case INDEX_LOAD:
    return scope->dialect->clamped(scope->arena, element_text(scope, index->operand, index->left),
                                   index->value);
  }
  panic("index of kind %d", (int)index->kind);
}

static bool index_uses_axis(const Index *index, int axis) {
  if (index == NULL) return false;
  if (index->kind == INDEX_AXIS) return index->value == axis;
  return index_uses_axis(index->left, axis) || index_uses_axis(index->right, axis);
}

static bool element_uses_axis(const Expr *expr, int axis) {
  if (index_uses_axis(expr->index, axis)) return true;
  for (int k = 0; k < expr->guard_count; k++)
    if (index_uses_axis(expr->guards[k].index, axis)) return true;
  return false;
}

bool expression_uses_axis(Arena *arena, const Kernel *kernel, int axis) {
  for (int number = 0; number < kernel_stage_count(kernel); number++) {
    Stage stage = kernel_stage(kernel, number);
    ExprList list = kernel_expressions(arena, kernel, number);
    for (int i = 0; i < list.count; i++)
      if (element_uses_axis(list.items[i], axis)) return true;
    for (int i = 0; i < stage.store_count; i++)
      if (index_uses_axis(stage.stores[i].index, axis)) return true;
  }
  return false;
}

/* ---- near and far ----
 *
 * sin of a huge argument and the rest of a huge quotient take far longer than of usual ones, and
 * not all of it is code that vectorizes. So nnc_<operator>_<type> has a form for what is near, and
 * nnc_far_<argument>_<type> says what is not. */

static const char *far_name(const ExprScope *scope, const Expr *expr) {
  return expr->kind == EXPR_OP ? scope->dialect->far_name(expr->op, expr->dtype) : NULL;
}

typedef bool IsSuch(const ExprScope *scope, const Expr *expr);

static bool contains(const ExprScope *scope, const Expr *expr, IsSuch *is_such) {
  if (is_such(scope, expr)) return true;
  for (int i = 0; i < expr->arg_count; i++)
    if (contains(scope, expr->args[i], is_such)) return true;
  return false;
}

static bool is_rest(const ExprScope *scope, const Expr *expr) {
  return expr->kind == EXPR_OP && expr->op == OP_MOD;
}

static bool is_expensive(const ExprScope *scope, const Expr *expr) {
  if (expr->kind != EXPR_OP) return expr->kind == EXPR_RANDOM;
  bool is_division = expr->op == OP_DIV || expr->op == OP_SQRT || expr->op == OP_RSQRT;
  return far_name(scope, expr) || (op_info(expr->op)->class->is_costly && !is_division);
}

/* Whether to ask for its arguments first, and so to compute them twice: for a rest unless that would
 * be computed twice as well, since a loop with the full form of it is not vectorized. */
static bool has_near_form(const ExprScope *scope, const Expr *expr) {
  if (!far_name(scope, expr)) return false;
  for (int i = 0; i < expr->arg_count; i++)
    if (contains(scope, expr->args[i], is_rest(scope, expr) ? is_rest : is_expensive)) return false;
  return true;
}

/* ---- operators ---- */

/* "x, y" */
static const char *list_text(Arena *arena, int count, const char *const *texts) {
  const char *list = texts[0];
  for (int i = 1; i < count; i++) list = arena_printf(arena, "%s, %s", list, texts[i]);
  return list;
}

static bool is_zero(const Expr *expr) { return expr->kind == EXPR_CONST && expr->value == 0; }

/* Whether the result of operands of 16 bits needs no rounding. */
static bool is_exact(const Expr *expr) {
  switch (expr->op) {
  case OP_NEG:
  case OP_ABS:
  case OP_SIGN:
  case OP_MIN:
  case OP_MAX: return true;
  case OP_ADD: return is_zero(expr->args[0]) || is_zero(expr->args[1]);
  case OP_SUB: return is_zero(expr->args[1]);
  default: return false;
  }
}

/* What where(x <= c, c, x) and where(x >= c, c, x) limit, to a constant; NULL: it is another choice.
 * Above, x may be limited below by less, as in where(x >= 6, 6, where(x <= 0, 0, x)). */
static const Expr *limited_value(const Expr *expr) {
  if (expr->kind != EXPR_OP || expr->op != OP_WHERE || !dtype_is_float(expr->dtype)) return NULL;
  const Expr *condition = expr->args[0], *bound = expr->args[1], *value = expr->args[2];
  bool compares = condition->kind == EXPR_OP && (condition->op == OP_LE || condition->op == OP_GE);
  if (!compares || bound->kind != EXPR_CONST || condition->args[1]->kind != EXPR_CONST ||
      condition->args[0]->dtype != expr->dtype || condition->args[1]->value != bound->value ||
      (bound->value == 0 && signbit(bound->value)))
    return NULL;
  if (condition->args[0] == value) return value;
  const Expr *below = condition->op == OP_GE ? limited_value(value) : NULL;
  bool is_between = below == condition->args[0] && value->args[0]->op == OP_LE &&
                    value->args[1]->value < bound->value;
  return is_between ? value : NULL;
}

/* Then its condition is not computed. */
static bool is_limit(const ExprScope *scope, const Expr *expr) {
  return scope->dialect->limited && limited_value(expr);
}

static const char *operator_text(const ExprScope *scope, const Expr *expr,
                                 const char *const *args) {
  Arena *arena = scope->arena;
  const Dialect *dialect = scope->dialect;
  DType from = expr->args[0]->dtype;
  if (expr->op == OP_STOP_GRADIENT || (expr->op == OP_CAST && from == expr->dtype)) return args[0];
  if (expr->op == OP_CAST) return dialect->converted(arena, from, expr->dtype, args[0]);
  const char *sign = dialect->sign(expr->op, from), *text;
  const char *atom[EXPR_MOST_ARGS];
  if (is_limit(scope, expr))
    return dialect->limited(arena, expr->dtype, expr->args[0]->op == OP_LE, args[2], args[1]);
  for (int i = 0; i < expr->arg_count; i++) atom[i] = code_atom(arena, args[i]);
  if (expr->op == OP_WHERE) return dialect->choice(arena, atom[0], atom[1], atom[2]);
  if (sign && expr->arg_count == 1) text = arena_printf(arena, "%s%s", sign, atom[0]);
  else if (sign) text = arena_printf(arena, "%s %s %s", atom[0], sign, atom[1]);
  else
    text = arena_printf(
        arena, "%s(%s)",
        dialect->function(arena, expr->op, from, scope->near && has_near_form(scope, expr)),
        list_text(arena, expr->arg_count, args));
  return is_exact(expr) ? text : dialect->rounded(arena, expr->dtype, text);
}

/* ---- the other kinds ---- */

static const char *load_text(const ExprScope *scope, const Expr *expr) {
  Arena *arena = scope->arena;
  const char *text = scope->dialect->loaded(arena, scope->kernel->operands[expr->operand].dtype,
                                            element_text(scope, expr->operand, expr->index));
  const char *condition = NULL;
  for (int i = 0; i < expr->guard_count; i++) {
    const char *within = scope->dialect->within(
        arena, expression_index(scope, expr->guards[i].index), expr->guards[i].bound);
    condition = condition ? arena_printf(arena, "%s && %s", condition, within) : within;
  }
  if (condition == NULL) return text;
  return scope->dialect->choice(arena, condition, text,
                                scope->dialect->literal(arena, expr->dtype, expr->value));
}

static const char *leaf_text(const ExprScope *scope, const Expr *expr) {
  Arena *arena = scope->arena;
  const Dialect *dialect = scope->dialect;
  const char *text = NULL;
  switch (expr->kind) {
  case EXPR_LOAD: return load_text(scope, expr);
  case EXPR_SCALAR: return scope->scalars[expr->operand];
  case EXPR_RESULT:
    CHECK(scope->result != NULL);
    return scope->result_dtype == expr->dtype
               ? scope->result
               : dialect->converted(arena, scope->result_dtype, expr->dtype, scope->result);
  case EXPR_CONST:
    return dialect->literal(arena, expr->dtype, number_round(expr->value, expr->dtype));
  case EXPR_INDEX:
    text = dialect->index_value(arena, expr->dtype, expression_index(scope, expr->index));
    break;
  case EXPR_STAGE: text = scope->stages[expr->operand]; break;
  case EXPR_RANDOM:
    text = dialect->random(arena, expr, scope->keys[expr->operand],
                           expression_index(scope, expr->index));
    break;
  default: panic("expression of kind %d", (int)expr->kind);
  }
  return dialect->rounded(arena, expr->dtype, text);
}

/* ---- whole stages ---- */

static int position(const ExprList *list, const Expr *expr) {
  for (int i = 0; i < list->count; i++)
    if (list->items[i] == expr) return i;
  panic("an expression that is not in its stage");
}

static bool is_stored_here(const Stage *stage, int operand) {
  for (int i = 0; i < stage->store_count; i++)
    if (stage->stores[i].operand == operand) return true;
  return false;
}

static const char *make_temporary(Code *code, const ExprScope *scope, DType dtype,
                                  const char *text) {
  const char *name = arena_printf(scope->arena, "t%d", (*scope->temporaries)++);
  code_line(code, "%s", scope->dialect->constant(scope->arena, dtype, name, text));
  return name;
}

static bool same_index(const Index *a, const Index *b) {
  return a == b || (a != NULL && b != NULL && index_equal(a, b));
}

/* The same computation, as far as `budget` comparisons tell. */
static bool same_expression(const Expr *a, const Expr *b, int *budget) {
  if (a == b) return true;
  if ((*budget)-- <= 0 || a->kind != b->kind || a->dtype != b->dtype || a->op != b->op ||
      a->value != b->value || a->operand != b->operand || a->stream != b->stream ||
      a->guard_count != b->guard_count || a->arg_count != b->arg_count ||
      !same_index(a->index, b->index))
    return false;
  for (int i = 0; i < a->guard_count; i++)
    if (a->guards[i].bound != b->guards[i].bound ||
        !same_index(a->guards[i].index, b->guards[i].index))
      return false;
  for (int i = 0; i < a->arg_count; i++)
    if (!same_expression(a->args[i], b->args[i], budget)) return false;
  return true;
}

/* The name of what an earlier stage has computed before its loops; NULL: it has not. */
static const char *hoisted_name(const ExprScope *scope, const Expr *expr) {
  enum { MOST_COMPARISONS = 100 };
  bool may_be = expr->kind == EXPR_OP || expr->kind == EXPR_LOAD;
  for (int i = 0; may_be && i < scope->hoisted.count; i++) {
    int budget = MOST_COMPARISONS;
    if (same_expression(scope->hoisted.items[i].expr, expr, &budget))
      return scope->hoisted.items[i].name;
  }
  return NULL;
}

/* The expressions of a stage on their way to C. */
typedef struct Rendering {
  Code *code;
  const ExprScope *scope;
  Stage stage;
  ExprList list;
  bool *wanted;       /* by position: some root needs it */
  int *uses;          /* by wanted ones, and by roots */
  const char **texts; /* NULL: not yet rendered */
} Rendering;

static Rendering rendering_create(Code *code, const ExprScope *scope, int number) {
  ExprList list = kernel_expressions(scope->arena, scope->kernel, number);
  Rendering r = {.code = code,
                 .scope = scope,
                 .stage = kernel_stage(scope->kernel, number),
                 .list = list,
                 .wanted = ARENA_ARRAY(scope->arena, bool, list.count),
                 .uses = ARENA_ARRAY(scope->arena, int, list.count),
                 .texts = ARENA_ARRAY(scope->arena, const char *, list.count)};
  for (int i = 0; i < list.count; i++) r.texts[i] = hoisted_name(scope, list.items[i]);
  return r;
}

static void want(Rendering *r, const Expr *root) {
  int at = position(&r->list, root);
  r->wanted[at] = true;
  r->uses[at]++;
}

static void want_roots(Rendering *r) {
  if (r->stage.kind == STAGE_REDUCE) want(r, r->stage.value);
  for (int i = 0; i < r->stage.store_count; i++) want(r, r->stage.stores[i].value);
}

/* What the wanted ones need that is not there yet. */
static void want_args(Rendering *r) {
  for (int i = r->list.count - 1; i >= 0; i--)
    for (int k = is_limit(r->scope, r->list.items[i]);
         r->wanted[i] && !r->texts[i] && k < r->list.items[i]->arg_count; k++)
      want(r, r->list.items[i]->args[k]);
}

static const char *name_text(Rendering *r, int at) {
  r->texts[at] = make_temporary(r->code, r->scope, r->list.items[at]->dtype, r->texts[at]);
  return r->texts[at];
}

static void render_expression(Rendering *r, int i) {
  enum { LONG_TEXT = 72 };
  const Expr *expr = r->list.items[i];
  const char *args[EXPR_MOST_ARGS] = {NULL};
  for (int k = 0; k < expr->arg_count; k++) {
    int at = position(&r->list, expr->args[k]);
    bool is_logic = expr->kind == EXPR_OP && (expr->op == OP_AND || expr->op == OP_OR);
    if (is_logic && strchr(r->texts[at], '(') != NULL) /* compilers warn of calls beside & and | */
      name_text(r, at);
    args[k] = r->texts[at];
  }
  r->texts[i] =
      expr->kind == EXPR_OP ? operator_text(r->scope, expr, args) : leaf_text(r->scope, expr);
  bool is_cheap = expr->kind == EXPR_CONST || expr->kind == EXPR_STAGE || code_is_word(r->texts[i]);
  bool is_memory_written = expr->kind == EXPR_LOAD && r->stage.store_count > 1 &&
                           is_stored_here(&r->stage, expr->operand);
  if (strlen(r->texts[i]) > LONG_TEXT || (r->uses[i] > 1 && !is_cheap) || is_memory_written)
    name_text(r, i);
}

static void render_wanted(Rendering *r) {
  want_args(r);
  for (int i = 0; i < r->list.count; i++)
    if (r->wanted[i] && !r->texts[i]) render_expression(r, i);
}

const char **expression_render(Code *code, const ExprScope *scope, int number) {
  Rendering r = rendering_create(code, scope, number);
  want_roots(&r);
  render_wanted(&r);
  if (r.stage.kind == STAGE_REDUCE) {
    const char **root = ARENA_ARRAY(scope->arena, const char *, 1);
    root[0] = r.texts[position(&r.list, r.stage.value)];
    return root;
  }
  const char **roots = ARENA_ARRAY(scope->arena, const char *, r.stage.store_count);
  for (int i = 0; i < r.stage.store_count; i++) {
    int at = position(&r.list, r.stage.stores[i].value);
    if (r.stage.store_count > 1 && r.list.items[at]->kind != EXPR_CONST &&
        !code_is_word(r.texts[at]))
      name_text(&r, at);
    roots[i] = r.texts[at];
  }
  return roots;
}

/* ---- what leaves the loops of a stage ---- */

static bool uses_own_axis(const Kernel *kernel, const Stage *stage, const Expr *expr) {
  for (int axis = kernel->axis_count; axis < kernel->axis_count + stage->axis_count; axis++) {
    if (index_uses_axis(expr->index, axis)) return true;
    for (int i = 0; i < expr->guard_count; i++)
      if (index_uses_axis(expr->guards[i].index, axis)) return true;
  }
  return false;
}

static bool is_stored(const Kernel *kernel, int operand) {
  for (int s = 0; s < kernel_stage_count(kernel); s++) {
    Stage stage = kernel_stage(kernel, s);
    if (is_stored_here(&stage, operand)) return true;
  }
  return false;
}

/* By position: it has the same value in all of the stage's loops, and in later stages; and some
 * operator in it is expensive. */
static void find_invariants(const Rendering *r, bool *invariant, bool *expensive) {
  for (int i = 0; i < r->list.count; i++) {
    const Expr *expr = r->list.items[i];
    bool is_overwritten = expr->kind == EXPR_LOAD && is_stored(r->scope->kernel, expr->operand);
    invariant[i] = !uses_own_axis(r->scope->kernel, &r->stage, expr) && !is_overwritten;
    expensive[i] = expr->kind == EXPR_OP && op_info(expr->op)->class->is_costly;
    for (int k = 0; k < expr->arg_count; k++) {
      int at = position(&r->list, expr->args[k]);
      invariant[i] = invariant[i] && invariant[at];
      expensive[i] = expensive[i] || expensive[at];
    }
  }
}

/* By position: invariants that what varies, or a root, reads. */
static void find_leaving(Rendering *r, const bool *invariant, bool *leaves) {
  want_roots(r);
  for (int i = 0; i < r->list.count; i++) leaves[i] = r->wanted[i];
  for (int i = 0; i < r->list.count; i++)
    for (int k = 0; !invariant[i] && k < r->list.items[i]->arg_count; k++)
      leaves[position(&r->list, r->list.items[i]->args[k])] = true;
}

void expression_hoist(Code *code, ExprScope *scope, int number) {
  Rendering r = rendering_create(code, scope, number);
  bool *invariant = ARENA_ARRAY(scope->arena, bool, r.list.count);
  bool *expensive = ARENA_ARRAY(scope->arena, bool, r.list.count);
  bool *leaves = ARENA_ARRAY(scope->arena, bool, r.list.count);
  find_invariants(&r, invariant, expensive);
  find_leaving(&r, invariant, leaves);
  r = rendering_create(code, scope, number);
  for (int i = 0; i < r.list.count; i++)
    if (leaves[i] && invariant[i] && expensive[i]) want(&r, r.list.items[i]);
  render_wanted(&r);
  for (int i = 0; i < r.list.count; i++) {
    if (!(leaves[i] && invariant[i] && expensive[i])) continue;
    if (!code_is_word(r.texts[i])) name_text(&r, i);
    vec_push(scope->arena, &scope->hoisted, ((Hoisted){r.list.items[i], r.texts[i]}));
  }
}

/* Whether stage `number` loads an element that the kernel may have overwritten when the same is loaded
 * again: one that is stored, but at the point at which it is loaded. */
static bool loads_overwritten(const ExprScope *scope, int number) {
  ExprList list = kernel_expressions(scope->arena, scope->kernel, number);
  for (int s = number + 1; s < kernel_stage_count(scope->kernel); s++) {
    Stage later = kernel_stage(scope->kernel, s);
    for (int k = 0; k < later.store_count; k++)
      for (int i = 0; i < list.count; i++)
        if (list.items[i]->kind == EXPR_LOAD && list.items[i]->operand == later.stores[k].operand &&
            !index_equal(list.items[i]->index, later.stores[k].index))
          return true;
  }
  return false;
}

bool expression_is_computed_again(const ExprScope *scope, int number) {
  enum { MOST_COMPARISONS = 1000 };
  Stage stage = kernel_stage(scope->kernel, number);
  if (stage.axis_count != 1 || !contains(scope, stage.value, is_expensive)) return false;
  if (loads_overwritten(scope, number)) return false;
  bool found = false;
  for (int s = number + 1; s < kernel_stage_count(scope->kernel); s++) {
    Stage later = kernel_stage(scope->kernel, s);
    ExprList list = kernel_expressions(scope->arena, scope->kernel, s);
    int budget = MOST_COMPARISONS;
    for (int i = 0; i < list.count; i++) {
      if (!same_expression(list.items[i], stage.value, &budget)) continue;
      if (later.axis_count != 1 || later.extent[0] != stage.extent[0]) return false;
      found = true;
    }
  }
  return found;
}

bool expression_is_costly(const ExprScope *scope, int number) {
  ExprList list = kernel_expressions(scope->arena, scope->kernel, number);
  for (int i = 0; i < list.count; i++)
    if (is_expensive(scope, list.items[i]) && !hoisted_name(scope, list.items[i])) return true;
  return false;
}

/* ---- loops over near and far arguments ---- */

bool expression_has_near(const ExprScope *scope, int number) {
  ExprList list = kernel_expressions(scope->arena, scope->kernel, number);
  for (int i = 0; i < list.count; i++)
    if (has_near_form(scope, list.items[i])) return true;
  return false;
}

/* sin(x) and cos(x) ask once. */
static bool asks_as_before(const ExprScope *scope, const ExprList *list, int at) {
  for (int i = 0; i < at; i++) {
    const Expr *earlier = list->items[i], *expr = list->items[at];
    if (has_near_form(scope, earlier) && far_name(scope, earlier) == far_name(scope, expr) &&
        earlier->args[0] == expr->args[0] && expr->arg_count == 1)
      return true;
  }
  return false;
}

bool expression_asks_for_axis(const ExprScope *scope, int number, int axis) {
  ExprList list = kernel_expressions(scope->arena, scope->kernel, number);
  bool *is_asked = ARENA_ARRAY(scope->arena, bool, list.count + 1);
  for (int i = list.count - 1; i >= 0; i--) { /* operands stand before what is made of them */
    const Expr *expr = list.items[i];
    if (is_asked[i] && element_uses_axis(expr, axis)) return true;
    for (int k = 0; (is_asked[i] || has_near_form(scope, expr)) && k < expr->arg_count; k++)
      is_asked[position(&list, expr->args[k])] = true;
  }
  return false;
}

static void write_questions(Code *code, const ExprScope *scope, int number) {
  Rendering r = rendering_create(code, scope, number);
  for (int i = 0; i < r.list.count; i++)
    for (int k = 0; has_near_form(scope, r.list.items[i]) && k < r.list.items[i]->arg_count; k++)
      want(&r, r.list.items[i]->args[k]);
  render_wanted(&r);
  for (int i = 0; i < r.list.count; i++) {
    const Expr *expr = r.list.items[i];
    if (!has_near_form(scope, expr) || asks_as_before(scope, &r.list, i)) continue;
    const char *args[EXPR_MOST_ARGS] = {0};
    for (int k = 0; k < expr->arg_count; k++) args[k] = r.texts[position(&r.list, expr->args[k])];
    code_line(code, "far |= %s;",
              scope->dialect->is_far(scope->arena, far_name(scope, expr), expr->dtype,
                                     list_text(scope->arena, expr->arg_count, args)));
  }
}

static void close_loop(Code *code, const LoopParts *parts) {
  if (parts->declare) parts->declare(parts->context);
  code_close(code);
}

void expression_write_loop(Code *code, ExprScope *scope, int number, const LoopParts *parts) {
  bool has_near = expression_has_near(scope, number);
  if (has_near) {
    code_line(code, "int far = 0;");
    scope->asks = true;
    parts->open(parts->context);
    scope->asks = false;
    write_questions(code, scope, number);
    close_loop(code, parts);
    code_open(code, "if (!far)");
    scope->near = true;
    parts->open(parts->context);
    parts->body(parts->context);
    close_loop(code, parts);
    scope->near = false;
    code_close(code);
    code_open(code, "else");
  }
  parts->open(parts->context);
  parts->body(parts->context);
  close_loop(code, parts);
  if (has_near) code_close(code);
}

static void write_store(Code *code, const ExprScope *scope, const Store *store, const char *text) {
  DType dtype = scope->kernel->operands[store->operand].dtype;
  const char *block = scope->blocks ? scope->blocks[store->operand] : NULL;
  code_line(code, "%s = %s;", block ? block : element_text(scope, store->operand, store->index),
            scope->dialect->stored(scope->arena, dtype, text));
}

void expression_write_stores(Code *code, const ExprScope *scope, int number) {
  Stage stage = kernel_stage(scope->kernel, number);
  const char **texts = expression_render(code, scope, number);
  for (int i = 0; i < stage.store_count; i++) write_store(code, scope, &stage.stores[i], texts[i]);
}
