/* A copy of an entry's graph that lowers better; the module itself is not changed.
 *
 * Large reductions to few elements are cut in two. A mean over a batch of images would be one
 * task: so it is written as two reductions by the same operator, over all axes but one, or over
 * equal pieces of the only one, and then over the pieces. The pieces depend on the shape alone, so
 * the result has the same bits whatever the number of threads.
 * So are those of very many elements to some thousand columns, where the target says so, whose pieces
 * are whole rows of memory.
 *
 * A convolution's gradient in small weights becomes sums over blocks of the batch and a sum of
 * these: then it is done where the images are in the cache (loops.c), and images are parallel work.
 *
 * Products of few results and a long depth are made in pieces, too, where the target wants it
 * (ops/depth.h).
 *
 * An operator may have a form of its own that lowers better (OpClass.prepare).
 *
 * Outputs with one node, or with a leaf that is in memory anyway, get nodes of their own: then a
 * value that goes to several places is stored by its kernel and needs no copy afterwards. */
#include "program/prepare.h"
#include "program/stages.h"

#include "ops/depth.h"
#include "ops/moments.h"
#include "ops/op.h"
#include "ops/scan.h"
#include "support/integers.h"

/* What the nodes of a graph become. */
typedef struct Splitter {
  const Lowering *lowering;
  Maker maker;
  Pieces *pieces; /* by node id: of reductions that are made in two steps */
} Splitter;

/* ---- reductions ---------------------------------------------------------------------------- */

/* Over images and places, but not over channels, which are columns where they are kept last: as they are
 * where convolutions make as many of as many, or each has its own. */
static bool leaves_channels(const Target *target, Shape from, const Attribute *axes) {
  if (target->keeps_channels_last == NULL || from.rank < 3 || axes->count != from.rank - 1)
    return false;
  int64_t channels = from.dim[1];
  ConvSlots all = {.c = channels, .k = channels, .groups = 1};
  ConvSlots each = {.c = channels, .k = channels, .groups = channels};
  return axes->ints[0] == 0 && axes->ints[1] == 2 &&
         (target->keeps_channels_last(&all) || target->keeps_channels_last(&each));
}

/* A reduction whose pieces may be reduced first: those over `axes`; argmax and argmin are over
 * `axis`. */
static bool should_split(const Target *target, const Node *node) {
  const ReductionLimits *limits = &target->reductions;
  if (op_info(node->op)->class->family != FAMILY_REDUCTION || !node_attribute(node, ATTR_AXES))
    return false;
  Shape from = node->operands[0]->type.shape;
  const Attribute *axes = node_ints(node, ATTR_AXES);
  int64_t elements = shape_elements(from), results = shape_elements(node->type.shape);
  if (axes->count == 0 || elements < limits->large) return false;
  bool has_channels = leaves_channels(target, from, axes);
  bool has_rows = !has_channels && axes->ints[axes->count - 1] == from.rank - 1;
  bool is_huge = limits->huge > 0 && elements >= limits->huge;
  int64_t few = has_rows       ? limits->few_rows
                : has_channels ? limits->few_channels
                               : limits->few_columns;
  if (is_huge && !has_rows && limits->many_columns > few) few = limits->many_columns;
  return results < few;
}

/* Pieces are all axes but the first reduced one. */
static Pieces pieces_of_axis(const Maker *maker, const Node *node, Node *operand) {
  const Attribute *axes = node_ints(node, ATTR_AXES);
  Node *partial = make_reduce(maker, node->op, operand, axes->count - 1, axes->ints + 1);
  return (Pieces){operand, partial, 1, {axes->ints[0]}};
}

/* One axis becomes two, of extent pieces * rest. */
static Node *cut_axis(const Maker *maker, Node *operand, int64_t axis, int64_t pieces) {
  Shape from = operand->type.shape, shape = {.rank = from.rank + 1};
  for (int i = 0; i < from.rank; i++) shape.dim[i + (i > axis)] = from.dim[i];
  shape.dim[axis] = pieces;
  shape.dim[axis + 1] = from.dim[axis] / pieces;
  return make_reshape(maker, operand, shape);
}

