/* The second half of the kernel builder: stores, templates and the finished kernel. */
#include "kernel/builder_state.h"
#include "kernel/layout.h"

#include <string.h>
#include "support/panic.h"

/* ---- stores -------------------------------------------------------------------------------- */

void builder_begin_stores(KernelBuilder *builder, int axis_count, const int64_t *extents) {
  builder_open_loop(builder, axis_count, extents);
  memset(&builder->stores, 0, sizeof builder->stores);
}

void builder_store(KernelBuilder *builder, const Node *node, Index *const *asked) {
  Index *at[MAX_RANK];
  builder_normalize_point(builder, node, asked, at);
  Expr *value = builder_element(builder, node, at);
  Store store = {.operand = builder_operand_number(builder, node, true),
                 .index = builder_flat_index(builder, node, at),
                 .value = value};
  vec_push(builder->arena, &builder->stores, store);
}

void builder_end_stores(KernelBuilder *builder) {
  Stage stage = {.kind = STAGE_STORE, .axis_count = builder->loop->axis_count};
  for (int i = 0; i < stage.axis_count; i++) stage.extent[i] = builder->loop->extent[i];
  builder_close_loop(builder);
  if (kernel_is_template(builder->kernel)) return; /* the epilogue: builder_finish takes it */
  stage.store_count = builder->stores.count;
  stage.stores = builder->stores.items;
  if (stage.store_count > 0) vec_push(builder->arena, &builder->stages, stage);
}

/* ---- templates ----------------------------------------------------------------------------- */

bool builder_probe(KernelBuilder *builder, const Node *node) {
  Index *at[MAX_RANK];
  CHECK(builder->node == NULL && builder->kernel->axis_count == node->type.shape.rank);
  for (int i = 0; i < node->type.shape.rank; i++) at[i] = index_axis(builder->arena, i);
  builder->template_node = node;
  builder->result = builder_new_expr(builder, EXPR_RESULT, node->type.dtype);
  builder->node = node;
  builder->at = at;
  builder->host->lower(builder, node);
  builder->node = NULL;
  builder->returned = NULL;
  return kernel_is_template(builder->kernel);
}

void builder_template(KernelBuilder *builder, const Node *node) {
  if (node->type.dtype == DTYPE_F64) builder->kernel->accumulate = DTYPE_F64;
  if (!builder_probe(builder, node)) builder_fail(builder, node, "an operator without a template");
}

/* The node whose memory operand `operand` is read from, with the stride of each of the operand's axes in it
 * and the element it starts with; the operand itself is to blame when it is no strided view. */
static const Node *operand_view(KernelBuilder *builder, int operand, int64_t *stride,
                                int64_t *start) {
  const Node *node = builder->node->operands[operand];
  int rank = node->type.shape.rank;
  *start = 0;
  builder_node_strides(builder, node, stride);
  if (!builder->host->is_computed(builder->host->context, node)) return node;
  int64_t saved[2 * KERNEL_MAX_AXES];
  memcpy(saved, builder->extents, sizeof saved);
  int saved_axes = builder->kernel->axis_count, operand_count = builder->operands.count;
  builder->kernel->axis_count = rank; /* the operand's axes take the place of the result's */
  Index *at[MAX_RANK];
  for (int i = 0; i < rank; i++) {
    at[i] = index_axis(builder->arena, i);
    builder->extents[i] = node->type.shape.dim[i];
  }
  builder_open_loop(builder, 0, NULL);
  const char *failure = builder->failure;
  Expr *value = builder_element(builder, node, at);
  builder->failure = failure;
  builder_close_loop(builder);
  const Node *base = NULL;
  if (value->kind == EXPR_LOAD && value->guard_count == 0 &&
      index_is_affine(value->index, rank, start, stride) && *start >= 0)
    base = builder->nodes.items[value->operand];
  /* what was loaded on the way */
  builder->operands.count = builder->nodes.count = builder->starts.count = operand_count;
  builder->kernel->axis_count = saved_axes;
  memcpy(builder->extents, saved, sizeof saved);
  for (int i = 0; i < rank && base != NULL; i++)
    if (stride[i] < 0) base = NULL;
  if (base != NULL) {
    if (shape_elements(node->type.shape) == 0) *start = 0; /* which may lie beyond the base's end */
    return base;
  }
  builder_fail(builder, node, "an operand that is no strided view");
  return node;
}

