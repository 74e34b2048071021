/* Functions of the user's (extern): the kernels that call them, as C. */
#include "backend/c/kernels.h"
#include "backend/common/c.h"
#include "support/panic.h"

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

static void extern_write(Code *code, KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  const ExternSlots *slots = &kernel->external;
  Arena *arena = code->arena;
  function_write_head(code, function);
  code_line(code,
            "extern void %s(int count, const nnc_extern_tensor *inputs, "
            "const nnc_extern_tensor *result);",
            slots->function);
  code_open(code, "NNC_TASKS(worker, 1, task)");
  code_open(code, "const nnc_extern_tensor inputs[%d] =", slots->count);
  for (int i = 0; i < slots->count; i++)
    code_line(code, "%s,", tensor_text(arena, slots->operands[i], function->operands[i]));
  code_close_list(code);
  code_line(code, "const nnc_extern_tensor result = %s;",
            tensor_text(arena, slots->result, function->operands[result_operand(kernel)]));
  code_line(code, "%s(%d, inputs, &result);", slots->function, slots->count);
  code_close(code);
  code_close(code);
}

const TargetKernel c_kernel_extern = {.write = extern_write};
