/* Activations over dead operands: a result takes the memory of an operand of equal size that
 * nobody reads afterwards, when the kernel reads each of its elements only where it writes. */
#include "program/lowering.h"

/* The last unit, in the schedule, that touches the memory of each buffer. */
static void note_use(int *last, const Program *program, int buffer, int at) {
  last[buffer_root(program, buffer)] = at;
}

static int *last_uses(const Lowering *lowering) {
  int *last = ARENA_ARRAY(lowering->arena, int, lowering->program->buffers.count);
  for (int i = 0; i < lowering->order.count; i++) {
    const Unit *unit = &lowering->units.items[lowering->order.items[i]];
    if (unit->group < 0) {
      note_use(last, lowering->program, unit->from, i);
      note_use(last, lowering->program, unit->to, i);
      continue;
    }
    const BuiltKernel *built = &lowering->groups.items[unit->group]->built;
    for (int k = 0; k < built->kernel->operand_count; k++)
      note_use(last, lowering->program, lowering->places[built->nodes[k]->id].buffer, i);
  }
  return last;
}

static void share_outputs(Lowering *lowering, const BuiltKernel *built, int at, int *last) {
  const Kernel *kernel = built->kernel;
  Program *program = lowering->program;
  for (int out = 0; out < kernel->operand_count; out++) {
    Buffer *result = &program->buffers.items[lowering->places[built->nodes[out]->id].buffer];
    if (!kernel->operands[out].is_output || result->kind != BUFFER_ACTIVATION) continue;
    for (int in = 0; in < kernel->operand_count; in++) {
      int from = lowering->places[built->nodes[in]->id].buffer, root = buffer_root(program, from);
      if (kernel->operands[in].is_output || last[root] != at ||
          program->buffers.items[root].kind != BUFFER_ACTIVATION ||
          !kernel_can_unify(kernel, in, out))
        continue;
      result->alias_of = root;
      int own_last = last[result->id];
      last[root] = own_last > at ? own_last : at + 1; /* taken: no second result may have it */
      break;
    }
  }
}

void buffers_share(Lowering *lowering) {
  if (lowering->level == 0) return;
  int *last = last_uses(lowering);
  for (int i = 0; i < lowering->order.count; i++) {
    const Unit *unit = &lowering->units.items[lowering->order.items[i]];
    if (unit->group >= 0)
      share_outputs(lowering, &lowering->groups.items[unit->group]->built, i, last);
  }
}
