/* The memory plan and the entry functions. */
#include "backend/common/emitter.h"
#include "backend/common/c.h"

#include <string.h>
#include "program/workspace.h"
#include "support/panic.h"

/* ---- memory ---- */

int64_t emitter_offset(const Program *program, int buffer) {
  CHECK(program->buffers.items[buffer].offset >= 0);
  return program->buffers.items[buffer].offset;
}

/* What values of a kind lie there for, and during which entry. */
static const char *memory_role(Arena *arena, const Buffer *buffer) {
  static const char *const kinds[] = {
      [BUFFER_VARIABLE] = "variable",     [BUFFER_INPUT] = "input",
      [BUFFER_ACTIVATION] = "activation", [BUFFER_RESULT] = "result",
      [BUFFER_WORKER] = "worker",         [BUFFER_KEPT] = "kept"};
  const char *kind = kinds[buffer->kind];
  if (buffer->kind == BUFFER_VARIABLE || buffer->entry < 0) return kind;
  return arena_printf(arena, "%s of %s", kind, entry_name((EntryKind)buffer->entry));
}

/* The name that the functions of the entries call a value by: its address, with its type. */
static void emit_address(Emitter *emitter, int number) {
  enum { LINE = 100 };
  Code *code = &emitter->code;
  const Buffer *buffer = &emitter->program->buffers.items[number];
  Text type = {0};
  text_add_type(&type, buffer->type);
  const char *comment =
      arena_printf(code->arena, "/* %s, %s */", type.data, memory_role(code->arena, buffer));
  const char *address =
      arena_printf(code->arena, "NNC_AT(%s, %lld)", c_storage_type(buffer->type.dtype),
                   (long long)emitter_offset(emitter->program, number));
  const char *line = arena_printf(code->arena, "#define %s %s", emitter->memory[number], address);
  text_free(&type);
  if (strlen(line) + 1 + strlen(comment) <= LINE) {
    code_line(code, "%s %s", line, comment);
    return;
  }
  code_line(code, "%s", comment);
  if (strlen(line) <= LINE) code_line(code, "%s", line);
  else code_line(code, "#define %s \\\n  %s", emitter->memory[number], address);
}

void emitter_memory(Emitter *emitter) {
  Code *code = &emitter->code;
  const Program *program = emitter->program;
  NameScope scope = {.arena = emitter->arena, .words = emitter->program->target->back_end->words};
  emitter->memory = ARENA_ARRAY(emitter->arena, const char *, program->buffers.count + 1);
  for (int i = 0; i < program->buffers.count; i++) {
    const Buffer *buffer = &program->buffers.items[i];
    if (buffer->kind == BUFFER_WORKER) continue;
    emitter->memory[i] = arena_printf(emitter->arena, "mem_%s", naming_make(&scope, buffer->name));
  }
  code_blank(code);
  code_comment(code, "The memory plan: the addresses of all values in the arena, of %lld bytes.",
               (long long)program->arena_bytes);
  for (int i = 0; i < program->buffers.count; i++)
    if (emitter->memory[i]) emit_address(emitter, i);
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
      int64_t a = emitter_offset(program, step->operands[i]);
      int64_t b = emitter_offset(program, step->operands[k]);
      int64_t a_bytes = program->buffers.items[step->operands[i]].bytes;
      int64_t b_bytes = program->buffers.items[step->operands[k]].bytes;
      if (a < b + b_bytes && b < a + a_bytes && a_bytes > 0 && b_bytes > 0)
        panic("step %s: operands %s and %s share memory, but the kernel takes them for distinct",
              step->path, kernel->operands[i].name, kernel->operands[k].name);
    }
}

/* "mem_x + 100 * block": the address that is `times` times `bytes` after `place`; C counts in elements there. */
static const char *moved(Arena *arena, const char *place, int64_t bytes, DType dtype,
                         const char *times) {
  CHECK(bytes % dtype_size(dtype) == 0);
  return arena_printf(arena, "%s + %lld * %s", place, (long long)(bytes / dtype_size(dtype)),
                      times);
}

/* Where the rounds of scan loops have moved a buffer of the arena. */
static const char *buffer_place(const Emitter *emitter, int buffer) {
  Arena *arena = emitter->arena;
  DType dtype = emitter->program->buffers.items[buffer].type.dtype;
  const char *place = emitter->memory[buffer];
  for (int id = buffer; id >= 0; id = emitter->program->buffers.items[id].view_of) {
    const Buffer *view = &emitter->program->buffers.items[id];
    if (view->scan < 0) continue;
    const char *row = arena_printf(arena, "round_%d", view->scan);
    if (view->turn > 0) row = arena_printf(arena, "(%s + %lld)", row, (long long)view->turn);
    if (view->turns > 0) row = arena_printf(arena, "(%s %% %lld)", row, (long long)view->turns);
    place = moved(arena, place, view->round_bytes, dtype, row);
  }
  return place;
}

/* The address of an operand: in the arena, there for the block of a task loop, or in the worker's
 * block of memory. */
