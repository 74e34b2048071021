/* The table of an entry's steps, for `profile`, and for what looks where a number comes from. */
#include "backend/common/emitter.h"
#include "backend/common/c.h"

#include "kernel/builder.h"
#include "nnc_dtype.h"
#include "support/integers.h"

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

/* What multiplies in the step: nnc_unit; NULL: what computes all else. */
static const char *step_unit(const Emitter *emitter, const Step *step) {
  const Program *program = emitter->program;
  const BackEnd *back_end = program->target->back_end;
  if (!back_end->has_matrix_units || step->kind != STEP_LAUNCH) return NULL;
  const Kernel *kernel = program->kernels.items[step->kernel];
  if (!kernel_is_template(kernel)) return NULL;
  if (kernel->operand_count > 0 && dtype_is_half(kernel->operands[0].dtype)) return "NNC_UNIT_HALF";
  return kernel->is_tf32 ? "NNC_UNIT_TF32" : NULL;
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

/* The step with which it is launched. */
static int step_launched(const Emitter *emitter, const ProgramEntry *entry, const Step *step) {
  int place, number = (int)(step - entry->steps.items), last = number;
  int launch = merge_of_step(emitter->merges, entry->entry, number, &place);
  for (int i = 0; launch >= 0 && i < emitter->merges->launches.items[launch].steps.count; i++)
    last = (int)greatest(last, emitter->merges->launches.items[launch].steps.items[i]);
  return last;
}

/* How the rounds of scans move a buffer: their number, then each. */
static const char *operand_moves(const Emitter *emitter, int buffer) {
  const Program *program = emitter->program;
  const char *moves = "";
  int count = 0;
  for (int id = buffer; id >= 0; id = program->buffers.items[id].view_of) {
    const Buffer *view = &program->buffers.items[id];
    if (view->scan < 0) continue;
    moves =
        arena_printf(emitter->arena, "%s %d %lld %lld %lld", moves, view->scan,
                     (long long)view->round_bytes, (long long)view->turns, (long long)view->turn);
    count++;
  }
  return arena_printf(emitter->arena, "%d%s", count, moves);
}

static const int dtype_numbers[DTYPE_COUNT] = {
    [DTYPE_F64] = NNC_F64, [DTYPE_F32] = NNC_F32, [DTYPE_BF16] = NNC_BF16, [DTYPE_F16] = NNC_F16,
    [DTYPE_I64] = NNC_I64, [DTYPE_I32] = NNC_I32, [DTYPE_U8] = NNC_U8,     [DTYPE_BOOL] = NNC_BOOL};

/* Whether an operand that a kernel stores is loaded by it, too. */
static bool loads_operand(Arena *arena, const Kernel *kernel, int operand) {
  for (int i = 0; i < kernel_stage_count(kernel); i++) {
    ExprList list = kernel_expressions(arena, kernel, i);
    for (int k = 0; k < list.count; k++)
      if (list.items[k]->kind == EXPR_LOAD && list.items[k]->operand == operand) return true;
  }
  return false;
}

/* A line about an operand, as nnc_step says it; `use`: 'r', 'w' or 'u'; `block`: bytes from block to block. */
static const char *operand_line(const Emitter *emitter, int id, char use, int64_t elements,
                                int64_t block) {
  const Buffer *buffer = &emitter->program->buffers.items[id];
  return arena_printf(emitter->arena, "%c %d %lld %lld %lld %s %s\n", use,
                      dtype_numbers[buffer->type.dtype], (long long)buffer->offset,
                      (long long)elements, (long long)(buffer->kind == BUFFER_WORKER ? -1 : block),
                      operand_moves(emitter, id), buffer->name);
}

static const char *copy_lines(const Emitter *emitter, const Step *step) {
  const Buffer *from = &emitter->program->buffers.items[step->copy_from];
  int64_t elements = shape_elements(from->type.shape);
  return arena_printf(emitter->arena, "%s%s",
                      operand_line(emitter, step->copy_from, 'r', elements, 0),
                      operand_line(emitter, step->copy_to, 'w', elements, 0));
}

static const char *operand_lines(const Emitter *emitter, const Step *step) {
  if (step->kind == STEP_COPY) return copy_lines(emitter, step);
  Arena *arena = emitter->arena;
  const Kernel *kernel = emitter->program->kernels.items[step->kernel];
  const char *lines = "";
  for (int i = 0; i < step->operand_count; i++) {
    char use = !kernel->operands[i].is_output ? 'r' : loads_operand(arena, kernel, i) ? 'u' : 'w';
    lines = arena_printf(arena, "%s%s", lines,
                         operand_line(emitter, step->operands[i], use, kernel->operands[i].elements,
                                      step->loop >= 0 ? step->block_bytes[i] : 0));
  }
  return lines;
}

/* The loops of scans and the task loops; returns what they add to the initializer of the nnc_entry. */
static const char *emit_repeats(Emitter *emitter, const char *name, const ProgramEntry *entry) {
  Code *code = &emitter->code;
  int scans = entry->scans.count, loops = entry->loops.count;
  if (scans + loops == 0) return "";
  code_open(code, "static const nnc_repeat %s_repeats[%d] =", name, scans + loops);
  for (int i = 0; i < scans; i++) {
    const ScanLoop *scan = &entry->scans.items[i];
    code_line(code, "{%d, %d, %lld},", scan->first_step, scan->last_step, (long long)scan->rounds);
  }
  for (int i = 0; i < loops; i++) {
    const TaskLoop *loop = &entry->loops.items[i];
    code_line(code, "{%d, %d, %lld},", loop->first_step, loop->last_step, (long long)loop->blocks);
  }
  code_close_list(code);
  return arena_printf(emitter->arena, ", .scan_count = %d, .loop_count = %d, .repeats = %s_repeats",
                      scans, loops, name);
}

/* A number without a fraction as an integer. */
static const char *number_text(Arena *arena, double value) {
  const double exact = 9007199254740992;
  if (value < exact && value == (double)(int64_t)value) return code_integer(arena, (int64_t)value);
  return c_literal(arena, DTYPE_F64, value);
}

/* Rows have only what is not 0: see nnc_step. */
static const char *row_text(Emitter *emitter, const ProgramEntry *entry, const Step *step) {
  if (step->kind == STEP_BARRIER) return "NNC_BARRIER";
  Arena *arena = emitter->arena;
  bool trains = entry->entry == ENTRY_TRAIN || entry->entry == ENTRY_ACCUMULATE;
  const char *kernel =
      step->kind == STEP_LAUNCH ? function_launched(&emitter->functions[step->kernel])->name : "";
  const char *unit = step_unit(emitter, step);
  long long rounds = (long long)step_rounds(entry, step);
  int later = step_launched(emitter, entry, step) - (int)(step - entry->steps.items);
  double flops, bytes;
  step_costs(emitter, entry, step, &flops, &bytes);
  Text row = {0};
  text_printf(&row, "{%s, %s, %s, %s, %s, %s, %s, %lld, .line = %d",
              code_string(arena, step->class_name),
              code_string(arena, step->operator_name ? step->operator_name : ""),
              code_string(arena, kernel), code_string(arena, step->path),
              code_string(arena, stored_names(emitter, step)), number_text(arena, flops),
              number_text(arena, bytes), (long long)step->task_count,
              step->span.file ? step->span.line : 0);
  if (rounds > 1) text_printf(&row, ", .rounds = %lld", rounds);
  if (unit) text_printf(&row, ", .unit = %s", unit);
  if (later > 0) text_printf(&row, ", .later = %d", later);
  if (trains)
    text_printf(&row, ",\n   .nodes = %s, .operands =%s",
                step->nodes ? code_string(arena, step->nodes) : "NULL",
                code_string_lines(arena, operand_lines(emitter, step)));
  text_add_char(&row, '}');
  return text_take(&row, arena);
}

/* Whether the runtime asks for the steps of an entry: `profile`, what looks at numbers, and the report do, of entries
 * that train, and of `predict`, which the report shows where nothing trains. */
static bool tells_steps(EntryKind kind) {
  return kind == ENTRY_TRAIN || kind == ENTRY_ACCUMULATE || kind == ENTRY_PREDICT;
}

const char *emitter_step_table(Emitter *emitter, const char *name, const ProgramEntry *entry) {
  Code *code = &emitter->code;
  if (entry->steps.count == 0 || !tells_steps(entry->entry)) return "";
  code_open(code, "static const nnc_step %s_steps[%d] =", name, entry->steps.count);
  for (int i = 0; i < entry->steps.count; i++) {
    const char *row = row_text(emitter, entry, &entry->steps.items[i]);
    bool is_followed = /* by a barrier, which stands in its line */
        i + 1 < entry->steps.count && entry->steps.items[i + 1].kind == STEP_BARRIER;
    code_line(code, "%s,%s", row, is_followed ? " NNC_BARRIER," : "");
    i += is_followed;
  }
  code_close_list(code);
  return arena_printf(emitter->arena, ", .step_count = %d, .steps = %s_steps%s", entry->steps.count,
                      name, emit_repeats(emitter, name, entry));
}
