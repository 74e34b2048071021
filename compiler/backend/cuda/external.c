/* Functions of the user's (extern) on the device: every thread of the launch calls the function. */
#include "backend/common/externs.h"
#include "backend/cuda/cuda.h"
#include "support/integers.h"

static CudaGrid extern_grid(const Kernel *kernel) {
  int64_t points = extent_product(kernel->extent, kernel->axis_count);
  CudaGrid grid = cuda_grid_of_points(points, 1);
  grid.blocks = least(grid.blocks, 8 * PROCESSORS);
  return grid;
}

/* It calls the user's by a name of ours, since what that one is called may mean something else here. */
static void extern_write_before(Code *code, const KernelFunction *function) {
  code_line(code, "#include \"nnc_cuda_extern.h\"");
  code_line(
      code,
      "NNC_EXTERN void nnc_call_%s(int, const nnc_extern_tensor *, const nnc_extern_tensor *);",
      function->kernel->external.function);
}

static void extern_write(Code *code, KernelFunction *function) {
  const ExternSlots *slots = &function->kernel->external;
  function_write_tensors(code, function);
  code_line(code, "nnc_call_%s(%d, inputs, &result);", slots->function, slots->count);
}

/* The file in a namespace of its own, with its own lines; then the functions that kernels call. */
void cuda_write_extern(Code *code, const DeviceFile *file, int number,
                       const CompileOptions *options) {
  Arena *arena = code->arena;
  const Text *text = &file->text;
  code_blank(code);
  code_line(code, "namespace nnc_extern_%d {", number);
  code_line(code, "#line 1 %s", code_string(arena, file->name));
  if (text->length > 0) text_add_bytes(code->out, text->data, text->length);
  if (text->length > 0 && text->data[text->length - 1] != '\n') text_add_char(code->out, '\n');
  code_line(code, "}");
  for (int i = 0; i < options->extern_count; i++) {
    const char *function = options->externs[i]->function;
    if (externs_device_file(options, function) != number) continue;
    code_line(code, "#line 1 \"the call of %s\"", function);
    code_open(code,
              "NNC_EXTERN void nnc_call_%s(int nnc_count, const nnc_extern_tensor *nnc_inputs, "
              "const nnc_extern_tensor *nnc_result)",
              function);
    code_line(code, "nnc_extern_%d::%s(nnc_count, nnc_inputs, nnc_result);", number, function);
    code_close(code);
  }
}

const CudaKernel cuda_kernel_extern = {
    .grid = extern_grid, .write = extern_write, .write_before = extern_write_before};