static const char *operand_place(const Emitter *emitter, const Step *step, int operand,
                                 bool is_first) {
  const Buffer *buffer = &emitter->program->buffers.items[step->operands[operand]];
  const KernelOperand *slot = &emitter->functions[step->kernel].kernel->operands[operand];
  const char *type = c_storage_type(slot->dtype), *of_buffer = c_storage_type(buffer->type.dtype);
  if (buffer->kind == BUFFER_WORKER) {
    const char *scratch = is_first ? "worker->scratch" : "scratch";
    if (buffer->offset == 0) return arena_printf(emitter->arena, "(%s *)%s", type, scratch);
    return arena_printf(emitter->arena, "(%s *)(%s + %lld)", type, scratch,
                        (long long)buffer->offset);
  }
  int64_t bytes = step->loop >= 0 && !is_first ? step->block_bytes[operand] : 0;
  const char *place = buffer_place(emitter, buffer->id);
  if (bytes != 0) place = moved(emitter->arena, place, bytes, buffer->type.dtype, "block");
  if (strcmp(type, of_buffer) == 0) return place;
  return arena_printf(emitter->arena, "(%s *)(%s)", type, place);
}

/* What a step hands to the kernel's function; or, to fill what it keeps, for the first block of its task loop. */
static KernelCall make_call(const Emitter *emitter, const Step *step, bool fills) {
  const KernelFunction *function = &emitter->functions[step->kernel];
  Arena *arena = emitter->arena;
  KernelCall call = {function_launched(function), step->loop >= 0 && !fills ? "&solo" : "worker", 0,
                     ARENA_ARRAY(arena, const char *,
                                 step->operand_count + step->scalar_count + step->key_count +
                                     function->number_count + 2)};
  for (int i = 0; i < step->operand_count; i++)
    call.arguments[call.count++] = operand_place(emitter, step, i, fills);
  bool is_address = emitter->program->target->back_end->guard != NULL;
  for (int i = 0; i < step->scalar_count; i++)
    call.arguments[call.count++] = arena_printf(
        arena, is_address ? "worker->scalars + %d" : "worker->scalars[%d]", step->scalars[i]);
  for (int i = 0; i < step->key_count; i++)
    call.arguments[call.count++] =
        arena_printf(arena, "UINT64_C(0x%016llx)", (unsigned long long)step->keys[i]);
  if (step->kept >= 0) call.arguments[call.count++] = emitter->memory[step->kept];
  for (int i = 0; i < function->number_count; i++)
    call.arguments[call.count++] = function->numbers[i];
  return call;
}

/* "h1.y, line 13": the step, and where its node stands. */
static const char *step_comment(const Emitter *emitter, const Step *step) {
  Arena *arena = emitter->arena;
  const SourceFile *file = step->span.file;
  const char *path = code_in_comment(arena, step->path);
  if (step->span.line <= 0 || file == NULL) return path;
  if (file == emitter->program->module->source)
    return arena_printf(arena, "%s, line %d", path, step->span.line);
  return arena_printf(arena, "%s, %s:%d", path, code_in_comment(arena, file->name),
                      step->span.line);
}

/* A step as the call of `macro` (nnc_parallel.h); its comment, where it has one, stands behind it if there is room. */
static void emit_call(Emitter *emitter, const char *macro, int number, const char *call,
                      const char *comment) {
  enum { WIDTH = 100 };
  Code *code = &emitter->code;
  const char *text = arena_printf(emitter->arena, "%s(%d, %s);", macro, number, call);
  size_t length = strlen(text) + 2 * (size_t)code->indent;
  if (comment == NULL) {
    code_line(code, "%s", text);
  } else if (length + strlen(comment) + strlen(" /*  */") <= WIDTH) {
    code_line(code, "%s /* %s */", text, comment);
  } else {
    code_comment(code, "%s", comment);
    code_line(code, "%s", text);
  }
}

static const char *launch_text(Emitter *emitter, const Step *step) {
  CHECK(step->operand_count == emitter->functions[step->kernel].kernel->operand_count);
  check_aliases(emitter, step);
  KernelCall call = make_call(emitter, step, false);
  return emitter->program->target->back_end->launch_text(emitter->arena, &call);
}

static const char *copy_text(const Emitter *emitter, const Step *step) {
  const char *function = emitter->program->target->back_end->copy_function;
  int64_t bytes = type_bytes(emitter->program->buffers.items[step->copy_to].type);
  return arena_printf(emitter->arena, "%s(worker, %s, %s, %lld)", function ? function : "nnc_copy",
                      buffer_place(emitter, step->copy_to), buffer_place(emitter, step->copy_from),
                      (long long)bytes);
}

