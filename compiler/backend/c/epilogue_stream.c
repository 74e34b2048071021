/* Stores past the caches in epilogues: see epilogue_stream.h. */
#include "backend/c/epilogue_stream.h"

#include "backend/c/tiles.h"
#include "backend/common/c.h"

enum { LINE_BYTES = 64 };

bool epilogue_streams(const Kernel *kernel, const Store *store, int first, int end) {
  int64_t base, coefficient[KERNEL_MAX_AXES];
  int64_t size = dtype_size(kernel->operands[store->operand].dtype);
  /* Rows of fewer bytes would often end within a line. */
  if (size < dtype_size(DTYPE_F32) || end > kernel->axis_count ||
      !is_streamed_size(kernel, store->operand) ||
      !index_is_affine(store->index, kernel->axis_count, &base, coefficient))
    return false;
  bool are_lines = base * size % LINE_BYTES == 0;
  for (int i = 0; i < kernel->axis_count; i++)
    if (i < first || i >= end) are_lines = are_lines && coefficient[i] * size % LINE_BYTES == 0;
  return are_lines && kernel_flat_stride(kernel, coefficient, first, end) == 1;
}

bool epilogue_streams_any(const Kernel *kernel, int first, int end) {
  for (int i = 0; i < kernel->epilogue_count; i++)
    if (epilogue_streams(kernel, &kernel->epilogue[i], first, end)) return true;
  return false;
}

void epilogue_declare_rows(Code *code, ExprScope *scope, int first, int end, int64_t most) {
  const Kernel *kernel = scope->kernel;
  scope->blocks = ARENA_ARRAY(code->arena, const char *, kernel->operand_count);
  for (int i = 0; i < kernel->epilogue_count; i++) {
    const Store *store = &kernel->epilogue[i];
    if (!epilogue_streams(kernel, store, first, end)) continue;
    code_line(code, "%s b%d[%lld] NNC_ALIGNED;",
              c_storage_type(kernel->operands[store->operand].dtype), store->operand,
              (long long)most);
    scope->blocks[store->operand] = arena_printf(code->arena, "b%d[c]", store->operand);
  }
}

void epilogue_send_rows(Code *code, const ExprScope *scope, int first, int end, const char *count) {
  const Kernel *kernel = scope->kernel;
  for (int i = 0; i < kernel->epilogue_count; i++) {
    const Store *store = &kernel->epilogue[i];
    if (!epilogue_streams(kernel, store, first, end)) continue;
    code_line(code, "nnc_stream_row(&%s[%s], b%d, %s * (int64_t)sizeof *b%d);",
              scope->operands[store->operand], expression_index(scope, store->index),
              store->operand, count, store->operand);
  }
}

const char *epilogue_end_channels(Code *code, KernelFunction *function, const char *result,
                                  DType dtype, int64_t most) {
  ExprScope scope = function_scope(code->arena, function);
  scope.result = result;
  scope.result_dtype = dtype;
  bool has_rows = epilogue_streams_any(function->kernel, 1, 2);
  if (has_rows) epilogue_declare_rows(code, &scope, 1, 2, most);
  code_open(code, "NNC_ROLLED for (int64_t c = 0; c < channels; c++)");
  size_t mark = code_mark(code);
  expression_write_stores(code, &scope, 0);
  code_declare(code, mark, "i1", "const int64_t i1 = channel + c;");
  code_close(code);
  if (has_rows) {
    scope.axes[1] = "channel";
    epilogue_send_rows(code, &scope, 1, 2, "channels");
  }
  while (code->indent > 0) code_close(code);
  return text_take(code->out, code->arena);
}

const char *epilogue_stream_end(const Kernel *kernel) {
  return epilogue_streams_any(kernel, 1, 2) ? "nnc_stream_end();\n" : "";
}
