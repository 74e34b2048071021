/* The table of an entry's steps, for `profile`, and the marks between them in its function. */
#include "backend/common/emitter.h"
#include "backend/common/c.h"

void emitter_mark(Emitter *emitter, int number) {
  code_line(&emitter->code, "nnc_mark(worker, %d);", number);
}

/* "h1.w:m, h1.w:v, h1.w" */
static const char *stored_names(const Emitter *emitter, const Step *step) {
  const Program *program = emitter->program;
  if (step->kind == STEP_BARRIER) return "";
  if (step->kind == STEP_COPY) return program->buffers.items[step->copy_to].name;
  const Kernel *kernel = program->kernels.items[step->kernel];
  const char *names = "";
  for (int i = 0; i < step->operand_count; i++)
    if (kernel->operands[i].is_output)
      names = arena_printf(emitter->arena, "%s%s%s", names, *names ? ", " : "",
                           program->buffers.items[step->operands[i]].name);
  return names;
}

/* How often a run of the entry does the step. */
static int64_t step_rounds(const ProgramEntry *entry, const Step *step) {
  int64_t rounds = 1;
  for (int scan = step->scan; scan >= 0; scan = entry->scans.items[scan].outer)
    rounds *= entry->scans.items[scan].rounds;
  return rounds;
}

/* What multiplies in the step: nnc_unit. */
static const char *step_unit(const Emitter *emitter, const Step *step) {
  const Program *program = emitter->program;
  const BackEnd *back_end = program->target->back_end;
  if (!back_end->has_matrix_units || step->kind != STEP_LAUNCH) return "NNC_UNIT_PLAIN";
  const Kernel *kernel = program->kernels.items[step->kernel];
  if (!kernel_is_template(kernel)) return "NNC_UNIT_PLAIN";
  return kernel->operand_count > 0 && dtype_is_half(kernel->operands[0].dtype) ? "NNC_UNIT_HALF"
         : kernel->is_tf32                                                     ? "NNC_UNIT_TF32"
                                                                               : "NNC_UNIT_PLAIN";
}

/* The costs of a step. A launch of several steps takes place at the last of them, which has the costs of
 * all, so that they stand beside its time. */
static void step_costs(const Emitter *emitter, const ProgramEntry *entry, const Step *step,
                       double *flops, double *bytes) {
  int place, number = (int)(step - entry->steps.items), last = number;
  int launch = merge_of_step(emitter->merges, entry->entry, number, &place);
  *flops = *bytes = 0;
  for (int i = 0; launch >= 0 && i < emitter->merges->launches.items[launch].steps.count; i++) {
    int other = emitter->merges->launches.items[launch].steps.items[i];
    *flops += entry->steps.items[other].flops;
    *bytes += entry->steps.items[other].bytes;
    if (other > last) last = other;
  }
  if (launch < 0) *flops = step->flops, *bytes = step->bytes;
  else if (last != number) *flops = *bytes = 0;
}

static void emit_row(Emitter *emitter, const ProgramEntry *entry, const Step *step) {
  Arena *arena = emitter->arena;
  const char *kernel = step->kind == STEP_LAUNCH ? emitter->functions[step->kernel].name : "";
  double flops, bytes;
  step_costs(emitter, entry, step, &flops, &bytes);
  code_line(&emitter->code, "{%s, %s, %s, %s,", code_string(arena, step->class_name),
            code_string(arena, step->operator_name ? step->operator_name : ""),
            code_string(arena, kernel), code_string(arena, step->path));
  code_line(&emitter->code, " %s, %s, %s, %lld, %lld, %d, %s},",
            code_string(arena, stored_names(emitter, step)), c_literal(arena, DTYPE_F64, flops),
            c_literal(arena, DTYPE_F64, bytes), (long long)step->task_count,
            (long long)step_rounds(entry, step), step->span.file ? step->span.line : 0,
            step_unit(emitter, step));
}

const char *emitter_step_table(Emitter *emitter, const char *name, const ProgramEntry *entry) {
  Code *code = &emitter->code;
  if (entry->steps.count == 0) return "";
  code_open(code, "static const nnc_step %s_steps[%d] =", name, entry->steps.count);
  for (int i = 0; i < entry->steps.count; i++) emit_row(emitter, entry, &entry->steps.items[i]);
  code_close_list(code);
  return arena_printf(emitter->arena, ",\n    .step_count = %d, .steps = %s_steps",
                      entry->steps.count, name);
}
