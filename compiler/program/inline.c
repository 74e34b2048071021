/* Which values are computed wherever they are needed, instead of once into memory.
 *
 * From the consumers back, for every node the number of its elements that are asked for in all is
 * known when its turn comes. A value is inlined when that is no more than it has (one consumer,
 * and no repetition on the way), or when it costs next to nothing: movement, conversion,
 * arithmetic with one operand in memory, a mask made of indices. What a template reads stays in
 * memory; movement before it may still be a view.
 *
 * What the gradients alone need, and is made of forward values alone (the slope of an activation), may be computed with
 * these. It is where it is smaller than what of them would stay for it.
 *
 * Joined parts (pad, concat) inside of joined parts would each be looked for by the indices of
 * those around them, the longer the deeper: sums of such are computed once. */
#include "program/group.h"
#include "program/stages.h"

#include "ops/op.h"

typedef struct Demand {
  double reads;      /* elements asked for */
  bool needs_memory; /* by a template, or by what reads it twice */
  bool is_convolved; /* by a loop that goes over windows of it */
  bool is_part;      /* of what is joined on the way to a kernel */
  bool is_reshaped;  /* by one that asks */
  bool is_late;      /* by what is neither of the forward part nor made of it alone */
  int phase;         /* the latest of a kernel that asks */
} Demand;

/* What the forward part keeps for the gradients. */
typedef struct Keeps {
  bool *is_forward, *is_early; /* by node id; early: not forward, but elementwise of what is */
  bool *is_needed;             /* forward, and read in any case by what is neither */
} Keeps;

static OpFamily family_of(const Node *node) { return op_info(node->op)->class->family; }

static bool is_plain_movement(const Node *node) {
  return family_of(node) == FAMILY_MOVEMENT && op_info(node->op)->class->moves_values;
}

/* Whether each node, computed in place, would look for joined parts. */
static bool *find_joins(const Lowering *lowering) {
  bool *joins = ARENA_ARRAY(lowering->arena, bool, lowering->graph->next_id);
  for (int i = 0; i < lowering->graph->nodes.count; i++) {
    const Node *node = lowering->graph->nodes.items[i];
    const Place *place = &lowering->places[node->id];
    if (!lowering->live[node->id] || place->kind == PLACE_LOAD || place->form != FORM_MAP) continue;
    joins[node->id] = op_joins_parts(node) && !place->is_free;
    for (int k = 0; k < node->operand_count; k++)
      joins[node->id] = joins[node->id] || joins[node->operands[k]->id];
  }
  return joins;
}

/* Elements of `operand` that one evaluation of all of `user` reads. */
static double operand_reads(const Lowering *lowering, const Node *user, const Node *operand) {
  double reads = lowering->places[user->id].reads;
  double elements = (double)shape_elements(operand->type.shape);
  return op_joins_parts(user) && reads > elements ? elements : reads;
}

/* What the operand moves (reshapes, slices, ...), or the operand itself; NULL when it is free or
 * small beside the node. */
static const Node *real_operand(const Lowering *lowering, const Node *node, int i) {
  const Node *operand = node->operands[i];
  while (family_of(operand) == FAMILY_MOVEMENT && operand->operand_count == 1)
    operand = operand->operands[0];
  bool is_small = 4 * shape_elements(operand->type.shape) <= shape_elements(node->type.shape);
  return lowering->places[operand->id].is_free || is_small ? NULL : operand;
}

/* Would the operand be in memory without this user?  A guess: a leaf is, and a value with another
 * user may be. But beside masks one user of the operand is none: of x <= 0 and where(x <= 0, 0, x)
 * the mask is smaller than x, so it is better to keep the mask. For gradients it is, too, where
 * they read x for nothing else. */
static bool is_in_memory_anyway(const Lowering *lowering, const Keeps *keeps, const Demand *demand,
                                const Node *operand, const Node *node) {
  if (lowering->places[operand->id].kind == PLACE_LOAD) return true;
  bool is_mask = dtype_size(node->type.dtype) < dtype_size(operand->type.dtype);
  if (!is_mask) return lowering->uses[operand->id] > 1;
  bool is_kept = keeps->is_forward[node->id] && demand->is_late && lowering->entry == ENTRY_TRAIN;
  return is_kept ? keeps->is_needed[operand->id] : lowering->wide_uses[operand->id] > 1;
}

/* One large operand, which is in memory in any case: then computing the node again where it is
 * needed costs no more than loading it. */
static bool is_cheap_to_repeat(const Lowering *lowering, const Keeps *keeps, const Demand *demand,
                               const Node *node) {
  int count = 0;
  for (int i = 0; i < node->operand_count; i++) {
    const Node *operand = real_operand(lowering, node, i);
    if (operand == NULL) continue;
    if (!is_in_memory_anyway(lowering, keeps, demand, operand, node) || ++count > 1) return false;
  }
  return true;
}

