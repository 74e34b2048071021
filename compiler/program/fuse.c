/* Fusion: which nodes one kernel computes.
 *
 * Every node that is not inlined starts as a group of its own. Groups are merged along the edges
 * from producer to consumer, then between siblings that read the same memory, where
 *
 *   - their domains fit: equal; or the one is elementwise over the whole shape of which the other
 *     reduces the trailing axes (softmax, layer norm: one row after the other, several stages)
 *   - they belong to one phase (ATTR_PHASE), so that what is computed again stays late
 *   - no path through a third group leads from one to the other, not even one that keeps readers
 *     of a variable before its update
 *   - the merged kernel can be built: the rules themselves say no (kernel/builder.h).
 *
 * A contraction or convolution takes what follows it elementwise into its epilogue: bias,
 * activation, and the whole update of the parameter whose gradient it is. */
#include "program/group.h"
#include "program/stages.h"

#include <string.h>
#include "ops/op.h"

enum { MOST_MEMBERS = 64 }; /* of merged groups: trials take time */

typedef VEC(int) IdList;

typedef struct Fuser {
  Lowering *lowering;
  IdList *inputs; /* by group: groups that must come before */
  IdList *leaves; /* by group: leaves and members of other groups that it reads */
  int *seen;      /* by node or group, stamped */
  int stamp;
} Fuser;

static const FusionLimits *fusion_limits(const Fuser *fuser) {
  return &fuser->lowering->program->target->fusion;
}

static bool list_has(const IdList *list, int id) {
  for (int i = 0; i < list->count; i++)
    if (list->items[i] == id) return true;
  return false;
}

static void list_add(Arena *arena, IdList *list, int id) {
  if (!list_has(list, id)) vec_push(arena, list, id);
}

static Group *group_at(const Fuser *fuser, int id) { return fuser->lowering->groups.items[id]; }

/* ---- edges between groups ------------------------------------------------------------------ */

static void find_reads(Fuser *fuser, const Node *node, int group) {
  if (fuser->seen[node->id] == fuser->stamp) return;
  fuser->seen[node->id] = fuser->stamp;
  Lowering *lowering = fuser->lowering;
  const Place *place = &lowering->places[node->id];
  if (place->is_shared) return;
  bool is_other = place->kind == PLACE_GROUP && place->group != group;
  if (is_other || place->kind == PLACE_LOAD) {
    list_add(lowering->arena, &fuser->leaves[group], node->id);
    if (is_other) list_add(lowering->arena, &fuser->inputs[group], place->group);
    return;
  }
  for (int i = 0; i < node->operand_count; i++) find_reads(fuser, node->operands[i], group);
}

static void find_inputs(Fuser *fuser, int group) {
  fuser->inputs[group].count = fuser->leaves[group].count = 0;
  fuser->stamp++;
  const Group *own = group_at(fuser, group);
  for (int i = 0; i < own->members.count; i++) find_reads(fuser, own->members.items[i], group);
}

/* True when `group` or something before it is `target`; `direct` edges from the first do not
 * count. */
static bool comes_after(Fuser *fuser, int group, int target, bool direct) {
  if (fuser->seen[group] == fuser->stamp) return false;
  fuser->seen[group] = fuser->stamp;
  for (int i = 0; i < fuser->inputs[group].count; i++) {
    int input = fuser->inputs[group].items[i];
    if (input == target) {
      if (direct) return true;
      continue;
    }
    if (comes_after(fuser, input, target, true)) return true;
  }
  return false;
}

static bool path_between(Fuser *fuser, int from, int to) {
  fuser->stamp++;
  return comes_after(fuser, to, from, false);
}

/* Readers of a variable's old value come before the group that stores the new one, unless that is
 * impossible anyway. */
static void add_update_edges(Fuser *fuser) {
  Lowering *lowering = fuser->lowering;
  for (int i = 0; i < lowering->graph->outputs.count; i++) {
    const Output *output = &lowering->graph->outputs.items[i];
    const Place *place = &lowering->places[output->node->id];
    if (output->kind != OUTPUT_STORE || place->kind != PLACE_GROUP) continue;
    for (int g = 0; g < lowering->groups.count; g++) {
      if (g == place->group || group_at(fuser, g)->is_merged_away) continue;
      for (int k = 0; k < fuser->leaves[g].count; k++) {
        const Node *leaf = lowering->node_of[fuser->leaves[g].items[k]];
        LeafKind kind = op_info(leaf->op)->class->leaf;
        if ((kind != LEAF_PARAM && kind != LEAF_STATE) ||
            node_string(leaf, ATTR_NAME) != output->name)
          continue;
        fuser->stamp++;
        if (!comes_after(fuser, g, place->group, true))
          list_add(lowering->arena, &fuser->inputs[place->group], g);
      }
    }
  }
}

