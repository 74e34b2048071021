/* Kernels that compute what another one reads when it reads it (kernel/feed.h).
 *
 * A value that one kernel alone reads, and that is larger than a near cache, goes to memory and comes back. Where the
 * target can, the kernel that makes it becomes the feeder of the one that reads it: one launch, and the value is nowhere
 * as a whole. Both must read parameters that they keep, so this is for entries that compute single examples. */
#include "kernel/feed.h"
#include "program/stages.h"

#include "ops/op.h"

/* Whether the node is a parameter that the graph leaves as it is. */
static bool is_constant(const Lowering *lowering, const Node *node) {
  if (op_info(node->op)->class->leaf != LEAF_PARAM) return false;
  for (int i = 0; i < lowering->graph->outputs.count; i++) {
    const Output *output = &lowering->graph->outputs.items[i];
    if (output->kind == OUTPUT_STORE && output->name == node_string(node, ATTR_NAME)) return false;
  }
  return true;
}

/* Whether the kernel reads constant weights, which it will keep. */
static bool keeps_weights(const Lowering *lowering, const Group *group) {
  enum { WEIGHTS = 1 };
  const BuiltKernel *built = &group->built;
  return kernel_is_template(built->kernel) && kernel_template_operands(built->kernel) > WEIGHTS &&
         built->starts[WEIGHTS] == 0 && is_constant(lowering, built->nodes[WEIGHTS]);
}

/* How many operands of all kernels the node is, but of that which stores it. */
static int count_readers(const Lowering *lowering, const Node *node) {
  int count = 0;
  for (int g = 0; g < lowering->groups.count; g++) {
    const Group *group = lowering->groups.items[g];
    const BuiltKernel *built = &group->built;
    for (int i = 0; !group->is_merged_away && i < built->kernel->operand_count; i++)
      count += built->nodes[i] == node && !built->kernel->operands[i].is_output;
  }
  return count;
}

static Kernel *keeping(Arena *arena, const Kernel *kernel) {
  Kernel *copy = arena_copy(arena, kernel, sizeof *kernel);
  copy->keeps_weights = true;
  return copy;
}

/* The group whose kernel may feed that of `group`; NULL: none may. */
static Group *find_feeder(const Lowering *lowering, const Group *group) {
  const Target *target = lowering->program->target;
  if (group->is_merged_away || group->scan || !keeps_weights(lowering, group)) return NULL;
  const Node *value = group->built.nodes[0];
  const Place *place = &lowering->places[value->id];
  if (place->kind != PLACE_GROUP || place->is_kept || place->group == group->id) return NULL;
  if (type_bytes(value->type) < target->least_fed_bytes || count_readers(lowering, value) != 1)
    return NULL;
  Group *feeder = lowering->groups.items[place->group];
  if (feeder->scan || feeder->phase != group->phase || !keeps_weights(lowering, feeder) ||
      !kernel_can_be_fed(group->built.kernel, feeder->built.kernel))
    return NULL;
  Kernel *own = keeping(lowering->arena, group->built.kernel);
  return target->can_feed(own, keeping(lowering->arena, feeder->built.kernel)) ? feeder : NULL;
}

/* Members of both, in the graph's order. */
static void join_members(Lowering *lowering, Group *group, const Group *feeder) {
  VEC(const Node *) members = {0};
  int i = 0, k = 0;
  while (i < group->members.count || k < feeder->members.count) {
    bool is_own =
        k == feeder->members.count ||
        (i < group->members.count && group->members.items[i]->id < feeder->members.items[k]->id);
    vec_push(lowering->arena, &members,
             is_own ? group->members.items[i++] : feeder->members.items[k++]);
  }
  group->members.items = members.items;
  group->members.count = members.count;
  group->members.capacity = members.capacity;
  for (int n = 0; n < feeder->members.count; n++) {
    Place *place = &lowering->places[feeder->members.items[n]->id];
    place->group = group->id;
    place->is_stored = false;
  }
  for (int n = 0; n < feeder->computed.count; n++)
    vec_push(lowering->arena, &group->computed, feeder->computed.items[n]);
}

static void join(Lowering *lowering, Group *group, Group *feeder) {
  Arena *arena = lowering->program->arena;
  BuiltKernel *built = &group->built;
  const BuiltKernel *other = &feeder->built;
  int own = built->kernel->operand_count;
  Kernel *kernel = arena_copy(arena, built->kernel, sizeof *kernel);
  Kernel *fed = keeping(arena, other->kernel);
  kernel_collapse(arena, fed);
  kernel_take_feeder(arena, kernel, fed);
  const Node **nodes = ARENA_ARRAY(arena, const Node *, kernel->operand_count);
  int64_t *starts = ARENA_ARRAY(arena, int64_t, kernel->operand_count);
  for (int i = 0; i < own; i++) {
    nodes[i] = built->nodes[i];
    starts[i] = built->starts[i];
  }
  for (int i = 0; i < fed->operand_count; i++) {
    if (kernel->feed[i] < 0) continue;
    nodes[kernel->feed[i]] = other->nodes[i];
    starts[kernel->feed[i]] = other->starts[i];
  }
  built->kernel = kernel;
  built->nodes = nodes;
  built->starts = starts;
  join_members(lowering, group, feeder);
  feeder->is_merged_away = true;
}

void stage_feed(Lowering *lowering) {
  if (!lowering->program->target->can_feed || !lowering->keeps_weights || lowering->scan >= 0 ||
      lowering->entry == ENTRY_PREDICT_BATCH) /* which keeps few weights */
    return;
  for (int g = 0; g < lowering->groups.count; g++) {
    Group *group = lowering->groups.items[g], *feeder = find_feeder(lowering, group);
    if (feeder) join(lowering, group, feeder);
  }
}
