/* hoist: arithmetic on host scalars moves from the steps to the host entry, in double.
 *
 * A schedule or Adam's bias correction is a few operations on the step's number, the same for
 * every element of every tensor.  Host arithmetic is an f64 or bool scalar that depends on nothing
 * but `scalar` leaves and constants, through elementwise operators.  Where the rest of a graph
 * uses an f64 result of such arithmetic, the result becomes an output of the host entry and the
 * use a `scalar` leaf.  Equal arithmetic of several places and entries becomes one output.  A bool
 * result stays where it is (scalars are f64), over hoisted operands.
 *
 * Requires that no gradient is left (a schedule has none).  Leaves dead nodes behind for dce. */
#include "ops/op.h"
#include "passes/pass.h"
#include "passes/rewrite.h"
#include "passes/rules/rules.h"
#include "support/names.h"

static const EntryKind hoisted_entries[] = {ENTRY_TRAIN, ENTRY_ACCUMULATE, ENTRY_EVAL,
                                            ENTRY_EVAL_ONE};

typedef struct Hoist {
  Module *module;
  Graph *host;        /* grows */
  const Graph *graph; /* the entry being rewritten */
  Graph *into;
  NodeMap map;      /* graph -> into */
  NodeMap host_map; /* graph -> host */
  bool *is_host;    /* by id: host arithmetic, and the leaves it stands on */
  bool *is_wanted;  /* by id: used by something that stays */
  int next_name;
} Hoist;

static bool is_scalar_type(Type type) {
  return type.shape.rank == 0 && (type.dtype == DTYPE_F64 || type.dtype == DTYPE_BOOL);
}

static void find_arithmetic(Hoist *hoist) {
  for (int i = 0; i < hoist->graph->nodes.count; i++) {
    const Node *node = hoist->graph->nodes.items[i];
    LeafKind leaf = op_info(node->op)->class->leaf;
    bool is_host = is_scalar_type(node->type) &&
                   (op_is_elementwise(node->op) || leaf == LEAF_SCALAR || leaf == LEAF_CONSTANT);
    for (int k = 0; k < node->operand_count && is_host; k++)
      is_host = hoist->is_host[node->operands[k]->id];
    hoist->is_host[node->id] = is_host;
  }
}

/* An f64 result of at least one operation. */
static bool can_hoist(const Hoist *hoist, const Node *node) {
  return hoist->is_host[node->id] && node->operand_count > 0 && node->type.dtype == DTYPE_F64;
}

/* Users come after operands: backward, a node that stays wants its operands. */
static void find_wanted(Hoist *hoist) {
  const Graph *graph = hoist->graph;
  const bool *live = graph_live_nodes(graph->arena, graph);
  for (int i = 0; i < graph->outputs.count; i++)
    hoist->is_wanted[graph->outputs.items[i].node->id] = true;
  for (int i = graph->nodes.count - 1; i >= 0; i--) {
    const Node *node = graph->nodes.items[i];
    bool stays =
        !hoist->is_host[node->id] || (hoist->is_wanted[node->id] && !can_hoist(hoist, node));
    if (!live[node->id] || !stays) continue;
    for (int k = 0; k < node->operand_count; k++) hoist->is_wanted[node->operands[k]->id] = true;
  }
}

/* ---- the host's side ---------------------------------------------------------------------- */

static const char *find_host_name(const Hoist *hoist, const Node *value) {
  for (int i = 0; i < hoist->host->outputs.count; i++) {
    const Output *output = &hoist->host->outputs.items[i];
    if (output->kind == OUTPUT_SCALAR && output->node == value) return output->name;
  }
  return NULL;
}

/* A node of the host entry that is what a copy of `node` would be; NULL if there is none. */
static Node *find_equal(const Hoist *hoist, const Node *node) {
  for (int i = 0; i < hoist->host->nodes.count; i++) {
    Node *other = hoist->host->nodes.items[i];
    bool equal = other->op == node->op && other->operand_count == node->operand_count &&
                 type_equal(other->type, node->type) && node_same_attributes(other, node);
    for (int k = 0; k < node->operand_count && equal; k++)
      equal = other->operands[k] == node_map_get(&hoist->host_map, node->operands[k]);
    if (equal) return other;
  }
  return NULL;
}

