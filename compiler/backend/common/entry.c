/* The memory plan and the entry functions. */
#include "backend/common/emitter.h"
#include "backend/common/c.h"

#include <string.h>
#include "support/panic.h"

/* ---- memory ---- */

static int64_t planned_offset(const Program *program, int buffer) {
  CHECK(program->buffers.items[buffer].offset >= 0);
  return program->buffers.items[buffer].offset;
}

void emitter_memory(Emitter *emitter) {
  static const char *const kinds[] = {
      [BUFFER_VARIABLE] = "variable",     [BUFFER_INPUT] = "input",
      [BUFFER_ACTIVATION] = "activation", [BUFFER_RESULT] = "result",
      [BUFFER_WORKER] = "worker",         [BUFFER_KEPT] = "kept"};
  Code *code = &emitter->code;
  const Program *program = emitter->program;
  NameScope scope = {.arena = emitter->arena, .words = emitter->program->target->back_end->words};
  emitter->memory = ARENA_ARRAY(emitter->arena, const char *, program->buffers.count + 1);
  code_blank(code);
  code_comment(code, "The memory plan: bytes from the arena's base, %lld in all.",
               (long long)program->arena_bytes);
  code_open(code, "enum");
  code_line(code, "mem_end = %lld,", (long long)program->arena_bytes);
  for (int i = 0; i < program->buffers.count; i++) {
    const Buffer *buffer = &program->buffers.items[i];
    if (buffer->kind == BUFFER_WORKER) continue;
    emitter->memory[i] = arena_printf(emitter->arena, "mem_%s", naming_make(&scope, buffer->name));
    Text type = {0};
    text_add_type(&type, buffer->type);
    code_line(code, "%s = %lld, /* %s, %s%s%s */", emitter->memory[i],
              (long long)planned_offset(program, i), type.data, kinds[buffer->kind],
              buffer->entry >= 0 && buffer->kind != BUFFER_VARIABLE ? " of " : "",
              buffer->entry >= 0 && buffer->kind != BUFFER_VARIABLE
                  ? entry_name((EntryKind)buffer->entry)
                  : "");
    text_free(&type);
  }
  code_close_list(code);
}

/* ---- steps ---- */

static void check_aliases(const Emitter *emitter, const Step *step) {
  const Program *program = emitter->program;
  const Kernel *kernel = program->kernels.items[step->kernel];
  for (int i = 0; i < step->operand_count; i++)
    for (int k = 0; k < step->operand_count; k++) {
      if (i == k || !kernel->operands[i].is_output ||
          (program->buffers.items[step->operands[i]].kind == BUFFER_WORKER) !=
              (program->buffers.items[step->operands[k]].kind == BUFFER_WORKER))
        continue;
      if (buffers_are_apart(program, step->operands[i], step->operands[k])) continue;
      int64_t a = planned_offset(program, step->operands[i]);
      int64_t b = planned_offset(program, step->operands[k]);
      int64_t a_bytes = program->buffers.items[step->operands[i]].bytes;
      int64_t b_bytes = program->buffers.items[step->operands[k]].bytes;
      if (a < b + b_bytes && b < a + a_bytes && a_bytes > 0 && b_bytes > 0)
        panic("step %s: operands %s and %s share memory, but the kernel takes them for distinct",
              step->path, kernel->operands[i].name, kernel->operands[k].name);
    }
}

/* Where the rounds of scan loops have moved a buffer of the arena. */
static const char *buffer_place(const Emitter *emitter, int buffer) {
  Arena *arena = emitter->arena;
  const char *place = arena_printf(arena, "arena + %s", emitter->memory[buffer]);
  for (int id = buffer; id >= 0; id = emitter->program->buffers.items[id].view_of) {
    const Buffer *view = &emitter->program->buffers.items[id];
    if (view->scan < 0) continue;
    const char *row = arena_printf(arena, "round_%d", view->scan);
    if (view->turn > 0) row = arena_printf(arena, "(%s + %lld)", row, (long long)view->turn);
    if (view->turns > 0) row = arena_printf(arena, "(%s %% %lld)", row, (long long)view->turns);
    place = arena_printf(arena, "%s + (%lld) * %s", place, (long long)view->round_bytes, row);
  }
  return place;
}

