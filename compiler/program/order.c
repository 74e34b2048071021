/* Launches and copies of an entry, and what must come before what.
 *
 * A store into a variable writes the variable's memory directly when that can be arranged: the
 * launch itself reads the old value at most at the place it writes (kernel_can_unify), and all
 * other readers of the old value can come earlier; edges from them to the launch make it so. Where
 * an edge would close a cycle the value goes to memory of its own and a copy at the end brings it
 * over. */
#include "program/buffers.h"
#include "program/scan.h"
#include "program/schedule.h"
#include "program/stages.h"

#include "ops/op.h"
#include "support/panic.h"

static int input_buffer(Lowering *lowering, const Node *node) {
  Program *program = lowering->program;
  ProgramEntry *entry = &program->entries[lowering->entry];
  const char *name = node_string(node, ATTR_NAME);
  for (int i = 0; i < entry->inputs.count; i++)
    if (program->buffers.items[entry->inputs.items[i]].name == name) return entry->inputs.items[i];
  int buffer = buffer_add(program, BUFFER_INPUT, node->type, name, lowering->entry);
  vec_push(program->arena, &entry->inputs, buffer);
  return buffer;
}

static void bind_leaves(Lowering *lowering) {
  for (int i = 0; i < lowering->graph->nodes.count; i++) {
    const Node *node = lowering->graph->nodes.items[i];
    Place *place = &lowering->places[node->id];
    if (place->kind != PLACE_LOAD) continue;
    LeafKind leaf = op_info(node->op)->class->leaf;
    if (leaf == LEAF_INPUT) place->buffer = input_buffer(lowering, node);
    else if (leaf == LEAF_ARGUMENT) place->buffer = lowering->arguments[node_int(node, ATTR_INDEX)];
    else place->buffer = variable_buffer(lowering->program, node_string(node, ATTR_NAME));
  }
}

/* ---- launches --------------------------------------------------------------------------------- */

static int launch_of_group(const Lowering *lowering, int group) {
  for (int i = 0; i < lowering->launches.count; i++)
    if (lowering->launches.items[i].group == group) return i;
  panic("group %d has no launch", group);
}

static void launch_add_before(Lowering *lowering, int launch, int before) {
  Launch *own = &lowering->launches.items[launch];
  for (int i = 0; i < own->before.count; i++)
    if (own->before.items[i] == before) return;
  vec_push(lowering->arena, &own->before, before);
}

static void add_launches(Lowering *lowering) {
  int *launch_of = ARENA_ARRAY(lowering->arena, int, lowering->groups.count + 1);
  for (int i = 0; i < lowering->groups.count; i++) {
    const Group *group = lowering->groups.items[i];
    if (group->is_merged_away) continue;
    const Node *last = group->members.items[group->members.count - 1];
    launch_of[i] = lowering->launches.count;
    vec_push(lowering->arena, &lowering->launches,
             ((Launch){.group = i,
                       .from = -1,
                       .to = -1,
                       .phase = group->phase,
                       .loop = -1,
                       .key = last->id,
                       .node = last}));
  }
  for (int u = 0; u < lowering->launches.count; u++) {
    const Group *group = lowering->groups.items[lowering->launches.items[u].group];
    for (int i = 0; i < group->built.kernel->operand_count; i++) {
      const Place *place = &lowering->places[group->built.nodes[i]->id];
      if (place->kind == PLACE_GROUP && place->group != group->id)
        launch_add_before(lowering, u, launch_of[place->group]);
    }
  }
}

static int add_copy(Lowering *lowering, const Node *node, int from, int to) {
  Launch copy = {.group = -1,
                 .from = from,
                 .to = to,
                 .phase = lowering->phases[node->id],
                 .loop = -1,
                 .key = lowering->graph->next_id,
                 .node = node};
  vec_push(lowering->arena, &lowering->launches, copy);
  int launch = lowering->launches.count - 1;
  const Place *place = &lowering->places[node->id];
  if (place->kind == PLACE_GROUP)
    launch_add_before(lowering, launch, launch_of_group(lowering, place->group));
  return launch;
}

