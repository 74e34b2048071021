/* Recomputation by segments (Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016,
 * for any graph).
 *
 * The forward part is what the accumulators (loss, metrics) depend on; the rest, gradients and
 * updates, is late. The forward part, in the order of its nodes, is cut into segments with about
 * equal bytes of what late nodes read, at places near the ideal that few bytes cross. Or they
 * taper: the last of s has one part of s (s + 1) / 2, the one before two, and so on, because while
 * the gradients are in a segment, only the cuts before it are still held. Values that cross a cut
 * stay in memory until they are needed, small values too. Everything else of a segment that late
 * nodes read is computed for them once more, from the values that stay; only the last segment,
 * which the gradients need first, is not; nor are scans that are loops.
 *
 * The copies carry the phase (ATTR_PHASE) in which the gradients reach their segment, so that the
 * schedule cannot run them early, beside the originals, and that nothing fuses them with these.
 * Late nodes whose users all are in a later phase go there too if they do not make values smaller:
 * an adjoint stays in one kernel with what follows it, as without recomputation. Random nodes are
 * copied with their key: they give the same bits.
 *
 * Requires a graph without gradient nodes.  A later CSE does not merge the copies: the phases
 * differ. */
#include "passes/recompute.h"

#include <math.h>

#include "ops/op.h"

enum {
  SMALL_PART = 512,        /* a value with less than this part of all that late nodes read stays, */
  SMALL_SUM = 16,          /* if such values together are less than this part */
  FLOPS_WORTH_KEEPING = 64 /* an element that costs more than this is not cheap */
};

typedef struct Recompute {
  const Graph *graph;
  const RecomputeOptions *options;
  RecomputeResult *result;
  Arena *arena;
  int count;     /* nodes; all arrays below are by position in the graph */
  int *position; /* by id */
  bool *is_forward;
  bool *is_late_read; /* late nodes read its memory */
  int *base;          /* whose memory holds its value: itself but for movement */
  int *last_use;      /* of a base: the last forward node that reads its memory */
  int *segment;       /* forward nodes */
  bool *stays;
  int *phase;         /* late nodes */
  int64_t late_bytes; /* of all bases that late nodes read */
  Graph *into;
  Node **copy;  /* the first one */
  Node **again; /* the second one, or NULL */
} Recompute;

static const Node *node_at(const Recompute *r, int i) { return r->graph->nodes.items[i]; }

static int operand_at(const Recompute *r, int i, int k) {
  return r->position[node_at(r, i)->operands[k]->id];
}

/* Is in memory anyway, or needs none. */
static bool is_leaf(const Node *node) {
  return node->operand_count == 0 && !op_info(node->op)->class->draw;
}

/* A scan that is a loop, or a result of one: what its steps keep was decided with its gradient. */
static bool is_loop(const Node *node) { return op_info(node->op)->class->family == FAMILY_SCAN; }

static bool is_view(const Node *node) {
  const OpClass *class = op_info(node->op)->class;
  return class->family == FAMILY_MOVEMENT && class->moves_values && node->operand_count == 1;
}

static int64_t base_bytes(const Recompute *r, int i) {
  const Node *node = node_at(r, i);
  return r->base[i] != i || is_leaf(node) ? 0 : type_bytes(node->type);
}

/* ---- what is forward, and how long its values live ------------------------------------------ */

static void find_forward(Recompute *r) {
  const bool *is_forward = graph_forward_nodes(r->arena, r->graph);
  for (int i = 0; i < r->count; i++) r->is_forward[i] = is_forward[node_at(r, i)->id];
}

static void find_uses(Recompute *r) {
  for (int i = 0; i < r->count; i++) {
    const Node *node = node_at(r, i);
    r->base[i] = is_view(node) ? r->base[operand_at(r, i, 0)] : i;
    r->last_use[i] = i;
    for (int k = 0; k < node->operand_count; k++) {
      int base = r->base[operand_at(r, i, k)];
      if (!r->is_forward[i]) r->is_late_read[base] = true;
      else r->last_use[base] = i;
    }
  }
  for (int i = 0; i < r->count; i++)
    if (r->is_forward[i] && r->is_late_read[i]) r->late_bytes += base_bytes(r, i);
}