/* Uses of each node by nodes whose elements are no smaller, and by outputs. */
static int *count_wide_uses(const Lowering *lowering) {
  const Graph *graph = lowering->graph;
  int *uses = ARENA_ARRAY(lowering->arena, int, graph->next_id);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    for (int k = 0; lowering->live[node->id] && k < node->operand_count; k++) {
      const Node *operand = node->operands[k];
      uses[operand->id] += dtype_size(node->type.dtype) >= dtype_size(operand->type.dtype);
    }
  }
  for (int i = 0; i < graph->outputs.count; i++) uses[graph->outputs.items[i].node->id]++;
  return uses;
}

/* Finds expressions that load nothing: constants, indices, and a few cheap operations on them. */
static void find_free(Lowering *lowering) {
  const int most = lowering->program->target->fusion.free_operations;
  int *operations = ARENA_ARRAY(lowering->arena, int, lowering->graph->next_id);
  for (int i = 0; i < lowering->graph->nodes.count; i++) {
    const Node *node = lowering->graph->nodes.items[i];
    Place *place = &lowering->places[node->id];
    bool is_free = place->kind != PLACE_LOAD && place->form == FORM_MAP &&
                   lowering->live[node->id] && !op_info(node->op)->class->is_costly &&
                   !op_info(node->op)->class->stands_alone;
    operations[node->id] = node->operand_count > 0 && !is_plain_movement(node);
    for (int k = 0; k < node->operand_count; k++) {
      is_free = is_free && lowering->places[node->operands[k]->id].is_free;
      operations[node->id] += operations[node->operands[k]->id];
    }
    place->is_free = is_free && operations[node->id] <= most;
    /* a chain of sums of a value with itself has exponentially many: more than enough is enough */
    if (operations[node->id] > most) operations[node->id] = most + 1;
  }
}

/* Would keep several large operands alive until a later phase, in place of one result. */
static bool prolongs_lives(const Lowering *lowering, const Node *node, const Demand *demand) {
  int count = 0;
  for (int i = 0; i < node->operand_count; i++) count += real_operand(lowering, node, i) != NULL;
  return demand->phase > lowering->phases[node->id] && count > 1;
}

/* A conversion to a smaller type: what it converts would be stored in its place. */
static bool narrows(const Node *node) {
  return op_info(node->op)->class->moves_values && family_of(node) != FAMILY_MOVEMENT &&
         node->operand_count > 0 &&
         dtype_size(node->type.dtype) < dtype_size(node->operands[0]->type.dtype);
}

/* A value widened again, that was converted for nothing else: the f32 is what is stored, as rounded. */
static bool is_rounding(const Lowering *lowering, const Node *node) {
  return node->op == OP_CAST && narrows(node->operands[0]) &&
         lowering->uses[node->operands[0]->id] == 1;
}

/* ---- what the forward part keeps for the gradients ---- */

static bool is_early(const Lowering *lowering, const Keeps *keeps, const Node *node) {
  const Place *place = &lowering->places[node->id];
  if (keeps->is_forward[node->id] || place->kind != PLACE_GROUP || place->form != FORM_MAP ||
      node->operand_count == 0)
    return false;
  for (int k = 0; k < node->operand_count; k++) {
    int id = node->operands[k]->id;
    bool is_known = keeps->is_forward[id] || keeps->is_early[id] || lowering->places[id].is_free ||
                    lowering->places[id].kind == PLACE_LOAD;
    if (!is_known) return false;
  }
  return true;
}

static bool is_late(const Keeps *keeps, const Node *node) {
  return !keeps->is_forward[node->id] && !keeps->is_early[node->id];
}

static Keeps find_keeps(const Lowering *lowering) {
  const Graph *graph = lowering->graph;
  Keeps keeps = {.is_forward = op_forward_nodes(lowering->arena, graph),
                 .is_early = ARENA_ARRAY(lowering->arena, bool, graph->next_id),
                 .is_needed = ARENA_ARRAY(lowering->arena, bool, graph->next_id)};
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    keeps.is_early[node->id] = is_early(lowering, &keeps, node);
  }
  for (int i = graph->nodes.count - 1; i >= 0; i--) {
    const Node *node = graph->nodes.items[i];
    bool passes_on = is_plain_movement(node) && keeps.is_needed[node->id];
    bool reads = lowering->live[node->id] && (is_late(&keeps, node) || passes_on);
    for (int k = 0; reads && k < node->operand_count; k++)
      keeps.is_needed[node->operands[k]->id] = true;
  }
  return keeps;
}

/* Bytes of forward values that would stay for `node` alone; those it has met are marked in `seen`. */
static int64_t kept_bytes(const Lowering *lowering, const Keeps *keeps, const Node *node,
                          bool *seen) {
  int64_t bytes = 0;
  for (int k = 0; k < node->operand_count; k++) {
    const Node *operand = node->operands[k];
    while (is_plain_movement(operand) && !keeps->is_needed[operand->id])
      operand = operand->operands[0];
    const Place *place = &lowering->places[operand->id];
    if (seen[operand->id] || place->is_free || place->kind == PLACE_LOAD) continue;
    seen[operand->id] = true;
    if (keeps->is_early[operand->id]) bytes += kept_bytes(lowering, keeps, operand, seen);
    else if (!keeps->is_needed[operand->id]) bytes += type_bytes(operand->type);
  }
  return bytes;
}

