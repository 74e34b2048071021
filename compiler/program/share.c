/* Activations over dead operands: a result takes the memory of an operand of equal size that
 * nobody reads afterwards, when the kernel reads each of its elements only where it writes. In a
 * task loop only memory that the loop itself wrote is taken: there each worker keeps to its block.
 *
 * The same for tables of scans: what the rounds yield goes over a sequence that they read. */
#include "kernel/block.h"
#include "ops/scan.h"
#include "program/buffers.h"
#include "program/scan.h"
#include "program/schedule.h"
#include "program/stages.h"

/* By root: the last launch, in the schedule, that uses its memory. */
static int *last_uses(const Lowering *lowering) {
  int *last = ARENA_ARRAY(lowering->arena, int, lowering->program->buffers.count);
  for (int i = 0; i < lowering->order.count; i++) {
    const Launch *launch = &lowering->launches.items[lowering->order.items[i]];
    LaunchUses uses = launch_uses(lowering->arena, lowering, launch);
    for (int k = 0; k < uses.count; k++)
      last[buffer_root(lowering->program, uses.items[k].buffer)] = i;
  }
  return last;
}

/* The loop of the launch that writes each buffer; -1: none, or it comes from outside. */
static int *writer_loops(const Lowering *lowering) {
  int count = lowering->program->buffers.count;
  int *loops = ARENA_ARRAY(lowering->arena, int, count);
  for (int i = 0; i < count; i++) loops[i] = -1;
  for (int u = 0; u < lowering->launches.count; u++) {
    const Launch *launch = &lowering->launches.items[u];
    LaunchUses uses = launch_uses(lowering->arena, lowering, launch);
    for (int k = 0; k < uses.count; k++)
      if (uses.items[k].writes) loops[uses.items[k].buffer] = launch->loop;
  }
  return loops;
}

static void share_outputs(Lowering *lowering, const Launch *launch, const int *loops, int at,
                          int *last) {
  const BuiltKernel *built = &lowering->groups.items[launch->group]->built;
  const Kernel *kernel = built->kernel;
  Program *program = lowering->program;
  for (int out = 0; out < kernel->operand_count; out++) {
    Buffer *result = &program->buffers.items[lowering->places[built->nodes[out]->id].buffer];
    if (!kernel->operands[out].is_output || result->kind != BUFFER_ACTIVATION ||
        result->view_of >= 0)
      continue;
    for (int in = 0; in < kernel->operand_count; in++) {
      int from = lowering->places[built->nodes[in]->id].buffer, root = buffer_root(program, from);
      if (kernel->operands[in].is_output || last[root] != at ||
          program->buffers.items[root].kind != BUFFER_ACTIVATION ||
          program->buffers.items[root].owner != lowering->scan ||
          program->buffers.items[from].view_of >= 0 ||
          (launch->loop >= 0 && loops[from] != launch->loop) || !kernel_can_unify(kernel, in, out))
        continue;
      result->alias_of = root;
      int own_last = last[result->id];
      last[root] = own_last > at ? own_last : at + 1; /* taken: no second result may have it */
      break;
    }
  }
}

/* ---- rows of scans ------------------------------------------------------------------------- */

/* How a round touches the row of a table. It is known where only launches of the round itself touch the table, its row
 * alone, and blocks their part of that. */
typedef struct RowUse {
  int first, last; /* places in the order of the round; -1: not at all */
  bool is_known;
} RowUse;

/* Does the launch, which is in a task loop, touch this operand by its own block alone? */
static bool touches_by_block(const Lowering *lowering, const Launch *launch, int operand) {
  const Kernel *kernel = lowering->groups.items[launch->group]->built.kernel;
  BlockCut cut = {lowering->blocks, lowering->program->entries[lowering->entry].batch};
  bool *parts = ARENA_ARRAY(lowering->arena, bool, kernel->operand_count);
  return kernel_can_block(kernel, cut, parts) && parts[operand];
}

