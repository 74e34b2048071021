/* From ordered launches to the steps of a graph. The step of a scan is a loop: its body is lowered
 * here, as a graph of its own, by the runner of the stages; what its rounds carry, read and yield are
 * views of the outer graph's buffers that move on from round to round (buffers.c). */
#include "program/buffers.h"
#include "program/loops.h"
#include "program/prepare.h"
#include "program/scan.h"
#include "program/stages.h"
#include "program/steps.h"

#include "ops/scan.h"
#include "support/panic.h"

/* The first member that is result `index`, or NULL. */
static const Node *find_result(const Group *group, int index) {
  for (int i = 1; i < group->members.count; i++)
    if (node_int(group->members.items[i], ATTR_INDEX) == index) return group->members.items[i];
  return NULL;
}

/* The body with its invariants written in and without what nobody reads. */
static const Graph *body_graph(const Lowering *lowering, const Group *group, bool *left_out) {
  const Node *scan = group->scan;
  Arena *arena = lowering->arena;
  Graph *graph = graph_create(arena, scan->body->name);
  NodeMap map = node_map_create(arena, scan->body);
  NodeMap outer = node_map_create(arena, lowering->graph);
  Node **arguments = scan_arguments(arena, scan->body, scan->operand_count);
  for (int i = 0; i < scan->operand_count; i++)
    if (arguments[i] && scan_writes_in(scan, i))
      node_map_set(&map, arguments[i], graph_copy_tree(graph, scan->operands[i], &outer));
  for (int i = 0; i < scan->body->nodes.count; i++) {
    const Node *node = scan->body->nodes.items[i];
    if (!node_map_get(&map, node)) node_map_set(&map, node, graph_copy_node(graph, node, &map));
  }
  for (int i = scan_shape(scan).carries; i < scan_result_count(scan); i++)
    left_out[i] = !find_result(group, i);
  graph_copy_outputs(graph, scan->body, &map, left_out);
  return graph;
}

static int64_t row_elements(const Node *sequence) {
  int64_t rows = sequence->type.shape.dim[0];
  return rows > 0 ? shape_elements(sequence->type.shape) / rows : 0;
}

/* The buffer of each argument of the body. */
static int *bind_arguments(Lowering *lowering, const Group *group, int number) {
  const Node *scan = group->scan;
  ScanShape shape = scan_shape(scan);
  int *buffers = ARENA_ARRAY(lowering->arena, int, scan->operand_count);
  for (int i = 0; i < scan->operand_count; i++) {
    buffers[i] = lowering->places[memory_node(scan->operands[i])->id].buffer;
    if (i < shape.carries)
      buffers[i] = buffer_turn(lowering->program, group->carries[i], carry_elements(scan, i),
                               carry_stride(lowering->program->target, scan, i), number, 0);
    else if (i < shape.carries + shape.sequences && buffers[i] >= 0)
      buffers[i] = buffer_row(lowering->program, buffers[i], row_elements(scan->operands[i]),
                              number, shape.reverse, shape.length);
  }
  return buffers;
}

/* The buffer of each output of the body that is left in it. */
static int *bind_targets(Lowering *lowering, const Group *group, int number, const bool *left_out) {
  const Node *scan = group->scan;
  ScanShape shape = scan_shape(scan);
  int *buffers = ARENA_ARRAY(lowering->arena, int, scan_result_count(scan)), count = 0;
  for (int i = 0; i < scan_result_count(scan); i++) {
    if (left_out[i]) continue;
    if (i < shape.carries) {
      buffers[count++] = buffer_turn(lowering->program, group->carries[i], carry_elements(scan, i),
                                     carry_stride(lowering->program->target, scan, i), number, 1);
      continue;
    }
    const Node *result = find_result(group, i);
    buffers[count++] = buffer_row(lowering->program, lowering->places[result->id].buffer,
                                  row_elements(result), number, shape.reverse, shape.length);
  }
  return buffers;
}

static void fill_carries(Lowering *lowering, const Group *group) {
  const Node *scan = group->scan;
  for (int i = 0; i < scan_shape(scan).carries; i++) {
    int first = buffer_view(lowering->program, group->carries[i], 0, carry_elements(scan, i));
    int from = lowering->places[memory_node(scan->operands[i])->id].buffer;
    copy_step_add(lowering, scan->operands[i], from, first);
  }
}

/* A result of which there are several nodes has a buffer each. */
static void copy_repeated_results(Lowering *lowering, const Group *group) {
  for (int i = 1; i < group->members.count; i++) {
    const Node *result = group->members.items[i];
    int from = lowering->places[find_result(group, (int)node_int(result, ATTR_INDEX))->id].buffer;
    int to = lowering->places[result->id].buffer;
    if (to >= 0 && to != from) copy_step_add(lowering, result, from, to);
  }
}

static void add_scan(Lowering *lowering, const Group *group) {
  const Node *scan = group->scan;
  ProgramEntry *entry = &lowering->program->entries[lowering->entry];
  bool *left_out = ARENA_ARRAY(lowering->arena, bool, scan_result_count(scan));
  int64_t rounds = scan_shape(scan).length;
  CHECK(rounds > 0);
  fill_carries(lowering, group);
  ScanLoop loop = {.first_step = entry->steps.count,
                   .rounds = rounds,
                   .outer = lowering->scan,
                   .path = scan->path};
  int number = entry->scans.count;
  int64_t blocks = lowering->blocks; /* of an eager one, or none */
  if (blocks > 0 && !lowering->is_eager)
    blocks = scan_blocks(&lowering->program->target->loops, entry->batch, lowering->threads);
  vec_push(lowering->program->arena, &entry->scans, loop);
  Lowering body = {.arena = lowering->arena,
                   .program = lowering->program,
                   .module = lowering->module,
                   .entry = lowering->entry,
                   .level = lowering->level,
                   .blocks = blocks,
                   .is_eager = lowering->is_eager,
                   .widens_bf16 = lowering->widens_bf16,
                   .widens_f16 = lowering->widens_f16,
                   .variants = lowering->variants,
                   .threads = lowering->threads,
                   .scan = number,
                   .rounds = lowering->rounds * (double)rounds,
                   .stages = lowering->stages,
                   .lower = lowering->lower};
  body.graph = body_graph(lowering, group, left_out);
  body.arguments = bind_arguments(lowering, group, number);
  body.argument_count = scan->operand_count;
  body.dies = group->dies;
  body.targets = bind_targets(lowering, group, number, left_out);
  lowering->lower(&body);
  entry->scans.items[number].last_step = entry->steps.count - 1;
  CHECK(entry->steps.count > loop.first_step);
  copy_repeated_results(lowering, group);
}

void stage_steps(Lowering *lowering) {
  for (int i = 0; i < lowering->order.count; i++) {
    const Launch *launch = &lowering->launches.items[lowering->order.items[i]];
    const Group *group = launch->group >= 0 ? lowering->groups.items[launch->group] : NULL;
    if (group == NULL) copy_step_add(lowering, launch->node, launch->from, launch->to);
    else if (group->scan) add_scan(lowering, group);
    else launch_step_add(lowering, launch);
  }
}
