/* Micro-batches: the pieces of a batch one after the other, in one step and one graph.
 *
 * From the batched inputs on, every node is sorted by what the operators' `cut` rules say:
 *
 *   cut       pieces of the result come from pieces of the operands: one copy of the node a piece
 *   joined    it sums over the examples (the gradient of a weight, the loss): a copy a piece,
 *             joined one after the other by the operator's `join`
 *   whole     it does not depend on examples, or only through what was joined; or it needs all
 *             pieces at once (concat puts them together): one node, as before
 *
 * A sum over the examples that is larger than all that it is computed from, as the gradient of a
 * wide layer's weight, is not joined but whole: keeping what it reads takes less memory than
 * keeping the sum of the pieces so far, and the update stays in its epilogue.
 *
 * When a cut or joined node needs a whole one that depends on examples (batch normalization), the
 * pieces cannot run one after the other, and nothing is done.
 *
 * Piece p of a node of phase s has phase p * (number of phases) + s, so that the schedule finishes
 * a piece, its gradients included, before it begins the next.  Nodes that only the whole ones at
 * the end need come in the last phase.  Random nodes stay whole and are sliced: the same bits for
 * an example whatever the number of pieces.
 *
 * Requires a graph without gradient nodes; after recomputation, if there is any. */
#include "passes/microbatch.h"

#include "ops/flow.h"
#include "ops/make.h"
#include "ops/op.h"

typedef enum Sort { SORT_WHOLE, SORT_CUT, SORT_JOINED } Sort;

typedef struct Piecewise {
  Sort sort;
  int axis;          /* SORT_CUT: of the result; SORT_JOINED: the axis of the loop, after those */
  bool is_late;      /* whole, and depends on examples */
  bool feeds_pieces; /* whole, and a cut or joined node needs it */
} Piecewise;

typedef struct MicroBatch {
  Arena *arena;
  const Module *module;
  const Graph *graph;
  int pieces, count, phases;
  int *position; /* by id; the arrays below by position */
  Piecewise *nodes;
  Graph *into;
  Node **whole;       /* NULL until it is there */
  Node **piece;       /* of the current piece */
  Node ***all_pieces; /* by position and piece, of cut nodes */
} MicroBatch;

static const Node *node_at(const MicroBatch *m, int i) { return m->graph->nodes.items[i]; }

static int operand_at(const MicroBatch *m, int i, int k) {
  return m->position[node_at(m, i)->operands[k]->id];
}

/* ---- sorting -------------------------------------------------------------------------------- */

static bool divides(const MicroBatch *m, Type type, int axis) {
  return axis < type.shape.rank && type.shape.dim[axis] % m->pieces == 0;
}

static bool is_batched_input(const MicroBatch *m, const Node *node) {
  return op_info(node->op)->class->leaf == LEAF_INPUT &&
         module_find_input(m->module, node_string(node, ATTR_NAME))->is_batched;
}

typedef struct Operands {
  const MicroBatch *m;
  int node;
} Operands;

/* Is operand `k` there in pieces along `axis`, or as a whole, which is sliced? */
static bool operand_fits(const void *state, int k, int axis) {
  const Operands *operands = state;
  const Piecewise *operand = &operands->m->nodes[operand_at(operands->m, operands->node, k)];
  return operand->sort != SORT_CUT || operand->axis == axis;
}

/* Does the node store more than twice what the pieces that it reads take up? They are there beside
 * the whole that is put together of them. */
static bool outgrows_operands(const MicroBatch *m, int i) {
  const Node *node = node_at(m, i);
  int64_t bytes = 0;
  for (int k = 0; k < node->operand_count; k++)
    if (m->nodes[operand_at(m, i, k)].sort == SORT_CUT)
      bytes += type_bytes(node->operands[k]->type);
  return type_bytes(node->type) > 2 * bytes;
}

static void sort_node(MicroBatch *m, int i) {
  const Node *node = node_at(m, i);
  Piecewise *own = &m->nodes[i];
  bool has_cut = false;
  if (is_batched_input(m, node) && divides(m, node->type, 0)) own->sort = SORT_CUT;
  for (int k = 0; k < node->operand_count; k++) {
    const Piecewise *operand = &m->nodes[operand_at(m, i, k)];
    has_cut = has_cut || operand->sort == SORT_CUT;
    own->is_late = own->is_late || operand->is_late || operand->sort != SORT_WHOLE;
  }
  if (!has_cut) return;
  Operands operands = {m, i};
  int rank = node->type.shape.rank, axis = loop_find_axis(node, m->pieces, operand_fits, &operands);
  if (axis < 0) return;
  own->is_late = axis >= rank && outgrows_operands(m, i);
  if (own->is_late) return;
  own->sort = axis < rank ? SORT_CUT : SORT_JOINED;
  own->axis = axis;
}

