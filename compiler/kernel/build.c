/* The kernel builder: asks operators' rules for expressions and collects stages, operands and
 * epilogues.
 *
 * A rule runs in a frame: a node and the point of its result that is asked for. Asking for an
 * operand opens the next frame when the operand is computed in this kernel, else makes a load.
 * Results are remembered by node and point, so a value used twice at one point is one expression;
 * the memory is per loop, since values of different loops are never shared. A reduction becomes a
 * stage as soon as its value is complete, so stages it depends on come before it. */
#include "kernel/builder_state.h"
#include "kernel/layout.h"

#include <string.h>
#include "support/panic.h"

Arena *builder_arena(KernelBuilder *builder) { return builder->arena; }

const struct Target *builder_target(const KernelBuilder *builder) { return builder->host->target; }

bool builder_keeps_weights(const KernelBuilder *builder) { return builder->host->keeps_weights; }

void builder_fail(KernelBuilder *builder, const Node *blame, const char *reason) {
  if (builder->failure != NULL) return;
  builder->failure = reason;
  builder->blame = blame;
}

const char *builder_failure(const KernelBuilder *builder, const Node **blame) {
  *blame = builder->blame;
  return builder->failure;
}

/* The index along an axis of extent 1 is 0, whatever it looks like; so equal points are equal. */
void builder_normalize_point(KernelBuilder *builder, const Node *node, Index *const *asked,
                             Index **at) {
  for (int i = 0; i < node->type.shape.rank; i++)
    at[i] = node->type.shape.dim[i] == 1 ? index_const(builder->arena, 0) : asked[i];
}

/* ---- loops --------------------------------------------------------------------------------- */

void builder_open_loop(KernelBuilder *builder, int axis_count, const int64_t *extents) {
  Loop *loop = ARENA_NEW(builder->arena, Loop);
  CHECK(axis_count <= KERNEL_MAX_AXES);
  loop->outer = builder->loop;
  loop->axis_count = axis_count;
  for (int i = 0; i < axis_count; i++) {
    loop->extent[i] = extents[i];
    builder->extents[builder->kernel->axis_count + i] = extents[i];
  }
  builder->loop = loop;
}

void builder_close_loop(KernelBuilder *builder) {
  builder->loop = builder->loop->outer;
  const Loop *loop = builder->loop;
  for (int i = 0; loop != NULL && i < loop->axis_count; i++)
    builder->extents[builder->kernel->axis_count + i] = loop->extent[i];
}

KernelBuilder *builder_create(Arena *arena, const BuilderHost *host, int axis_count,
                              const int64_t *extents) {
  KernelBuilder *builder = ARENA_NEW(arena, KernelBuilder);
  builder->arena = arena;
  builder->host = host;
  builder->kernel = ARENA_NEW(arena, Kernel);
  builder->kernel->accumulate = DTYPE_F32;
  builder->kernel->axis_count = axis_count;
  CHECK(axis_count <= KERNEL_MAX_AXES);
  for (int i = 0; i < axis_count; i++)
    builder->kernel->extent[i] = builder->extents[i] = extents[i];
  builder_open_loop(builder, 0, NULL);
  return builder;
}

Index *builder_point(KernelBuilder *builder, int axis) {
  CHECK(axis < builder->node->type.shape.rank);
  return builder->at[axis];
}

const int64_t *builder_extents(KernelBuilder *builder, int *axis_count) {
  *axis_count = builder->kernel->axis_count + builder->loop->axis_count;
  return builder->extents;
}

void builder_anchor(KernelBuilder *builder, const Node *node, Index *const *at) {
  Anchor anchor = {.node = node};
  builder_normalize_point(builder, node, at, anchor.at);
  vec_push(builder->arena, &builder->anchors, anchor);
}

/* ---- operands ------------------------------------------------------------------------------ */

int builder_add_operand(KernelBuilder *builder, const Node *node, int64_t start, bool is_output) {
  vec_push(builder->arena, &builder->nodes, node);
  vec_push(builder->arena, &builder->starts, start);
  KernelOperand operand = {.dtype = node->type.dtype,
                           .elements = shape_elements(node->type.shape) - start,
                           .is_output = is_output,
                           .name = node->path};
  vec_push(builder->arena, &builder->operands, operand);
  return builder->operands.count - 1;
}

