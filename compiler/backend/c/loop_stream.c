/* Results that go past the caches: a block of values is computed on the stack and then written with
 * stores that read no line of memory before (nnc_stream.h). */
#include "backend/c/loop.h"

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
  size_t mark;   /* where the axis is declared */
} StreamLoop;

static void open_values(void *context) {
  StreamLoop *loop = context;
  loop_write_hint(loop->writer, loop->number, loop->block);
  code_open(loop->writer->code, "for (int64_t l = 0; l < count; l++)");
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
  code_line(code, "nnc_stream(&%s[%s], b%d, count * (int64_t)sizeof *b%d);",
            writer->scope.operands[store->operand], expression_index(&writer->scope, store->index),
            store->operand, store->operand);
  writer->scope.blocks[store->operand] = NULL;
}

static void write_blocks(const StreamLoop *loop, const Stage *stage, bool is_declaration) {
  for (int i = 0; i < stage->store_count; i++)
    if (streams_store(loop->writer->kernel, stage, &stage->stores[i]))
      write_block(loop, &stage->stores[i], is_declaration);
}

void loop_write_streamed(LoopWriter *writer, int number, const char *begin, const char *end,
                         int64_t block) {
  Code *code = writer->code;
  const Stage *stage = &writer->kernel->stages[number];
  int axis = writer->scope.axis_count - 1;
  StreamLoop loop = {.writer = writer, .number = number, .axis = axis, .block = block};
  writer->scope.blocks = ARENA_ARRAY(code->arena, const char *, writer->kernel->operand_count);
  code_open(code, "for (int64_t first = %s; first < %s; first += %lld)", begin, end,
            (long long)block);
  code_line(code, "const int64_t count = nnc_least(%lld, %s - first);", (long long)block, end);
  write_blocks(&loop, stage, true);
  expression_write_loop(code, &writer->scope, number,
                        &(LoopParts){open_values, write_values, declare_axis, &loop});
  const char *name = writer->scope.axes[axis];
  writer->scope.axes[axis] = "first";
  write_blocks(&loop, stage, false);
  writer->scope.axes[axis] = name;
  code_close(code);
  writer->scope.blocks = NULL;
  writer->has_streamed = true;
}
