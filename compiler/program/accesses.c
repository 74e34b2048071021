/* What a step does with the buffers that it has: see verifier.h. */
#include "kernel/builder.h"
#include "program/buffers.h"
#include "program/verifier.h"

static void mark_index_reads(const Index *index, bool *reads) {
  if (index == NULL) return;
  if (index->kind == INDEX_LOAD) reads[index->operand] = true;
  mark_index_reads(index->left, reads);
  mark_index_reads(index->right, reads);
}

/* What the kernel does with each operand, by its own expressions. */
static void kernel_accesses(Arena *arena, const Kernel *kernel, bool *reads, bool *writes) {
  for (int i = 0; i < kernel_template_operands(kernel); i++) reads[i] = true;
  for (int s = 0; s < kernel_stage_count(kernel); s++) {
    ExprList list = kernel_expressions(arena, kernel, s);
    for (int i = 0; i < list.count; i++) {
      if (list.items[i]->kind == EXPR_LOAD) reads[list.items[i]->operand] = true;
      mark_index_reads(list.items[i]->index, reads);
    }
    Stage stage = kernel_stage(kernel, s);
    for (int i = 0; i < stage.store_count; i++) writes[stage.stores[i].operand] = true;
  }
}

AccessList step_accesses(Arena *arena, const Program *program, const Step *step) {
  AccessList list = {0};
  if (step->kind == STEP_COPY) {
    int from = step->copy_from, to = step->copy_to;
    vec_push(arena, &list, ((StepAccess){buffer_whole(program, from), from, true, false, 0, 0}));
    vec_push(arena, &list, ((StepAccess){buffer_whole(program, to), to, false, true, 0, 0}));
  }
  if (step->kind != STEP_LAUNCH) return list;
  const Kernel *kernel = program->kernels.items[step->kernel];
  bool *reads = ARENA_ARRAY(arena, bool, kernel->operand_count);
  bool *writes = ARENA_ARRAY(arena, bool, kernel->operand_count);
  kernel_accesses(arena, kernel, reads, writes);
  for (int i = 0; i < step->operand_count; i++) {
    int id = buffer_whole(program, step->operands[i]); /* a view reads the whole's value */
    int64_t block_bytes = step->loop >= 0 ? step->block_bytes[i] : 0;
    vec_push(arena, &list,
             ((StepAccess){id, step->operands[i], reads[i], writes[i], block_bytes,
                           block_bytes > 0 ? step->task_count : 0}));
  }
  return list;
}