/* One of the reduced axes is cut. */
static Pieces pieces_of_part(const Maker *maker, const Node *node, Node *operand, int which,
                             int64_t pieces) {
  const Attribute *axes = node_ints(node, ATTR_AXES);
  int64_t axis = axes->ints[which], inner[MAX_RANK];
  for (int i = 0; i < axes->count; i++) inner[i] = axes->ints[i] + (i >= which);
  Node *cut = cut_axis(maker, operand, axis, pieces);
  Node *partial = make_reduce(maker, node->op, cut, axes->count, inner);
  return (Pieces){cut, partial, 1, {axis - which}};
}

/* The first reduced axis, and pieces of the second one that are not longer than what is read twice from a cache. */
static Pieces pieces_read_twice(const Target *target, const Maker *maker, const Node *node,
                                Node *operand) {
  const Attribute *axes = node_ints(node, ATTR_AXES);
  int64_t first = axes->ints[0], second = axes->ints[1];
  const ReductionLimits *limits = &target->reductions;
  int64_t extent = operand->type.shape.dim[second], parts = 1;
  int64_t bytes = type_bytes(operand->type) / operand->type.shape.dim[first];
  while (parts <= limits->most_pieces &&
         (extent % parts != 0 || bytes / parts > limits->twice_bytes))
    parts++;
  if (parts == 1 || parts > limits->most_pieces || operand->type.shape.rank == MAX_RANK)
    return pieces_of_axis(maker, node, operand);
  Node *cut = cut_axis(maker, operand, second, parts);
  int64_t order[MAX_RANK], inner[MAX_RANK];
  for (int i = 0; i < cut->type.shape.rank; i++)
    order[i] = i <= first || i > second ? i : i == first + 1 ? second : i - 1;
  for (int i = 1; i < axes->count; i++) inner[i - 1] = axes->ints[i] + 1;
  cut = make_transpose(maker, cut, order); /* pieces first: what is not summed stays together */
  Node *partial = make_reduce(maker, node->op, cut, axes->count - 1, inner);
  return (Pieces){cut, partial, 2, {first, first + 1}};
}

/* Pieces of an axis that begin with a line of memory each, which is read faster; half as many as else or more, and 1
 * where there are none, or where the whole is in a cache. */
static int64_t pieces_of_lines(const Target *target, Type type, int axis) {
  const ReductionLimits *limits = &target->reductions;
  if (limits->huge == 0 || shape_elements(type.shape) < limits->huge) return 1;
  int64_t extent = type.shape.dim[axis], bytes = dtype_size(type.dtype);
  bytes *= extent_product(type.shape.dim + axis + 1, type.shape.rank - axis - 1);
  for (int64_t pieces = limits->most_pieces; pieces >= limits->most_pieces / 2; pieces--)
    if (extent % pieces == 0 && extent / pieces * bytes % target->alignment == 0) return pieces;
  return 1;
}

/* Whether `node` sums deviations from what `sum` adds up, of values that lie in no cache: the target reads pieces twice. */
static bool goes_by_pieces(const Splitter *splitter, const Node *sum, const Node *node) {
  const ReductionLimits *limits = &splitter->lowering->program->target->reductions;
  return limits->twice_bytes > 0 && moments_match(sum, node) &&
         shape_elements(node->operands[0]->type.shape) >= limits->huge;
}

/* Whether deviations from the mean of what a product stores are summed, too. Other values may be stored by the kernel that
 * sums them, if their axes stay whole. */
static bool is_read_twice(const Splitter *splitter, const Node *sum) {
  const Graph *graph = splitter->lowering->graph;
  OpFamily family = op_info(sum->operands[0]->op)->class->family;
  if (family != FAMILY_CONVOLUTION && family != FAMILY_CONTRACTION) return false;
  for (int i = 0; i < graph->nodes.count; i++)
    if (goes_by_pieces(splitter, sum, graph->nodes.items[i])) return true;
  return false;
}

