/* Scans that the pass `unroll` has left: loops of the program.
 *
 * A scan is a group like a kernel's. Its members are the scan node and those of its results that
 * something reads; it has a launch's place in the order. When that is reached, its body is lowered
 * as a graph of its own, by all stages, and the steps become the loop:
 *
 *   - what is carried has two rows: round r reads row r % 2 and writes the other one. Row 0 is
 *     filled before the loop; the final value lies in row `length` % 2
 *   - the element of a sequence is a row of the operand's memory, what a step yields a row of the
 *     result's; in reverse from the last row on
 *   - invariants are read where they are; constants and host scalars are written into the body. */
#include "program/lowering.h"

#include "ops/op.h"
#include "ops/scan.h"
#include "support/panic.h"

enum { TURNS = 2, ROW_ALIGNMENT = 64 };

/* The node whose memory holds the operand's elements. */
static const Node *memory_node(const Node *node) {
  while (op_info(node->op)->class->keeps_order) node = node->operands[0];
  return node;
}

/* An invariant that the body computes itself. */
static bool is_written_in(const Node *scan, int operand) {
  ScanShape shape = scan_shape(scan);
  LeafKind leaf = op_info(memory_node(scan->operands[operand])->op)->class->leaf;
  return operand >= shape.carries + shape.sequences &&
         (leaf == LEAF_SCALAR || leaf == LEAF_CONSTANT);
}

/* By operand: must it be in memory? */
static bool *find_needed(Arena *arena, const Node *scan) {
  bool *needed = ARENA_ARRAY(arena, bool, scan->operand_count);
  Node **arguments = scan_arguments(arena, scan->body, scan->operand_count);
  bool *live = graph_live_nodes(arena, scan->body);
  int carries = scan_shape(scan).carries;
  for (int i = 0; i < scan->operand_count; i++)
    needed[i] = i < carries || (arguments[i] && live[arguments[i]->id] && !is_written_in(scan, i));
  return needed;
}

void scans_keep_operands(Lowering *lowering) {
  for (int i = 0; i < lowering->graph->nodes.count; i++) {
    const Node *scan = lowering->graph->nodes.items[i];
    if (!scan->body || !lowering->live[scan->id]) continue;
    const bool *needed = find_needed(lowering->arena, scan);
    for (int k = 0; k < scan->operand_count; k++) {
      if (!needed[k]) continue;
      Place *place = &lowering->places[memory_node(scan->operands[k])->id];
      place->is_kept = place->is_looped = true;
    }
  }
}

/* ---- the group ----------------------------------------------------------------------------- */

static bool has_node(const BuiltKernel *built, int count, const Node *node) {
  for (int i = 0; i < count; i++)
    if (built->nodes[i] == node) return true;
  return false;
}

static void add_operand(BuiltKernel *built, const Node *node, bool is_output) {
  Kernel *kernel = built->kernel;
  if (has_node(built, kernel->operand_count, node)) return;
  built->nodes[kernel->operand_count] = node;
  kernel->operands[kernel->operand_count++] =
      (KernelOperand){.dtype = node->type.dtype,
                      .elements = shape_elements(node->type.shape),
                      .is_output = is_output,
                      .name = node->path};
}

void scan_build(Lowering *lowering, Group *group) {
  Arena *arena = lowering->arena;
  const Node *scan = group->scan;
  const bool *needed = find_needed(arena, scan);
  int most = scan->operand_count + group->members.count;
  BuiltKernel built = {.kernel = ARENA_NEW(arena, Kernel),
                       .nodes = ARENA_ARRAY(arena, const Node *, most),
                       .starts = ARENA_ARRAY(arena, int64_t, most)};
  built.kernel->operands = ARENA_ARRAY(arena, KernelOperand, most);
  for (int i = 0; i < scan->operand_count; i++)
    if (needed[i]) add_operand(&built, memory_node(scan->operands[i]), false);
  for (int i = 1; i < group->members.count; i++)
    if (lowering->places[group->members.items[i]->id].is_stored)
      add_operand(&built, group->members.items[i], true);
  group->built = built;
}

/* ---- what is carried ----------------------------------------------------------------------- */

static int64_t carry_elements(const Node *scan, int carry) {
  return shape_elements(scan->operands[carry]->type.shape);
}

/* From one row to the next. */
static int64_t carry_stride(const Node *scan, int carry) {
  int64_t unit = ROW_ALIGNMENT / dtype_size(scan->operands[carry]->type.dtype);
  return (carry_elements(scan, carry) + unit - 1) / unit * unit;
}

static void bind_scan(Lowering *lowering, Group *group) {
  const Node *scan = group->scan;
  ScanShape shape = scan_shape(scan);
  Program *program = lowering->program;
  group->carries = ARENA_ARRAY(lowering->arena, int, shape.carries);
  for (int i = 0; i < shape.carries; i++) {
    int64_t elements = TURNS * carry_stride(scan, i);
    Type type = type_make(scan->operands[i]->type.dtype, shape_make(1, &elements));
    group->carries[i] =
        buffer_add(program, BUFFER_ACTIVATION, type, scan->operands[i]->path, lowering->entry);
    program->buffers.items[group->carries[i]].owner = lowering->scan;
  }
  for (int i = 1; i < group->members.count; i++) {
    const Node *result = group->members.items[i];
    int64_t index = node_int(result, ATTR_INDEX);
    if (index >= shape.carries) continue;
    int64_t row = shape.length % TURNS * carry_stride(scan, (int)index);
    lowering->places[result->id].buffer =
        buffer_view(program, group->carries[index], row, carry_elements(scan, (int)index));
  }
}

void scans_bind(Lowering *lowering) {
  for (int i = 0; i < lowering->groups.count; i++)
    if (lowering->groups.items[i]->scan) bind_scan(lowering, lowering->groups.items[i]);
}

/* ---- the loop ------------------------------------------------------------------------------ */

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
    if (arguments[i] && is_written_in(scan, i))
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
                               carry_stride(scan, i), number, TURNS, 0);
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
                                     carry_stride(scan, i), number, TURNS, 1);
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

void scan_add_steps(Lowering *lowering, const Group *group) {
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
  vec_push(lowering->program->arena, &entry->scans, loop);
  Lowering body = {.arena = lowering->arena,
                   .program = lowering->program,
                   .module = lowering->module,
                   .entry = lowering->entry,
                   .level = lowering->level,
                   .scan = number,
                   .rounds = lowering->rounds * (double)rounds};
  body.graph = body_graph(lowering, group, left_out);
  body.arguments = bind_arguments(lowering, group, number);
  body.targets = bind_targets(lowering, group, number, left_out);
  graph_lower(&body);
  entry->scans.items[number].last_step = entry->steps.count - 1;
  CHECK(entry->steps.count > loop.first_step);
  copy_repeated_results(lowering, group);
}