/* ---- segments ------------------------------------------------------------------------------- */

/* By position: the bytes of values that are there and that later forward nodes read. */
static int64_t *find_crossing(const Recompute *r) {
  int64_t *crossing = ARENA_ARRAY(r->arena, int64_t, r->count + 1), alive = 0;
  for (int i = 0; i < r->count; i++) {
    if (!r->is_forward[i]) continue;
    crossing[i] += base_bytes(r, i);
    crossing[r->last_use[i]] -= base_bytes(r, i);
  }
  for (int i = 0; i < r->count; i++) crossing[i] = alive += crossing[i];
  return crossing;
}

/* How many segments fit into the first `part` of the bytes (0 to 1). Tapering segments: the first
 * c are c (2 s + 1 - c) / (s (s + 1)) of all. */
static double segments_before(const RecomputeOptions *options, double part) {
  double s = options->segments;
  if (!options->tapers) return part * s;
  double square = (2 * s + 1) * (2 * s + 1) - 4 * s * (s + 1) * part;
  return (2 * s + 1 - sqrt(square > 1 ? square : 1)) / 2;
}

/* Cut number c lies after the position with the fewest bytes across it among those that have
 * between c - 1/2 and c + 1/2 segments before them; near the middle if equal. */
static void find_segments(Recompute *r) {
  const int64_t *crossing = find_crossing(r);
  double all = (double)r->late_bytes, before = 0, best_distance = 0;
  int *best = ARENA_ARRAY(r->arena, int, r->options->segments + 1);
  for (int c = 0; c <= r->options->segments; c++) best[c] = -1;
  for (int i = 0; i < r->count; i++) {
    if (!r->is_forward[i]) continue;
    if (r->is_late_read[i]) before += (double)base_bytes(r, i);
    double segments = all > 0 ? segments_before(r->options, before / all) : 0;
    int cut = (int)(segments + 0.5);
    if (cut < 1 || cut >= r->options->segments) continue;
    double distance = segments - cut;
    if (distance < 0) distance = -distance;
    bool is_better = best[cut] < 0 || crossing[i] < crossing[best[cut]] ||
                     (crossing[i] == crossing[best[cut]] && distance < best_distance);
    if (!is_better) continue;
    best[cut] = i;
    best_distance = distance;
  }
  int segment = 0;
  for (int i = 0; i < r->count; i++) {
    r->segment[i] = segment;
    for (int c = 1; c < r->options->segments; c++)
      if (best[c] == i) segment++;
  }
  for (int i = 0; i < r->count; i++) /* the last one is not recomputed, whatever its number */
    if (r->segment[i] == segment) r->segment[i] = r->options->segments - 1;
}

static bool is_costly(const Node *node) {
  double elements = (double)shape_elements(node->type.shape);
  return node_cost(node).flops > FLOPS_WORTH_KEEPING * elements;
}

/* Values with fewer bytes are not worth computing again. In a loop that is written out every value
 * is a small part of the whole: then the limit is lower. */
static int64_t find_small(const Recompute *r) {
  int64_t limit = r->late_bytes / SMALL_PART;
  for (; limit > 0; limit /= 2) {
    int64_t sum = 0;
    for (int i = 0; i < r->count; i++) {
      int64_t bytes = r->is_forward[i] && r->is_late_read[i] ? base_bytes(r, i) : 0;
      if (bytes < limit) sum += bytes;
    }
    if (sum <= r->late_bytes / SMALL_SUM) break;
  }
  return limit;
}

static void find_stays(Recompute *r) {
  int64_t small = find_small(r);
  for (int i = 0; i < r->count; i++) {
    if (!r->is_forward[i]) continue;
    int base = r->base[i];
    if (base != i) {
      r->stays[i] = r->stays[base];
      continue;
    }
    const Node *node = node_at(r, i);
    bool crosses = r->segment[r->last_use[i]] != r->segment[i];
    bool is_small = base_bytes(r, i) < small;
    r->stays[i] = is_leaf(node) || is_loop(node) || r->segment[i] == r->options->segments - 1 ||
                  crosses || is_small || (r->options->cheap_only && is_costly(node));
    if (crosses && r->is_late_read[i] && !is_leaf(node) && !is_loop(node) && !is_small)
      vec_push(r->into->arena, &r->result->kept, node->path);
  }
}

