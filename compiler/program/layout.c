/* Which values lie in memory with their channels last, for a target that asks for it.
 *
 * A convolution reads, for one tap of its window, all channels of a position: with channels last they are
 * neighbours, 16 bytes of which come at once. So what convolutions read and write, [n, c, ...], lies as
 * n, ..., c; their weights, [k, c, taps...], as k, taps..., c; and so does what elementwise operators and
 * poolings make of such values, that kernels need not go across. Variables are among them: weights, and
 * what an optimizer keeps for each.
 *
 * Any choice is sound: a kernel's indices are made from the layouts (kernel/layout.h), and what a value is
 * does not change. Inputs, results and what scans carry stay row-major: the world outside knows no other
 * order, but for variables, which the device turns when they are read and written. So does what a template
 * reads that cannot: it is tried. Variables are for all entries, so they lie so only where no operator could
 * mind. */
#include "program/layout.h"

#include "ops/op.h"
#include "ops/window.h"
#include "program/buffers.h"
#include "program/group.h"
#include "program/stages.h"
#include "support/integers.h"

/* The values of a graph as sets of those that one kernel had better find in one order. */
typedef struct Chooser {
  const Target *target;
  const Graph *graph;
  const Node **chain; /* by node: another of the same set, or itself */
  bool *is_wanted;    /* by the node that stands for a set: a convolution or all readers want it */
} Chooser;

static OpFamily family_of(const Node *node) { return op_info(node->op)->class->family; }

static const Node *set_of(const Chooser *chooser, const Node *node) {
  const Node **chain = chooser->chain;
  for (; chain[node->id] != node; node = chain[node->id])
    chain[node->id] = chain[chain[node->id]->id]; /* half as far the next time */
  return node;
}

/* Pieces of a gradient of weights, whose number is an axis more. */
static bool has_pieces(const Node *node) { return node_attribute(node, ATTR_PIECES) != NULL; }

/* A value that could lie so, and would not look the same. */
static bool has_channels(const Target *target, const Node *node) {
  Shape shape = node->type.shape;
  int axis = has_pieces(node) ? 2 : 1;
  return shape.rank > axis + 1 && shape.dim[axis] > 1 &&
         shape.dim[axis] % target->channels_together == 0 &&
         extent_product(shape.dim + axis + 1, shape.rank - axis - 1) > 1;
}

static void join_operands(Chooser *chooser, const Node *node) {
  OpFamily family = family_of(node);
  for (int i = 0; i < node->operand_count; i++) {
    const Node *operand = node->operands[i];
    bool is_alike = shape_equal(operand->type.shape, node->type.shape);
    bool is_pool = family == FAMILY_POOLING && operand->type.shape.rank == node->type.shape.rank;
    if ((family == FAMILY_ELEMENTWISE && is_alike) || is_pool)
      chooser->chain[set_of(chooser, operand)->id] = set_of(chooser, node);
  }
}

static void want(Chooser *chooser, const Node *node) {
  chooser->is_wanted[set_of(chooser, node)->id] = true;
}

static bool is_wanted(const Chooser *chooser, const Node *node) {
  return chooser->is_wanted[set_of(chooser, node)->id] && has_channels(chooser->target, node);
}

/* What goes through the windows must be able to lie so: an input cannot. */
static bool wants_channels_last(const Target *target, const Node *node) {
  if (family_of(node) != FAMILY_CONVOLUTION || !conv_keeps_channels_last(target, node))
    return false;
  const Node *seen = node->operands[0];
  return op_info(seen->op)->class->leaf != LEAF_INPUT ||
         seen->type.shape.dim[1] <= target->most_plane_channels;
}

/* By the node that stands for a set. */
typedef struct Readers {
  bool *turn, *others;
} Readers;

static Readers find_readers(Arena *arena, const Chooser *chooser) {
  const Graph *graph = chooser->graph;
  Readers found = {ARENA_ARRAY(arena, bool, graph->next_id),
                   ARENA_ARRAY(arena, bool, graph->next_id)};
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    for (int k = 0; k < node->operand_count; k++) {
      const Node *set = set_of(chooser, node->operands[k]);
      if (node_ends_with_channels(node)) found.turn[set->id] = true;
      else if (set_of(chooser, node) != set) found.others[set->id] = true;
    }
  }
  for (int i = 0; i < graph->outputs.count; i++)
    found.others[set_of(chooser, graph->outputs.items[i].node)->id] = true;
  return found;
}

/* A product that is read with its channels at the end, and in no other way, is written so: a tile goes either way, and
 * what reads it then goes along memory. */
static void want_turned_products(Arena *arena, Chooser *chooser) {
  Readers readers = find_readers(arena, chooser);
  for (int i = 0; i < chooser->graph->nodes.count; i++) {
    const Node *node = chooser->graph->nodes.items[i];
    int set = set_of(chooser, node)->id;
    if (family_of(node) == FAMILY_CONTRACTION && readers.turn[set] && !readers.others[set])
      chooser->is_wanted[set] = true;
  }
}

