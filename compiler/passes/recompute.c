/* Recomputation by segments (Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016,
 * for any graph).
 *
 * The forward part, in the order of its nodes, is cut into segments with about
 * equal bytes of what late nodes read, at places near the ideal that few bytes cross. Or they
 * taper: the last of s has one part of s (s + 1) / 2, the one before two, and so on, because while
 * the gradients are in a segment, only the cuts before it are still held. Values that cross a cut
 * stay in memory until they are needed, small values too. Everything else of a segment that late
 * nodes read is computed for them once more, from the values that stay; only the last segment,
 * which the gradients need first, is not; nor are scans that are loops. */
#include "passes/recompute.h"

#include <math.h>

#include "ops/op.h"
#include "passes/recompute_graph.h"

enum {
  SMALL_PART = 512,        /* a value with less than this part of all that late nodes read stays, */
  SMALL_SUM = 16,          /* if such values together are less than this part */
  FLOPS_WORTH_KEEPING = 64 /* an element that costs more than this is not cheap */
};

/* ---- segments ------------------------------------------------------------------------------- */

/* By position: the bytes of values that are there and that later forward nodes read. */
static int64_t *find_crossing(const Recompute *r) {
  int64_t *crossing = ARENA_ARRAY(r->arena, int64_t, r->count + 1), alive = 0;
  for (int i = 0; i < r->count; i++) {
    if (!r->is_forward[i]) continue;
    crossing[i] += recompute_bytes(r, i);
    crossing[r->last_use[i]] -= recompute_bytes(r, i);
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
static void find_segments(Recompute *r, const RecomputeOptions *options) {
  const int64_t *crossing = find_crossing(r);
  double all = (double)r->late_bytes, before = 0, best_distance = 0;
  int *best = ARENA_ARRAY(r->arena, int, r->segments + 1);
  for (int c = 0; c <= r->segments; c++) best[c] = -1;
  for (int i = 0; i < r->count; i++) {
    if (!r->is_forward[i]) continue;
    if (r->is_late_read[i]) before += (double)recompute_bytes(r, i);
    double segments = all > 0 ? segments_before(options, before / all) : 0;
    int cut = (int)(segments + 0.5);
    if (cut < 1 || cut >= r->segments) continue;
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
    for (int c = 1; c < r->segments; c++)
      if (best[c] == i) segment++;
  }
  for (int i = 0; i < r->count; i++) /* the last one is not recomputed, whatever its number */
    if (r->segment[i] == segment) r->segment[i] = r->segments - 1;
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
      int64_t bytes = r->is_forward[i] && r->is_late_read[i] ? recompute_bytes(r, i) : 0;
      if (bytes < limit) sum += bytes;
    }
    if (sum <= r->late_bytes / SMALL_SUM) break;
  }
  return limit;
}

static void find_stays(Recompute *r, const RecomputeOptions *options) {
  int64_t small = find_small(r);
  for (int i = 0; i < r->count; i++) {
    if (!r->is_forward[i]) continue;
    int base = r->base[i];
    if (base != i) {
      r->stays[i] = r->stays[base];
      continue;
    }
    const Node *node = recompute_node(r, i);
    bool crosses = r->segment[r->last_use[i]] != r->segment[i];
    bool is_small = recompute_bytes(r, i) < small;
    bool is_given = recompute_is_leaf(node) || recompute_is_loop(node);
    r->stays[i] = is_given || r->segment[i] == r->segments - 1 || crosses || is_small ||
                  (options->cheap_only && is_costly(node));
    if (crosses && r->is_late_read[i] && !is_given && !is_small)
      vec_push(r->into->arena, &r->result->kept, node->path);
  }
}

Graph *graph_recompute(Arena *into, const Graph *graph, const RecomputeOptions *options,
                       RecomputeResult *result) {
  Recompute r = recompute_begin(into, graph, result);
  r.segments = options->segments;
  r.marks_each = true;
  find_segments(&r, options);
  find_stays(&r, options);
  Graph *made = recompute_make(&r);
  recompute_end(&r);
  return made;
}
