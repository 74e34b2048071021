/* Functions of kernels: what all kinds share. */
#include "backend/c/kernels.h"

#include "support/panic.h"

void kernel_write(Code *code, KernelFunction *function) {
  static void (*const writers[KERNEL_KIND_COUNT])(Code *, KernelFunction *) = {
      [KERNEL_LOOP] = loop_write,           [KERNEL_CONTRACT] = contract_write,
      [KERNEL_CONV] = conv_write,           [KERNEL_CONV_INPUT] = conv_write,
      [KERNEL_CONV_WEIGHT] = conv_write,    [KERNEL_MAX_POOL_GRAD] = max_pool_grad_write,
      [KERNEL_SCATTER_ADD] = scatter_write, [KERNEL_ARGSORT] = argsort_write,
      [KERNEL_EXTERN] = extern_write,
  };
  if (writers[function->kernel->kind] == NULL)
    panic("kernel %s: no code for kind %d", function->name, (int)function->kernel->kind);
  writers[function->kernel->kind](code, function);
}

ExprScope function_scope(Arena *arena, KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  ExprScope scope = {.arena = arena,
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

const char *function_parameters(Arena *arena, const KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  const char *text = "";
  for (int i = 0; i < kernel->operand_count; i++) {
    const KernelOperand *operand = &kernel->operands[i];
    text = arena_printf(arena, "%s, %s%s *restrict %s", text, operand->is_output ? "" : "const ",
                        c_storage_type(operand->dtype), function->operands[i]);
  }
  for (int i = 0; i < kernel->scalar_count; i++)
    text = arena_printf(arena, "%s, double %s", text, function->scalars[i]);
  for (int i = 0; i < kernel->key_count; i++)
    text = arena_printf(arena, "%s, uint64_t %s", text, function->keys[i]);
  return text;
}

/* Every parameter behind `before`. */
static const char *each_parameter(Arena *arena, const KernelFunction *function,
                                  const char *before) {
  const Kernel *kernel = function->kernel;
  const char *text = "";
  for (int i = 0; i < kernel->operand_count; i++)
    text = arena_printf(arena, "%s, %s%s", text, before, function->operands[i]);
  for (int i = 0; i < kernel->scalar_count; i++)
    text = arena_printf(arena, "%s, %s%s", text, before, function->scalars[i]);
  for (int i = 0; i < kernel->key_count; i++)
    text = arena_printf(arena, "%s, %s%s", text, before, function->keys[i]);
  return text;
}

const char *function_arguments(Arena *arena, const KernelFunction *function) {
  return each_parameter(arena, function, "");
}

const char *function_unused(Arena *arena, const KernelFunction *function) {
  return each_parameter(arena, function, "(void)");
}

void function_write_empty(Code *code, const KernelFunction *function) {
  code_line(code, "NNC_KERNEL void %s(nnc_worker *worker%s)", function->name,
            function_parameters(code->arena, function));
  code_block(code);
  code_line(code, "(void)worker%s;", function_unused(code->arena, function));
  code_close(code);
}

void function_keys(Code *code, const KernelFunction *function) {
  for (int i = 0; i < function->kernel->key_count; i++)
    code_line(code, "%s = nnc_philox_key(worker->seed, %s);", function->keys[i], function->keys[i]);
}