/* ---- domains ------------------------------------------------------------------------------- */

/* The whole shape that a reduction node runs over, and which of its axes it reduces. */
static bool reduction_space(const Node *node, Shape *full, unsigned *reduced) {
  if (op_info(node->op)->class->family != FAMILY_REDUCTION) return false;
  *full = node->operands[0]->type.shape;
  *reduced = 0;
  const Attribute *axes = node_attribute(node, ATTR_AXES);
  for (int i = 0; axes && i < axes->count; i++) *reduced |= 1u << axes->ints[i];
  if (!axes) *reduced = 1u << node_int(node, ATTR_AXIS);
  return true;
}

static bool is_map_group(const Fuser *fuser, const Group *group) {
  if (group->has_inner || group->template_node) return false;
  for (int i = 0; i < group->members.count; i++)
    if (fuser->lowering->places[group->members.items[i]->id].form != FORM_MAP) return false;
  return true;
}

/* Rows lie in memory one after the other, and there are enough of them. */
static bool rows_are_good(const FusionLimits *limits, Shape full, unsigned reduced, Shape domain) {
  int last = full.rank - 1;
  while (last >= 0 && full.dim[last] == 1) last--;
  if (last >= 0 && !(reduced >> last & 1)) return false;
  return shape_elements(domain) >= limits->few_rows || shape_elements(full) <= limits->large_rows;
}

/* Can `map`, elementwise over some shape, run inside the rows of `rows`? */
static bool fits_as_inner(const Fuser *fuser, const Group *rows, const Group *map, Shape *full,
                          unsigned *reduced) {
  if (rows->template_node || !is_map_group(fuser, map)) return false;
  if (rows->has_inner) {
    *full = rows->full;
    *reduced = rows->reduced;
    return shape_equal(rows->full, map->domain);
  }
  for (int i = 0; i < rows->members.count; i++)
    if (reduction_space(rows->members.items[i], full, reduced) && *reduced != 0 &&
        shape_equal(*full, map->domain) &&
        rows_are_good(fusion_limits(fuser), *full, *reduced, rows->domain))
      return true;
  return false;
}

static bool stands_alone(const Fuser *fuser, const Node *node) {
  const Target *target = fuser->lowering->program->target;
  return op_info(node->op)->class->stands_alone ||
         (target->product_stands_alone && target->product_stands_alone(node));
}

/* The iteration space of both together, in *merged. */
static bool spaces_merge(const Fuser *fuser, const Group *a, const Group *b, Group *merged) {
  if (a->phase != b->phase || (a->template_node && b->template_node) || a->scan || b->scan)
    return false;
  merged->phase = a->phase;
  const Group *template_group = a->template_node ? a : b->template_node ? b : NULL;
  const Group *other = template_group == a ? b : a;
  if (template_group) {
    if (stands_alone(fuser, template_group->template_node)) return false;
    merged->template_node = template_group->template_node;
    merged->domain = template_group->domain;
    return is_map_group(fuser, other) && shape_equal(a->domain, b->domain);
  }
  merged->domain = a->domain;
  merged->has_inner = true;
  if (shape_equal(a->domain, b->domain)) {
    const Group *inner = a->has_inner ? a : b;
    merged->has_inner = inner->has_inner;
    merged->full = inner->full;
    merged->reduced = inner->reduced;
    return !(a->has_inner && b->has_inner) ||
           (shape_equal(a->full, b->full) && a->reduced == b->reduced);
  }
  if (fits_as_inner(fuser, a, b, &merged->full, &merged->reduced)) return true;
  merged->domain = b->domain;
  return fits_as_inner(fuser, b, a, &merged->full, &merged->reduced);
}

/* ---- merging ------------------------------------------------------------------------------- */

static void merge_members(Arena *arena, Group *merged, const Group *a, const Group *b) {
  int i = 0, k = 0;
  while (i < a->members.count || k < b->members.count) {
    bool from_a = k >= b->members.count ||
                  (i < a->members.count && a->members.items[i]->id < b->members.items[k]->id);
    vec_push(arena, &merged->members, from_a ? a->members.items[i++] : b->members.items[k++]);
  }
}

