/* Rematerialize: of the forward values that gradients need, those stay in memory that cost much to
 * compute; what is cheap to make of them is made once more (the term: Briggs, Cooper, Torczon,
 * "Rematerialization", 1992; for networks: Kusumoto et al., "A Graph Theoretic Framework of
 * Recomputation Algorithms for Memory-Efficient Backpropagation", 2019).
 *
 * A normalized or activated value is an example: the next weight's gradient reads it, and the
 * gradient of the normalization or activation reads what it was made of, which therefore is in
 * memory anyway. GELU's result and its slope are both made of the sum before it. Such a value is
 * written and read again, from memory that was just used, in place of staying there all through
 * the forward and backward part. Training takes less memory in about the same time (bench/README.md).
 *
 * A value is computed again when all of this holds:
 *  - it is the result of arithmetic or of movement, not of a sum, a product or a joining of parts;
 *  - everything that it needs stays: leaves, values that late nodes read and that are not computed
 *    again, and values that are small beside it, which stay for it;
 *  - an element costs at most MOST_FLOPS, with all that is computed again for it, through at most
 *    MOST_DEPTH such values;
 *  - it is no small part of all that late nodes read.
 * All that are so must be together a noticeable part, too. Where they are not, only what is made of leaves alone is
 * made again, such as the normalized pictures that the first layer reads: a smaller part is worth that.
 *
 * Gradients of what follows the last such value stay in the phase of the forward part. All that
 * come after them are in the next one, and are scheduled in the order of the graph: so a value is
 * computed again when the gradients have come to it.
 *
 * Requires nothing; breaks nothing. */
#include "ops/op.h"
#include "passes/pass.h"
#include "passes/recompute_graph.h"

enum {
  MOST_FLOPS = 40,     /* an element */
  FUNCTION_FLOPS = 16, /* of exp, log, erf and their like */
  MOST_DEPTH = 3,      /* of values that are computed again for one another */
  SMALL_OPERAND = 8,   /* a value is small beside one that has so many times its bytes */
  MOST_NEW = 4,        /* what stays for a value alone has at most this part of its bytes */
  SMALL_PART = 512,    /* of all that late nodes read, that is worth a kernel */
  LEAST_PART = 8,      /* of all that late nodes read, that is worth it */
  LEAST_PART_OF_LEAVES =
      32, /* where all is made of leaves alone: the order of the rest does not change */
  LEAST_BYTES = 1 << 20 /* that are worth it, of leaves half as many: less stays in a cache */
};

/* What making a value once more takes. */
typedef struct Remaking {
  double flops;  /* an element */
  int64_t bytes; /* of small values that would stay for it */
  int depth;     /* of values that are computed again before it */
} Remaking;

typedef struct Choice {
  Recompute *r;
  bool of_leaves; /* only what is made of leaves alone */
  double
      *flops; /* by position, of values that are computed again: an element, with what it needs */
  int *depth; /* of the same; 0: it is not computed again */
} Choice;

static bool is_map(const Node *node) {
  OpFamily family = op_info(node->op)->class->family;
  return (family == FAMILY_ELEMENTWISE || family == FAMILY_MOVEMENT) && !op_joins_parts(node);
}

static double element_flops(const Node *node) {
  double elements = (double)shape_elements(node->type.shape);
  if (op_info(node->op)->class->is_costly) return FUNCTION_FLOPS;
  return elements > 0 ? node_cost(node).flops / elements : 0;
}

/* A vector that a program writes as its elements. */
static bool joins_leaves(const Recompute *r, int i) {
  const Node *node = recompute_node(r, i);
  for (int k = 0; k < node->operand_count; k++)
    if (!recompute_is_leaf(node->operands[k])) return false;
  return op_joins_parts(node);
}