/* The address of an operand: in the arena, there for the block of a task loop, or in the worker's
 * block of memory. */
static const char *operand_place(const Emitter *emitter, const Step *step, int operand,
                                 bool is_first) {
  const Buffer *buffer = &emitter->program->buffers.items[step->operands[operand]];
  if (buffer->kind == BUFFER_WORKER)
    return arena_printf(emitter->arena, "%sscratch + %lld", is_first ? "worker->" : "",
                        (long long)buffer->offset);
  int64_t bytes = step->loop >= 0 && !is_first ? step->block_bytes[operand] : 0;
  const char *whole = buffer_place(emitter, buffer->id);
  return bytes == 0 ? whole
                    : arena_printf(emitter->arena, "%s + %lld * block", whole, (long long)bytes);
}

/* What a step hands to the kernel's function; or, to fill what it keeps, for the first block of its task loop. */
static KernelCall make_call(const Emitter *emitter, const Step *step, bool fills) {
  const KernelFunction *function = &emitter->functions[step->kernel];
  const KernelOperand *operands = function->kernel->operands;
  Arena *arena = emitter->arena;
  KernelCall call = {function_launched(function), step->loop >= 0 && !fills ? "&solo" : "worker", 0,
                     ARENA_ARRAY(arena, const char *,
                                 step->operand_count + step->scalar_count + step->key_count +
                                     function->number_count + 2)};
  for (int i = 0; i < step->operand_count; i++)
    call.arguments[call.count++] =
        arena_printf(arena, "(%s%s *)(%s)", operands[i].is_output ? "" : "const ",
                     c_storage_type(operands[i].dtype), operand_place(emitter, step, i, fills));
  bool is_address = emitter->program->target->back_end->guard != NULL;
  for (int i = 0; i < step->scalar_count; i++)
    call.arguments[call.count++] = arena_printf(
        arena, is_address ? "worker->scalars + %d" : "worker->scalars[%d]", step->scalars[i]);
  for (int i = 0; i < step->key_count; i++)
    call.arguments[call.count++] =
        arena_printf(arena, "UINT64_C(0x%016llx)", (unsigned long long)step->keys[i]);
  if (step->kept >= 0)
    call.arguments[call.count++] =
        arena_printf(arena, "(%s *)(arena + %s)",
                     c_storage_type(emitter->program->buffers.items[step->kept].type.dtype),
                     emitter->memory[step->kept]);
  for (int i = 0; i < function->number_count; i++)
    call.arguments[call.count++] = function->numbers[i];
  return call;
}

static void emit_launch(Emitter *emitter, const Step *step) {
  CHECK(step->operand_count == emitter->functions[step->kernel].kernel->operand_count);
  check_aliases(emitter, step);
  const char *place = "";
  if (step->span.line > 0 && step->span.file)
    place = arena_printf(emitter->arena, ", %s:%d", step->span.file->name, step->span.line);
  code_comment(&emitter->code, "%s%s", step->path, place);
  KernelCall call = make_call(emitter, step, false);
  emitter->program->target->back_end->write_launch(&emitter->code, &call);
}

static void emit_copy(Emitter *emitter, const Step *step) {
  const BackEnd *back_end = emitter->program->target->back_end;
  const char *to = buffer_place(emitter, step->copy_to);
  const char *from = buffer_place(emitter, step->copy_from);
  const char *comment = code_in_comment(emitter->arena, step->path);
  int64_t bytes = type_bytes(emitter->program->buffers.items[step->copy_to].type);
  if (back_end->write_copy) back_end->write_copy(&emitter->code, to, from, bytes, comment);
  else
    code_line(&emitter->code, "nnc_copy(worker, %s, %s, %lld); /* %s */", to, from,
              (long long)bytes, comment);
}

