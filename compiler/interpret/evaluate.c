/* Evaluation of one graph: every live node in order, by its operator's own rule, in double; what is
 * bf16 or f16 is rounded then, once.
 *
 * A scan runs its body once a step; its results are kept beside its node until the end.
 *
 * All memory is the arena's. When only outputs are wanted, a node's buffer goes to a free list
 * after its last user and serves the next tensor of the same size, so a training step needs little
 * more than its largest live set. */
#include <math.h>
#include <string.h>

#include "interpret/interpret.h"
#include "ops/number.h"
#include "ops/op.h"
#include "ops/scan.h"
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
  const Tensor *const *arguments; /* of a body: one an operand of the scan */
  Tensor ***results;              /* by id of a scan: its results; NULL before the first scan */
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
    tensor_copy(value->data, binding->value);
    return;
  }
  panic("graph %s: %s %s has no value", evaluation->graph->name, op, name);
}

/* ---- scans -------------------------------------------------------------------------------- */

static Evaluation *evaluate_body(Arena *arena, const Graph *body, const Tensor *const *arguments,
                                 const EvaluateContext *context);

/* Element `t` of a sequence, not copied. */
static const Tensor *sequence_element(Arena *arena, const Tensor *sequence, Type type, int64_t t) {
  Tensor *element = ARENA_NEW(arena, Tensor);
  *element = (Tensor){type, sequence->data + t * shape_elements(type.shape)};
  return element;
}

/* One step: the carries, which are the first results, take their next values. */
static void run_step(const Node *scan, const ScanShape *shape, const Tensor *const *operands,
                     Tensor **results, int64_t t, const EvaluateContext *context) {
  Arena *scratch = arena_create();
  const Tensor **arguments = ARENA_ARRAY(scratch, const Tensor *, scan->operand_count);
  for (int i = 0; i < scan->operand_count; i++) {
    arguments[i] = i < shape->carries ? results[i] : operands[i];
    if (scan_is_sequence(shape, i))
      arguments[i] = sequence_element(scratch, operands[i],
                                      scan_argument_type(shape, scan->operands[i], i), t);
  }
  const Evaluation *step = evaluate_body(scratch, scan->body, arguments, context);
  for (int i = 0; i < scan_result_count(scan); i++) {
    const Tensor *value = evaluation_output(step, i);
    int64_t at = i < shape->carries ? 0 : t * shape_elements(value->type.shape);
    tensor_copy(results[i]->data + at, value);
  }
  arena_destroy(scratch);
}

static void compute_scan(Evaluation *evaluation, const Node *scan, const Tensor *const *operands,
                         Tensor *token) {
  Arena *arena = evaluation->arena;
  ScanShape shape = scan_shape(scan);
  if (!evaluation->results)
    evaluation->results = ARENA_ARRAY(arena, Tensor **, evaluation->graph->next_id);
  Tensor **results = ARENA_ARRAY(arena, Tensor *, scan_result_count(scan));
  for (int i = 0; i < scan_result_count(scan); i++)
    results[i] = tensor_create(arena, scan_result_type(&shape, scan->body, i));
  for (int i = 0; i < shape.carries; i++) tensor_copy(results[i]->data, operands[i]);
  for (int64_t step = 0; step < shape.length; step++)
    run_step(scan, &shape, operands, results, shape.reverse ? shape.length - 1 - step : step,
             &evaluation->context);
  token->data[0] = (double)shape.length;
  evaluation->results[scan->id] = results;
}

static void round_elements(Tensor *value) {
  DType dtype = value->type.dtype;
  if (!dtype_is_half(dtype)) return;
  int64_t count = shape_elements(value->type.shape);
  for (int64_t i = 0; i < count; i++) value->data[i] = number_round(value->data[i], dtype);
}

static bool is_bound(const Node *node) {
  LeafKind leaf = op_info(node->op)->class->leaf;
  return leaf != LEAF_NONE && leaf != LEAF_CONSTANT && leaf != LEAF_ARGUMENT;
}