/* Smaller than what would stay for it until the gradients are there. */
static bool is_better_kept(const Lowering *lowering, const Keeps *keeps, const Node *node) {
  if (!keeps->is_early[node->id] || lowering->entry != ENTRY_TRAIN) return false;
  bool *seen = ARENA_ARRAY(lowering->arena, bool, lowering->graph->next_id);
  return kept_bytes(lowering, keeps, node, seen) > type_bytes(node->type);
}

/* A small value that is repeated along an axis which is then joined with another, as the means of groups for each of their
 * channels, and read many times: each read would divide for its place. */
static bool repeats_inside(const Node *node, const Demand *demand) {
  enum { MANY_READS = 8 };
  int64_t elements = shape_elements(node->type.shape);
  return demand->is_reshaped && node->operand_count == 1 &&
         shape_elements(node->operands[0]->type.shape) < elements &&
         demand->reads >= (double)(MANY_READS * elements);
}

static bool should_inline(const Lowering *lowering, const Keeps *keeps, const Node *node,
                          const Demand *demand, bool joins) {
  const Place *place = &lowering->places[node->id];
  if (place->kind != PLACE_GROUP || place->form != FORM_MAP || place->is_kept || place->is_copy)
    return false;
  if (op_info(node->op)->class->stands_alone) return false;
  if (is_plain_movement(node))
    return !repeats_inside(node, demand); /* as a view, where a template needs it */
  if (demand->needs_memory || (demand->is_convolved && narrows(node))) return false;
  if (place->is_free) return true;
  if (demand->is_part && joins && family_of(node) != FAMILY_MOVEMENT) return false;
  if (prolongs_lives(lowering, node, demand) || group_takes_few(lowering, node)) return false;
  double elements = (double)shape_elements(node->type.shape);
  if (demand->is_late && is_better_kept(lowering, keeps, node)) return false;
  if (demand->reads <= elements) return true;
  const OpClass *class = op_info(node->op)->class;
  if (class->is_costly || family_of(node) == FAMILY_MOVEMENT) return false;
  double most_reads = lowering->program->target->fusion.cheap_repeats * elements;
  return (class->moves_values && !is_rounding(lowering, node)) ||
         (demand->reads <= most_reads && is_cheap_to_repeat(lowering, keeps, demand, node));
}

static bool is_window_loop(const Node *node, const Place *place) {
  return family_of(node) == FAMILY_CONVOLUTION && place->form == FORM_REDUCE;
}

static void add_demand(const Lowering *lowering, const Keeps *keeps, const Node *node,
                       Demand *demands) {
  const Place *place = &lowering->places[node->id];
  double elements = (double)shape_elements(node->type.shape), times = 1;
  bool is_inline = place->kind == PLACE_INLINE;
  if (is_inline && elements > 0) times = demands[node->id].reads / elements;
  int phase = is_inline ? demands[node->id].phase : lowering->phases[node->id];
  for (int i = 0; i < node->operand_count; i++) {
    Demand *demand = &demands[node->operands[i]->id];
    demand->reads += times * operand_reads(lowering, node, node->operands[i]);
    if (phase > demand->phase) demand->phase = phase;
    if (is_late(keeps, node)) demand->is_late = true;
    if (op_info(node->op)->class->keeps_order) demand->is_reshaped = true;
    if (op_joins_parts(node) || (is_inline && demands[node->id].is_part)) demand->is_part = true;
    if (is_window_loop(node, place) || (is_inline && demands[node->id].is_convolved))
      demand->is_convolved = true;
    bool is_stored = place->form == FORM_TEMPLATE || op_info(node->op)->class->reads_twice;
    if (is_stored || (is_inline && demands[node->id].needs_memory)) demand->needs_memory = true;
  }
}

void stage_inline(Lowering *lowering) {
  find_free(lowering);
  lowering->wide_uses = count_wide_uses(lowering);
  const bool *joins = find_joins(lowering);
  const Keeps keeps = find_keeps(lowering);
  Demand *demands = ARENA_ARRAY(lowering->arena, Demand, lowering->graph->next_id);
  for (int i = lowering->graph->nodes.count - 1; i >= 0; i--) {
    const Node *node = lowering->graph->nodes.items[i];
    if (!lowering->live[node->id]) continue;
    if (should_inline(lowering, &keeps, node, &demands[node->id], joins[node->id])) {
      Place *place = &lowering->places[node->id];
      lowering->groups.items[place->group]->is_merged_away = true;
      place->kind = PLACE_INLINE;
    }
    add_demand(lowering, &keeps, node, demands);
  }
}