/* How many convolutions of each operator have a value of the set on one of their sides; and how many of these would do as
 * well with planes, without those of inputs, which are planes. */
typedef struct Touches {
  int all[CONV_DIRECTIONS], weak[CONV_DIRECTIONS];
} Touches;

static bool is_input(const Node *node) { return op_info(node->op)->class->leaf == LEAF_INPUT; }

static Touches *find_touches(Arena *arena, const Chooser *chooser) {
  const Graph *graph = chooser->graph;
  Touches *found = ARENA_ARRAY(arena, Touches, graph->next_id);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (family_of(node) != FAMILY_CONVOLUTION) continue;
    ConvSides sides = conv_sides(node);
    bool is_weak = !conv_keeps_channels_last(chooser->target, node);
    for (int k = 0; k < 2; k++) {
      if (is_input(sides.side[k])) continue;
      Touches *touches = &found[set_of(chooser, sides.side[k])->id];
      touches->all[conv_direction(node)]++;
      touches->weak[conv_direction(node)] += is_weak && !is_input(sides.side[1 - k]);
    }
  }
  return found;
}

static bool is_at_most_one(const int count[CONV_DIRECTIONS]) {
  for (int op = 0; op < CONV_DIRECTIONS; op++)
    if (count[op] > 1) return false;
  return true;
}

/* A convolution that would do as well with planes is a head, whose classes or colours are no vectors, if no other one goes on
 * from there. It has its channels last if its other side does, or may: else that would be scattered, or few planes would be
 * multiplied where vectors of channels could be. */
static void want_heads(Arena *arena, Chooser *chooser) {
  const Graph *graph = chooser->graph;
  const Touches *touches = find_touches(arena, chooser);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (family_of(node) != FAMILY_CONVOLUTION || conv_keeps_channels_last(chooser->target, node) ||
        !conv_follows_channels_last(chooser->target, node))
      continue;
    ConvSides sides = conv_sides(node);
    for (int k = 0; k < 2; k++) {
      const Node *own = sides.side[k], *other = sides.side[1 - k];
      bool is_end = is_at_most_one(touches[set_of(chooser, own)->id].all);
      bool may_other = is_at_most_one(touches[set_of(chooser, other)->id].weak);
      bool has_vectors = own->type.shape.dim[1] < other->type.shape.dim[1];
      if (!is_end || !has_vectors || !(may_other || is_wanted(chooser, other)) || is_input(other))
        continue;
      want(chooser, own);
      want(chooser, other);
      want(chooser, node);
      for (int j = 0; j < node->operand_count; j++) want(chooser, node->operands[j]);
    }
  }
}

static Chooser chooser_create(Arena *arena, const Target *target, const Graph *graph) {
  Chooser chooser = {target, graph, ARENA_ARRAY(arena, const Node *, graph->next_id),
                     ARENA_ARRAY(arena, bool, graph->next_id)};
  for (int i = 0; i < graph->nodes.count; i++)
    chooser.chain[graph->nodes.items[i]->id] = graph->nodes.items[i];
  for (int i = 0; i < graph->nodes.count; i++) join_operands(&chooser, graph->nodes.items[i]);
  want_turned_products(arena, &chooser);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (!wants_channels_last(target, node)) continue;
    want(&chooser, node);
    for (int k = 0; k < node->operand_count; k++) want(&chooser, node->operands[k]);
  }
  want_heads(arena, &chooser);
  return chooser;
}

/* ---- variables ----------------------------------------------------------------------------- */

/* By variable. */
typedef struct Choice {
  bool is_wanted, is_refused;
} Choice;

/* An operator for which the order in memory is but another index. */
static bool takes_any_order(const Node *node) {
  OpFamily family = family_of(node);
  return family == FAMILY_ELEMENTWISE || family == FAMILY_REDUCTION || family == FAMILY_CONVOLUTION;
}

/* The variable whose value a leaf is; -1: it is no such leaf. */
static int variable_of(const Program *program, const Node *node) {
  LeafKind leaf = op_info(node->op)->class->leaf;
  if (leaf != LEAF_PARAM && leaf != LEAF_STATE) return -1;
  return variable_buffer(program, node_string(node, ATTR_NAME));
}

/* By node: some operator that reads it may mind. */
static bool *find_minded(Arena *arena, const Graph *graph) {
  bool *minded = ARENA_ARRAY(arena, bool, graph->next_id);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    for (int k = 0; k < node->operand_count && !takes_any_order(node); k++)
      minded[node->operands[k]->id] = true;
  }
  return minded;
}