/* A node that each piece needs but that is known only after all of them; NULL if there is none. */
static const Node *find_coupled(const MicroBatch *m) {
  for (int i = 0; i < m->count; i++) {
    if (m->nodes[i].sort == SORT_WHOLE) continue;
    for (int k = 0; k < node_at(m, i)->operand_count; k++) {
      const Piecewise *operand = &m->nodes[operand_at(m, i, k)];
      if (operand->is_late || operand->sort == SORT_JOINED) return node_at(m, operand_at(m, i, k));
    }
  }
  return NULL;
}

static void find_feeders(MicroBatch *m) {
  for (int i = m->count - 1; i >= 0; i--) {
    if (m->nodes[i].sort == SORT_WHOLE && !m->nodes[i].feeds_pieces) continue;
    for (int k = 0; k < node_at(m, i)->operand_count; k++)
      m->nodes[operand_at(m, i, k)].feeds_pieces = true;
  }
}

static void find_phases(MicroBatch *m) {
  m->phases = 1;
  for (int i = 0; i < m->count; i++) {
    const Attribute *phase = node_attribute(node_at(m, i), ATTR_PHASE);
    if (phase && phase->integer >= m->phases) m->phases = (int)phase->integer + 1;
  }
}

/* ---- copying -------------------------------------------------------------------------------- */

static int64_t own_phase(const Node *node) {
  const Attribute *phase = node_attribute(node, ATTR_PHASE);
  return phase ? phase->integer : 0;
}

/* Attributes of a piece; those that are as large as the result are cut along `axis` (-1: none). */
static int copy_attributes(const MicroBatch *m, const Node *node, int axis, int piece,
                           Attribute *attributes) {
  int count = 0;
  for (int i = 0; i < node->attribute_count; i++) {
    Attribute attribute = node->attributes[i];
    if (attribute.key == ATTR_PHASE) continue;
    if (axis >= 0 && (attribute.key == ATTR_SHAPE || attribute.key == ATTR_STOP)) {
      attribute.ints =
          arena_copy(m->arena, attribute.ints, sizeof *attribute.ints * (size_t)attribute.count);
      attribute.ints[axis] /= m->pieces;
    }
    attributes[count++] = attribute;
  }
  int64_t phase = (int64_t)piece * m->phases + own_phase(node);
  if (phase > 0) attributes[count++] = attr_make_int(ATTR_PHASE, phase);
  return count;
}

static Type piece_type(const MicroBatch *m, Type type, int axis) {
  if (axis >= 0) type.shape.dim[axis] /= m->pieces;
  return type;
}

static Node *copy_piece(const MicroBatch *m, const Node *node, Node *const *operands, int axis,
                        int piece) {
  Attribute *attributes = ARENA_ARRAY(m->arena, Attribute, node->attribute_count + 1);
  int count = copy_attributes(m, node, axis, piece, attributes);
  Node model = *node; /* a scan is whole */
  model.type = piece_type(m, node->type, axis);
  model.operands = (Node **)operands;
  if (!operands) model.operand_count = 0;
  model.attribute_count = count;
  model.attributes = attributes;
  return graph_add(m->into, &model);
}

/* Piece `piece` of a tensor that is there as a whole. */
static Node *slice_whole(const MicroBatch *m, const Node *node, Node *whole, int axis, int piece) {
  if (op_info(node->op)->class->leaf == LEAF_CONSTANT)
    return copy_piece(m, node, NULL, axis, piece);
  int64_t extent = node->type.shape.dim[axis] / m->pieces;
  Maker maker = {m->into, node->span, node->path};
  /* Its users say the phase. */
  return make_range(&maker, whole, axis, piece * extent, (piece + 1) * extent);
}

/* The node as a whole: pieces put together if need be. */
static Node *whole_of(MicroBatch *m, int i) {
  if (m->whole[i]) return m->whole[i];
  const Node *node = node_at(m, i);
  Maker maker = {m->into, node->span, node->path};
  m->whole[i] = make_concat(&maker, m->pieces, m->all_pieces[i], m->nodes[i].axis);
  return m->whole[i];
}