/* Adds what making position i takes, where the value has `whole` bytes. False: it cannot be made. */
static bool add_remaking(const Choice *choice, int i, int64_t whole, Remaking *remaking) {
  const Recompute *r = choice->r;
  const Node *node = recompute_node(r, i);
  if (!is_map(node)) return false;
  remaking->flops += element_flops(node);
  for (int k = 0; k < node->operand_count; k++) {
    int operand = r->base[recompute_operand(r, i, k)];
    const Node *from = recompute_node(r, operand);
    int64_t bytes = type_bytes(from->type);
    if (recompute_is_leaf(from) || (r->stays[operand] && !choice->of_leaves)) continue;
    if (choice->depth[operand] > 0) {
      remaking->flops += choice->flops[operand];
      if (choice->depth[operand] > remaking->depth) remaking->depth = choice->depth[operand];
    } else if (!is_map(from) && bytes * SMALL_OPERAND <= whole &&
               (!choice->of_leaves || joins_leaves(r, operand))) {
      remaking->bytes += bytes;
    } else if (!add_remaking(choice, operand, whole, remaking)) {
      return false;
    }
    if (remaking->flops > MOST_FLOPS) return false;
  }
  return remaking->flops <= MOST_FLOPS;
}

/* Whether the value at position i is computed again. */
static bool choose(Choice *choice, int i) {
  const Recompute *r = choice->r;
  int64_t bytes = recompute_bytes(r, i);
  Remaking remaking = {0};
  if (bytes <= r->late_bytes / SMALL_PART || !add_remaking(choice, i, bytes, &remaking))
    return false;
  if (remaking.depth >= MOST_DEPTH || remaking.bytes * MOST_NEW > bytes) return false;
  choice->flops[i] = remaking.flops;
  choice->depth[i] = remaking.depth + 1;
  return true;
}

/* Returns the bytes of what is computed again. */
static int64_t choose_all(Choice *choice) {
  Recompute *r = choice->r;
  int64_t bytes = 0;
  for (int i = 0; i < r->count; i++) {
    const Node *node = recompute_node(r, i);
    if (!r->is_forward[i] || r->base[i] != i) continue;
    if (recompute_is_leaf(node) || recompute_is_loop(node)) {
      r->stays[i] = true;
    } else if (r->is_late_read[i] && choose(choice, i)) {
      bytes += recompute_bytes(r, i);
      r->last_again = i;
    } else {
      r->stays[i] = r->is_late_read[i];
    }
  }
  /* Of what late nodes do not read, arithmetic is done again, and the rest stays. */
  for (int i = 0; i < r->count; i++) {
    if (!r->is_forward[i]) continue;
    if (r->base[i] != i) r->stays[i] = r->stays[r->base[i]];
    else if (!r->is_late_read[i] && !is_map(recompute_node(r, i))) r->stays[i] = true;
  }
  return bytes;
}

/* NULL: it is not worth it. */
static Graph *rematerialize(Arena *into, Graph *graph, bool of_leaves, int64_t least_bytes,
                            int least_part) {
  RecomputeResult result;
  Recompute r = recompute_begin(into, graph, &result);
  Choice choice = {.r = &r,
                   .of_leaves = of_leaves,
                   .flops = ARENA_ARRAY(r.arena, double, r.count),
                   .depth = ARENA_ARRAY(r.arena, int, r.count)};
  int64_t bytes = choose_all(&choice);
  bool is_worth_it = bytes > 0 && bytes >= least_bytes && bytes * least_part >= r.late_bytes;
  Graph *made = is_worth_it ? recompute_make(&r) : NULL;
  recompute_end(&r);
  return made;
}

Graph *graph_rematerialize(Arena *into, Graph *graph, int64_t least_bytes) {
  Graph *made = rematerialize(into, graph, false, least_bytes, LEAST_PART);
  if (!made) made = rematerialize(into, graph, true, least_bytes / 2, LEAST_PART_OF_LEAVES);
  return made ? made : graph;
}

void pass_rematerialize(Module *module, Diagnostics *diagnostics) {
  static const EntryKind entries[] = {ENTRY_TRAIN, ENTRY_ACCUMULATE};
  if (!op_values_are_remade(module->target)) return;
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    Graph **graph = &module->entries[entries[i]];
    if (*graph) *graph = graph_rematerialize(module->arena, *graph, LEAST_BYTES);
  }
}
