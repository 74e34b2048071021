/* Texts of CUDA that the kernels of attention share: see attention.h. */
#include "backend/cuda/attention.h"

#include "backend/common/c.h"
#include "support/integers.h"

enum { MOST_ROWS = 128 /* of a tile: indices go so far beyond the end */ };

DType attention_value_type(const Kernel *kernel) {
  return kernel->operands[Q].dtype == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;
}

int64_t attention_rows(const Kernel *kernel) {
  const AttentionSlots *slots = &kernel->attention;
  return kernel->kind == KERNEL_ATTENTION_GRAD_KV ? slots->keys : slots->queries;
}

int64_t attention_blocks(const Kernel *kernel, int64_t rows) {
  int64_t down = divide_up(attention_rows(kernel), rows);
  return extent_product((int64_t[]){kernel->attention.batch, kernel->attention.heads, down}, 3);
}

int64_t attention_depth(const Kernel *kernel, int operand) {
  const AttentionSlots *slots = &kernel->attention;
  return operand == V || operand == DY ? slots->value_depth : slots->depth;
}

int attention_mask_of(const Kernel *kernel) {
  int mask = attention_operands(kernel->kind) - 1;
  return kernel->attention.count > mask ? mask : -1;
}

AttentionText attention_text(const Code *code, KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  const AttentionSlots *slots = &kernel->attention;
  AttentionText text = {.arena = code->arena,
                        .function = function,
                        .kernel = kernel,
                        .slots = slots,
                        .holes = {.arena = code->arena}};
  int64_t points = extent_product(kernel->extent, kernel->axis_count);
  int64_t longest = greatest(slots->queries, slots->keys) + 2 * MOST_ROWS;
  text.index_type = cuda_index_type(kernel, greatest(points, longest));
  template_add(&text.holes, "INDEX", text.index_type);
  return text;
}

const char *attention_render(const AttentionText *text, const char *name, int count,
                             const char *const own[][2]) {
  TemplateHoles holes = {.arena = text->arena};
  Text out = {0};
  for (int i = 0; i < count; i++) template_add(&holes, own[i][0], own[i][1]);
  for (int i = 0; i < text->holes.list.count; i++)
    template_add(&holes, text->holes.list.items[i].name, text->holes.list.items[i].text);
  template_render(&out, arena_printf(text->arena, "codegen_templates/cuda/%s.cu", name), &holes);
  return text_take(&out, text->arena);
}

const char *attention_place(const AttentionText *text, int operand, const char *row,
                            const char *column) {
  const char *names[4] = {"batch", "head", row, column}, *at = "0";
  const char *axes = attention_axes(text->kernel->kind, operand);
  for (int i = 0; axes[i]; i++) {
    int64_t stride = text->slots->stride[i][operand];
    if (stride == 0) continue;
    const char *term = stride == 1
                           ? names[i]
                           : arena_printf(text->arena, "%s * %lld", names[i], (long long)stride);
    at = at[0] == '0' ? term : arena_printf(text->arena, "%s + %s", at, term);
  }
  return at;
}

const char *attention_element(const AttentionText *text, int operand, const char *row,
                              const char *column) {
  return cuda_loaded(text->arena, text->function, operand,
                     attention_place(text, operand, row, column));
}

const char *attention_epilogue(const AttentionText *text) {
  static const char *const names[] = {"batch", "head", "row", "column"};
  Text out = {0};
  Code code = {.arena = text->arena, .out = &out};
  for (int i = 0; i < text->kernel->axis_count; i++)
    cuda_declare_axes(&code, text->function, text->index_type, i, i + 1, names[i]);
  cuda_write_epilogue(&code, text->function, "result", attention_value_type(text->kernel));
  return text_take(&out, text->arena);
}
