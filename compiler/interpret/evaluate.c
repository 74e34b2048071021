/* Evaluation of one graph: every live node in order, by its operator's own rule, in double.
 *
 * All memory is the arena's. When only outputs are wanted, a node's buffer goes to a free list
 * after its last user and serves the next tensor of the same size, so a training step needs little
 * more than its largest live set. */
#include <string.h>

#include "interpret/interpret.h"
#include "ops/op.h"
#include "support/panic.h"

typedef struct FreeBuffer {
  int64_t elements;
  double *data;
} FreeBuffer;

struct Evaluation {
  Arena *arena;
  const Graph *graph;
  EvaluateContext context;
  int binding_count;
  const Binding *bindings; /* only while evaluating */
  Tensor **values;         /* by node id; NULL: dead, or its memory is used again */
  int *uses;               /* outstanding uses by id; NULL: all values stay */
  VEC(FreeBuffer) free;
};

Tensor *tensor_create(Arena *arena, Type type) {
  Tensor *tensor = ARENA_NEW(arena, Tensor);
  tensor->type = type;
  tensor->data = ARENA_ARRAY(arena, double, shape_elements(type.shape));
  return tensor;
}

static Tensor *new_value(Evaluation *evaluation, Type type) {
  int64_t elements = shape_elements(type.shape);
  for (int i = evaluation->free.count - 1; i >= 0; i--) {
    FreeBuffer *free = &evaluation->free.items[i];
    if (free->elements != elements) continue;
    Tensor *tensor = ARENA_NEW(evaluation->arena, Tensor);
    *tensor = (Tensor){type, free->data};
    *free = evaluation->free.items[--evaluation->free.count];
    return tensor;
  }
  return tensor_create(evaluation->arena, type);
}

static void release(Evaluation *evaluation, const Node *node) {
  if (!evaluation->uses || --evaluation->uses[node->id] > 0) return;
  Tensor *value = evaluation->values[node->id];
  FreeBuffer buffer = {shape_elements(value->type.shape), value->data};
  vec_push(evaluation->arena, &evaluation->free, buffer);
  evaluation->values[node->id] = NULL;
}

static void bind_leaf(Evaluation *evaluation, const Node *node, Tensor *value) {
  const char *name = node_string(node, ATTR_NAME), *op = op_info(node->op)->name;
  for (int i = 0; i < evaluation->binding_count; i++) {
    const Binding *binding = &evaluation->bindings[i];
    if (binding->op != node->op || strcmp(binding->name, name) != 0) continue;
    if (!type_equal(binding->value->type, node->type))
      panic("graph %s: %s %s is bound to a value of another type", evaluation->graph->name, op,
            name);
    size_t count = (size_t)shape_elements(node->type.shape);
    if (count > 0) memcpy(value->data, binding->value->data, sizeof(double) * count);
    return;
  }
  panic("graph %s: %s %s has no value", evaluation->graph->name, op, name);
}

static bool is_bound(const Node *node) {
  LeafKind leaf = op_info(node->op)->class->leaf;
  return leaf != LEAF_NONE && leaf != LEAF_CONSTANT;
}

static void compute(Evaluation *evaluation, const Node *node, Tensor *value) {
  const OpInfo *info = op_info(node->op);
  if (!info->class->evaluate)
    panic("graph %s: nothing evaluates %s (%%%d, %s)", evaluation->graph->name, info->name,
          node->id, node->path);
  enum { FEW = 8 };
  const Tensor *few[FEW], **operands = few;
  if (node->operand_count > FEW)
    operands = ARENA_ARRAY(evaluation->arena, const Tensor *, node->operand_count);
  for (int i = 0; i < node->operand_count; i++)
    operands[i] = evaluation->values[node->operands[i]->id];
  info->class->evaluate(node, operands, value, &evaluation->context);
}

static Evaluation *evaluate(Arena *arena, const Graph *graph, int binding_count,
                            const Binding *bindings, const EvaluateContext *context,
                            bool keep_all) {
  Evaluation *evaluation = ARENA_NEW(arena, Evaluation);
  *evaluation = (Evaluation){.arena = arena, .graph = graph, .context = *context,
                             .binding_count = binding_count, .bindings = bindings};
  evaluation->values = ARENA_ARRAY(arena, Tensor *, graph->next_id);
  evaluation->uses = keep_all ? NULL : graph_use_counts(arena, graph);
  const bool *live = graph_live_nodes(arena, graph);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (!live[node->id]) continue;
    Tensor *value = new_value(evaluation, node->type);
    if (is_bound(node)) bind_leaf(evaluation, node, value);
    else compute(evaluation, node, value);
    evaluation->values[node->id] = value;
    for (int k = 0; k < node->operand_count; k++) release(evaluation, node->operands[k]);
  }
  evaluation->bindings = NULL;
  return evaluation;
}

Evaluation *graph_evaluate(Arena *arena, const Graph *graph, int binding_count,
                           const Binding *bindings, const EvaluateContext *context) {
  return evaluate(arena, graph, binding_count, bindings, context, true);
}

Evaluation *graph_evaluate_outputs(Arena *arena, const Graph *graph, int binding_count,
                                   const Binding *bindings, const EvaluateContext *context) {
  return evaluate(arena, graph, binding_count, bindings, context, false);
}

const Tensor *evaluation_node(const Evaluation *evaluation, const Node *node) {
  const Tensor *value = evaluation->values[node->id];
  if (!value)
    panic("graph %s: the value of %%%d (%s) was not kept", evaluation->graph->name, node->id,
          node->path);
  return value;
}

const Tensor *evaluation_output(const Evaluation *evaluation, int i) {
  CHECK(i >= 0 && i < evaluation->graph->outputs.count);
  return evaluation_node(evaluation, evaluation->graph->outputs.items[i].node);
}

Tensor *evaluation_leaf(Evaluation *evaluation, const Node *leaf) {
  CHECK(!evaluation->uses && leaf->operand_count == 0);
  evaluation_node(evaluation, leaf);
  return evaluation->values[leaf->id];
}

void evaluation_refresh(Evaluation *evaluation, const Node *leaf) {
  const Graph *graph = evaluation->graph;
  Arena *scratch = arena_create();
  bool *stale = ARENA_ARRAY(scratch, bool, graph->next_id);
  CHECK(!evaluation->uses);
  stale[leaf->id] = true;
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (!evaluation->values[node->id] || stale[node->id]) continue;
    for (int k = 0; k < node->operand_count && !stale[node->id]; k++)
      stale[node->id] = stale[node->operands[k]->id];
    if (stale[node->id]) compute(evaluation, node, evaluation->values[node->id]);
  }
  arena_destroy(scratch);
}