int builder_operand_number(KernelBuilder *builder, const Node *node, bool is_output) {
  for (int i = 0; i < builder->nodes.count; i++)
    if (builder->nodes.items[i] == node && builder->starts.items[i] == 0 &&
        builder->operands.items[i].is_output == is_output)
      return i;
  return builder_add_operand(builder, node, 0, is_output);
}

void builder_node_strides(const KernelBuilder *builder, const Node *node, int64_t *stride) {
  const BuilderHost *host = builder->host;
  const Layout *layout = host->layout ? host->layout(host->context, node) : NULL;
  layout_strides(layout, node->type.shape, stride);
}

Index *builder_flat_index(KernelBuilder *builder, const Node *node, Index *const *at) {
  int64_t stride[MAX_RANK];
  builder_node_strides(builder, node, stride);
  Index *flat = index_const(builder->arena, 0);
  for (int i = 0; i < node->type.shape.rank; i++)
    flat = index_add(builder->arena, flat, index_mul(builder->arena, at[i], stride[i]));
  return flat;
}

Expr *builder_new_expr(KernelBuilder *builder, ExprKind kind, DType dtype) {
  Expr *expr = ARENA_NEW(builder->arena, Expr);
  expr->kind = kind;
  expr->dtype = dtype;
  return expr;
}

static int guards_in_force(const KernelBuilder *builder) {
  int count = 0;
  for (const GuardScope *scope = builder->guards; scope; scope = scope->outer)
    count += scope->count;
  return count;
}

static void load_add_guards(KernelBuilder *builder, Expr *load) {
  int count = guards_in_force(builder);
  if (count == 0) return;
  load->guards = ARENA_ARRAY(builder->arena, Guard, count);
  for (const GuardScope *scope = builder->guards; scope; scope = scope->outer)
    for (int i = 0; i < scope->count; i++) load->guards[load->guard_count++] = scope->guards[i];
}

static bool index_has_load(const Index *index) {
  if (index == NULL) return false;
  return index->kind == INDEX_LOAD || index_has_load(index->left) || index_has_load(index->right);
}

static Expr *builder_load(KernelBuilder *builder, const Node *node, Index *const *at) {
  Expr *load = builder_new_expr(builder, EXPR_LOAD, node->type.dtype);
  load->operand = builder_operand_number(builder, node, false);
  load->index = builder_flat_index(builder, node, at);
  load_add_guards(builder, load);
  return load;
}

/* ---- values -------------------------------------------------------------------------------- */

static const Guard *guard_key(const KernelBuilder *builder) {
  return builder->guards == NULL ? NULL : builder->guards->guards;
}

static bool points_equal(const Node *node, Index *const *a, Index *const *b) {
  for (int i = 0; i < node->type.shape.rank; i++)
    if (!index_equal(a[i], b[i])) return false;
  return true;
}

/* A value built under weaker guards serves as well, but one under none only. */
static Expr *memo_find(KernelBuilder *builder, Memo *list, const Node *node, Index *const *at) {
  for (Memo *memo = list; memo != NULL; memo = memo->next)
    if (memo->node == node && (memo->guard == NULL || memo->guard == guard_key(builder)) &&
        points_equal(node, memo->at, at))
      return memo->value;
  return NULL;
}

static void memo_add(KernelBuilder *builder, Memo **list, const Node *node, Index *const *at,
                     Expr *value) {
  Memo *memo = ARENA_NEW(builder->arena, Memo);
  *memo = (Memo){.next = *list, .node = node, .guard = guard_key(builder), .value = value};
  for (int i = 0; i < node->type.shape.rank; i++) memo->at[i] = at[i];
  *list = memo;
}

static const Anchor *anchor_find(const KernelBuilder *builder, const Node *node) {
  for (int i = 0; i < builder->anchors.count; i++)
    if (builder->anchors.items[i].node == node) return &builder->anchors.items[i];
  return NULL;
}

/* In all of the loop: an inner axis of another loop may have the same number and a greater
 * extent. */
