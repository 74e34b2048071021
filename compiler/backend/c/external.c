/* Functions of the user's (extern): the kernels that call them, as C. */
#include "backend/c/kernels.h"

static void extern_write(Code *code, KernelFunction *function) {
  const ExternSlots *slots = &function->kernel->external;
  function_write_head(code, function);
  code_line(code,
            "extern void %s(int count, const nnc_extern_tensor *inputs, "
            "const nnc_extern_tensor *result);",
            slots->function);
  code_open(code, "NNC_TASKS(worker, 1, task)");
  function_write_tensors(code, function);
  code_line(code, "%s(%d, inputs, &result);", slots->function, slots->count);
  code_close(code);
  code_close(code);
}

const TargetKernel c_kernel_extern = {.write = extern_write};
