/* Retyping: a copy of each graph in which floats of more than 16 bits, or all, have one type.
 *
 * The host and finish entries compute host scalars and stay in f64, and so do the scalar subgraphs of
 * the other entries that depend on host scalars and constants only (the schedule's arithmetic): they
 * are typed f64 by the elaborator and reach tensors through a cast, whose target type is what changes. */
#include "ops/retype.h"

#include "ops/op.h"

typedef struct Retyping {
  DType type;
  bool includes_halves;
} Retyping;

static void retype_dtype(const Retyping *to, DType *dtype) {
  if (dtype_is_float(*dtype) && (to->includes_halves || !dtype_is_half(*dtype))) *dtype = to->type;
}

/* A leaf that the host computes, or a scalar made of such leaves, f64 or a comparison of those: its type is
 * not the user's. */
static bool is_host_scalar(const Node *node, const bool *host) {
  bool fits = node->type.dtype == DTYPE_F64 || node->type.dtype == DTYPE_BOOL;
  if (!fits || node->type.shape.rank != 0) return false;
  if (node->op == OP_SCALAR) return true;
  if (node->body || node_is_scan_result(node)) return false;
  bool from_host = false;
  for (int i = 0; i < node->operand_count; i++) {
    const Node *operand = node->operands[i];
    if (!host[operand->id] && operand->operand_count > 0) return false;
    from_host = from_host || host[operand->id];
  }
  return from_host;
}

/* Constants take the type of their users: one beside a host scalar must stay f64. */
static void keep_constants_of_host(const Graph *graph, bool *host) {
  for (int i = graph->nodes.count - 1; i >= 0; i--) {
    const Node *node = graph->nodes.items[i];
    if (!host[node->id]) continue;
    for (int k = 0; k < node->operand_count; k++) host[node->operands[k]->id] = true;
  }
}

static Node *retype_node(Graph *into, const Node *node, const NodeMap *map, const Retyping *to) {
  Node *copy = graph_copy_node(into, node, map);
  retype_dtype(to, &copy->type.dtype);
  for (int i = 0; i < copy->attribute_count; i++) {
    Attribute *attribute = &copy->attributes[i];
    if (attribute->key != ATTR_DTYPE) continue;
    DType dtype = (DType)attribute->integer;
    retype_dtype(to, &dtype);
    attribute->integer = dtype;
  }
  return copy;
}

static Graph *retype_graph(const Graph *graph, const Retyping *to, const bool *host_arguments);

/* A body or a rule, whose arguments are host scalars where the operands are; argument 0 of a rule is
 * the gradient and never one. */
static const Graph *retype_inner(const Node *node, const bool *host, const Retyping *to) {
  const Graph *inner = node_inner(node);
  bool *arguments = ARENA_ARRAY(inner->arena, bool, node->operand_count);
  for (int i = 0; i < node->operand_count; i++) arguments[i] = host[node->operands[i]->id];
  if (node->rule) arguments[0] = false;
  return retype_graph(inner, to, arguments);
}

static Graph *retype_graph(const Graph *graph, const Retyping *to, const bool *host_arguments) {
  Graph *into = graph_create(graph->arena, graph->name);
  NodeMap map = node_map_create(graph->arena, graph);
  bool *host = ARENA_ARRAY(graph->arena, bool, graph->next_id);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    bool is_argument = op_info(node->op)->class->leaf == LEAF_ARGUMENT;
    host[node->id] =
        is_argument ? host_arguments[node_int(node, ATTR_INDEX)] : is_host_scalar(node, host);
  }
  keep_constants_of_host(graph, host);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    bool keeps = host[node->id] || node->body;
    Node *copy = keeps ? graph_copy_node(into, node, &map) : retype_node(into, node, &map, to);
    if (node->body) copy->body = retype_inner(node, host, to);
    if (node->rule) copy->rule = retype_inner(node, host, to);
    node_map_set(&map, node, copy);
  }
  graph_map_outputs(into, graph, &map);
  return into;
}

static void retype_module(Module *module, const Retyping *to) {
  for (int entry = 0; entry < ENTRY_COUNT; entry++)
    if (module->entries[entry] && entry != ENTRY_HOST && entry != ENTRY_FINISH)
      module->entries[entry] = retype_graph(module->entries[entry], to, NULL);
  for (int i = 0; i < module->variables.count; i++)
    retype_dtype(to, &module->variables.items[i].type.dtype);
  for (int i = 0; i < module->inputs.count; i++)
    retype_dtype(to, &module->inputs.items[i].type.dtype);
  module->run.precision = to->type;
}

void module_retype_floats(Module *module, DType type) {
  retype_module(module, &(Retyping){type, false});
}

void module_retype_all_floats(Module *module, DType type) {
  retype_module(module, &(Retyping){type, true});
}