/* A launch by itself, or a part of one. */
static void emit_part(Emitter *emitter, const ProgramEntry *entry, const Step *step) {
  int place, number = (int)(step - entry->steps.items);
  int launch = merge_of_step(emitter->merges, entry->entry, number, &place);
  if (launch >= 0) emitter->program->target->back_end->write_part(&emitter->code, launch, place);
  emit_launch(emitter, step);
}

/* Whether the tasks of the steps [first, last], one launch or one task loop, move: where it is long
 * enough, for what a claimed task costs is some 50 nanoseconds. */
static bool is_shared(const Emitter *emitter, const ProgramEntry *entry, int first, int last) {
  const TargetCosts *costs = &emitter->program->target->costs;
  const Step *steps = entry->steps.items;
  if (costs->shared == 0 || steps[first].kind != STEP_LAUNCH || steps[first].task_count < 2)
    return false;
  if (steps[first].loop >= 0 && entry->loops.items[steps[first].loop].is_tied) return false;
  double cost = 0;
  for (int s = first; s <= last; s++) cost += steps[s].flops + costs->byte * steps[s].bytes;
  int own = steps[first].scan;
  if (own >= 0 && scan_task_loop(entry, &entry->scans.items[own]))
    return cost >= costs->shared; /* moves with all rounds */
  for (int scan = steps[first].scan; scan >= 0; scan = entry->scans.items[scan].outer)
    cost /= (double)entry->scans.items[scan].rounds;
  return cost >= costs->shared;
}

static void emit_share(Emitter *emitter, const ProgramEntry *entry, int first, int last) {
  if (is_shared(emitter, entry, first, last)) code_line(&emitter->code, "nnc_share(worker);");
}

static void emit_step(Emitter *emitter, const ProgramEntry *entry, const Step *step) {
  switch (step->kind) {
  case STEP_LAUNCH: {
    int number = (int)(step - entry->steps.items);
    emit_share(emitter, entry, number, number);
    emit_part(emitter, entry, step);
    return;
  }
  case STEP_BARRIER: code_line(&emitter->code, "nnc_barrier(worker);"); return;
  case STEP_COPY: emit_copy(emitter, step); return;
  }
}

/* ---- task loops ---- */

static bool loop_uses_scratch(const Emitter *emitter, const ProgramEntry *entry,
                              const TaskLoop *loop) {
  for (int s = loop->first_step; s <= loop->last_step; s++)
    for (int i = 0; i < entry->steps.items[s].operand_count; i++)
      if (emitter->program->buffers.items[entry->steps.items[s].operands[i]].kind == BUFFER_WORKER)
        return true;
  return false;
}

/* Opens the loop over its blocks. */
static void open_loop(Emitter *emitter, const ProgramEntry *entry, const TaskLoop *loop) {
  Code *code = &emitter->code;
  code_comment(code, "%lld blocks of %lld example%s: a worker takes each through all of it.",
               (long long)loop->blocks, (long long)loop->examples, loop->examples == 1 ? "" : "s");
  emit_share(emitter, entry, loop->first_step, loop->last_step);
  code_open(code, "NNC_TASKS(worker, %lld, block)", (long long)loop->blocks);
  code_line(code, "nnc_worker solo = nnc_solo(worker, block * %lld);", (long long)loop->examples);
  if (loop_uses_scratch(emitter, entry, loop))
    code_line(code, "char *const scratch = worker->scratch;");
}

static void emit_loop_steps(Emitter *emitter, const ProgramEntry *entry, const TaskLoop *loop) {
  for (int s = loop->first_step; s <= loop->last_step; s++) {
    emit_launch(emitter, &entry->steps.items[s]);
    code_line(&emitter->code, "nnc_lap(worker, %d);", s + 1);
  }
}

