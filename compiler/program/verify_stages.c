/* What each stage of lowering leaves and the next one relies on, proved after every stage. Nothing
 * here looks at how a stage decides; a plan is proved by verify.c. */
#include "program/buffers.h"
#include "program/schedule.h"
#include "program/stages.h"
#include "program/verify.h"

#include "ops/op.h"

/* ---- a graph ------------------------------------------------------------------------------- */

/* The prepared graph gives the same outputs, by rules that hold for each node. */
const char *verify_graph(Arena *arena, const Lowering *lowering) {
  const Graph *graph = lowering->graph;
  const Node **by_id = ARENA_ARRAY(arena, const Node *, graph->next_id);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    Type type = node->type;
    const char *reason = "its type is not that of its rule";
    if (node->id < 0 || node->id >= graph->next_id || by_id[node->id])
      return arena_printf(arena, "node %%%d is not the only one of this number", node->id);
    by_id[node->id] = node;
    for (int k = 0; k < node->operand_count; k++)
      if (by_id[node->operands[k]->id] != node->operands[k])
        return arena_printf(arena, "%%%d (%s) comes before its operand %d", node->id, node->path,
                            k);
    if (!node_infer(arena, node, &type, &reason) || !type_equal(type, node->type))
      return arena_printf(arena, "%%%d (%s): %s", node->id, node->path, reason);
  }
  for (int i = 0; i < graph->outputs.count; i++) {
    const Output *output = &graph->outputs.items[i];
    if (by_id[output->node->id] != output->node)
      return arena_printf(arena, "output %s is no node of the graph", output->name);
  }
  return NULL;
}

/* ---- places and groups --------------------------------------------------------------------- */

typedef struct GroupVisit {
  Arena *arena;
  const Lowering *lowering;
  int *seen;  /* by node: number + 1 of the last group whose operands were looked for */
  char *done; /* by group: 1 while what it reads is looked at, 2 afterwards */
  const char *wrong;
} GroupVisit;

static void visit_group(GroupVisit *visit, int number);

/* Visits the groups that compute what `node` reads, through what is computed in place. */
static void visit_operands(GroupVisit *visit, const Node *node, int group) {
  for (int i = 0; i < node->operand_count; i++) {
    const Node *operand = node->operands[i];
    const Place *place = &visit->lowering->places[operand->id];
    if (place->is_shared || place->kind == PLACE_LOAD || visit->seen[operand->id] == group + 1)
      continue;
    visit->seen[operand->id] = group + 1;
    if (place->kind == PLACE_DEAD)
      visit->wrong = arena_printf(visit->arena, "%s reads %%%d, which nothing computes", node->path,
                                  operand->id);
    else if (place->kind == PLACE_INLINE) visit_operands(visit, operand, group);
    else if (place->group != group) visit_group(visit, place->group);
  }
}

static void visit_group(GroupVisit *visit, int number) {
  const Group *group = visit->lowering->groups.items[number];
  if (visit->done[number] == 2 || visit->wrong) return;
  if (visit->done[number] == 1) {
    visit->wrong = arena_printf(visit->arena, "the group of %s waits for itself",
                                group->members.items[0]->path);
    return;
  }
  visit->done[number] = 1;
  for (int i = 0; i < group->members.count; i++)
    visit_operands(visit, group->members.items[i], number);
  visit->done[number] = 2;
}

static const char *check_members(Arena *arena, const Lowering *lowering, int number, int *members) {
  const Group *group = lowering->groups.items[number];
  for (int i = 0; i < group->members.count; i++) {
    const Node *node = group->members.items[i];
    const Place *place = &lowering->places[node->id];
    bool is_after = i == 0 || node->id > group->members.items[i - 1]->id;
    if (!is_after || place->kind != PLACE_GROUP || place->group != number)
      return arena_printf(arena, "%%%d (%s) is no member of group %d, which lists it", node->id,
                          node->path, number);
  }
  *members += group->members.count;
  return NULL;
}

/* Every live value has a place, groups share out those that have one in a group, and none waits for
 * itself. */
const char *verify_groups(Arena *arena, const Lowering *lowering) {
  const Graph *graph = lowering->graph;
  int members = 0, placed = 0;
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    const Place *place = &lowering->places[node->id];
    bool is_outside = place->kind == PLACE_INLINE || place->kind == PLACE_DEAD;
    placed += place->kind == PLACE_GROUP;
    if (lowering->live[node->id] != (place->kind != PLACE_DEAD))
      return arena_printf(arena, "%%%d (%s) is alive without a place, or placed for nobody",
                          node->id, node->path);
    if (place->is_kept && lowering->live[node->id] && is_outside)
      return arena_printf(arena, "%%%d (%s) must be in memory but is computed in place", node->id,
                          node->path);
  }
  GroupVisit visit = {.arena = arena,
                      .lowering = lowering,
                      .seen = ARENA_ARRAY(arena, int, graph->next_id),
                      .done = ARENA_ARRAY(arena, char, lowering->groups.count)};
  for (int g = 0; g < lowering->groups.count; g++) {
    if (lowering->groups.items[g]->is_merged_away) continue;
    const char *wrong = check_members(arena, lowering, g, &members);
    if (wrong) return wrong;
    visit_group(&visit, g);
  }
  if (!visit.wrong && members != placed)
    return arena_printf(arena, "the groups have %d members of %d values", members, placed);
  return visit.wrong;
}

/* ---- kernels ------------------------------------------------------------------------------- */

