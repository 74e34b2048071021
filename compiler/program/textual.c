/* A Program as a text that reads back: its module, then
 *
 *     program "c" parameters 448 optimizer 896 ...        (the target)
 *     scalar "lr"
 *     kernel h_y "tanh(...)": contract, in f32, ...        (kernel/textual.c)
 *     buffer variable f32[4, 16] "h.w" bytes 256 at 0 ...
 *     entry train batch 10 ...
 *       loop steps 2 to 5 ...
 *       scan steps 7 to 30 ...
 *       launch kernel 4 operands [0, 1, 2] ...
 *
 * The tables of fields serve both directions. What is read may say anything: numbers of things are
 * held against how many there are, and so bounded that no sum or product of them overflows; then the
 * verifiers judge it, and what they say is a mistake in the dump. */
#include <string.h>
#include "graph/record.h"
#include "kernel/textual.h"
#include "ops/verify.h"
#include "program/program.h"

#define LARGEST_BYTES ((int64_t)1 << 46)
enum { MOST_TURNS = 1 << 24, MOST_TASKS = 1 << 22, DEEPEST_SCAN = 16 };

#define NUMBER(words, record, member) FIELD(words, INT, record, member, -1, INT32_MAX - 1)
#define BYTES(words, record, member) FIELD(words, INT64, record, member, 0, LARGEST_BYTES)
#define NUMBERS(words, record, member)                                                             \
  FIELD(words, INTS, record, member.items, 0, INT32_MAX - 1,                                       \
        .count = offsetof(record, member.count))

static const Field program_fields[] = {
    BYTES(" parameters ", Program, parameter_bytes),
    BYTES(" optimizer ", Program, optimizer_bytes),
    BYTES(" state ", Program, state_bytes),
    BYTES(" activations ", Program, activation_bytes),
    BYTES(" arena ", Program, arena_bytes),
    BYTES(" worker ", Program, worker_bytes),
    FIELD_LITERAL("\n"),
};

static const char *const buffer_words[] = {"variable", "input",  "activation",
                                           "result",   "worker", "kept"};
static const Field buffer_fields[] = {
    FIELD("buffer ", WORD, Buffer, kind, .most = BUFFER_KEPT + 1, .choices = buffer_words),
    FIELD(" ", TYPE, Buffer, type),
    FIELD(" ", STRING, Buffer, name),
    BYTES(" bytes ", Buffer, bytes),
    BYTES(" at ", Buffer, offset),
    FIELD(" entry ", INT, Buffer, entry, -1, ENTRY_COUNT - 1),
    NUMBER(" steps ", Buffer, first_step),
    NUMBER(" to ", Buffer, last_step),
    NUMBER(" alias ", Buffer, alias_of),
    NUMBER(" view ", Buffer, view_of),
    BYTES(" from ", Buffer, view_offset),
    NUMBER(" scan ", Buffer, scan),
    FIELD(" round ", INT64, Buffer, round_bytes, -((int64_t)1 << 38), (int64_t)1 << 38),
    FIELD(" turns ", INT64, Buffer, turns, 0, MOST_TURNS),
    FIELD(" turn ", INT64, Buffer, turn, 0, MOST_TURNS),
    NUMBER(" owner ", Buffer, owner),
    FIELD(" channels last", FLAG, Buffer, has_channels_last),
    FIELD_LITERAL("\n"),
};

static const Field loop_fields[] = {
    NUMBER("  loop steps ", TaskLoop, first_step),
    NUMBER(" to ", TaskLoop, last_step),
    FIELD(" blocks ", INT64, TaskLoop, blocks, 1, MOST_TASKS),
    FIELD(" of ", INT64, TaskLoop, examples, 0, MAX_ELEMENTS),
    FIELD(" tied", FLAG, TaskLoop, is_tied),
    FIELD_LITERAL("\n"),
};

static const Field scan_fields[] = {
    NUMBER("  scan steps ", ScanLoop, first_step),
    NUMBER(" to ", ScanLoop, last_step),
    FIELD(" rounds ", INT64, ScanLoop, rounds, 1, MOST_TURNS),
    NUMBER(" in ", ScanLoop, outer),
    FIELD(" ", STRING, ScanLoop, path),
    FIELD_LITERAL("\n"),
};