/* The pieces of the sum before such a node; NULL where there are none. */
static const Pieces *pieces_before(const Splitter *splitter, const Node *node) {
  const Graph *graph = splitter->lowering->graph;
  for (int i = 0; i < graph->nodes.count && graph->nodes.items[i] != node; i++) {
    const Node *sum = graph->nodes.items[i];
    if (splitter->pieces[sum->id].partial != NULL && goes_by_pieces(splitter, sum, node))
      return &splitter->pieces[sum->id];
  }
  return NULL;
}

/* Without a partial when no cut is good. */
static Pieces cut_reduction(const Splitter *splitter, const Node *node, Node *operand) {
  const Target *target = splitter->lowering->program->target;
  const ReductionLimits *limits = &target->reductions;
  const Maker *maker = &splitter->maker;
  const Attribute *axes = node_ints(node, ATTR_AXES);
  int64_t extent = operand->type.shape.dim[axes->ints[0]];
  if (axes->count > 1 && extent >= limits->least_pieces && extent <= 4 * limits->most_pieces)
    return is_read_twice(splitter, node) ? pieces_read_twice(target, maker, node, operand)
                                         : pieces_of_axis(maker, node, operand);
  if (operand->type.shape.rank == MAX_RANK) return (Pieces){0};
  int64_t pieces = pieces_of_lines(target, operand->type, axes->ints[0]);
  if (pieces > 1) return pieces_of_part(maker, node, operand, 0, pieces);
  /* Few images have large planes. */
  for (int i = 0; i < axes->count; i++) {
    pieces = reduction_pieces(limits, operand->type.shape.dim[axes->ints[i]]);
    if (pieces > 1) return pieces_of_part(maker, node, operand, i, pieces);
  }
  return (Pieces){0};
}

/* NULL when it stays whole. */
static Node *split_reduction(Splitter *splitter, const Node *node, const NodeMap *map) {
  const Target *target = splitter->lowering->program->target;
  if (!should_split(target, node)) return NULL;
  const Pieces *before = pieces_before(splitter, node);
  if (before != NULL)
    return moments_deviations(&splitter->maker, before, node_map_get(map, moments_mean(node)));
  Pieces pieces = cut_reduction(splitter, node, node_map_get(map, node->operands[0]));
  if (pieces.partial == NULL) return NULL;
  splitter->pieces[node->id] = pieces;
  return make_reduce(&splitter->maker, node->op, pieces.partial, pieces.axis_count, pieces.axes);
}

/* ---- sums over the batch ------------------------------------------------------------------- */

/* What a scan carries at the end: it lies where the rounds have left it. */
static bool is_final_carry(const Node *node) {
  return node_is_scan_result(node) &&
         node_int(node, ATTR_INDEX) < scan_shape(node->operands[0]).carries;
}

/* A value that a template may read as a view into another. */
static bool may_be_view(const Node *node) {
  while (op_info(node->op)->class->keeps_order) node = node->operands[0];
  return op_info(node->op)->class->family == FAMILY_MOVEMENT || is_final_carry(node);
}

/* A gradient that is a sum over the examples of products of two operands. */
static bool should_cut_batch(const Lowering *lowering, const Node *node) {
  const TaskLoopLimits *limits = &lowering->program->target->loops;
  const OpClass *class = op_info(node->op)->class;
  int summed = node->type.shape.rank; /* the first axis after those of the result */
  if (lowering->scan >= 0)
    return false; /* the blocks of a scan, and so its bits, would be those of the threads */
  if (lowering->blocks == 0 || class->family != FAMILY_CONVOLUTION || class->cut == NULL ||
      class->cut(node, summed, 0) != 0 || class->cut(node, summed, 1) != 0 || summed == MAX_RANK)
    return false;
  if (dtype_is_half(node->type.dtype)) return false; /* sums of blocks would be rounded */
  if (may_be_view(node->operands[0]) || may_be_view(node->operands[1])) return false;
  Type a = node->operands[0]->type, b = node->operands[1]->type;
  int64_t bytes = type_bytes(node->type), examples = a.shape.dim[0];
  int64_t read = type_bytes(a) + type_bytes(b);
  if (lowering->is_eager) return examples > 0 && examples % lowering->blocks == 0;
  return examples == lowering->program->entries[lowering->entry].batch &&
         bytes <= limits->small_weights && limits->few_weights * lowering->blocks * bytes <= read &&
         read / lowering->blocks <= limits->cache_bytes;
}