/* ---- phases of late nodes ------------------------------------------------------------------- */

static int segment_phase(const Recompute *r, int i) {
  return r->options->segments - 1 - r->segment[i];
}

/* The earliest phase: when all that it reads is there. */
static int natural_phase(const Recompute *r, int i) {
  int phase = 0;
  for (int k = 0; k < node_at(r, i)->operand_count; k++) {
    int operand = operand_at(r, i, k);
    int own = !r->is_forward[operand] ? r->phase[operand]
              : r->stays[operand]     ? 0
                                      : segment_phase(r, operand);
    if (own > phase) phase = own;
  }
  return phase;
}

/* The result takes at least as much memory as any value that it is computed from. */
static bool keeps_size(const Recompute *r, int i) {
  for (int k = 0; k < node_at(r, i)->operand_count; k++) {
    int base = r->base[operand_at(r, i, k)];
    if (base_bytes(r, base) > type_bytes(node_at(r, i)->type)) return false;
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
    for (int k = 0; k < node_at(r, i)->operand_count; k++) {
      int *earliest = &users[operand_at(r, i, k)];
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
  const Node *node = node_at(r, i);
  Node **operands = ARENA_ARRAY(r->arena, Node *, node->operand_count + 1);
  for (int k = 0; k < node->operand_count; k++) {
    int operand = operand_at(r, i, k);
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
    for (int k = 0; needed[i] && k < node_at(r, i)->operand_count; k++) {
      int operand = operand_at(r, i, k);
      needed[operand] = true;
      if (operand < first) first = operand;
    }
  }
  for (int i = first; i <= wanted; i++)
    if (needed[i]) copy_again(r, i);
}

static void copy_late(Recompute *r, int i) {
  const Node *node = node_at(r, i);
  Node **operands = ARENA_ARRAY(r->arena, Node *, node->operand_count + 1);
  for (int k = 0; k < node->operand_count; k++) {
    int operand = operand_at(r, i, k);
    if (r->is_forward[operand] && !r->stays[operand]) compute_again(r, operand);
    operands[k] = r->again[operand] ? r->again[operand] : r->copy[operand];
  }
  r->copy[i] = copy_node(r, node, operands, node->operand_count > 0 ? r->phase[i] : 0);
}

static void copy_all(Recompute *r) {
  NodeMap map = node_map_create(r->arena, r->graph);
  for (int i = 0; i < r->count; i++) {
    if (r->is_forward[i]) r->copy[i] = graph_copy_node(r->into, node_at(r, i), &map);
    else copy_late(r, i);
    node_map_set(&map, node_at(r, i), r->copy[i]);
  }
  graph_map_outputs(r->into, r->graph, &map);
}

Graph *graph_recompute(Arena *into, const Graph *graph, const RecomputeOptions *options,
                       RecomputeResult *result) {
  Arena *arena = arena_create();
  int count = graph->nodes.count;
  Recompute r = {.graph = graph,
                 .options = options,
                 .result = result,
                 .arena = arena,
                 .count = count,
                 .position = ARENA_ARRAY(arena, int, graph->next_id),
                 .is_forward = ARENA_ARRAY(arena, bool, count),
                 .is_late_read = ARENA_ARRAY(arena, bool, count),
                 .base = ARENA_ARRAY(arena, int, count),
                 .last_use = ARENA_ARRAY(arena, int, count),
                 .segment = ARENA_ARRAY(arena, int, count),
                 .phase = ARENA_ARRAY(arena, int, count),
                 .stays = ARENA_ARRAY(arena, bool, count),
                 .into = graph_create(into, graph->name),
                 .copy = ARENA_ARRAY(arena, Node *, count),
                 .again = ARENA_ARRAY(arena, Node *, count)};
  *result = (RecomputeResult){0};
  for (int i = 0; i < count; i++) r.position[graph->nodes.items[i]->id] = i;
  find_forward(&r);
  find_uses(&r);
  find_segments(&r);
  find_stays(&r);
  find_late_phases(&r);
  copy_all(&r);
  arena_destroy(arena);
  return r.into;
}