static const char *const step_words[] = {"launch", "barrier", "copy"};
static const Field kind_field[] = {
    FIELD("  ", WORD, Step, kind, .most = STEP_COPY + 1, .choices = step_words)};
static const Field launch_fields[] = {
    NUMBER(" kernel ", Step, kernel),
    FIELD(" operands ", INTS, Step, operands, .most = INT32_MAX - 1,
          .count = offsetof(Step, operand_count)),
    FIELD(" blocks ", EACH, Step, block_bytes, .most = MAX_ELEMENTS,
          .count = offsetof(Step, operand_count)),
    NUMBER(" kept ", Step, kept),
    FIELD(" scalars ", INTS, Step, scalars, .most = INT32_MAX - 1,
          .count = offsetof(Step, scalar_count)),
    {.words = " keys ",
     .kind = FIELD_INT64S, /* as signed numbers */
     .offset = offsetof(Step, keys),
     .least = INT64_MIN,
     .most = INT64_MAX,
     .count = offsetof(Step, key_count)},
};
static const Field copy_fields[] = {
    NUMBER(" from ", Step, copy_from),
    NUMBER(" to ", Step, copy_to),
};
static const Field barrier_fields[] = {FIELD(" ", STRING, Step, reason)};
static const struct {
  const Field *fields;
  int count;
} own_fields[] = {{RECORD(launch_fields)}, {RECORD(barrier_fields)}, {RECORD(copy_fields)}};
static const Field step_fields[] = {
    FIELD(" tasks ", INT64, Step, task_count, 0, MOST_TASKS),
    NUMBER(" loop ", Step, loop),
    NUMBER(" scan ", Step, scan),
    BYTES(" works at ", Step, work_at),
    BYTES(" in ", Step, work_bytes),
    FIELD(" flops ", DOUBLE, Step, flops),
    FIELD(" bytes ", DOUBLE, Step, bytes),
    FIELD(" products ", DOUBLE, Step, product_flops),
    FIELD(" ", STRING, Step, path),
    FIELD(" ", STRING, Step, class_name),
    FIELD(" ", MAYBE, Step, operator_name),
    FIELD(" ", MAYBE, Step, nodes),
    FIELD("", PLACE, Step, span),
    FIELD_LITERAL("\n"),
};

static const Field entry_fields[] = {
    FIELD(" batch ", INT64, ProgramEntry, batch, 0, MAX_ELEMENTS),
    NUMBER(" barriers ", ProgramEntry, barrier_count),
    BYTES(" peak ", ProgramEntry, activation_peak),
    FIELD(" flops ", DOUBLE, ProgramEntry, flops),
    FIELD(" bytes ", DOUBLE, ProgramEntry, bytes),
    FIELD(" products ", DOUBLE, ProgramEntry, product_flops),
    NUMBERS(" inputs ", ProgramEntry, inputs),
    NUMBERS(" results ", ProgramEntry, results),
    FIELD_LITERAL("\n"),
};

/* ---- printing ------------------------------------------------------------------------------ */

static void print_entry(Text *text, const ProgramEntry *entry, const FileList *files) {
  text_printf(text, "entry %s", entry_name(entry->entry));
  record_print(text, RECORD(entry_fields), entry, files);
  for (int i = 0; i < entry->loops.count; i++)
    record_print(text, RECORD(loop_fields), &entry->loops.items[i], files);
  for (int i = 0; i < entry->scans.count; i++)
    record_print(text, RECORD(scan_fields), &entry->scans.items[i], files);
  for (int i = 0; i < entry->steps.count; i++) {
    const Step *step = &entry->steps.items[i];
    record_print(text, RECORD(kind_field), step, files);
    record_print(text, own_fields[step->kind].fields, own_fields[step->kind].count, step, files);
    record_print(text, RECORD(step_fields), step, files);
  }
}

