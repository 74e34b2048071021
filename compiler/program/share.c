/* Activations over dead operands: a result takes the memory of an operand of equal size that
 * nobody reads afterwards, when the kernel reads each of its elements only where it writes. In a
 * task loop only memory that the loop itself wrote is taken: there each worker keeps to its block. */
#include "program/buffers.h"
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

void stage_share(Lowering *lowering) {
  int *last = last_uses(lowering), *loops = writer_loops(lowering);
  for (int i = 0; i < lowering->order.count; i++) {
    const Launch *launch = &lowering->launches.items[lowering->order.items[i]];
    if (launch->group >= 0 && !lowering->groups.items[launch->group]->scan)
      share_outputs(lowering, launch, loops, i, last);
  }
}
