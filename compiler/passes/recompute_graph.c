/* Computing forward values a second time: see recompute_graph.h.
 *
 * A forward value that stays is in memory until the last late node has read it. Everything else
 * that late nodes read is computed for them once more, from the values that stay.
 *
 * The copies carry the phase (ATTR_PHASE) in which the gradients reach their segment, so that the
 * schedule cannot run them early, beside the originals, and that nothing fuses them with these.
 * Late nodes whose users all are in a later phase go there too if they do not make values smaller:
 * an adjoint stays in one kernel with what follows it, as without recomputation. Random nodes are
 * copied with their key: they give the same bits.
 *
 * Requires a graph without gradient nodes. A later CSE does not merge the copies: the phases
 * differ. */
#include "passes/recompute_graph.h"

#include "ops/op.h"

const Node *recompute_node(const Recompute *r, int i) { return r->graph->nodes.items[i]; }

int recompute_operand(const Recompute *r, int i, int k) {
  return r->position[recompute_node(r, i)->operands[k]->id];
}

bool recompute_is_leaf(const Node *node) {
  return node->operand_count == 0 && !op_info(node->op)->class->draw;
}

bool recompute_is_loop(const Node *node) { return op_info(node->op)->class->family == FAMILY_SCAN; }

int64_t recompute_bytes(const Recompute *r, int i) {
  const Node *node = recompute_node(r, i);
  return r->base[i] != i || recompute_is_leaf(node) ? 0 : type_bytes(node->type);
}

/* ---- what is forward, and how long its values live ------------------------------------------ */

static void find_forward(Recompute *r) {
  const bool *is_forward = op_forward_nodes(r->arena, r->graph);
  for (int i = 0; i < r->count; i++) r->is_forward[i] = is_forward[recompute_node(r, i)->id];
}

static void find_uses(Recompute *r) {
  for (int i = 0; i < r->count; i++) {
    const Node *node = recompute_node(r, i);
    r->base[i] = op_is_view(node) ? r->base[recompute_operand(r, i, 0)] : i;
    r->last_use[i] = i;
    for (int k = 0; k < node->operand_count; k++) {
      int base = r->base[recompute_operand(r, i, k)];
      if (!r->is_forward[i]) r->is_late_read[base] = true;
      else r->last_use[base] = i;
    }
  }
  for (int i = 0; i < r->count; i++)
    if (r->is_forward[i] && r->is_late_read[i]) r->late_bytes += recompute_bytes(r, i);
}

/* ---- phases of late nodes ------------------------------------------------------------------- */

static int segment_phase(const Recompute *r, int i) { return r->segments - 1 - r->segment[i]; }

static bool is_before_again(const Recompute *r, int i) {
  return i <= r->last_again && !recompute_is_leaf(recompute_node(r, r->base[i]));
}

/* The earliest phase: when all that it reads is there. */
static int natural_phase(const Recompute *r, int i) {
  int phase = 0;
  for (int k = 0; k < recompute_node(r, i)->operand_count; k++) {
    int operand = recompute_operand(r, i, k);
    int own = !r->is_forward[operand] ? r->phase[operand]
              : !r->stays[operand]    ? segment_phase(r, operand)
                                      : is_before_again(r, operand);
    if (own > phase) phase = own;
  }
  return phase;
}

/* The result takes at least as much memory as any value that it is computed from. */
static bool keeps_size(const Recompute *r, int i) {
  for (int k = 0; k < recompute_node(r, i)->operand_count; k++) {
    int base = r->base[recompute_operand(r, i, k)];
    if (recompute_bytes(r, base) > type_bytes(recompute_node(r, i)->type)) return false;
  }
  return true;
}

static void find_late_phases(Recompute *r) {
  int *users = ARENA_ARRAY(r->arena, int, r->count); /* the earliest phase of a user; -1: none */
  for (int i = 0; i < r->count; i++) {
    users[i] = -1;
    if (!r->is_forward[i]) r->phase[i] = natural_phase(r, i);
  }
  for (int i = 0; i < r->graph->outputs.count; i++)
    users[r->position[r->graph->outputs.items[i].node->id]] = 0;
  for (int i = r->count - 1; i >= 0; i--) {
    if (r->is_forward[i]) continue;
    if (users[i] > r->phase[i] && keeps_size(r, i)) r->phase[i] = users[i];
    for (int k = 0; k < recompute_node(r, i)->operand_count; k++) {
      int *earliest = &users[recompute_operand(r, i, k)];
      if (*earliest < 0 || r->phase[i] < *earliest) *earliest = r->phase[i];
    }
  }
}

/* ---- the copy ------------------------------------------------------------------------------- */