void program_print_whole(Text *text, const Program *program) {
  Arena *scratch = arena_create();
  FileList files;
  module_print_files(text, program->module, scratch, &files);
  text_add(text, "program ");
  text_add_quoted(text, program->target->name);
  record_print(text, RECORD(program_fields), program, &files);
  for (int i = 0; i < program->scalar_names.count; i++) {
    text_add(text, "scalar ");
    text_add_quoted(text, program->scalar_names.items[i]);
    text_add_char(text, '\n');
  }
  for (int i = 0; i < program->kernels.count; i++)
    kernel_print_whole(text, program->kernels.items[i]);
  for (int i = 0; i < program->buffers.count; i++)
    record_print(text, RECORD(buffer_fields), &program->buffers.items[i], &files);
  for (int e = 0; e < ENTRY_COUNT; e++)
    if (program->entries[e].present) print_entry(text, &program->entries[e], &files);
  arena_destroy(scratch);
}

/* ---- reading ------------------------------------------------------------------------------- */

/* A number that a record beginning at `start` gives: of one of `count` things, or perhaps -1. */
static bool check_number(Reader *reader, Span start, const char *what, int number, int least,
                         int count) {
  if (number >= least && number < count) return true;
  return reader_fail_at(reader, start, "there is no %s %d: there are %d", what, number, count);
}

static bool check_numbers(Reader *reader, Span start, const char *what, int list_count,
                          const int *list, int count) {
  for (int i = 0; i < list_count; i++)
    if (!check_number(reader, start, what, list[i], 0, count)) return false;
  return true;
}

static const char *check_kernel(Arena *arena, const Program *program, const Kernel *kernel) {
  const Target *target = program->target;
  if (!target->kernels[kernel->kind]) return "the target has no kernels of this kind";
  if (kernel->feeder && !target->can_feed) return "the target has no kernels that feed others";
  const char *wrong = kernel_verify(arena, kernel);
  for (int i = 0; i < kernel->operand_count; i++)
    if (!kernel->operands[i].name) return "an operand without a name";
  if (kernel->kind == KERNEL_EXTERN &&
      !module_find_extern(program->module, kernel->external.function))
    return "a function that the module does not declare";
  if (!wrong) wrong = kernel_verify_operators(arena, kernel);
  if (!wrong && kernel->feeder && !target->can_feed(kernel, kernel->feeder))
    return "the target cannot feed this kernel";
  return wrong;
}

static bool read_kernel(Reader *reader, Program *program) {
  Span start = reader->token.span;
  Kernel *kernel = ARENA_NEW(reader->arena, Kernel);
  if (!kernel_read(reader, kernel)) return false;
  const char *wrong = check_kernel(reader->arena, program, kernel);
  vec_push(reader->arena, &program->kernels, kernel);
  return !wrong || reader_fail_at(reader, start, "kernel %s: %s", kernel->name, wrong);
}

static bool read_buffers(Reader *reader, Program *program) {
  Spans places = {0};
  while (reader_sees_word(reader, "buffer")) {
    Buffer buffer = {.id = program->buffers.count};
    vec_push(reader->arena, &places, reader->token.span);
    if (!record_read(reader, RECORD(buffer_fields), &buffer)) return false;
    vec_push(reader->arena, &program->buffers, buffer);
  }
  int count = program->buffers.count;
  for (int i = 0; i < count; i++)
    if (!check_number(reader, places.items[i], "buffer", program->buffers.items[i].alias_of, -1,
                      count) ||
        !check_number(reader, places.items[i], "buffer", program->buffers.items[i].view_of, -1, i))
      return false;
  for (int i = 0; i < count; i++) {
    int at = i, steps = 0;
    while (at >= 0 && steps++ <= count) {
      const Buffer *buffer = &program->buffers.items[at];
      at = buffer->view_of >= 0 ? buffer->view_of : buffer->alias_of;
    }
    if (at >= 0) return reader_fail_at(reader, places.items[i], "this buffer lies in itself");
  }
  return !reader->failed;
}

static bool read_scan(Reader *reader, ProgramEntry *entry) {
  Span start = reader->token.span;
  ScanLoop scan;
  int depth = 0;
  if (!record_read(reader, RECORD(scan_fields), &scan) ||
      !check_number(reader, start, "scan before this, number", scan.outer, -1, entry->scans.count))
    return false;
  for (int at = scan.outer; at >= 0; at = entry->scans.items[at].outer) depth++;
  if (depth > DEEPEST_SCAN) return reader_fail_at(reader, start, "scans are nested too deeply");
  vec_push(reader->arena, &entry->scans, scan);
  return true;
}