static Node *cut_batch(Graph *graph, const Node *node, const NodeMap *map, int64_t blocks) {
  Maker maker = {graph, node->span, node->path};
  Node *pieces = make_pieces(&maker, node, node_map_get(map, node->operands[0]),
                             node_map_get(map, node->operands[1]), blocks, node->type.dtype);
  int64_t first = 0;
  return make_reduce(&maker, OP_REDUCE_SUM, pieces, 1, &first);
}

/* ---- products with a long depth ------------------------------------------------------------ */

static Node *cut_depth(const Lowering *lowering, Graph *graph, const Node *node,
                       const NodeMap *map) {
  if (node->operand_count != 2) return NULL;
  Node *operands[] = {node_map_get(map, node->operands[0]), node_map_get(map, node->operands[1])};
  DepthCutter cutter = {.maker = {graph, node->span, node->path},
                        .target = lowering->program->target,
                        .allows_tf32 = lowering->module->run.allows_tf32,
                        .node = node,
                        .operands = operands};
  return make_depth_pieces(&cutter);
}

/* ---- the operator's own form --------------------------------------------------------------- */

static Node *prepare_by_rule(const Lowering *lowering, Graph *graph, const Node *node,
                             const NodeMap *map) {
  const OpClass *class = op_info(node->op)->class;
  if (class->prepare == NULL) return NULL;
  Maker maker = {graph, node->span, node->path};
  Node **operands = ARENA_ARRAY(lowering->arena, Node *, node->operand_count);
  for (int i = 0; i < node->operand_count; i++) operands[i] = node_map_get(map, node->operands[i]);
  return class->prepare(&maker, lowering->program->target, node, operands);
}

/* ---- outputs ------------------------------------------------------------------------------- */

static bool is_loaded(const Node *node) {
  LeafKind leaf = op_info(node->op)->class->leaf;
  return leaf == LEAF_INPUT || leaf == LEAF_PARAM || leaf == LEAF_STATE || leaf == LEAF_ARGUMENT;
}

/* A variable that keeps its value. */
static bool keeps_value(const Output *output, const Node *node) {
  return output->kind == OUTPUT_STORE && is_loaded(node) &&
         op_info(node->op)->class->leaf != LEAF_INPUT &&
         node_string(node, ATTR_NAME) == output->name;
}

void graph_copy_outputs(Graph *copy, const Graph *graph, const NodeMap *map,
                        const bool *leave_out) {
  for (int i = 0; i < graph->outputs.count; i++) {
    Output output = graph->outputs.items[i];
    if (leave_out && leave_out[i]) continue;
    Node *node = node_map_get(map, output.node);
    bool is_taken = is_loaded(node) || is_final_carry(node);
    for (int k = 0; k < copy->outputs.count; k++)
      is_taken = is_taken || copy->outputs.items[k].node == node;
    if (is_taken && !keeps_value(&output, node)) {
      Maker maker = {copy, node->span, node->path};
      node = make_alias(&maker, node);
    }
    output.node = node;
    graph_add_output(copy, output);
  }
}

void stage_prepare(Lowering *lowering) {
  const Graph *graph = lowering->graph;
  Graph *copy = graph_create(lowering->arena, graph->name);
  NodeMap map = node_map_create(lowering->arena, graph);
  Splitter splitter = {
      lowering, {.graph = copy}, ARENA_ARRAY(lowering->arena, Pieces, map.capacity)};
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    splitter.maker = (Maker){copy, node->span, node->path};
    Node *split = split_reduction(&splitter, node, &map);
    if (split == NULL && should_cut_batch(lowering, node))
      split = cut_batch(copy, node, &map, lowering->blocks);
    if (split == NULL) split = cut_depth(lowering, copy, node, &map);
    if (split == NULL) split = prepare_by_rule(lowering, copy, node, &map);
    node_map_set(&map, node, split ? split : graph_copy_node(copy, node, &map));
  }
  graph_copy_outputs(copy, graph, &map, NULL);
  lowering->graph = copy;
}