static void claim_members(Fuser *fuser, const Group *group) {
  for (int i = 0; i < group->members.count; i++)
    fuser->lowering->places[group->members.items[i]->id].group = group->id;
}

/* After b has become part of a: no edge leads to b any more. */
static void redirect_edges(Fuser *fuser, int a, int b) {
  Arena *arena = fuser->lowering->arena;
  IdList joined = {0};
  for (int side = 0; side < 2; side++) {
    const IdList *inputs = &fuser->inputs[side == 0 ? a : b];
    for (int i = 0; i < inputs->count; i++)
      if (inputs->items[i] != a && inputs->items[i] != b)
        list_add(arena, &joined, inputs->items[i]);
  }
  fuser->inputs[a] = joined;
  for (int i = 0; i < fuser->leaves[b].count; i++)
    list_add(arena, &fuser->leaves[a], fuser->leaves[b].items[i]);
  for (int g = 0; g < fuser->lowering->groups.count; g++) {
    if (g == a || group_at(fuser, g)->is_merged_away || !list_has(&fuser->inputs[g], b)) continue;
    IdList renamed = {0};
    for (int i = 0; i < fuser->inputs[g].count; i++) {
      int input = fuser->inputs[g].items[i];
      list_add(arena, &renamed, input == b ? a : input);
    }
    fuser->inputs[g] = renamed;
  }
}

static bool kernel_is_reasonable(const FusionLimits *limits, const BuiltKernel *built) {
  return built->kernel->operand_count <= limits->most_operands &&
         built->kernel->stage_count <= limits->most_stages;
}

/* A variable that the kernel stores is loaded by it, if at all, only where it is stored. */
static bool updates_in_place(const Fuser *fuser, const BuiltKernel *built) {
  const Graph *graph = fuser->lowering->graph;
  for (int o = 0; o < graph->outputs.count; o++) {
    const Output *output = &graph->outputs.items[o];
    int stored = -1;
    for (int i = 0; i < built->kernel->operand_count; i++)
      if (built->nodes[i] == output->node && built->kernel->operands[i].is_output) stored = i;
    if (output->kind != OUTPUT_STORE || stored < 0) continue;
    for (int i = 0; i < built->kernel->operand_count; i++) {
      LeafKind leaf = op_info(built->nodes[i]->op)->class->leaf;
      if ((leaf == LEAF_PARAM || leaf == LEAF_STATE) && !built->kernel->operands[i].is_output &&
          node_string(built->nodes[i], ATTR_NAME) == output->name &&
          !kernel_can_unify(built->kernel, i, stored))
        return false;
    }
  }
  return true;
}

/* Whether one kernel of a and b can be built and is worth it. Most pairs are refused, so all that the
 * trial needs lives in an arena of its own. */
static bool merge_is_good(Fuser *fuser, Group *merged, const Group *a, const Group *b) {
  Lowering *lowering = fuser->lowering;
  Arena *arena = lowering->arena;
  lowering->arena = arena_create();
  merge_members(lowering->arena, merged, a, b);
  claim_members(fuser, merged);
  const Node *blame;
  bool is_good = group_build(lowering, merged, &blame) == NULL &&
                 kernel_is_reasonable(fusion_limits(fuser), &merged->built) &&
                 updates_in_place(fuser, &merged->built);
  arena_destroy(lowering->arena);
  lowering->arena = arena;
  return is_good;
}

/* Makes b part of a if that is possible. Groups are built again when all are merged. */
static bool try_merge(Fuser *fuser, int a, int b) {
  if (a == b || group_at(fuser, a)->is_merged_away || group_at(fuser, b)->is_merged_away)
    return false;
  Group merged = {.id = a};
  if (group_at(fuser, a)->members.count + group_at(fuser, b)->members.count > MOST_MEMBERS ||
      !spaces_merge(fuser, group_at(fuser, a), group_at(fuser, b), &merged) ||
      path_between(fuser, a, b) || path_between(fuser, b, a))
    return false;
  Group trial = merged;
  if (!merge_is_good(fuser, &trial, group_at(fuser, a), group_at(fuser, b))) {
    claim_members(fuser, group_at(fuser, a));
    claim_members(fuser, group_at(fuser, b));
    return false;
  }
  merge_members(fuser->lowering->arena, &merged, group_at(fuser, a), group_at(fuser, b));
  *group_at(fuser, a) = merged;
  group_at(fuser, b)->is_merged_away = true;
  redirect_edges(fuser, a, b);
  return true;
}