static bool check_step(Reader *reader, Span start, const Program *program,
                       const ProgramEntry *entry, const Step *step) {
  int buffers = program->buffers.count, copied = step->kind == STEP_COPY ? 0 : -1;
  int launched = step->kind == STEP_LAUNCH ? 0 : -1;
  if (step->kind != STEP_BARRIER && !step->operator_name)
    return reader_fail_at(reader, start, "a step without an operator");
  if (step->loop >= 0 && step->operand_count > 0 && !step->block_bytes)
    return reader_fail_at(reader, start, "a launch in a loop has bytes from block to block");
  return check_number(reader, start, "kernel", step->kernel, launched, program->kernels.count) &&
         check_numbers(reader, start, "buffer", step->operand_count, step->operands, buffers) &&
         check_numbers(reader, start, "scalar", step->scalar_count, step->scalars,
                       program->scalar_names.count) &&
         check_number(reader, start, "buffer", step->kept, -1, buffers) &&
         check_number(reader, start, "loop", step->loop, -1, entry->loops.count) &&
         check_number(reader, start, "scan", step->scan, -1, entry->scans.count) &&
         check_number(reader, start, "buffer", step->copy_from, copied, buffers) &&
         check_number(reader, start, "buffer", step->copy_to, copied, buffers);
}

static bool read_steps(Reader *reader, const Program *program, ProgramEntry *entry) {
  while (reader_sees_word(reader, "launch") || reader_sees_word(reader, "barrier") ||
         reader_sees_word(reader, "copy")) {
    Span start = reader->token.span;
    Step step = {.kernel = -1, .kept = -1};
    if (!record_read(reader, RECORD(kind_field), &step) ||
        !record_read(reader, own_fields[step.kind].fields, own_fields[step.kind].count, &step) ||
        !record_read(reader, RECORD(step_fields), &step) ||
        !check_step(reader, start, program, entry, &step))
      return false;
    vec_push(reader->arena, &entry->steps, step);
  }
  return !reader->failed;
}

/* The loops' first and last steps are steps. */
static bool check_loops(Reader *reader, Span start, const ProgramEntry *entry) {
  int count = entry->steps.count;
  for (int i = 0; i < entry->loops.count; i++)
    if (!check_number(reader, start, "step", entry->loops.items[i].last_step, 0, count) ||
        !check_number(reader, start, "step", entry->loops.items[i].first_step, 0,
                      entry->loops.items[i].last_step + 1))
      return false;
  for (int i = 0; i < entry->scans.count; i++)
    if (!check_number(reader, start, "step", entry->scans.items[i].first_step, 0, count))
      return false;
  return true;
}

static bool read_entry(Reader *reader, Program *program) {
  const char *names[ENTRY_COUNT];
  int number, buffers = program->buffers.count;
  Span start = reader->token.span;
  for (int i = 0; i < ENTRY_COUNT; i++) names[i] = entry_name((EntryKind)i);
  if (!reader_expect_word(reader, "entry") ||
      !reader_choice(reader, names, ENTRY_COUNT, "the name of an entry", &number))
    return false;
  ProgramEntry *entry = &program->entries[number];
  if (entry->present) return reader_fail_at(reader, start, "entry %s stands twice", names[number]);
  entry->present = true;
  if (!record_read(reader, RECORD(entry_fields), entry) ||
      !check_numbers(reader, start, "buffer", entry->inputs.count, entry->inputs.items, buffers) ||
      !check_numbers(reader, start, "buffer", entry->results.count, entry->results.items, buffers))
    return false;
  while (reader_sees_word(reader, "loop")) {
    TaskLoop loop = {0};
    if (!record_read(reader, RECORD(loop_fields), &loop)) return false;
    vec_push(reader->arena, &entry->loops, loop);
  }
  while (reader_sees_word(reader, "scan"))
    if (!read_scan(reader, entry)) return false;
  return read_steps(reader, program, entry) && check_loops(reader, start, entry);
}

/* ---- whether the module is that of the Program --------------------------------------------- */

