/* A kernel as a function: see function.h. */
#include "backend/common/function.h"

#include <string.h>
#include "backend/common/c.h"
#include "support/panic.h"

ExprScope function_scope(Arena *arena, KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  ExprScope scope = {.arena = arena,
                     .dialect = function->dialect,
                     .kernel = kernel,
                     .operands = function->operands,
                     .scalars = function->scalars,
                     .keys = function->keys,
                     .axis_count = kernel->axis_count,
                     .stages = ARENA_ARRAY(arena, const char *, kernel->stage_count + 1),
                     .temporaries = &function->temporaries};
  for (int i = 0; i < kernel->axis_count; i++) {
    scope.axes[i] = arena_printf(arena, "i%d", i);
    scope.extents[i] = kernel->extent[i];
  }
  return scope;
}

const char *function_call_text(Arena *arena, const KernelCall *call) {
  Text text = {0};
  text_printf(&text, "%s(%s", call->function->name, call->worker);
  for (int i = 0; i < call->count; i++) text_printf(&text, ", %s", call->arguments[i]);
  text_add_char(&text, ')');
  return text_take(&text, arena);
}

/* ---- functions of the user's ---- */

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

void function_write_tensors(Code *code, const KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  const ExternSlots *slots = &kernel->external;
  Arena *arena = code->arena;
  code_open(code, "const nnc_extern_tensor inputs[%d] =", slots->count);
  for (int i = 0; i < slots->count; i++)
    code_line(code, "%s,", tensor_text(arena, slots->operands[i], function->operands[i]));
  code_close_list(code);
  code_line(code, "const nnc_extern_tensor result = %s;",
            tensor_text(arena, slots->result, function->operands[result_operand(kernel)]));
}
