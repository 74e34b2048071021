/* Buffers and views of them. A view is a part of a buffer; in a scan loop it may move on from round
 * to round. A view of a view moves with both, when the outer one belongs to an outer loop. */
#include "program/buffers.h"

#include "support/panic.h"
#include "support/integers.h"

int buffer_add(Program *program, BufferKind kind, Type type, const char *name, int entry) {
  Buffer buffer = {.id = program->buffers.count,
                   .kind = kind,
                   .type = type,
                   .name = name,
                   .bytes = target_align(program->target, type_bytes(type)),
                   .offset = -1,
                   .entry = entry,
                   .first_step = -1,
                   .last_step = -1,
                   .alias_of = -1,
                   .view_of = -1,
                   .scan = -1,
                   .owner = -1};
  if (buffer.bytes == 0) buffer.bytes = program->target->alignment;
  vec_push(program->arena, &program->buffers, buffer);
  return buffer.id;
}

int variable_buffer(const Program *program, const char *path) {
  for (int i = 0; i < program->buffers.count; i++)
    if (program->buffers.items[i].kind == BUFFER_VARIABLE && program->buffers.items[i].name == path)
      return i;
  panic("there is no variable %s", path);
}

int buffer_whole(const Program *program, int buffer) {
  while (program->buffers.items[buffer].view_of >= 0)
    buffer = program->buffers.items[buffer].view_of;
  return buffer;
}

int buffer_root(const Program *program, int buffer) {
  for (;;) {
    const Buffer *at = &program->buffers.items[buffer];
    if (at->alias_of < 0 && at->view_of < 0) return buffer;
    buffer = at->view_of >= 0 ? at->view_of : at->alias_of;
  }
}

/* ---- views --------------------------------------------------------------------------------- */

static bool same_view(const Buffer *view, const Buffer *wanted) {
  return view->view_of == wanted->view_of && view->view_offset == wanted->view_offset &&
         type_equal(view->type, wanted->type) && view->scan == wanted->scan &&
         view->round_bytes == wanted->round_bytes && view->turns == wanted->turns &&
         view->turn == wanted->turn;
}

/* The view with these properties, a new one unless it is there. */
static int find_view(Program *program, const Buffer *wanted) {
  for (int i = 0; i < program->buffers.count; i++)
    if (same_view(&program->buffers.items[i], wanted)) return i;
  int id = buffer_add(program, BUFFER_ACTIVATION, wanted->type, wanted->name, -1);
  Buffer *view = &program->buffers.items[id];
  Buffer made = *wanted;
  made.id = id;
  made.kind = BUFFER_ACTIVATION;
  made.bytes = type_bytes(wanted->type);
  made.offset = made.first_step = made.last_step = made.alias_of = made.entry = made.owner = -1;
  *view = made;
  return id;
}

/* A view of `elements` that begins `offset` bytes after the buffer's beginning. */
static Buffer part_of(const Program *program, int buffer, int64_t offset, int64_t elements) {
  const Buffer *from = &program->buffers.items[buffer];
  Buffer view = {.type = type_make(from->type.dtype, shape_make(1, &elements)),
                 .name = from->name,
                 .view_of = buffer,
                 .view_offset = offset,
                 .scan = -1};
  if (from->view_of >= 0 && from->scan < 0) {
    view.view_of = from->view_of;
    view.view_offset += from->view_offset;
  }
  return view;
}

int buffer_view(Program *program, int buffer, int64_t start, int64_t elements) {
  Type type = program->buffers.items[buffer].type;
  if (start == 0 && elements == shape_elements(type.shape)) return buffer;
  Buffer view = part_of(program, buffer, start * dtype_size(type.dtype), elements);
  return find_view(program, &view);
}

int buffer_row(Program *program, int buffer, int64_t elements, int scan, bool reverse,
               int64_t rounds) {
  int64_t bytes = elements * dtype_size(program->buffers.items[buffer].type.dtype);
  Buffer view = part_of(program, buffer, reverse ? (rounds - 1) * bytes : 0, elements);
  view.scan = scan;
  view.round_bytes = reverse ? -bytes : bytes;
  return find_view(program, &view);
}

int buffer_turn(Program *program, int buffer, int64_t elements, int64_t stride, int scan,
                int turn) {
  Buffer view = part_of(program, buffer, 0, elements);
  view.scan = scan;
  view.round_bytes = stride * dtype_size(program->buffers.items[buffer].type.dtype);
  view.turns = CARRY_ROWS;
  view.turn = turn;
  return find_view(program, &view);
}

int64_t buffer_moved(const Program *program, int buffer, const int64_t *rounds) {
  int64_t bytes = 0;
  for (; buffer >= 0; buffer = program->buffers.items[buffer].view_of) {
    const Buffer *view = &program->buffers.items[buffer];
    if (view->scan < 0) continue;
    int64_t row = rounds[view->scan];
    bytes += view->round_bytes * (view->turns > 0 ? (row + view->turn) % view->turns : row);
  }
  return bytes;
}

bool buffer_is_live(const Buffer *buffer, const ProgramEntry *entry, int step) {
  return buffer->entry == (int)entry->entry && buffer->alias_of < 0 &&
         buffer->kind != BUFFER_WORKER && buffer->first_step <= step && step <= buffer->last_step;
}

int64_t live_bytes(const Program *program, const ProgramEntry *entry, int step) {
  int64_t bytes = 0;
  for (int i = 0; i < program->buffers.count; i++)
    if (buffer_is_live(&program->buffers.items[i], entry, step))
      bytes += program->buffers.items[i].bytes;
  return bytes;
}

const TaskLoop *scan_task_loop(const ProgramEntry *entry, const ScanLoop *scan) {
  int number = entry->steps.items[scan->first_step].loop;
  const TaskLoop *loop = number < 0 ? NULL : &entry->loops.items[number];
  return loop && loop->first_step == scan->first_step && loop->last_step == scan->last_step ? loop
                                                                                            : NULL;
}

int scan_loop_at(const ProgramEntry *entry, int step, int outer) {
  for (int i = 0; i < entry->scans.count; i++)
    if (entry->scans.items[i].first_step == step && entry->scans.items[i].outer == outer) return i;
  return -1;
}

const Buffer *buffer_moving_row(const Program *program, int buffer) {
  const Buffer *view = &program->buffers.items[buffer];
  while (view->scan < 0 && view->view_of >= 0) view = &program->buffers.items[view->view_of];
  return view;
}

/* Rows of one table in the same round of the same loop. */
bool buffers_are_apart(const Program *program, int a, int b) {
  const Buffer *x = buffer_moving_row(program, a), *y = buffer_moving_row(program, b);
  if (x->scan < 0 || x->scan != y->scan || x->view_of != y->view_of ||
      x->round_bytes != y->round_bytes || x->turns != y->turns)
    return false;
  if (x->turns > 0)
    return x->turn % x->turns != y->turn % y->turns && x->view_offset == y->view_offset &&
           x->bytes <= x->round_bytes && y->bytes <= x->round_bytes;
  return x->view_offset + x->bytes <= y->view_offset || y->view_offset + y->bytes <= x->view_offset;
}
