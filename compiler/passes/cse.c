/* cse: of nodes that compute the same, the first remains.
 *
 * Two nodes are the same when operator, attributes, type and (after merging) operands are;
 * operands of a commuting operator are compared without regard to order.  Random nodes never
 * merge: each draw is its own.  Two scans are the same when their bodies are, after merging in
 * them, and a body has one argument for what several operands give it.  The first keeps its name
 * and place.  A hash table with chains; what it finds does not depend on the order within a bucket,
 * so the result is deterministic. */
#include <string.h>
#include "ops/op.h"
#include "ops/scan.h"
#include "passes/pass.h"
#include "passes/rewrite.h"
#include "support/hash.h"

/* A node that stands for all equal ones. */
typedef struct Leader Leader;
struct Leader {
  Leader *next; /* in its bucket */
  uint64_t hash;
  Node *node;
};

typedef struct Merger {
  Graph *into;
  NodeMap map;
  Leader **buckets;
  uint64_t mask;   /* their number is a power of two */
  const int *same; /* of a body: by operand of the scan, the first one with its values */
} Merger;

static uint64_t mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
  return hash * 0xff51afd7ed558ccdu;
}

static uint64_t hash_attribute(uint64_t hash, const Attribute *attribute) {
  uint64_t bits;
  hash = mix(hash, attribute->key);
  switch (attribute_kind(attribute->key)) {
  case ATTRIBUTE_INT: return mix(hash, (uint64_t)attribute->integer);
  case ATTRIBUTE_FLOAT: memcpy(&bits, &attribute->real, sizeof bits); return mix(hash, bits);
  case ATTRIBUTE_STRING: return mix(hash, hash_text(attribute->string));
  case ATTRIBUTE_INTS:
    for (int i = 0; i < attribute->count; i++) hash = mix(hash, (uint64_t)attribute->ints[i]);
  }
  return hash;
}

/* Operands add up where their order does not matter. */
static uint64_t hash_node(const Merger *merger, const Node *node) {
  uint64_t hash = mix(node->type.dtype, node->op), sum = 0;
  Shape shape = node->type.shape;
  for (int i = 0; i < shape.rank; i++) hash = mix(hash, (uint64_t)shape.dim[i]);
  for (int i = 0; i < node->attribute_count; i++) hash = hash_attribute(hash, &node->attributes[i]);
  for (int i = 0; i < node->operand_count; i++) {
    uint64_t id = (uint64_t)node_map_get(&merger->map, node->operands[i])->id;
    if (op_info(node->op)->class->commutes) sum += mix(0, id);
    else hash = mix(hash, id);
  }
  return mix(hash, sum);
}

static Graph *merge_graph(const Graph *graph, const int *same);

/* ---- scans -------------------------------------------------------------------------------- */

/* Sequences that have the same values are one, and so are invariants. */
static int *find_same_operands(const Merger *merger, const Node *scan) {
  ScanShape shape = scan_shape(scan);
  int *same = ARENA_ARRAY(merger->into->arena, int, scan->operand_count);
  for (int i = 0; i < scan->operand_count; i++) {
    int invariants = shape.carries + shape.sequences;
    int first = i < shape.carries ? i : i < invariants ? shape.carries : invariants;
    while (node_map_get(&merger->map, scan->operands[first]) !=
           node_map_get(&merger->map, scan->operands[i]))
      first++;
    same[i] = i < shape.carries ? i : first;
  }
  return same;
}

/* Of what a merged body yields several times, the first. */
static int first_result(const Node *scan, int index) {
  const Graph *body = scan->body;
  int first = scan_shape(scan).carries;
  if (index < first) return index;
  while (body->outputs.items[first].node != body->outputs.items[index].node) first++;
  return first;
}

