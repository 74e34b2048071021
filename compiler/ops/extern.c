/* extern: see extern.h. It is pure as far as the compiler is concerned: equal calls are one, and a
 * call may be computed again. It has no gradient but the one that its declaration tells
 * (own_gradient.h). */
#include "ops/extern.h"

#include "ops/infer.h"
#include "ops/lower.h"
#include "ops/op.h"
#include "support/panic.h"

static bool extern_infer(Arena *arena, const Node *node, Type *type, const char **reason) {
  const Attribute *dtype = infer_attribute(arena, node, ATTR_DTYPE, reason);
  if (!dtype || !infer_attribute(arena, node, ATTR_NAME, reason) ||
      !infer_attribute(arena, node, ATTR_FILE, reason))
    return false;
  if (dtype->integer < 0 || dtype->integer >= DTYPE_COUNT)
    return infer_fail(arena, reason, "there is no type number %lld", (long long)dtype->integer);
  type->dtype = (DType)dtype->integer;
  return infer_shape(arena, node, &type->shape, reason);
}

static void extern_evaluate(const Node *node, const Tensor *const *operands, Tensor *result,
                            const EvaluateContext *context) {
  (void)operands, (void)result, (void)context;
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
  builder_extern(builder, &slots);
}

static const Node *find_extern(const Graph *graph, int *at) {
  for (; graph && *at < graph->nodes.count; ++*at)
    if (graph->nodes.items[*at]->op == OP_EXTERN) return graph->nodes.items[*at];
  return NULL;
}

const Node *extern_first(const Module *module) {
  for (int e = 0; e < ENTRY_COUNT; e++) {
    int at = 0;
    const Node *node = find_extern(module->entries[e], &at);
    if (node) return node;
  }
  return NULL;
}

const char **extern_files(Arena *arena, const Module *module, int *count) {
  VEC(const char *) files = {0};
  for (int e = 0; e < ENTRY_COUNT; e++) {
    const Node *node;
    for (int at = 0; (node = find_extern(module->entries[e], &at)) != NULL; at++) {
      const char *file = node_string(node, ATTR_FILE); /* interned */
      bool is_known = false;
      for (int i = 0; i < files.count; i++) is_known = is_known || files.items[i] == file;
      if (!is_known) vec_push(arena, &files, file);
    }
  }
  *count = files.count;
  return files.items;
}

const OpClass op_class_extern = {
    .family = FAMILY_EXTERN,
    .infer = extern_infer,
    .evaluate = extern_evaluate,
    .lower = extern_lower,
    .is_costly = true,
    .stands_alone = true,
    .doc = "what a function of the user's computes",
};