static Node *copy_node(const Recompute *r, const Node *node, Node *const *operands, int phase) {
  Attribute *attributes = ARENA_ARRAY(r->arena, Attribute, node->attribute_count + 1);
  int count = 0;
  for (int i = 0; i < node->attribute_count; i++)
    if (phase == 0 || node->attributes[i].key != ATTR_PHASE)
      attributes[count++] = node->attributes[i];
  if (phase > 0) attributes[count++] = attr_make_int(ATTR_PHASE, phase);
  Node model = *node;
  model.operands = (Node **)operands;
  model.attribute_count = count;
  model.attributes = attributes;
  return graph_add(r->into, &model);
}

static void copy_again(Recompute *r, int i) {
  const Node *node = recompute_node(r, i);
  Node **operands = ARENA_ARRAY(r->arena, Node *, node->operand_count + 1);
  for (int k = 0; k < node->operand_count; k++) {
    int operand = recompute_operand(r, i, k);
    operands[k] = r->again[operand] ? r->again[operand] : r->copy[operand];
  }
  r->again[i] = copy_node(r, node, operands, segment_phase(r, i));
  r->result->node_count++;
  r->result->flops += node_cost(node).flops;
}

/* Computes position `wanted` once more, after all that it needs, in the graph's order. */
static void compute_again(Recompute *r, int wanted) {
  bool *needed = ARENA_ARRAY(r->arena, bool, wanted + 1);
  needed[wanted] = true;
  int first = wanted;
  for (int i = wanted; i >= first; i--) {
    needed[i] = needed[i] && !r->stays[i] && !r->again[i];
    for (int k = 0; needed[i] && k < recompute_node(r, i)->operand_count; k++) {
      int operand = recompute_operand(r, i, k);
      needed[operand] = true;
      if (operand < first) first = operand;
    }
  }
  for (int i = first; i <= wanted; i++)
    if (needed[i]) copy_again(r, i);
}

/* Whether the phase of late node i begins with it: what it reads belongs to earlier ones. Leaves
 * belong to none. */
static bool begins_phase(const Recompute *r, int i) {
  for (int k = 0; k < recompute_node(r, i)->operand_count; k++) {
    int operand = recompute_operand(r, i, k);
    bool is_leaf = recompute_node(r, operand)->operand_count == 0;
    int phase = !r->is_forward[operand] ? r->phase[operand]
                : r->again[operand]     ? segment_phase(r, operand)
                                        : 0;
    if (phase >= r->phase[i] && !is_leaf) return false;
  }
  return true;
}

static void copy_late(Recompute *r, int i) {
  const Node *node = recompute_node(r, i);
  Node **operands = ARENA_ARRAY(r->arena, Node *, node->operand_count + 1);
  for (int k = 0; k < node->operand_count; k++) {
    int operand = recompute_operand(r, i, k);
    if (r->is_forward[operand] && !r->stays[operand]) compute_again(r, operand);
    operands[k] = r->again[operand] ? r->again[operand] : r->copy[operand];
  }
  bool is_marked = node->operand_count > 0 && (r->marks_each || begins_phase(r, i));
  r->copy[i] = copy_node(r, node, operands, is_marked ? r->phase[i] : 0);
}

static void copy_all(Recompute *r) {
  NodeMap map = node_map_create(r->arena, r->graph);
  for (int i = 0; i < r->count; i++) {
    if (r->is_forward[i]) r->copy[i] = graph_copy_node(r->into, recompute_node(r, i), &map);
    else copy_late(r, i);
    node_map_set(&map, recompute_node(r, i), r->copy[i]);
  }
  graph_map_outputs(r->into, r->graph, &map);
}

Recompute recompute_begin(Arena *into, const Graph *graph, RecomputeResult *result) {
  Arena *arena = arena_create();
  int count = graph->nodes.count;
  Recompute r = {.graph = graph,
                 .result = result,
                 .arena = arena,
                 .count = count,
                 .position = ARENA_ARRAY(arena, int, graph->next_id),
                 .is_forward = ARENA_ARRAY(arena, bool, count),
                 .is_late_read = ARENA_ARRAY(arena, bool, count),
                 .base = ARENA_ARRAY(arena, int, count),
                 .last_use = ARENA_ARRAY(arena, int, count),
                 .segments = 2,
                 .segment = ARENA_ARRAY(arena, int, count),
                 .stays = ARENA_ARRAY(arena, bool, count),
                 .last_again = -1,
                 .phase = ARENA_ARRAY(arena, int, count),
                 .into = graph_create(into, graph->name),
                 .copy = ARENA_ARRAY(arena, Node *, count),
                 .again = ARENA_ARRAY(arena, Node *, count)};
  *result = (RecomputeResult){0};
  for (int i = 0; i < count; i++) r.position[graph->nodes.items[i]->id] = i;
  find_forward(&r);
  find_uses(&r);
  return r;
}

Graph *recompute_make(Recompute *r) {
  find_late_phases(r);
  copy_all(r);
  return r->into;
}

void recompute_end(Recompute *r) { arena_destroy(r->arena); }