/* The node in the host entry: a scalar that the host computes is what computes it. */
static Node *move_node(Hoist *hoist, const Node *node) {
  if (op_info(node->op)->class->leaf == LEAF_SCALAR) {
    Output *output = graph_find_output(hoist->host, OUTPUT_SCALAR, node_string(node, ATTR_NAME));
    if (output) return output->node;
  }
  Node *equal = find_equal(hoist, node);
  return equal ? equal : graph_copy_node(hoist->host, node, &hoist->host_map);
}

static Node *move_tree(Hoist *hoist, const Node *node) {
  VEC(const Node *) stack = {0};
  vec_push(hoist->module->arena, &stack, node);
  while (stack.count > 0) {
    const Node *top = stack.items[stack.count - 1];
    int before = stack.count;
    for (int k = top->operand_count - 1; k >= 0; k--)
      if (!node_map_get(&hoist->host_map, top->operands[k]))
        vec_push(hoist->module->arena, &stack, top->operands[k]);
    if (stack.count > before) continue;
    stack.count--;
    if (!node_map_get(&hoist->host_map, top))
      node_map_set(&hoist->host_map, top, move_node(hoist, top));
  }
  return node_map_get(&hoist->host_map, node);
}

static const char *fresh_name(Hoist *hoist) {
  for (;;) {
    const char *name = name_printf("host.%d", hoist->next_name++);
    if (!graph_find_output(hoist->host, OUTPUT_SCALAR, name)) return name;
  }
}

/* The name under which the host gives the value of `node`. */
static const char *host_name(Hoist *hoist, const Node *node) {
  Node *value = move_tree(hoist, node);
  const char *name = find_host_name(hoist, value);
  if (name) return name;
  name = fresh_name(hoist);
  Output output = {.kind = OUTPUT_SCALAR, .name = name, .node = value, .span = node->span};
  graph_add_output(hoist->host, output);
  return name;
}

/* ---- the entries -------------------------------------------------------------------------- */

static Node *replace_node(Hoist *hoist, const Node *node) {
  Maker maker = {hoist->into, node->span, node->path};
  if (hoist->is_wanted[node->id] && can_hoist(hoist, node))
    return rules_make_scalar(&maker, host_name(hoist, node));
  return graph_copy_node(hoist->into, node, &hoist->map);
}

static Graph *hoist_graph(Hoist *hoist, const Graph *graph) {
  Arena *arena = hoist->module->arena;
  hoist->graph = graph;
  hoist->into = rewrite_start(graph);
  hoist->map = node_map_create(arena, graph);
  hoist->host_map = node_map_create(arena, graph);
  hoist->is_host = ARENA_ARRAY(arena, bool, graph->next_id);
  hoist->is_wanted = ARENA_ARRAY(arena, bool, graph->next_id);
  find_arithmetic(hoist);
  find_wanted(hoist);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    node_map_set(&hoist->map, node, replace_node(hoist, node));
  }
  graph_map_outputs(hoist->into, graph, &hoist->map);
  return hoist->into;
}

void pass_hoist(Module *module, Diagnostics *diagnostics) {
  Hoist hoist = {.module = module, .host = module->entries[ENTRY_HOST]};
  if (!hoist.host) hoist.host = graph_create(module->arena, entry_name(ENTRY_HOST));
  for (size_t i = 0; i < sizeof hoisted_entries / sizeof *hoisted_entries; i++) {
    Graph *graph = module->entries[hoisted_entries[i]];
    if (graph) module->entries[hoisted_entries[i]] = hoist_graph(&hoist, graph);
  }
  if (hoist.host->outputs.count > 0) module->entries[ENTRY_HOST] = hoist.host;
}
