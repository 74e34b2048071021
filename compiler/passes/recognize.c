/* recognize: attention that a program writes out with products and a softmax becomes the
 * operator, where the target has kernels for it; otherwise nothing changes.
 *
 * Where these kernels use no tensor cores (Target.attention_is_plain), products that do stay as they are.
 *
 * Runs before differentiation, so that the gradient is the operator's, and after simplify, whose
 * forms it knows. Bodies of scans stay as they are. */
#include "ops/op.h"
#include "passes/pass.h"
#include "passes/rewrite.h"
#include "passes/rules/rules.h"

static Graph *recognize(const Graph *graph, bool in_16_bits) {
  Graph *into = rewrite_start(graph);
  NodeMap map = node_map_create(graph->arena, graph);
  const int *uses = graph_use_counts(graph->arena, graph);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    Maker maker = {into, node->span, node->path};
    bool is_left = dtype_is_half(node->type.dtype) && !in_16_bits;
    Node *recognized = is_left ? NULL : rules_recognize_attention(&maker, node, &map, uses);
    node_map_set(&map, node, recognized ? recognized : graph_copy_node(into, node, &map));
  }
  graph_map_outputs(into, graph, &map);
  return into;
}

static Graph *recognize_all(const Graph *graph) { return recognize(graph, true); }
static Graph *recognize_wide(const Graph *graph) { return recognize(graph, false); }

static bool has_all_kernels(const Target *target) {
  for (int op = 0; op < OP_COUNT; op++)
    if (op_info((Op)op)->class->family == FAMILY_ATTENTION && !op_has_kernel((Op)op, target))
      return false;
  return true;
}

void pass_recognize(Module *module, Diagnostics *diagnostics) {
  const RunConfig *run = &module->run;
  bool is_plain = op_attention_is_plain(module->target);
  bool has_tensor_products = run->allows_tf32 || dtype_is_half(run->precision);
  if (!has_all_kernels(module->target) || (is_plain && has_tensor_products)) return;
  rewrite_entries(module, is_plain ? recognize_wide : recognize_all);
}