/* Each kernel stores the values of its group that other kernels read, and reads only what is in memory. */
const char *verify_kernels(Arena *arena, const Lowering *lowering) {
  for (int g = 0; g < lowering->groups.count; g++) {
    const Group *group = lowering->groups.items[g];
    const BuiltKernel *built = &group->built;
    int stored = 0;
    if (group->is_merged_away) continue;
    if (!built->kernel) return arena_printf(arena, "group %d has no kernel", g);
    for (int i = 0; i < group->members.count; i++)
      stored += lowering->places[group->members.items[i]->id].is_stored;
    for (int i = 0; i < built->kernel->operand_count; i++) {
      const Node *node = built->nodes[i];
      const Place *place = &lowering->places[node->id];
      bool is_output = built->kernel->operands[i].is_output;
      bool is_own = place->kind == PLACE_GROUP && place->group == g;
      bool is_memory =
          place->kind == PLACE_LOAD || (place->kind == PLACE_GROUP && place->is_stored);
      if (is_output ? !is_own || !place->is_stored : !is_memory)
        return arena_printf(arena, "the kernel of %s %s %%%d (%s), which is not in memory",
                            group->members.items[0]->path, is_output ? "stores" : "reads", node->id,
                            node->path);
      stored -= is_output;
    }
    if (stored != 0)
      return arena_printf(arena, "the kernel of %s does not store what others read of it",
                          group->members.items[0]->path);
  }
  return verify_groups(arena, lowering);
}

/* ---- launches ------------------------------------------------------------------------------ */

typedef struct MemoryCheck {
  Arena *arena;
  const Lowering *lowering;
  int *writer; /* by root: the whole buffer that was written there last; -1 */
} MemoryCheck;

/* An access finds the value it means: nothing else took the memory since. */
static const char *check_access(MemoryCheck *check, const Launch *launch, int buffer, bool writes) {
  const Program *program = check->lowering->program;
  if (buffer < 0 || buffer >= program->buffers.count)
    return arena_printf(check->arena, "%s has an operand without a buffer", launch->node->path);
  int whole = buffer_whole(program, buffer), root = buffer_root(program, buffer);
  if (program->buffers.items[root].bytes < program->buffers.items[whole].bytes)
    return arena_printf(check->arena, "%s is larger than the memory that it has from %s",
                        program->buffers.items[whole].name, program->buffers.items[root].name);
  if (!writes && check->writer[root] >= 0 && check->writer[root] != whole)
    return arena_printf(check->arena, "%s reads %s after %s took its memory", launch->node->path,
                        program->buffers.items[whole].name,
                        program->buffers.items[check->writer[root]].name);
  if (writes) check->writer[root] = whole;
  return NULL;
}

static const char *check_accesses(MemoryCheck *check, const Launch *launch) {
  LaunchUses uses = launch_uses(check->arena, check->lowering, launch);
  const char *wrong = NULL;
  for (int writes = 0; writes < 2; writes++)
    for (int i = 0; i < uses.count && !wrong; i++)
      if (uses.items[i].writes == writes)
        wrong = check_access(check, launch, uses.items[i].buffer, writes);
  return wrong;
}

/* A launch of a task loop follows one of the same loop, or begins it. */
static const char *check_loop(Arena *arena, const Lowering *lowering, int at, bool *begun) {
  const Launch *launch = &lowering->launches.items[lowering->order.items[at]];
  int count = lowering->program->entries[lowering->entry].loops.count;
  if (launch->loop < 0) return NULL;
  bool goes_on =
      at > 0 && lowering->launches.items[lowering->order.items[at - 1]].loop == launch->loop;
  if (launch->loop >= count || (begun[launch->loop] && !goes_on))
    return arena_printf(arena, "%s is not in one piece with its task loop", launch->node->path);
  begun[launch->loop] = true;
  return NULL;
}

/* The order has every launch once, after those that must come before it. */
const char *verify_launches(Arena *arena, const Lowering *lowering) {
  int count = lowering->launches.count, buffers = lowering->program->buffers.count;
  bool *done = ARENA_ARRAY(arena, bool, count);
  bool *begun = ARENA_ARRAY(arena, bool, lowering->program->entries[lowering->entry].loops.count);
  MemoryCheck check = {arena, lowering, ARENA_ARRAY(arena, int, buffers)};
  for (int i = 0; i < buffers; i++) check.writer[i] = -1;
  if (lowering->order.count != count)
    return arena_printf(arena, "%d of %d launches are in order", lowering->order.count, count);
  for (int i = 0; i < count; i++) {
    int number = lowering->order.items[i];
    const Launch *launch = &lowering->launches.items[number];
    if (done[number]) return arena_printf(arena, "%s is launched twice", launch->node->path);
    done[number] = true;
    for (int k = 0; k < launch->before.count; k++)
      if (!done[launch->before.items[k]])
        return arena_printf(arena, "%s comes before %s, which it needs", launch->node->path,
                            lowering->launches.items[launch->before.items[k]].node->path);
    const char *wrong = check_loop(arena, lowering, i, begun);
    if (!wrong) wrong = check_accesses(&check, launch);
    if (wrong) return wrong;
  }
  return NULL;
}

/* ---- steps, the whole ---------------------------------------------------------------------- */

const char *verify_steps(Arena *arena, const Lowering *lowering) {
  return steps_verify(arena, lowering->program, lowering->entry, false);
}

const char *verify_entry(Arena *arena, const Lowering *lowering) {
  return steps_verify(arena, lowering->program, lowering->entry, true);
}

const char *verify_program(Arena *arena, const Lowering *lowering) {
  return program_verify(arena, lowering->program);
}