/* Every variable has a buffer of its own. */
static const char *check_variables(Arena *arena, const Program *program) {
  const Module *module = program->module;
  int count = 0;
  for (int i = 0; i < program->buffers.count; i++)
    count +=
        program->buffers.items[i].kind == BUFFER_VARIABLE && program->buffers.items[i].view_of < 0;
  bool fits = count == module->variables.count && count <= program->buffers.count;
  for (int i = 0; i < count && fits; i++) {
    const Buffer *buffer = &program->buffers.items[i];
    fits = buffer->kind == BUFFER_VARIABLE && buffer->alias_of < 0 &&
           buffer->name == module->variables.items[i].path &&
           type_equal(buffer->type, module->variables.items[i].type) &&
           (!buffer->has_channels_last || buffer->type.shape.rank >= 3);
  }
  return fits ? NULL : "the first buffers are not those of the variables";
}

static const char *check_ends(Arena *arena, const Program *program, const ProgramEntry *entry) {
  Module *module = (Module *)program->module;
  const Graph *graph = module->entries[entry->entry];
  int count = 0;
  for (int i = 0; i < entry->inputs.count; i++)
    if (!module_find_input(module, program->buffers.items[entry->inputs.items[i]].name))
      return "the module has no such input";
  for (int i = 0; i < graph->outputs.count; i++) {
    const Output *output = &graph->outputs.items[i];
    if (output->kind != OUTPUT_RESULT && output->kind != OUTPUT_ACCUMULATOR) continue;
    if (count == entry->results.count ||
        !type_equal(program->buffers.items[entry->results.items[count++]].type, output->node->type))
      return arena_printf(arena, "result %s does not fit", output->name);
  }
  return count == entry->results.count ? NULL : "there are too many results";
}

static const char *check_program(Arena *arena, Program *program) {
  const char *wrong = check_variables(arena, program);
  for (int e = 0; e < ENTRY_COUNT && !wrong; e++) {
    ProgramEntry *entry = &program->entries[e];
    bool is_run = e != ENTRY_HOST && e != ENTRY_FINISH && program->module->entries[e];
    entry->entry = (EntryKind)e;
    if (entry->present != is_run)
      wrong =
          arena_printf(arena, "entry %s is not in module and program", entry_name(entry->entry));
    else if (is_run) wrong = check_ends(arena, program, entry);
  }
  return wrong ? wrong : program_verify(arena, program);
}

static bool read_program(Reader *reader, Program *program) {
  const char *target;
  if (!reader_accept_word(reader, "program"))
    return reader_fail(reader, "expected 'program': the dump of a pass has no Program");
  Span start = reader->token.span;
  if (!reader_string(reader, &target)) return false;
  if (strcmp(target, program->target->name) != 0)
    return reader_fail_at(reader, start, "this was lowered for --target=%s, not for %s", target,
                          program->target->name);
  if (!record_read(reader, RECORD(program_fields), program)) return false;
  while (reader_accept_word(reader, "scalar")) {
    const char *name;
    if (!reader_string(reader, &name)) return false;
    vec_push(reader->arena, &program->scalar_names, name);
  }
  while (reader_sees_word(reader, "kernel"))
    if (!read_kernel(reader, program)) return false;
  if (!read_buffers(reader, program)) return false;
  while (reader_sees_word(reader, "entry"))
    if (!read_entry(reader, program)) return false;
  if (reader->failed || reader->token.kind == TOKEN_END) return !reader->failed;
  return reader_fail(reader, "expected an item of a program (scalar, kernel, buffer or entry)");
}

Program *program_parse(Arena *arena, Diagnostics *diagnostics, const SourceFile *dump,
                       FindViolation *find, const Target *target) {
  Reader reader;
  Program *program = ARENA_NEW(arena, Program);
  program->arena = arena;
  program->target = target;
  reader_start(&reader, arena, diagnostics, dump);
  if (!module_read(&reader, find)) return NULL;
  program->module = reader.module;
  Span start = reader.token.span;
  if (!read_program(&reader, program)) return NULL;
  const char *wrong = check_program(arena, program);
  if (!wrong) return program;
  reader_fail_at(&reader, start, "%s", wrong);
  return NULL;
}