/* Laps of one in a scan are those of the scan. */
static void emit_loop(Emitter *emitter, const ProgramEntry *entry, const TaskLoop *loop) {
  Code *code = &emitter->code;
  int first = loop->first_step, count = loop->last_step - first + 1;
  bool is_inside = entry->steps.items[first].scan >= 0;
  if (!is_inside) code_line(code, "nnc_laps_begin(worker, %d, %d);", first, count);
  open_loop(emitter, entry, loop);
  emit_loop_steps(emitter, entry, loop);
  code_close(code);
  if (!is_inside) code_line(code, "nnc_laps_end(worker, %d, %d);", first, count);
}

/* ---- scan loops ---- */

static void emit_steps(Emitter *emitter, const ProgramEntry *entry, int first, int last, int scan);

static void emit_scan(Emitter *emitter, const ProgramEntry *entry, int number) {
  Code *code = &emitter->code;
  const ScanLoop *scan = &entry->scans.items[number];
  int count = scan->last_step - scan->first_step + 1;
  code_comment(code, "%s: %lld rounds.", scan->path, (long long)scan->rounds);
  if (scan->outer < 0) code_line(code, "nnc_laps_begin(worker, %d, %d);", scan->first_step, count);
  const TaskLoop *around = scan_task_loop(entry, scan);
  if (around) open_loop(emitter, entry, around);
  code_open(code, "for (int64_t round_%d = 0; round_%d < %lld; round_%d++)", number, number,
            (long long)scan->rounds, number);
  if (around) emit_loop_steps(emitter, entry, around);
  else emit_steps(emitter, entry, scan->first_step, scan->last_step, number);
  code_close(code);
  if (around) code_close(code);
  if (scan->outer < 0) code_line(code, "nnc_laps_end(worker, %d, %d);", scan->first_step, count);
}

/* The last of the steps that step i is emitted with: of its task loop, or itself. */
static int last_together(const ProgramEntry *entry, int i) {
  int loop = entry->steps.items[i].loop;
  return loop >= 0 ? entry->loops.items[loop].last_step : i;
}

/* Opens a phase that may move (nnc_parallel.h): the steps from the beginning of the entry or from a barrier on, to a
 * barrier, in no scan loop. The barrier's step, which closes the phase; -1: there is none. */
static int open_phase(Emitter *emitter, const ProgramEntry *entry, int first) {
  const Step *steps = entry->steps.items;
  if (emitter->program->target->costs.shared == 0) return -1;
  if (first > 0 && steps[first - 1].kind != STEP_BARRIER) return -1;
  int shared = 0, i = first;
  for (; i < entry->steps.count && steps[i].kind != STEP_BARRIER; i = last_together(entry, i) + 1) {
    if (steps[i].scan >= 0) return -1;
    shared += is_shared(emitter, entry, i, last_together(entry, i));
  }
  if (i == first || i == entry->steps.count || steps[i].scan >= 0) return -1;
  code_open(&emitter->code, "NNC_PHASE(worker, %d)", shared);
  return i;
}

/* The steps of an entry, or of a scan loop. */
static void emit_steps(Emitter *emitter, const ProgramEntry *entry, int first, int last, int scan) {
  int end = -1; /* of the open phase */
  for (int i = first; i <= last; i++) {
    const Step *step = &entry->steps.items[i];
    if (scan < 0 && end < 0) end = open_phase(emitter, entry, i);
    int inner = scan_loop_at(entry, i, scan);
    if (inner >= 0) {
      emit_scan(emitter, entry, inner);
      i = entry->scans.items[inner].last_step;
    } else if (step->loop >= 0) {
      emit_loop(emitter, entry, &entry->loops.items[step->loop]);
      i = entry->loops.items[step->loop].last_step;
    } else {
      if (i == end) code_close(&emitter->code);
      else emit_step(emitter, entry, step);
      if (i == end) end = -1;
      if (scan < 0) emitter_mark(emitter, i + 1);
      else code_line(&emitter->code, "nnc_lap(worker, %d);", i + 1);
    }
  }
}