static bool point_exists(const KernelBuilder *builder, const Node *node, Index *const *at) {
  int axis_count;
  const int64_t *extents = builder_extents((KernelBuilder *)builder, &axis_count);
  for (int i = 0; i < node->type.shape.rank; i++) {
    int64_t least, greatest;
    if (!index_range(at[i], extents, axis_count, &least, &greatest) || least < 0 ||
        greatest >= node->type.shape.dim[i])
      return false;
  }
  return true;
}

/* Runs the node's rule at `at`. */
static Expr *builder_run_rule(KernelBuilder *builder, const Node *node, Index *const *at) {
  const Node *outer_node = builder->node;
  Index *const *outer_at = builder->at;
  builder->node = node;
  builder->at = at;
  bool outer_reduced = builder->reduced;
  builder->reduced = false;
  builder->returned = NULL;
  builder->host->lower(builder, node);
  Expr *value = builder->returned;
  if (value == NULL) {
    builder_fail(builder, node, "a template inside of another kernel");
    value = builder_const(builder, node->type.dtype, 0);
  }
  if (builder->reduced) memo_add(builder, &builder->reductions, node, at, value);
  builder->reduced = outer_reduced;
  builder->returned = NULL;
  builder->node = outer_node;
  builder->at = outer_at;
  return value;
}

/* Loops share no expressions. */
static Expr *expr_copy(KernelBuilder *builder, const Expr *expr) {
  Expr *copy = arena_copy(builder->arena, expr, sizeof *expr);
  for (int i = 0; i < expr->arg_count; i++) copy->args[i] = expr_copy(builder, expr->args[i]);
  return copy;
}

Expr *builder_element(KernelBuilder *builder, const Node *node, Index *const *asked) {
  Index *at[MAX_RANK];
  builder_normalize_point(builder, node, asked, at);
  Expr *value = memo_find(builder, builder->loop->memo[node->id % MEMO_BUCKETS], node, at);
  if (value != NULL) return value;
  GuardScope *guards = builder->guards;
  if (!builder->host->is_computed(builder->host->context, node)) {
    value = builder_load(builder, node, at);
  } else {
    const Anchor *anchor = anchor_find(builder, node);
    if (anchor != NULL && !points_equal(node, anchor->at, at))
      builder_fail(builder, node, "a value of this kernel at another point");
    if (anchor != NULL && point_exists(builder, node, at)) builder->guards = NULL;
    value = node == builder->template_node ? builder->result
                                           : memo_find(builder, builder->reductions, node, at);
    value = value == NULL ? builder_run_rule(builder, node, at) : expr_copy(builder, value);
  }
  memo_add(builder, &builder->loop->memo[node->id % MEMO_BUCKETS], node, at, value);
  builder->guards = guards;
  return value;
}

Expr *builder_operand(KernelBuilder *builder, int operand, Index *const *at) {
  CHECK(operand < builder->node->operand_count);
  return builder_element(builder, builder->node->operands[operand], at);
}

Expr *builder_guards_hold(KernelBuilder *builder, int count, const Guard *guards) {
  Expr *all = NULL;
  for (int i = 0; i < count; i++) {
    int64_t least = -1, greatest = 0;
    int axis_count;
    const int64_t *extents = builder_extents(builder, &axis_count);
    bool known = index_range(guards[i].index, extents, axis_count, &least, &greatest);
    Expr *index = builder_index(builder, guards[i].index, DTYPE_I64);
    Expr *both[2] = {index, NULL};
    for (int side = 0; side < 2; side++) {
      if (known && (side == 0 ? least >= 0 : greatest < guards[i].bound)) continue;
      both[1] = builder_const(builder, DTYPE_I64, side == 0 ? 0 : (double)guards[i].bound);
      Expr *holds = builder_op(builder, side == 0 ? OP_GE : OP_LT, DTYPE_BOOL, 2, both);
      all =
          all == NULL ? holds : builder_op(builder, OP_AND, DTYPE_BOOL, 2, (Expr *[]){all, holds});
    }
  }
  return all;
}