static RowUse find_row_use(const Lowering *lowering, int row) {
  RowUse use = {.first = -1, .last = -1, .is_known = true};
  int root = buffer_root(lowering->program, row);
  for (int i = 0; i < lowering->order.count; i++) {
    const Launch *launch = &lowering->launches.items[lowering->order.items[i]];
    LaunchUses uses = launch_uses(lowering->arena, lowering, launch);
    for (int k = 0; k < uses.count; k++) {
      if (buffer_root(lowering->program, uses.items[k].buffer) != root) continue;
      bool is_inner = launch->group >= 0 && lowering->groups.items[launch->group]->scan;
      if (use.first < 0) use.first = i;
      use.last = i;
      use.is_known = use.is_known && uses.items[k].buffer == row && !is_inner &&
                     (launch->loop < 0 || touches_by_block(lowering, launch, k));
    }
  }
  return use;
}

/* Does the launch write row `to` only where it has read row `from`? */
static bool can_write_over(const Lowering *lowering, const Launch *launch, int to, int from) {
  if (launch->group < 0) return false;
  const BuiltKernel *built = &lowering->groups.items[launch->group]->built;
  int in = -1, out = -1;
  for (int i = 0; i < built->kernel->operand_count; i++) {
    int buffer = lowering->places[built->nodes[i]->id].buffer;
    if (buffer == to) out = i;
    if (buffer == from) in = i;
  }
  return in >= 0 && out >= 0 && kernel_can_unify(built->kernel, in, out);
}

/* The table whose row this is, in each round the next one; NULL: it is none. */
static Buffer *table_of(const Lowering *lowering, int row) {
  const Buffer *view = row >= 0 ? &lowering->program->buffers.items[row] : NULL;
  if (!view || view->scan != lowering->scan || view->turns > 0) return NULL;
  return &lowering->program->buffers.items[view->view_of];
}

/* Of a scan's body: what the rounds yield goes over a sequence that nobody reads after the loop, row over
 * row, where a round has read its row of the sequence before it writes the one that it yields. */
static void share_rows(Lowering *lowering, int target) {
  Program *program = lowering->program;
  Buffer *table = table_of(lowering, target);
  int owner = program->entries[lowering->entry].scans.items[lowering->scan].outer;
  if (!table || table->kind != BUFFER_ACTIVATION || table->view_of >= 0 || table->alias_of >= 0 ||
      table->owner != owner)
    return;
  RowUse written = find_row_use(lowering, target);
  if (!written.is_known || written.first < 0) return;
  const Launch *writer = &lowering->launches.items[lowering->order.items[written.first]];
  for (int i = 0; i < lowering->argument_count; i++) {
    int from = lowering->arguments[i];
    const Buffer *sequence = lowering->dies[i] ? table_of(lowering, from) : NULL;
    if (!sequence || sequence->type.dtype != table->type.dtype ||
        program->buffers.items[target].bytes != program->buffers.items[from].bytes)
      continue;
    RowUse read = find_row_use(lowering, from);
    if (!read.is_known || read.last > written.first ||
        (read.last == written.first && !can_write_over(lowering, writer, target, from)))
      continue;
    table->alias_of = buffer_root(program, sequence->id);
    lowering->dies[i] = false;
    return;
  }
}

/* By operand of the scan, the launch at this place of the order: a sequence whose memory nobody needs after
 * the loop. */
static bool *find_dying(const Lowering *lowering, const Node *scan, int at, const int *last) {
  const Program *program = lowering->program;
  ScanShape shape = scan_shape(scan);
  bool *dies = ARENA_ARRAY(lowering->arena, bool, scan->operand_count);
  for (int i = shape.carries; i < shape.carries + shape.sequences; i++) {
    int buffer = lowering->places[memory_node(scan->operands[i])->id].buffer;
    if (buffer < 0) continue;
    const Buffer *root = &program->buffers.items[buffer_root(program, buffer)];
    dies[i] = last[root->id] == at && root->kind == BUFFER_ACTIVATION &&
              root->owner == lowering->scan && program->buffers.items[buffer].view_of < 0;
  }
  return dies;
}

void stage_share(Lowering *lowering) {
  int *last = last_uses(lowering), *loops = writer_loops(lowering);
  for (int i = 0; i < lowering->order.count; i++) {
    const Launch *launch = &lowering->launches.items[lowering->order.items[i]];
    Group *group = launch->group >= 0 ? lowering->groups.items[launch->group] : NULL;
    if (group && group->scan) group->dies = find_dying(lowering, group->scan, i, last);
    else if (group) share_outputs(lowering, launch, loops, i, last);
  }
  for (int i = 0; lowering->dies && i < lowering->graph->outputs.count; i++)
    share_rows(lowering, lowering->targets[i]);
}
