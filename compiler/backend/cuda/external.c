/* Functions of the user's (extern) on the device: every thread of the launch calls the function. */
#include "backend/common/c.h"
#include "backend/cuda/cuda.h"
#include "support/integers.h"
#include "support/panic.h"

static CudaGrid extern_grid(const Kernel *kernel) {
  int64_t points = extent_product(kernel->extent, kernel->axis_count);
  CudaGrid grid = cuda_grid_of_points(points, 1);
  grid.blocks = least(grid.blocks, 8 * PROCESSORS);
  return grid;
}

static const char *tensor_text(Arena *arena, Type type, const char *data) {
  return arena_printf(arena, "{(void *)%s, %s, %d, %lld, {%s}}", data, c_dtype(type.dtype),
                      type.shape.rank, (long long)shape_elements(type.shape),
                      code_integers(arena, type.shape.rank, type.shape.dim));
}

/* The result is stored as it is: nothing is fused into such a kernel. */
static int result_operand(const Kernel *kernel) {
  CHECK(kernel->epilogue_count == 1 && kernel->epilogue[0].value->kind == EXPR_RESULT);
  return kernel->epilogue[0].operand;
}

static void extern_write_before(Code *code, const KernelFunction *function) {
  code_line(code,
            "__device__ void %s(int count, const nnc_extern_tensor *inputs, "
            "const nnc_extern_tensor *result);",
            function->kernel->external.function);
}

static void extern_write(Code *code, KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  const ExternSlots *slots = &kernel->external;
  Arena *arena = code->arena;
  code_open(code, "const nnc_extern_tensor inputs[%d] =", slots->count);
  for (int i = 0; i < slots->count; i++)
    code_line(code, "%s,", tensor_text(arena, slots->operands[i], function->operands[i]));
  code_close_list(code);
  code_line(code, "const nnc_extern_tensor result = %s;",
            tensor_text(arena, slots->result, function->operands[result_operand(kernel)]));
  code_line(code, "%s(%d, inputs, &result);", slots->function, slots->count);
}

const CudaKernel cuda_kernel_extern = {
    .grid = extern_grid, .write = extern_write, .write_before = extern_write_before};