static void choose_variables(Arena *arena, const Program *program, const Graph *graph,
                             Choice *choices) {
  Chooser chooser = chooser_create(arena, program->target, graph);
  const bool *minded = find_minded(arena, graph);
  for (int i = 0; i < graph->outputs.count; i++) {
    const Output *output = &graph->outputs.items[i];
    if (output->kind != OUTPUT_STORE) continue;
    Choice *choice = &choices[variable_buffer(program, output->name)];
    choice->is_wanted |= is_wanted(&chooser, output->node);
    choice->is_refused |= minded[output->node->id] || family_of(output->node) == FAMILY_SCAN;
  }
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    int variable = variable_of(program, node);
    if (variable < 0) continue;
    choices[variable].is_wanted |= is_wanted(&chooser, node);
    choices[variable].is_refused |= minded[node->id];
  }
}

void layout_variables(Program *program) {
  const Module *module = program->module;
  if (!program->target->keeps_channels_last) return;
  Arena *arena = arena_create();
  Choice *choices = ARENA_ARRAY(arena, Choice, module->variables.count + 1);
  for (int e = 0; e < ENTRY_COUNT; e++)
    if (e != ENTRY_HOST && e != ENTRY_FINISH && module->entries[e])
      choose_variables(arena, program, module->entries[e], choices);
  for (int i = 0; i < module->variables.count; i++)
    program->buffers.items[i].has_channels_last = choices[i].is_wanted && !choices[i].is_refused;
  arena_destroy(arena);
}

/* ---- the values of a graph ----------------------------------------------------------------- */

/* A reshape after which channels and places are no axes of their own. Where images and channels stay, so do places, as one
 * axis or as several. */
static bool mixes_axes(const Node *node) {
  if (!op_info(node->op)->class->keeps_order) return false;
  Shape from = node->operands[0]->type.shape, to = node->type.shape;
  if (least(from.rank, to.rank) > 2 && from.dim[0] == to.dim[0] && from.dim[1] == to.dim[1])
    return false;
  for (int i = 1; i < from.rank; i++)
    if (from.rank - i > to.rank || from.dim[from.rank - i] != to.dim[to.rank - i]) return true;
  return false;
}

static void choose(Lowering *lowering, const Layout *layouts, const Layout *pieces) {
  const Graph *graph = lowering->graph;
  Chooser chooser = chooser_create(lowering->arena, lowering->program->target, graph);
  bool *is_mixed = ARENA_ARRAY(lowering->arena, bool, graph->next_id);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (lowering->live[node->id] && mixes_axes(node)) is_mixed[node->operands[0]->id] = true;
  }
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    Place *place = &lowering->places[node->id];
    if (place->kind == PLACE_GROUP && place->form != FORM_SCAN && !place->is_kept &&
        !is_mixed[node->id] && is_wanted(&chooser, node))
      place->layout = &(has_pieces(node) ? pieces : layouts)[node->type.shape.rank];
  }
}

static void follow_variable(Lowering *lowering, const Layout *layouts, const Node *node,
                            int variable) {
  const Buffer *buffer = &lowering->program->buffers.items[variable];
  if (buffer->has_channels_last)
    lowering->places[node->id].layout = &layouts[buffer->type.shape.rank];
}

/* What is read from variables, and what is stored into them. */
static void follow_variables(Lowering *lowering, const Layout *layouts) {
  const Graph *graph = lowering->graph;
  for (int i = 0; i < graph->nodes.count; i++) {
    int variable = variable_of(lowering->program, graph->nodes.items[i]);
    if (variable >= 0) follow_variable(lowering, layouts, graph->nodes.items[i], variable);
  }
  for (int i = 0; i < graph->outputs.count; i++) {
    const Output *output = &graph->outputs.items[i];
    if (output->kind == OUTPUT_STORE)
      follow_variable(lowering, layouts, output->node,
                      variable_buffer(lowering->program, output->name));
  }
}

/* Makes what lies under `node` in memory row-major; whether something did not. */
static bool make_plain(Lowering *lowering, const Node *node) {
  Place *place = &lowering->places[node->id];
  bool changed = place->layout != NULL && place->kind == PLACE_GROUP && !place->is_kept;
  if (changed) place->layout = NULL;
  for (int i = 0; place->kind == PLACE_INLINE && i < node->operand_count; i++)
    changed = make_plain(lowering, node->operands[i]) || changed;
  return changed;
}

static void try_template(Lowering *lowering, Group *group) {
  const Node *blame;
  while (group_build(lowering, group, &blame) && make_plain(lowering, blame)) continue;
}

void stage_layout(Lowering *lowering) {
  if (!lowering->program->target->keeps_channels_last) return;
  Layout *layouts = ARENA_ARRAY(lowering->arena, Layout, MAX_RANK + 1);
  Layout *pieces = ARENA_ARRAY(lowering->arena, Layout, MAX_RANK + 1);
  for (int i = 0; i <= MAX_RANK; i++) {
    layouts[i] = layout_channels_last(i);
    pieces[i] = layout_pieces_last(i);
  }
  choose(lowering, layouts, pieces);
  follow_variables(lowering, layouts);
  for (int i = 0; i < lowering->groups.count; i++) {
    Group *group = lowering->groups.items[i];
    if (!group->is_merged_away && group->template_node) try_template(lowering, group);
  }
}