static bool launch_depends_on(const Lowering *lowering, int launch, int on, bool *seen) {
  if (launch == on) return true;
  if (seen[launch]) return false;
  seen[launch] = true;
  const Launch *own = &lowering->launches.items[launch];
  for (int i = 0; i < own->before.count; i++)
    if (launch_depends_on(lowering, own->before.items[i], on, seen)) return true;
  return false;
}

/* Operands of the launch that load the old value of variable buffer `buffer`. */
static int old_value_operands(const Lowering *lowering, const Launch *launch, int buffer,
                              int *operand) {
  if (launch->group < 0) return launch->from == buffer;
  const BuiltKernel *built = &lowering->groups.items[launch->group]->built;
  int count = 0;
  for (int i = 0; i < built->kernel->operand_count; i++) {
    const Place *place = &lowering->places[built->nodes[i]->id];
    if (place->kind != PLACE_LOAD || place->buffer != buffer) continue;
    *operand = i;
    count++;
  }
  return count;
}

/* Edges from all readers of the old value to `writer`; false, and none, when one is impossible. */
static bool order_after_readers(Lowering *lowering, int writer, int buffer) {
  VEC(int) readers = {0};
  int operand;
  for (int u = 0; u < lowering->launches.count; u++) {
    if (u == writer ||
        old_value_operands(lowering, &lowering->launches.items[u], buffer, &operand) == 0)
      continue;
    bool *seen = ARENA_ARRAY(lowering->arena, bool, lowering->launches.count);
    if (launch_depends_on(lowering, u, writer, seen)) return false;
    vec_push(lowering->arena, &readers, u);
  }
  for (int i = 0; i < readers.count; i++) launch_add_before(lowering, writer, readers.items[i]);
  return true;
}

/* ---- outputs ------------------------------------------------------------------------------- */

static int output_operand(const BuiltKernel *built, const Node *node) {
  for (int i = 0; i < built->kernel->operand_count; i++)
    if (built->nodes[i] == node && built->kernel->operands[i].is_output) return i;
  panic("%s is not stored by its kernel", node->path);
}

/* Writes the variable directly if it can be arranged. */
static bool store_directly(Lowering *lowering, const Node *node, int variable) {
  Place *place = &lowering->places[node->id];
  if (place->kind != PLACE_GROUP || place->buffer >= 0) return false;
  int launch = launch_of_group(lowering, place->group), operand = -1;
  const BuiltKernel *built = &lowering->groups.items[place->group]->built;
  int count = old_value_operands(lowering, &lowering->launches.items[launch], variable, &operand);
  if (count > 1 || (count == 1 && lowering->groups.items[place->group]->scan)) return false;
  if (count == 1 && !kernel_can_unify(built->kernel, operand, output_operand(built, node)))
    return false;
  if (!order_after_readers(lowering, launch, variable)) return false;
  place->buffer = variable;
  return true;
}

/* The buffer of a value that no variable took. */
static int value_buffer(Lowering *lowering, const Node *node, BufferKind kind, const char *name) {
  Place *place = &lowering->places[node->id];
  if (place->buffer < 0) {
    place->buffer = buffer_add(lowering->program, kind, node->type, name, lowering->entry);
    lowering->program->buffers.items[place->buffer].owner = lowering->scan;
  }
  return place->buffer;
}

/* A leaf's value is saved early, before its variable changes. */
static void store_leaf(Lowering *lowering, const Node *node, int variable) {
  int from = lowering->places[node->id].buffer;
  if (from == variable) return; /* it keeps its value */
  int saved =
      buffer_add(lowering->program, BUFFER_ACTIVATION, node->type, node->path, lowering->entry);
  int early = add_copy(lowering, node, from, saved);
  int late = add_copy(lowering, node, saved, variable);
  launch_add_before(lowering, late, early);
}

static void store_by_copy(Lowering *lowering, const Node *node, int variable) {
  int from = value_buffer(lowering, node, BUFFER_ACTIVATION, node->path);
  int copy = add_copy(lowering, node, from, variable);
  CHECK(order_after_readers(lowering, copy, variable));
}

