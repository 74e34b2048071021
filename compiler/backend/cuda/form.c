/* The tables of forms: see form.h. */
#include "backend/cuda/form.h"

static const char *integers_text(Arena *arena, int count, const int64_t *values, int64_t factor) {
  const char *text = "";
  for (int i = 0; i < count; i++)
    text = arena_printf(arena, "%s%s%lld", text, i ? ", " : "", (long long)(values[i] * factor));
  return text;
}

/* As the driver numbers them (CUtensorMapDataType). */
static int map_type(DType dtype) {
  enum { FLOAT16 = 6, BFLOAT16 = 9, TFLOAT32 = 11 };
  return dtype == DTYPE_F16 ? FLOAT16 : dtype == DTYPE_BF16 ? BFLOAT16 : TFLOAT32;
}

const char *form_write(Code *code, const KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  CudaForm form;
  if (!cuda_find_form(function, &form)) return "NULL";
  code_open(code, "static const nnc_cuda_form nnc_form_%d =", function->number);
  code_line(code, "%lld, %d, %lld, %d, {", (long long)form.tiles, form.threads,
            (long long)form.shared,
            kernel->operand_count + kernel->scalar_count + kernel->key_count + 1);
  for (int i = 0; i < 2; i++) {
    const CudaMap *map = &form.maps[i];
    DType dtype = kernel->operands[i].dtype;
    code_line(code, "{%d, %d, %d, {%s}, {%s}, {%s}},", i, map_type(dtype), map->rank,
              integers_text(code->arena, map->rank, map->extent, 1),
              integers_text(code->arena, map->rank - 1, map->stride + 1, dtype_size(dtype)),
              integers_text(code->arena, map->rank, map->box, 1));
  }
  code_line(code, "}");
  code_close_list(code);
  return arena_printf(code->arena, "&nnc_form_%d", function->number);
}