/* An argument or a result under the first of the numbers that it has; others as they are. */
static const Node *under_first_number(const Merger *merger, const Node *node) {
  bool is_argument = merger->same && op_info(node->op)->class->leaf == LEAF_ARGUMENT;
  if (!is_argument && !node_is_scan_result(node)) return node;
  int index = (int)node_int(node, ATTR_INDEX);
  int first = is_argument ? merger->same[index]
                          : first_result(node_map_get(&merger->map, node->operands[0]), index);
  if (first == index) return node;
  Arena *arena = merger->into->arena;
  Node *other = arena_copy(arena, node, sizeof *node);
  other->attributes =
      arena_copy(arena, node->attributes, sizeof *node->attributes * (size_t)node->attribute_count);
  for (int i = 0; i < other->attribute_count; i++)
    if (other->attributes[i].key == ATTR_INDEX) other->attributes[i].integer = first;
  return other;
}

static bool same_graphs(const Graph *a, const Graph *b);

/* Both are merged, so that equal ones have equal nodes in the same order. */
static bool same_inner(const Graph *a, const Graph *b) {
  return a == b || (a && b && same_graphs(a, b));
}

/* `a` reads what `b` does: the nodes that the map has for them, or without a map those of their ids. */
static bool same_operands(const Node *a, const Node *b, const NodeMap *map) {
  bool in_order = a->operand_count == b->operand_count, turned = in_order;
  for (int i = 0; i < a->operand_count && (in_order || turned); i++) {
    const Node *other = map ? node_map_get(map, b->operands[i]) : b->operands[i];
    in_order = in_order && a->operands[i]->id == other->id;
    turned = turned && a->operands[a->operand_count - 1 - i]->id == other->id;
  }
  return in_order || (turned && a->operand_count == 2 && op_info(a->op)->class->commutes);
}

static bool same_node(const Node *a, const Node *b) {
  return a->id == b->id && a->op == b->op && type_equal(a->type, b->type) &&
         node_same_attributes(a, b) && same_operands(a, b, NULL) && same_inner(a->body, b->body) &&
         same_inner(a->rule, b->rule);
}

/* The same nodes, by id, and outputs; names, paths, places and the order of operands that commute
 * do not count. */
static bool same_graphs(const Graph *a, const Graph *b) {
  if (a->nodes.count != b->nodes.count || a->outputs.count != b->outputs.count) return false;
  for (int i = 0; i < a->nodes.count; i++)
    if (!same_node(a->nodes.items[i], b->nodes.items[i])) return false;
  for (int i = 0; i < a->outputs.count; i++)
    if (a->outputs.items[i].node->id != b->outputs.items[i].node->id) return false;
  return true;
}

static Node *merge_node(Merger *merger, const Node *given) {
  const Node *node = under_first_number(merger, given);
  if (op_info(node->op)->class->draw) return graph_copy_node(merger->into, node, &merger->map);
  uint64_t hash = hash_node(merger, node);
  const Graph *body = NULL;
  if (node->body) body = merge_graph(node->body, find_same_operands(merger, node));
  Leader **bucket = &merger->buckets[hash & merger->mask];
  for (const Leader *leader = *bucket; leader; leader = leader->next)
    if (leader->hash == hash && leader->node->op == node->op &&
        same_inner(leader->node->body, body) && leader->node->rule == node->rule &&
        type_equal(leader->node->type, node->type) && node_same_attributes(leader->node, node) &&
        same_operands(leader->node, node, &merger->map))
      return leader->node;
  Leader *leader = ARENA_NEW(merger->into->arena, Leader);
  *leader = (Leader){*bucket, hash, graph_copy_node(merger->into, node, &merger->map)};
  leader->node->body = body;
  *bucket = leader;
  return leader->node;
}

static Graph *merge_graph(const Graph *graph, const int *same) {
  uint64_t buckets = 64;
  while (buckets < (uint64_t)graph->nodes.count) buckets *= 2;
  Merger merger = {.into = rewrite_start(graph),
                   .map = node_map_create(graph->arena, graph),
                   .buckets = ARENA_ARRAY(graph->arena, Leader *, buckets),
                   .mask = buckets - 1,
                   .same = same};
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    node_map_set(&merger.map, node, merge_node(&merger, node));
  }
  graph_map_outputs(merger.into, graph, &merger.map);
  return merger.into;
}

static Graph *merge_entry(const Graph *graph) { return merge_graph(graph, NULL); }

void pass_cse(Module *module, Diagnostics *diagnostics) { rewrite_entries(module, merge_entry); }