static int64_t group_elements(const Group *group) {
  return shape_elements(group->has_inner ? group->full : group->domain);
}

/* Both read some tensor that is not small beside what they compute. */
static bool share_reads(const Fuser *fuser, int a, int b) {
  int64_t elements = group_elements(group_at(fuser, a));
  for (int i = 0; i < fuser->leaves[a].count; i++) {
    int id = fuser->leaves[a].items[i];
    if (4 * shape_elements(fuser->lowering->node_of[id]->type.shape) >= elements &&
        list_has(&fuser->leaves[b], id))
      return true;
  }
  return false;
}

/* Few elements of a large value (inline.c keeps them) are taken by a kernel that reads the value anyway, so
 * that it is dead after this one. */
static void merge_takers(Fuser *fuser) {
  Lowering *lowering = fuser->lowering;
  for (int i = 0; i < lowering->graph->nodes.count; i++) {
    const Node *node = lowering->graph->nodes.items[i];
    const Place *place = &lowering->places[node->id];
    if (place->kind != PLACE_GROUP || !group_takes_few(lowering, node)) continue;
    for (int g = 0; g < lowering->groups.count; g++) {
      const Group *group = group_at(fuser, g);
      if (group->template_node || group->phase != group_at(fuser, place->group)->phase) continue;
      if (share_reads(fuser, g, place->group) && try_merge(fuser, g, place->group)) break;
    }
  }
}

static void merge_with_producers(Fuser *fuser) {
  Lowering *lowering = fuser->lowering;
  for (int i = 0; i < lowering->graph->nodes.count; i++) {
    const Place *place = &lowering->places[lowering->graph->nodes.items[i]->id];
    if (place->kind != PLACE_GROUP) continue;
    bool again = true;
    while (again) {
      again = false;
      const IdList *inputs = &fuser->inputs[place->group];
      for (int k = inputs->count - 1; k >= 0 && !again; k--)
        again = try_merge(fuser, inputs->items[k], place->group);
    }
  }
}

/* Elements that the members read, about. */
static double group_reads(const Fuser *fuser, const Group *group) {
  double reads = 0;
  for (int i = 0; i < group->members.count; i++)
    reads += fuser->lowering->places[group->members.items[i]->id].reads;
  return reads;
}

static bool are_small(const Fuser *fuser, const Group *a, const Group *b) {
  return shape_equal(a->domain, b->domain) &&
         group_reads(fuser, a) + group_reads(fuser, b) <= fusion_limits(fuser)->small_kernel;
}

/* Siblings: neither depends on the other. */
static void merge_siblings(Fuser *fuser) {
  int count = fuser->lowering->groups.count;
  for (int a = 0; a < count; a++) {
    for (int b = a + 1; b < count; b++) {
      if (group_at(fuser, a)->is_merged_away || group_at(fuser, b)->is_merged_away) continue;
      if (group_at(fuser, a)->phase != group_at(fuser, b)->phase) continue;
      if (group_at(fuser, a)->template_node || group_at(fuser, b)->template_node) continue;
      if (are_small(fuser, group_at(fuser, a), group_at(fuser, b)) || share_reads(fuser, a, b))
        try_merge(fuser, a, b);
    }
  }
}

void stage_fuse(Lowering *lowering) {
  for (int i = 0; i < lowering->graph->nodes.count; i++) { /* all stores must be possible */
    Place *place = &lowering->places[lowering->graph->nodes.items[i]->id];
    place->is_stored = place->kind == PLACE_GROUP;
  }
  for (int i = 0; i < lowering->groups.count; i++)
    if (!lowering->groups.items[i]->is_merged_away)
      group_build_surely(lowering, lowering->groups.items[i]);
  int groups = lowering->groups.count, nodes = lowering->graph->next_id;
  Fuser fuser = {.lowering = lowering,
                 .inputs = ARENA_ARRAY(lowering->arena, IdList, groups),
                 .leaves = ARENA_ARRAY(lowering->arena, IdList, groups),
                 .seen = ARENA_ARRAY(lowering->arena, int, groups > nodes ? groups : nodes)};
  for (int i = 0; i < groups; i++)
    if (!lowering->groups.items[i]->is_merged_away) find_inputs(&fuser, i);
  add_update_edges(&fuser);
  merge_takers(&fuser);
  merge_with_producers(&fuser);
  merge_siblings(&fuser);
}