/* What kernels keep is filled before the first step. */
static void emit_filling(Emitter *emitter, const ProgramEntry *entry) {
  Code *code = &emitter->code;
  bool is_open = false;
  for (int i = 0; i < entry->steps.count; i++) {
    const Step *step = &entry->steps.items[i];
    if (step->kind != STEP_LAUNCH || step->kept < 0) continue;
    if (!is_open) {
      code_comment(code,
                   "Weights in the order of the kernels, which stay until a parameter changes.");
      code_open(code, "if (worker->fills)");
    }
    is_open = true;
    KernelCall call = make_call(emitter, step, true);
    emitter->program->target->back_end->write_launch(code, &call);
  }
  if (!is_open) return;
  code_line(code, "nnc_filled(worker);");
  code_close(code);
}

/* Steps of a function. What C compilers do with one grows faster than it, with the square of its loops. */
enum { MOST_STEPS = 160 };

/* Whether nothing is open before a step: it follows a barrier that is in no scan loop. */
static bool is_boundary(const ProgramEntry *entry, int i) {
  const Step *steps = entry->steps.items;
  return steps[i - 1].kind == STEP_BARRIER && steps[i - 1].scan < 0 && steps[i].scan < 0;
}

/* The end of the piece of a long entry that begins at a step. */
static int piece_end(const ProgramEntry *entry, int first) {
  int count = entry->steps.count, end = first + MOST_STEPS;
  while (end < count && !is_boundary(entry, end)) end++;
  return count - end < MOST_STEPS / 2 ? count : end;
}

static size_t open_run(Emitter *emitter, const char *attributes, const char *name) {
  code_line(&emitter->code, "static %svoid %s(nnc_worker *worker)", attributes, name);
  code_block(&emitter->code);
  return code_mark(&emitter->code);
}

static void close_run(Emitter *emitter, size_t mark) {
  code_declare(&emitter->code, mark, "arena", "char *const arena = worker->arena;");
  code_close(&emitter->code);
}

/* Functions of some steps each, for an entry that is too long for one; returns how many. */
static int emit_pieces(Emitter *emitter, const ProgramEntry *entry) {
  int count = 0;
  if (entry->steps.count <= MOST_STEPS + MOST_STEPS / 2) return 0;
  for (int first = 0, end; first < entry->steps.count; first = end) {
    end = piece_end(entry, first);
    code_blank(&emitter->code);
    code_comment(&emitter->code, "Steps %d to %d of %s.", first, end - 1, entry_name(entry->entry));
    size_t mark =
        open_run(emitter, "NNC_PIECE ",
                 arena_printf(emitter->arena, "%s_run_%d", entry_name(entry->entry), ++count));
    emit_steps(emitter, entry, first, end - 1, -1);
    close_run(emitter, mark);
  }
  return count;
}

static void emit_entry(Emitter *emitter, const ProgramEntry *entry) {
  Code *code = &emitter->code;
  int pieces = emit_pieces(emitter, entry);
  const char *name = arena_printf(emitter->arena, "%s_run", entry_name(entry->entry));
  code_blank(code);
  code_comment(code, "%s: %d steps, %d barriers, %.4g Mflop, %.4g MB.", entry_name(entry->entry),
               entry->steps.count - entry->barrier_count, entry->barrier_count, entry->flops / 1e6,
               entry->bytes / 1e6);
  size_t mark = open_run(emitter, "", name);
  emit_filling(emitter, entry);
  emitter_mark(emitter, 0);
  for (int i = 1; i <= pieces; i++) code_line(code, "%s_%d(worker);", name, i);
  if (pieces == 0) emit_steps(emitter, entry, 0, entry->steps.count - 1, -1);
  close_run(emitter, mark);
}

void emitter_entries(Emitter *emitter) {
  for (int e = 0; e < ENTRY_COUNT; e++)
    if (emitter->program->entries[e].present) emit_entry(emitter, &emitter->program->entries[e]);
}