Expr *builder_operand_guarded(KernelBuilder *builder, int operand, Index *const *at,
                              int guard_count, const Guard *guards, double otherwise) {
  Guard *needed = ARENA_ARRAY(builder->arena, Guard, guard_count + 1);
  int count = 0, axis_count;
  const int64_t *extents = builder_extents(builder, &axis_count);
  for (int i = 0; i < guard_count; i++) {
    int64_t least, greatest;
    bool known = index_range(guards[i].index, extents, axis_count, &least, &greatest);
    if (guards[i].bound <= 0 || (known && (greatest < 0 || least >= guards[i].bound)))
      return builder_const(builder, builder->node->operands[operand]->type.dtype, otherwise);
    if (known && least >= 0 && greatest < guards[i].bound) continue;
    needed[count++] = guards[i];
  }
  if (count == 0) return builder_operand(builder, operand, at);
  GuardScope scope = {.outer = builder->guards, .count = count, .guards = needed};
  builder->guards = &scope;
  Expr *value = builder_operand(builder, operand, at);
  int in_force = guards_in_force(builder);
  builder->guards = scope.outer;
  if (value->kind == EXPR_LOAD && value->guard_count == in_force && value->value == 0) {
    if (otherwise == 0) return value;
    Expr *load = arena_copy(builder->arena, value, sizeof *value);
    load->value = otherwise;
    return load;
  }
  Expr *condition = builder_guards_hold(builder, count, needed);
  if (condition == NULL) return value;
  Expr *other = builder_const(builder, value->dtype, otherwise);
  return builder_op(builder, OP_WHERE, value->dtype, 3, (Expr *[]){condition, value, other});
}

/* An expression that is an integer in memory, perhaps widened, as an index. */
static Index *expr_as_index(KernelBuilder *builder, const Expr *expr, int64_t bound) {
  while (expr->kind == EXPR_OP && expr->op == OP_CAST && dtype_is_int(expr->dtype) &&
         dtype_is_int(expr->args[0]->dtype) &&
         dtype_size(expr->dtype) >= dtype_size(expr->args[0]->dtype))
    expr = expr->args[0];
  if (expr->kind == EXPR_LOAD && dtype_is_int(expr->dtype) && expr->guard_count == 0)
    return index_load(builder->arena, expr->operand, expr->index, bound);
  if (expr->kind == EXPR_CONST && expr->value >= 0 && expr->value < (double)bound)
    return index_const(builder->arena, (int64_t)expr->value);
  if (expr->kind != EXPR_INDEX) return NULL;
  int64_t least, greatest;
  int axis_count;
  const int64_t *extents = builder_extents(builder, &axis_count);
  if (!index_range(expr->index, extents, axis_count, &least, &greatest)) return NULL;
  return least >= 0 && greatest < bound ? expr->index : NULL;
}

Index *builder_operand_index(KernelBuilder *builder, int operand, Index *const *at, int64_t bound) {
  const Node *index_node = builder->node->operands[operand];
  if (builder->guards != NULL) {
    builder_fail(builder, builder->node, "an index load under a guard");
    return index_const(builder->arena, 0);
  }
  /* An axis without elements is never indexed: there are no indices either. */
  if (bound == 0) bound = 1;
  Index *index = expr_as_index(builder, builder_operand(builder, operand, at), bound);
  if (index != NULL) return index;
  builder_fail(builder, index_node, "an index that is not in memory");
  return index_const(builder->arena, 0);
}

Expr *builder_const(KernelBuilder *builder, DType dtype, double value) {
  Expr *expr = builder_new_expr(builder, EXPR_CONST, dtype);
  expr->value = value;
  return expr;
}

static int name_number(KernelBuilder *builder, NameList *names, const char *name) {
  for (int i = 0; i < names->count; i++)
    if (strcmp(names->items[i], name) == 0) return i;
  vec_push(builder->arena, names, name);
  return names->count - 1;
}

Expr *builder_scalar(KernelBuilder *builder, const char *name) {
  Expr *expr = builder_new_expr(builder, EXPR_SCALAR, DTYPE_F64);
  expr->operand = name_number(builder, &builder->scalars, name);
  return expr;
}

Expr *builder_index(KernelBuilder *builder, Index *index, DType dtype) {
  if (index->kind == INDEX_CONST) return builder_const(builder, dtype, (double)index->value);
  if (builder->guards != NULL && index_has_load(index))
    builder_fail(builder, builder->node, "an index load under a guard");
  Expr *expr = builder_new_expr(builder, EXPR_INDEX, dtype);
  expr->index = index;
  return expr;
}

