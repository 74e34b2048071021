/* The plan of memory as a table, for the report of a run: which value lies where during which steps. */
#include "backend/common/c.h"
#include "backend/common/emitter.h"

/* Of the entry that trains, or where none does of the one that predicts. */
static bool is_shown(const Program *program, EntryKind kind) {
  return kind == (program->entries[ENTRY_TRAIN].present ? ENTRY_TRAIN : ENTRY_PREDICT);
}

static const char *held_kind(const Buffer *buffer) {
  static const char *const kinds[] = {[BUFFER_VARIABLE] = "NNC_HELD_VARIABLE",
                                      [BUFFER_INPUT] = "NNC_HELD_INPUT",
                                      [BUFFER_ACTIVATION] = "NNC_HELD_ACTIVATION",
                                      [BUFFER_RESULT] = "NNC_HELD_RESULT",
                                      [BUFFER_KEPT] = "NNC_HELD_ACTIVATION"};
  return kinds[buffer->kind];
}

/* Variables live from the first step to the last; what lies in another's memory is left out. */
static bool is_held(const Buffer *buffer, const ProgramEntry *entry) {
  bool is_own = buffer->alias_of < 0 && buffer->view_of < 0 && buffer->kind != BUFFER_WORKER;
  return is_own && buffer->bytes > 0 &&
         (buffer->kind == BUFFER_VARIABLE || buffer->entry == (int)entry->entry);
}

const char *emitter_plan_table(Emitter *emitter, const char *name, const ProgramEntry *entry) {
  const Program *program = emitter->program;
  Code *code = &emitter->code;
  int count = 0, last_step = entry->steps.count - 1;
  if (!emitter->options->has_report || !is_shown(program, entry->entry)) return "";
  for (int i = 0; i < program->buffers.count; i++)
    count += is_held(&program->buffers.items[i], entry);
  if (count == 0) return "";
  code_open(code, "static const nnc_held %s_held[%d] =", name, count);
  for (int i = 0; i < program->buffers.count; i++) {
    const Buffer *buffer = &program->buffers.items[i];
    if (!is_held(buffer, entry)) continue;
    bool is_variable = buffer->kind == BUFFER_VARIABLE;
    code_line(code, "{%s, %lld, %lld, %d, %d, %s},", code_string(emitter->arena, buffer->name),
              (long long)emitter_offset(program, i), (long long)buffer->bytes,
              is_variable ? 0 : buffer->first_step, is_variable ? last_step : buffer->last_step,
              held_kind(buffer));
  }
  code_close_list(code);
  return arena_printf(emitter->arena, ", .held_count = %d, .held = %s_held", count, name);
}
