/* A Program as text, for dumps: kernels, buffers, steps. */
#include "program/print.h"

static const char *const kind_name[] = {
    [BUFFER_VARIABLE] = "variable", [BUFFER_INPUT] = "input",   [BUFFER_ACTIVATION] = "activation",
    [BUFFER_RESULT] = "result",     [BUFFER_WORKER] = "worker", [BUFFER_KEPT] = "kept",
};

static void print_buffer(Text *text, const Buffer *buffer) {
  text_printf(text, "  #%d %s ", buffer->id, kind_name[buffer->kind]);
  text_add_type(text, buffer->type);
  text_printf(text, " %s at %lld", buffer->name, (long long)buffer->offset);
  if (buffer->entry >= 0)
    text_printf(text, ", %s steps %d to %d", entry_name((EntryKind)buffer->entry),
                buffer->first_step, buffer->last_step);
  if (buffer->alias_of >= 0) text_printf(text, ", in the memory of #%d", buffer->alias_of);
  if (buffer->has_channels_last) text_add(text, ", channels last");
  if (buffer->view_of >= 0) text_printf(text, ", part of #%d", buffer->view_of);
  if (buffer->scan >= 0 && buffer->turns > 0)
    text_printf(text, ", row (r + %lld) %% %lld in round r of scan %d", (long long)buffer->turn,
                (long long)buffer->turns, buffer->scan);
  else if (buffer->scan >= 0)
    text_printf(text, ", %+lld bytes each round of scan %d", (long long)buffer->round_bytes,
                buffer->scan);
  text_add_char(text, '\n');
}

static void print_step(Text *text, const Program *program, int number, const Step *step) {
  text_printf(text, "  %3d ", number);
  if (step->kind == STEP_BARRIER) {
    text_printf(text, "barrier: %s\n", step->reason);
    return;
  }
  if (step->kind == STEP_COPY) {
    text_printf(text, "copy #%d to #%d  %s\n", step->copy_from, step->copy_to, step->path);
    return;
  }
  const Kernel *kernel = program->kernels.items[step->kernel];
  text_printf(text, "%s(", kernel->name);
  for (int i = 0; i < step->operand_count; i++)
    text_printf(text, "%s%s#%d", i > 0 ? ", " : "", kernel->operands[i].is_output ? ">" : "",
                step->operands[i]);
  for (int i = 0; i < step->scalar_count; i++)
    text_printf(text, ", %s", program->scalar_names.items[step->scalars[i]]);
  text_printf(text, ") x %lld  %s, %s", (long long)step->task_count, step->class_name, step->path);
  if (step->kept >= 0) text_printf(text, ", keeps #%d", step->kept);
  if (step->loop >= 0) text_printf(text, ", in loop %d", step->loop);
  if (step->scan >= 0) text_printf(text, ", in scan %d", step->scan);
  text_add_char(text, '\n');
}

static void print_loop(Text *text, int number, const TaskLoop *loop) {
  text_printf(text, "  loop %d: steps %d to %d in %lld blocks of %lld\n", number, loop->first_step,
              loop->last_step, (long long)loop->blocks, (long long)loop->examples);
}

static void print_scan(Text *text, int number, const ScanLoop *scan) {
  text_printf(text, "  scan %d: steps %d to %d in %lld rounds, %s\n", number, scan->first_step,
              scan->last_step, (long long)scan->rounds, scan->path);
}

void program_print_buffers(Text *text, const Program *program) {
  text_add(text, "buffers\n");
  for (int i = 0; i < program->buffers.count; i++) print_buffer(text, &program->buffers.items[i]);
}

void program_print_entry(Text *text, const Program *program, EntryKind kind) {
  const ProgramEntry *entry = &program->entries[kind];
  text_printf(text, "entry %s: batch %lld, %d barriers, %.0f flops\n", entry_name(kind),
              (long long)entry->batch, entry->barrier_count, entry->flops);
  for (int i = 0; i < entry->loops.count; i++) print_loop(text, i, &entry->loops.items[i]);
  for (int i = 0; i < entry->scans.count; i++) print_scan(text, i, &entry->scans.items[i]);
  for (int i = 0; i < entry->steps.count; i++) print_step(text, program, i, &entry->steps.items[i]);
}

void program_print(Text *text, const Program *program) {
  for (int i = 0; i < program->kernels.count; i++) kernel_print(text, program->kernels.items[i]);
  program_print_buffers(text, program);
  for (int e = 0; e < ENTRY_COUNT; e++)
    if (program->entries[e].present) program_print_entry(text, program, (EntryKind)e);
  text_printf(text, "arena %lld bytes, worker %lld bytes\n", (long long)program->arena_bytes,
              (long long)program->worker_bytes);
}