Expr *builder_op(KernelBuilder *builder, Op op, DType dtype, int arg_count, Expr *const *args) {
  Expr *expr = builder_new_expr(builder, EXPR_OP, dtype);
  CHECK(arg_count <= EXPR_MOST_ARGS);
  expr->op = op;
  expr->arg_count = arg_count;
  for (int i = 0; i < arg_count; i++) expr->args[i] = args[i];
  return expr;
}

Expr *builder_random(KernelBuilder *builder, Op op, const char *key, int64_t stream, Index *element,
                     DType dtype) {
  Expr *expr = builder_new_expr(builder, EXPR_RANDOM, dtype);
  expr->op = op;
  expr->operand = name_number(builder, &builder->keys, key);
  expr->stream = stream;
  expr->index = element;
  Shape shape = builder->node->type.shape;
  int64_t examples = shape.rank > 0 && shape.dim[0] > 0 ? shape.dim[0] : 1;
  expr->value = (double)(shape_elements(shape) / examples);
  return expr;
}

void builder_return(KernelBuilder *builder, Expr *value) {
  CHECK(builder->returned == NULL);
  builder->returned = value;
}

/* ---- reductions ---------------------------------------------------------------------------- */

static bool index_is_outer(const Index *index, int axis_count) {
  if (index == NULL) return true;
  if (index->kind == INDEX_AXIS) return index->value < axis_count;
  return index_is_outer(index->left, axis_count) && index_is_outer(index->right, axis_count);
}

int builder_reduce_axes(KernelBuilder *builder, int count, const int64_t *extents) {
  int first = builder->kernel->axis_count;
  for (int i = 0; i < builder->node->type.shape.rank; i++)
    if (!index_is_outer(builder->at[i], first))
      builder_fail(builder, builder->node, "a reduction inside of another loop");
  if (builder->guards != NULL) builder_fail(builder, builder->node, "a reduction under a guard");
  if (kernel_is_template(builder->kernel))
    builder_fail(builder, builder->node, "a reduction after a template");
  builder_open_loop(builder, count, extents);
  return first;
}

/* The same element, under the same conditions. */
static bool loads_same(const Expr *a, const Expr *b) {
  if (a->kind != EXPR_LOAD || b->kind != EXPR_LOAD || a->operand != b->operand ||
      a->dtype != b->dtype || a->value != b->value || a->guard_count != b->guard_count ||
      !index_equal(a->index, b->index))
    return false;
  for (int i = 0; i < a->guard_count; i++)
    if (a->guards[i].bound != b->guards[i].bound ||
        !index_equal(a->guards[i].index, b->guards[i].index))
      return false;
  return true;
}

/* A stage that reduces the same elements already, or a new one. */
static int stage_number(KernelBuilder *builder, const Stage *stage) {
  for (int i = 0; i < builder->stages.count; i++) {
    const Stage *other = &builder->stages.items[i];
    size_t size = sizeof *stage->extent * (size_t)stage->axis_count;
    if (other->kind == STAGE_REDUCE && other->reduce == stage->reduce &&
        other->axis_count == stage->axis_count && memcmp(other->extent, stage->extent, size) == 0 &&
        loads_same(other->value, stage->value))
      return i;
  }
  vec_push(builder->arena, &builder->stages, *stage);
  return builder->stages.count - 1;
}

Expr *builder_reduce(KernelBuilder *builder, Op reduce, Expr *value) {
  Stage stage = {.kind = STAGE_REDUCE,
                 .axis_count = builder->loop->axis_count,
                 .reduce = reduce,
                 .value = value};
  for (int i = 0; i < stage.axis_count; i++) stage.extent[i] = builder->loop->extent[i];
  builder_close_loop(builder);
  int number = stage_number(builder, &stage);
  if (value->dtype == DTYPE_F64) builder->kernel->accumulate = DTYPE_F64;
  Expr *result = builder_new_expr(builder, EXPR_STAGE, builder->node->type.dtype);
  result->operand = number;
  builder->reduced = true;
  return result;
}