/* Before a launch that is a part of one. */
static void emit_part(Emitter *emitter, const ProgramEntry *entry, const Step *step) {
  int place, number = (int)(step - entry->steps.items);
  int launch = merge_of_step(emitter->merges, entry->entry, number, &place);
  CHECK(launch < 0 ||
        emitter->program->target->costs.shared == 0); /* a phase may have one statement */
  if (launch >= 0) emitter->program->target->back_end->write_part(&emitter->code, launch, place);
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

/* A step by itself; `comment`: NULL where its phase has it. */
static void emit_step(Emitter *emitter, const ProgramEntry *entry, const Step *step,
                      const char *comment) {
  int number = (int)(step - entry->steps.items);
  const char *macro = step->scan < 0 ? "NNC_STEP" : "NNC_LAP";
  switch (step->kind) {
  case STEP_LAUNCH:
    if (step->scan >= 0) emit_share(emitter, entry, number, number);
    else if (is_shared(emitter, entry, number, number)) macro = "NNC_SHARED_STEP";
    emit_part(emitter, entry, step);
    emit_call(emitter, macro, number, launch_text(emitter, step), comment);
    return;
  case STEP_BARRIER: emit_call(emitter, macro, number, "nnc_barrier(worker)", NULL); return;
  case STEP_COPY: emit_call(emitter, macro, number, copy_text(emitter, step), comment); return;
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
    const Step *step = &entry->steps.items[s];
    emit_call(emitter, "NNC_LAP", s, launch_text(emitter, step), step_comment(emitter, step));
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

/* Whether a phase, which ends at the step `end`, has one statement. */
static bool is_alone(const ProgramEntry *entry, int first, int end) {
  return end == first + 1 && entry->steps.items[first].loop < 0;
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
  const char *head = arena_printf(emitter->arena, "NNC_PHASE(worker, %d, %d)", shared, i);
  if (is_alone(entry, first, i)) {
    code_line(&emitter->code, "%s /* %s */", head, step_comment(emitter, &steps[first]));
    emitter->code.indent++;
  } else {
    code_open(&emitter->code, "%s", head);
  }
  return i;
}

static void emit_workspace(Emitter *emitter, Workspace space) {
  if (space.bytes > 0)
    code_line(&emitter->code, "nnc_work_at(worker, %lld, %lld);", (long long)space.at,
              (long long)space.bytes);
}

/* The steps of an entry, or of a scan loop. The workers' blocks move where a phase begins. */
static void emit_steps(Emitter *emitter, const ProgramEntry *entry, int first, int last, int scan) {
  int end = -1; /* of the open phase */
  bool is_only = false;
  for (int i = first; i <= last; i++) {
    const Step *step = &entry->steps.items[i];
    if (i == first || entry->steps.items[i - 1].kind == STEP_BARRIER)
      emit_workspace(emitter, (Workspace){step->work_at, step->work_bytes});
    if (scan < 0 && end < 0) {
      end = open_phase(emitter, entry, i);
      is_only = end >= 0 && is_alone(entry, i, end);
    }
    int inner = scan_loop_at(entry, i, scan);
    if (inner >= 0) {
      emit_scan(emitter, entry, inner);
      i = entry->scans.items[inner].last_step;
    } else if (step->loop >= 0) {
      emit_loop(emitter, entry, &entry->loops.items[step->loop]);
      i = entry->loops.items[step->loop].last_step;
    } else if (i == end) {
      if (is_only) emitter->code.indent--;
      else code_close(&emitter->code);
      end = -1;
    } else {
      emit_step(emitter, entry, step, end >= 0 && is_only ? NULL : step_comment(emitter, step));
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
      emit_workspace(emitter, workspace_of_filling(entry));
    }
    is_open = true;
    KernelCall call = make_call(emitter, step, true);
    code_line(code, "%s;", emitter->program->target->back_end->launch_text(emitter->arena, &call));
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

static void open_run(Emitter *emitter, const char *attributes, const char *name) {
  code_line(&emitter->code, "static %svoid %s(nnc_worker *worker)", attributes, name);
  code_block(&emitter->code);
}

/* Functions of some steps each, for an entry that is too long for one; returns how many. */
static int emit_pieces(Emitter *emitter, const ProgramEntry *entry) {
  int count = 0;
  if (entry->steps.count <= MOST_STEPS + MOST_STEPS / 2) return 0;
  for (int first = 0, end; first < entry->steps.count; first = end) {
    end = piece_end(entry, first);
    code_blank(&emitter->code);
    code_comment(&emitter->code, "Steps %d to %d of %s.", first, end - 1, entry_name(entry->entry));
    open_run(emitter, "NNC_PIECE ",
             arena_printf(emitter->arena, "%s_run_%d", entry_name(entry->entry), ++count));
    emit_steps(emitter, entry, first, end - 1, -1);
    code_close(&emitter->code);
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
  open_run(emitter, "", name);
  emit_filling(emitter, entry);
  code_line(code, "nnc_mark(worker, 0);");
  for (int i = 1; i <= pieces; i++) code_line(code, "%s_%d(worker);", name, i);
  if (pieces == 0) emit_steps(emitter, entry, 0, entry->steps.count - 1, -1);
  code_close(code);
}

void emitter_entries(Emitter *emitter) {
  for (int e = 0; e < ENTRY_COUNT; e++)
    if (emitter->program->entries[e].present) emit_entry(emitter, &emitter->program->entries[e]);
}
