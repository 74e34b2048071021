/* Results that go past the caches: a block of values is computed on the stack and then written with
 * stores that read no line of memory before (nnc_stream.h). */
#include "backend/c/loop.h"

#include <string.h>
#include "backend/common/c.h"

bool loop_streams(const LoopWriter *writer, int number) {
  const Stage *stage = &writer->kernel->stages[number];
  for (int i = 0; i < stage->store_count; i++)
    if (streams_store(writer->kernel, stage, &stage->stores[i])) return true;
  return false;
}

typedef struct StreamLoop {
  LoopWriter *writer;
  int number, axis;
  int64_t block; /* points that are computed before they are sent off */
  bool is_whole; /* the block that is written has so many points, else `count` */
  size_t mark;   /* where the axis is declared */
} StreamLoop;

static void open_values(void *context) {
  StreamLoop *loop = context;
  /* Written out, each load would step over several lines, and the processor fetches less ahead. */
  if (!loop_write_hint(loop->writer, loop->number, loop->block))
    code_line(loop->writer->code, "NNC_ROLLED");
  const char *count =
      loop->is_whole ? code_integer(loop->writer->code->arena, loop->block) : "count";
  code_open(loop->writer->code, "for (int64_t l = 0; l < %s; l++)", count);
  loop->mark = code_mark(loop->writer->code);
}

static void write_values(void *context) {
  const StreamLoop *loop = context;
  expression_write_stores(loop->writer->code, &loop->writer->scope, loop->number);
}

static void declare_axis(void *context) {
  const StreamLoop *loop = context;
  const char *axis = loop->writer->scope.axes[loop->axis];
  code_declare(loop->writer->code, loop->mark, axis,
               arena_printf(loop->writer->code->arena, "const int64_t %s = first + l;", axis));
}

/* The block that a store's values are written to instead: declared, or sent off. */
static void write_block(const StreamLoop *loop, const Store *store, bool is_declaration) {
  LoopWriter *writer = loop->writer;
  Code *code = writer->code;
  if (is_declaration) {
    const char *type = c_storage_type(writer->kernel->operands[store->operand].dtype);
    code_line(code, "%s b%d[%lld] NNC_ALIGNED;", type, store->operand, (long long)loop->block);
    writer->scope.blocks[store->operand] = arena_printf(code->arena, "b%d[l]", store->operand);
    return;
  }
  const char *to = arena_printf(code->arena, "&%s[%s]", writer->scope.operands[store->operand],
                                expression_index(&writer->scope, store->index));
  if (loop->is_whole)
    code_line(code, "nnc_stream_lines(%s, b%d, sizeof b%d);", to, store->operand, store->operand);
  else
    code_line(code, "nnc_stream(%s, b%d, count * (int64_t)sizeof *b%d);", to, store->operand,
              store->operand);
  writer->scope.blocks[store->operand] = NULL;
}

static void write_blocks(const StreamLoop *loop, const Stage *stage, bool is_declaration) {
  for (int i = 0; i < stage->store_count; i++)
    if (streams_store(loop->writer->kernel, stage, &stage->stores[i]))
      write_block(loop, &stage->stores[i], is_declaration);
}

/* One block from `first` on. */
static void write_piece(StreamLoop *loop, const Stage *stage) {
  LoopWriter *writer = loop->writer;
  write_blocks(loop, stage, true);
  expression_write_loop(writer->code, &writer->scope, loop->number,
                        &(LoopParts){open_values, write_values, declare_axis, loop});
  const char *name = writer->scope.axes[loop->axis];
  writer->scope.axes[loop->axis] = "first";
  write_blocks(loop, stage, false);
  writer->scope.axes[loop->axis] = name;
}

void loop_write_streamed(LoopWriter *writer, int number, const char *begin, const char *end,
                         int64_t points, int64_t block) {
  Code *code = writer->code;
  long long size = block;
  const Stage *stage = &writer->kernel->stages[number];
  StreamLoop loop = {.writer = writer,
                     .number = number,
                     .axis = writer->scope.axis_count - 1,
                     .block = block,
                     .is_whole = true};
  writer->scope.blocks = ARENA_ARRAY(code->arena, const char *, writer->kernel->operand_count);
  bool has_rest = points % block != 0;
  code_open(code, "for (int64_t first = %s; first %s %s; first += %lld)", begin,
            has_rest ? arena_printf(code->arena, "+ %lld <=", size) : "<", end, size);
  write_piece(&loop, stage);
  code_close(code);
  if (has_rest) {
    loop.is_whole = false;
    const char *all =
        strcmp(begin, "0") == 0 ? end : arena_printf(code->arena, "(%s - %s)", end, begin);
    code_open(code, "if (%s %% %lld != 0)", all, size);
    code_line(code, "const int64_t count = %s %% %lld, first = %s - count;", all, size, end);
    write_piece(&loop, stage);
    code_close(code);
  }
  writer->scope.blocks = NULL;
  writer->has_streamed = true;
}