static void add_whole(MicroBatch *m, int i, int piece) {
  const Node *node = node_at(m, i);
  Node **operands = ARENA_ARRAY(m->arena, Node *, node->operand_count + 1);
  for (int k = 0; k < node->operand_count; k++) operands[k] = whole_of(m, operand_at(m, i, k));
  m->whole[i] = copy_piece(m, node, operands, -1, piece);
}

static void add_piece(MicroBatch *m, int i, int piece) {
  const Node *node = node_at(m, i);
  const Piecewise *own = &m->nodes[i];
  if (node->operand_count == 0) {
    m->piece[i] = slice_whole(m, node, m->whole[i], own->axis, piece);
    return;
  }
  Node **operands = ARENA_ARRAY(m->arena, Node *, node->operand_count);
  for (int k = 0; k < node->operand_count; k++) {
    int operand = operand_at(m, i, k), cut = op_info(node->op)->class->cut(node, own->axis, k);
    operands[k] = m->piece[operand];
    if (m->nodes[operand].sort != SORT_CUT)
      operands[k] = cut == AXIS_WHOLE
                        ? m->whole[operand]
                        : slice_whole(m, node->operands[k], m->whole[operand], cut, piece);
  }
  m->piece[i] = copy_piece(m, node, operands, own->sort == SORT_CUT ? own->axis : -1, piece);
}

static void join_piece(MicroBatch *m, int i, int piece) {
  const Node *node = node_at(m, i);
  if (m->nodes[i].sort == SORT_CUT) m->all_pieces[i][piece] = m->piece[i];
  if (m->nodes[i].sort != SORT_JOINED) return;
  Maker maker = {m->into, node->span, node->path};
  m->whole[i] = piece == 0
                    ? m->piece[i]
                    : make_binary(&maker, op_info(node->op)->class->join, m->whole[i], m->piece[i]);
}

static void copy_all(MicroBatch *m) {
  for (int i = 0; i < m->count; i++) {
    const Piecewise *own = &m->nodes[i];
    bool is_input = own->sort == SORT_CUT && node_at(m, i)->operand_count == 0;
    if (is_input || (own->sort == SORT_WHOLE && own->feeds_pieces)) add_whole(m, i, 0);
  }
  for (int piece = 0; piece < m->pieces; piece++)
    for (int i = 0; i < m->count; i++) {
      if (m->nodes[i].sort == SORT_WHOLE) continue;
      add_piece(m, i, piece);
      join_piece(m, i, piece);
    }
  for (int i = 0; i < m->count; i++)
    if (m->nodes[i].sort == SORT_WHOLE && !m->nodes[i].feeds_pieces) add_whole(m, i, m->pieces - 1);
  for (int i = 0; i < m->graph->outputs.count; i++) {
    Output output = m->graph->outputs.items[i];
    output.node = whole_of(m, m->position[output.node->id]);
    graph_add_output(m->into, output);
  }
}

static void allocate(MicroBatch *m) {
  m->position = ARENA_ARRAY(m->arena, int, m->graph->next_id);
  m->nodes = ARENA_ARRAY(m->arena, Piecewise, m->count);
  m->whole = ARENA_ARRAY(m->arena, Node *, m->count);
  m->piece = ARENA_ARRAY(m->arena, Node *, m->count);
  m->all_pieces = ARENA_ARRAY(m->arena, Node **, m->count);
  for (int i = 0; i < m->count; i++) {
    m->position[node_at(m, i)->id] = i;
    m->all_pieces[i] = ARENA_ARRAY(m->arena, Node *, m->pieces);
  }
}

static bool has_cut(const MicroBatch *m) {
  for (int i = 0; i < m->count; i++)
    if (m->nodes[i].sort == SORT_CUT) return true;
  return false;
}

Graph *graph_microbatch(Arena *into, const Module *module, const Graph *graph, int pieces,
                        const Node **coupled) {
  MicroBatch m = {.arena = arena_create(),
                  .module = module,
                  .graph = graph,
                  .pieces = pieces,
                  .count = graph->nodes.count};
  allocate(&m);
  for (int i = 0; i < m.count; i++) sort_node(&m, i);
  *coupled = find_coupled(&m);
  bool is_good = !*coupled && has_cut(&m);
  if (is_good) {
    m.into = graph_create(into, graph->name);
    find_feeders(&m);
    find_phases(&m);
    copy_all(&m);
  }
  arena_destroy(m.arena);
  return is_good ? m.into : NULL;
}
