/* extern: see extern.h. It is pure as far as the compiler is concerned: equal calls are one, and a
 * call may be computed again. It has no gradient but the one that its declaration tells
 * (own_gradient.h). */
#include "ops/extern.h"

#include "ops/lower.h"
#include "ops/op.h"
#include "support/panic.h"

static bool extern_infer(Inference *in) {
  const Attribute *dtype = infer_attribute(in, ATTR_DTYPE);
  if (!dtype || !infer_attribute(in, ATTR_NAME)) return false;
  if (dtype->integer < 0 || dtype->integer >= DTYPE_COUNT)
    return infer_fail(in, "there is no type number %lld", (long long)dtype->integer);
  in->type.dtype = (DType)dtype->integer;
  if (!infer_shape(in, &in->type.shape)) return false;
  for (int k = 0; node_attribute(in->node, ATTR_ROWWISE) && k < in->node->operand_count; k++) {
    Shape x = in->node->operands[k]->type.shape;
    if (in->type.shape.rank == 0) return infer_fail(in, "a scalar has no rows");
    if (x.rank > 0 && x.dim[0] != in->type.shape.dim[0])
      return infer_fail(in, "operand %d has %lld rows, the result %lld", k, (long long)x.dim[0],
                        (long long)in->type.shape.dim[0]);
  }
  return true;
}

/* Rows lie along the first axis. */
static int extern_cut(const Node *node, int axis, int operand) {
  if (axis != 0 || !node_attribute(node, ATTR_ROWWISE)) return AXIS_UNCUT;
  return node->operands[operand]->type.shape.rank > 0 ? 0 : AXIS_WHOLE;
}

static void extern_evaluate(const Node *node, const Tensor *const *operands, Tensor *result) {
  panic("%s: only an executable computes the extern operator %s", node->path,
        node_string(node, ATTR_NAME));
}

static void extern_lower(KernelBuilder *builder, const Node *node) {
  ExternSlots slots = {
      .function = node_string(node, ATTR_NAME), .count = node->operand_count, .result = node->type};
  for (int i = 0; i < node->operand_count; i++) {
    builder_operand_plain(builder, i);
    slots.operands[i] = node->operands[i]->type;
  }
  builder_set_kind(builder, KERNEL_EXTERN)->external = slots;
}

/* ---- the calls of a module ------------------------------------------------------------------ */

typedef VEC(const Node *) Calls;

/* The extern nodes of a graph, also in bodies. */
static void find_calls(Arena *arena, const Graph *graph, Calls *calls) {
  for (int i = 0; graph && i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (node->op == OP_EXTERN) vec_push(arena, calls, node);
    find_calls(arena, node_inner(node), calls);
  }
}

static Calls module_calls(Arena *arena, const Module *module) {
  Calls calls = {0};
  for (int e = 0; e < ENTRY_COUNT; e++) find_calls(arena, module->entries[e], &calls);
  return calls;
}

const Node *extern_first(const Module *module) {
  Arena *scratch = arena_create();
  Calls calls = module_calls(scratch, module);
  const Node *first = calls.count > 0 ? calls.items[0] : NULL;
  arena_destroy(scratch);
  return first;
}

const bool *extern_called(Arena *arena, const Module *module) {
  bool *is_called = ARENA_ARRAY(arena, bool, module->externs.count + 1);
  Calls calls = module_calls(arena, module);
  for (int i = 0; i < calls.count; i++)
    is_called[module_find_extern(module, node_string(calls.items[i], ATTR_NAME)) -
              module->externs.items] = true;
  return is_called;
}

const OpClass op_class_extern = {
    .family = FAMILY_EXTERN,
    .infer = extern_infer,
    .evaluate = extern_evaluate,
    .lower = extern_lower,
    .cut = extern_cut,
    .is_costly = true,
    .stands_alone = true,
};