void builder_operand_strides(KernelBuilder *builder, int operand, int64_t *stride) {
  int64_t start;
  const Node *base = operand_view(builder, operand, stride, &start);
  builder_add_operand(builder, base, start, false);
}

/* Whether neighbours are as far apart as in this layout. */
static bool lies_so(Shape shape, const int64_t *stride, const Layout *layout) {
  int64_t wanted[MAX_RANK];
  layout_strides(layout, shape, wanted);
  for (int i = 0; i < shape.rank; i++)
    if (shape.dim[i] > 1 && stride[i] != wanted[i]) return false;
  return true;
}

void builder_operand_plain(KernelBuilder *builder, int operand) {
  const Node *node = builder->node->operands[operand];
  int64_t stride[MAX_RANK];
  builder_operand_strides(builder, operand, stride);
  if (!lies_so(node->type.shape, stride, NULL))
    builder_fail(builder, node, "an operand that is not row-major");
}

bool builder_operand_planes(KernelBuilder *builder, int operand) {
  const Node *node = builder->node->operands[operand];
  Layout layout = layout_channels_last(node->type.shape.rank);
  int64_t stride[MAX_RANK];
  builder_operand_strides(builder, operand, stride);
  bool is_last = lies_so(node->type.shape, stride, &layout);
  if (!is_last && !lies_so(node->type.shape, stride, NULL))
    builder_fail(builder, node, "an operand that is not row-major");
  return is_last;
}

Kernel *builder_set_kind(KernelBuilder *builder, KernelKind kind) {
  bool is_asked_for = builder->node == builder->template_node; /* else a failure, see builder.h */
  if (is_asked_for) builder->kernel->kind = kind;
  return builder->kernel;
}

/* The expressions that are results of stages, each once though several stages may share it. */
static ExprList stage_results(Arena *arena, const Kernel *kernel) {
  ExprList results = {0};
  for (int i = 0; i < kernel->stage_count; i++) {
    ExprList list = kernel_expressions(arena, kernel, i);
    for (int k = 0; k < list.count; k++) {
      bool is_new = list.items[k]->kind == EXPR_STAGE;
      for (int r = 0; is_new && r < results.count; r++) is_new = results.items[r] != list.items[k];
      if (is_new) vec_push(arena, &results, list.items[k]);
    }
  }
  return results;
}

/* What a loop stores comes after all reductions, which need none of it: so it may lie over what these read. */
static void move_stores(Arena *arena, Kernel *kernel) {
  int count = kernel->stage_count, store = -1, last = -1;
  for (int i = 0; i < count; i++) {
    const Stage *stage = &kernel->stages[i];
    if (stage->kind == STAGE_REDUCE) last = i;
    else if (stage->axis_count > 0) store = i;
  }
  if (store < 0 || store > last) return;
  int *to = ARENA_ARRAY(arena, int, count);
  Stage *moved = ARENA_ARRAY(arena, Stage, count);
  for (int i = 0; i < count; i++) {
    to[i] = i == store ? last : i - (i > store && i <= last);
    moved[to[i]] = kernel->stages[i];
  }
  kernel->stages = moved;
  ExprList results = stage_results(arena, kernel);
  for (int i = 0; i < results.count; i++) results.items[i]->operand = to[results.items[i]->operand];
}

BuiltKernel builder_finish(KernelBuilder *builder) {
  Kernel *kernel = builder->kernel;
  kernel->operand_count = builder->operands.count;
  kernel->operands = builder->operands.items;
  kernel->scalar_count = builder->scalars.count;
  kernel->key_count = builder->keys.count;
  kernel->stage_count = builder->stages.count;
  kernel->stages = builder->stages.items;
  if (kernel_is_template(kernel)) {
    kernel->epilogue_count = builder->stores.count;
    kernel->epilogue = builder->stores.items;
  } else {
    move_stores(builder->arena, kernel);
  }
  return (BuiltKernel){kernel, builder->nodes.items, builder->starts.items, builder->scalars.items,
                       builder->keys.items};
}