static void compute(Evaluation *evaluation, const Node *node, Tensor *value) {
  const OpInfo *info = op_info(node->op);
  if (node_is_scan_result(node)) {
    Tensor **results = evaluation->results[node->operands[0]->id];
    tensor_copy(value->data, results[node_int(node, ATTR_INDEX)]);
    return;
  }
  if (info->class->leaf == LEAF_ARGUMENT) {
    tensor_copy(value->data, evaluation->arguments[node_int(node, ATTR_INDEX)]);
    return;
  }
  if (!info->class->evaluate && !info->class->draw && !node->body)
    panic("graph %s: nothing evaluates %s (%%%d, %s)", evaluation->graph->name, info->name,
          node->id, node->path);
  enum { FEW = 8 };
  const Tensor *few[FEW], **operands = few;
  if (node->operand_count > FEW)
    operands = ARENA_ARRAY(evaluation->arena, const Tensor *, node->operand_count);
  for (int i = 0; i < node->operand_count; i++)
    operands[i] = evaluation->values[node->operands[i]->id];
  if (node->body) compute_scan(evaluation, node, operands, value);
  else node_evaluate(node, operands, value, &evaluation->context);
}

static Evaluation *evaluate_with(Arena *arena, const Evaluation *given, bool keep_all) {
  Evaluation *evaluation = ARENA_NEW(arena, Evaluation);
  const Graph *graph = given->graph;
  *evaluation = *given;
  evaluation->arena = arena;
  evaluation->values = ARENA_ARRAY(arena, Tensor *, graph->next_id);
  evaluation->uses = keep_all ? NULL : graph_use_counts(arena, graph);
  const bool *live = graph_live_nodes(arena, graph);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (!live[node->id]) continue;
    Tensor *value = new_value(evaluation, node->type);
    if (is_bound(node)) bind_leaf(evaluation, node, value);
    else compute(evaluation, node, value);
    round_elements(value);
    evaluation->values[node->id] = value;
    for (int k = 0; k < node->operand_count; k++) release(evaluation, node->operands[k]);
  }
  evaluation->bindings = NULL;
  return evaluation;
}

static Evaluation *evaluate_body(Arena *arena, const Graph *body, const Tensor *const *arguments,
                                 const EvaluateContext *context) {
  Evaluation given = {.graph = body, .context = *context, .arguments = arguments};
  return evaluate_with(arena, &given, false);
}

static Evaluation *evaluate(Arena *arena, const Graph *graph, int binding_count,
                            const Binding *bindings, const EvaluateContext *context,
                            bool keep_all) {
  Evaluation given = {
      .graph = graph, .context = *context, .binding_count = binding_count, .bindings = bindings};
  return evaluate_with(arena, &given, keep_all);
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
    if (op_info(node->op)->class->is_constant) continue;
    for (int k = 0; k < node->operand_count && !stale[node->id]; k++)
      stale[node->id] = stale[node->operands[k]->id];
    if (!stale[node->id]) continue;
    compute(evaluation, node, evaluation->values[node->id]);
    round_elements(evaluation->values[node->id]);
  }
  arena_destroy(scratch);
}

/* ---- what is not finite -------------------------------------------------------------------- */

static int64_t find_element(const Tensor *value, bool is_nan) {
  int64_t count = shape_elements(value->type.shape);
  for (int64_t i = 0; i < count; i++)
    if (is_nan ? isnan(value->data[i]) : !isfinite(value->data[i])) return i;
  return -1;
}

const Node *evaluation_find_odd(const Evaluation *evaluation, int64_t *element) {
  const Graph *graph = evaluation->graph;
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < graph->nodes.count; i++) {
      const Node *node = graph->nodes.items[i];
      if (!evaluation->values[node->id] || node->operand_count == 0) continue;
      *element = find_element(evaluation->values[node->id], pass == 0);
      bool is_first = *element >= 0;
      for (int k = 0; is_first && k < node->operand_count; k++)
        is_first = find_element(evaluation_node(evaluation, node->operands[k]), pass == 0) < 0;
      if (is_first) return node;
    }
  }
  return NULL;
}

const Node *evaluation_find_infinity(const Evaluation *evaluation, const Node *node) {
  const Node *origin = NULL;
  for (int k = 0; k < node->operand_count; k++) {
    const Node *operand = node->operands[k];
    if (operand->operand_count == 0 ||
        find_element(evaluation_node(evaluation, operand), false) < 0)
      continue;
    origin = node = operand;
    k = -1;
  }
  return origin;
}
