/* What a forward step keeps for the backward step.
 *
 * The backward step begins as a copy of the forward step with its adjoints after it. From what it
 * gives back to what it reads, the first values of the copy on every way that cost much more to
 * compute than to keep are yielded by the forward scan: results of contractions, of convolutions
 * and of reductions, and all results of scans. Only what is cheap, elementwise and movement, is
 * left to be computed again. What does not depend on the step is never kept once a step.
 *
 * Where the backward step reads such a value in one place, a sum with another one of its shape, the
 * sum is kept instead: the backward step need not read the other one. */
#include "ops/scan_save.h"

#include "ops/op.h"
#include "ops/scan.h"

/* By id in the body of the forward scan: what depends on a carry or a sequence. */
static bool *find_varying(Arena *arena, const Node *scan) {
  ScanShape shape = scan_shape(scan);
  bool *varies = ARENA_ARRAY(arena, bool, scan->body->next_id);
  for (int i = 0; i < scan->body->nodes.count; i++) {
    const Node *node = scan->body->nodes.items[i];
    if (op_info(node->op)->class->leaf == LEAF_ARGUMENT)
      varies[node->id] = node_int(node, ATTR_INDEX) < shape.carries + shape.sequences;
    for (int k = 0; k < node->operand_count && !varies[node->id]; k++)
      varies[node->id] = varies[node->operands[k]->id];
  }
  return varies;
}

/* ---- the node of the forward body --------------------------------------------------------- */

/* The pass has made this copy (scan_copy_node): all that read it may find that it yields more. */
static Graph *own_body(const Node *scan) { return (Graph *)scan->body; }

/* A result of a scan in the copy may be one that the backward part was the first to ask for. */
static Node *find_origin(const ForwardStep *step, const Node *node) {
  Node *origin = node->id < step->count ? step->origins[node->id] : NULL;
  if (origin || !node_is_scan_result(node) || node->operands[0]->id >= step->count) return origin;
  Node *scan = step->origins[node->operands[0]->id];
  if (!scan) return NULL;
  Graph *body = own_body(step->scan);
  for (int i = 0; i < body->nodes.count; i++) {
    Node *other = body->nodes.items[i];
    if (node_is_scan_result(other) && other->operands[0] == scan &&
        node_same_attributes(other, node))
      return other;
  }
  Maker maker = {body, node->span, node->path};
  return make_scan_result(&maker, scan, (int)node_int(node, ATTR_INDEX));
}

static int yield_of(const ForwardStep *step, Node *origin) {
  Graph *body = own_body(step->scan);
  for (int i = scan_shape(step->scan).carries; i < body->outputs.count; i++)
    if (body->outputs.items[i].node == origin) return i;
  graph_add_output(
      body,
      (Output){.kind = OUTPUT_RESULT, .name = origin->path, .node = origin, .span = origin->span});
  return body->outputs.count - 1;
}

static bool can_stack(const ForwardStep *step, const Node *node) {
  Shape shape = node->type.shape;
  int64_t length = scan_shape(step->scan).length;
  return shape.rank < MAX_RANK &&
         (double)shape_elements(shape) * (double)length <= (double)MAX_ELEMENTS;
}

/* ---- the search --------------------------------------------------------------------------- */

typedef struct Search {
  Arena *arena;
  const ForwardStep *step;
  const Nodes *roots;
  const bool *varies;
  int known;    /* nodes of the forward body with ids below were there before */
  bool *needed; /* by id in the backward step */
  bool *sums;   /* those kept instead of one of their terms */
  Nodes found;  /* the last one first */
} Search;

static bool can_keep(const Search *search, Node *node) {
  if (!search->sums[node->id] && !node_is_expensive(node)) return false;
  if (!can_stack(search->step, node)) return false;
  const Node *origin = find_origin(search->step, node);
  if (!origin) return false;
  const Node *source = origin->id >= search->known ? origin->operands[0] : origin;
  return search->varies[source->id];
}

/* From the last node to the first: a value that is kept needs nothing more. */
static void find_values(Search *search) {
  const Graph *in = search->step->in;
  search->needed = ARENA_ARRAY(search->arena, bool, in->next_id);
  search->found.count = 0;
  for (int i = 0; i < search->roots->count; i++) search->needed[search->roots->items[i]->id] = true;
  for (int i = in->nodes.count - 1; i >= 0; i--) {
    Node *node = in->nodes.items[i];
    if (!search->needed[node->id]) continue;
    if (can_keep(search, node)) {
      vec_push(search->arena, &search->found, node);
      continue;
    }
    for (int k = 0; k < node->operand_count; k++) search->needed[node->operands[k]->id] = true;
  }
}

/* ---- sums instead of their terms ---------------------------------------------------------- */

/* The only node of the backward step that reads this one; NULL if there are several, or none. */
static const Node *only_reader(const Search *search, const Node *value) {
  const Node *reader = NULL;
  for (int i = 0; i < search->roots->count; i++)
    if (search->roots->items[i] == value) return NULL;
  for (int i = 0; i < search->step->in->nodes.count; i++) {
    const Node *node = search->step->in->nodes.items[i];
    for (int k = 0; k < node->operand_count && search->needed[node->id]; k++) {
      if (node->operands[k] != value) continue;
      if (reader) return NULL;
      reader = node;
    }
  }
  return reader;
}

static bool keep_sums(Search *search) {
  bool more = false;
  for (int i = 0; i < search->found.count; i++) {
    const Node *value = search->found.items[i], *reader = only_reader(search, value);
    if (!reader || reader->op != OP_ADD || !type_equal(reader->type, value->type)) continue;
    bool is_copy = reader->id < search->step->count && search->step->origins[reader->id];
    if (is_copy) search->sums[reader->id] = more = true;
  }
  return more;
}

SavedValues scan_save_values(Arena *arena, const ForwardStep *step, const Nodes *roots) {
  Search search = {.arena = arena,
                   .step = step,
                   .roots = roots,
                   .varies = find_varying(arena, step->scan),
                   .known = step->scan->body->next_id,
                   .sums = ARENA_ARRAY(arena, bool, step->in->next_id)};
  do find_values(&search);
  while (keep_sums(&search));
  SavedValues saved = {0};
  for (int i = search.found.count - 1; i >= 0; i--) {
    Node *node = search.found.items[i];
    SavedValue value = {node, yield_of(step, find_origin(step, node))};
    vec_push(arena, &saved, value);
  }
  return saved;
}
