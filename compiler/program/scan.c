/* Scans that the pass `unroll` has left: loops of the program.
 *
 * A scan is a group like a kernel's. Its members are the scan node and those of its results that
 * something reads; it has a launch's place in the order. When that is reached (scan_loop.c), its
 * body is lowered as a graph of its own, by all stages, and the steps become the loop:
 *
 *   - what is carried has two rows: round r reads row r % 2 and writes the other one. Row 0 is
 *     filled before the loop; the final value lies in row `length` % 2
 *   - the element of a sequence is a row of the operand's memory, what a step yields a row of the
 *     result's; in reverse from the last row on
 *   - invariants are read where they are; constants and host scalars are written into the body. */
#include "program/scan.h"

#include "ops/op.h"
#include "ops/scan.h"
#include "program/buffers.h"
#include "support/integers.h"

const Node *memory_node(const Node *node) {
  while (op_info(node->op)->class->keeps_order) node = node->operands[0];
  return node;
}

bool scan_writes_in(const Node *scan, int operand) {
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
    needed[i] = i < carries || (arguments[i] && live[arguments[i]->id] && !scan_writes_in(scan, i));
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

int64_t carry_elements(const Node *scan, int carry) {
  return shape_elements(scan->operands[carry]->type.shape);
}

int64_t carry_stride(const Target *target, const Node *scan, int carry) {
  return align_up(carry_elements(scan, carry),
                  target->alignment / dtype_size(scan->operands[carry]->type.dtype));
}

static void bind_scan(Lowering *lowering, Group *group) {
  const Node *scan = group->scan;
  ScanShape shape = scan_shape(scan);
  Program *program = lowering->program;
  group->carries = ARENA_ARRAY(lowering->arena, int, shape.carries);
  for (int i = 0; i < shape.carries; i++) {
    int64_t elements = CARRY_ROWS * carry_stride(program->target, scan, i);
    Type type = type_make(scan->operands[i]->type.dtype, shape_make(1, &elements));
    group->carries[i] =
        buffer_add(program, BUFFER_ACTIVATION, type, scan->operands[i]->path, lowering->entry);
    program->buffers.items[group->carries[i]].owner = lowering->scan;
  }
  for (int i = 1; i < group->members.count; i++) {
    const Node *result = group->members.items[i];
    int64_t index = node_int(result, ATTR_INDEX);
    if (index >= shape.carries) continue;
    int64_t row =
        shape.length % CARRY_ROWS * carry_stride(lowering->program->target, scan, (int)index);
    lowering->places[result->id].buffer =
        buffer_view(program, group->carries[index], row, carry_elements(scan, (int)index));
  }
}

void scans_bind(Lowering *lowering) {
  for (int i = 0; i < lowering->groups.count; i++)
    if (lowering->groups.items[i]->scan) bind_scan(lowering, lowering->groups.items[i]);
}