static void add_stores(Lowering *lowering) {
  const Graph *graph = lowering->graph;
  for (int pass = 0; pass < 2; pass++) { /* copies of leaves are readers: first */
    for (int i = 0; i < graph->outputs.count; i++) {
      const Output *output = &graph->outputs.items[i];
      bool is_leaf = lowering->places[output->node->id].kind == PLACE_LOAD;
      if (output->kind != OUTPUT_STORE || is_leaf != (pass == 0)) continue;
      int variable = variable_buffer(lowering->program, output->name);
      if (is_leaf) store_leaf(lowering, output->node, variable);
      else if (!store_directly(lowering, output->node, variable))
        store_by_copy(lowering, output->node, variable);
    }
  }
  /* The copies into variables that leaves are stored to come after their readers, too. */
  for (int u = 0; u < lowering->launches.count; u++) {
    const Launch *launch = &lowering->launches.items[u];
    if (launch->group >= 0 || lowering->places[launch->node->id].kind != PLACE_LOAD) continue;
    if (lowering->program->buffers.items[launch->to].kind == BUFFER_VARIABLE)
      CHECK(order_after_readers(lowering, u, launch->to));
  }
}

static void add_results(Lowering *lowering) {
  ProgramEntry *entry = &lowering->program->entries[lowering->entry];
  Program *program = lowering->program;
  for (int i = 0; i < lowering->graph->outputs.count; i++) {
    const Output *output = &lowering->graph->outputs.items[i];
    if (output->kind != OUTPUT_ACCUMULATOR && output->kind != OUTPUT_RESULT) continue;
    const Node *node = output->node;
    int buffer = lowering->places[node->id].buffer;
    if (buffer < 0) {
      buffer = value_buffer(lowering, node, BUFFER_RESULT, output->name);
    } else {
      int result = buffer_add(program, BUFFER_RESULT, node->type, output->name, lowering->entry);
      add_copy(lowering, node, buffer, result);
      buffer = result;
    }
    vec_push(program->arena, &entry->results, buffer);
  }
}

/* A result copied from an old value is one of its readers: the copy comes before its writer. */
static void order_copied_leaves(Lowering *lowering) {
  for (int u = 0; u < lowering->launches.count; u++) {
    const Launch *copy = &lowering->launches.items[u];
    if (copy->group >= 0 || lowering->places[copy->node->id].kind != PLACE_LOAD) continue;
    if (copy->from != lowering->places[copy->node->id].buffer) continue;
    for (int w = 0; w < lowering->launches.count; w++) {
      const Launch *writer = &lowering->launches.items[w];
      bool writes = writer->group < 0 && writer->to == copy->from;
      if (writer->group >= 0) {
        const Group *group = lowering->groups.items[writer->group];
        for (int i = 0; i < group->members.count; i++)
          if (lowering->places[group->members.items[i]->id].buffer == copy->from) writes = true;
      }
      if (writes) launch_add_before(lowering, w, u);
    }
  }
}

/* A body's outputs go where its scan wants them. */
static void bind_targets(Lowering *lowering) {
  for (int i = 0; i < lowering->graph->outputs.count; i++) {
    Place *place = &lowering->places[lowering->graph->outputs.items[i].node->id];
    CHECK(place->kind == PLACE_GROUP && place->buffer < 0);
    place->buffer = lowering->targets[i];
  }
}

static void create_launches(Lowering *lowering) {
  bind_leaves(lowering);
  if (lowering->targets) bind_targets(lowering);
  scans_bind(lowering);
  add_launches(lowering);
  if (!lowering->targets) {
    add_stores(lowering);
    add_results(lowering);
    order_copied_leaves(lowering);
  }
  for (int i = 0; i < lowering->groups.count; i++) {
    const Group *group = lowering->groups.items[i];
    if (group->is_merged_away) continue;
    for (int k = 0; k < group->members.count; k++) {
      const Node *node = group->members.items[k];
      if (lowering->places[node->id].is_stored)
        value_buffer(lowering, node, BUFFER_ACTIVATION, node->path);
    }
  }
}

void stage_order(Lowering *lowering) {
  create_launches(lowering);
  launches_schedule(lowering);
}
