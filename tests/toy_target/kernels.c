/* The toy target's loop kernels, and what its templates share: one loop an axis, from the first to
 * the last. */
#include "backend/common/reduction.h"
#include "kernel/builder.h"
#include "support/integers.h"
#include "toy.h"

const char *toy_loaded(Arena *arena, const KernelFunction *function, int operand, const char *at) {
  return function->dialect->loaded(arena, function->kernel->operands[operand].dtype,
                                   arena_printf(arena, "%s[%s]", function->operands[operand], at));
}

const char *toy_call(Arena *arena, Op op, DType dtype, const char *arguments) {
  return arena_printf(arena, "%s(%s)", dialect_toy.function(arena, op, dtype, false), arguments);
}

const char *toy_flat(Arena *arena, const Kernel *kernel, int first, int end) {
  const char *text = "0";
  for (int i = first; i < end; i++)
    text = arena_printf(arena, "(%s) * %lld + i%d", text, (long long)kernel->extent[i], i);
  return text;
}

void toy_open_loop(Code *code, const char *name, int64_t extent) {
  code_open(code, "for (int64_t %s = 0; %s < %lld; %s++)", name, name, (long long)extent, name);
}

/* ---- stages ---- */

static void open_stage(Code *code, ExprScope *scope, const Stage *stage) {
  int outer = scope->kernel->axis_count;
  scope->axis_count = outer + stage->axis_count;
  for (int i = 0; i < stage->axis_count; i++) {
    scope->axes[outer + i] = arena_printf(code->arena, "j%d", i);
    scope->extents[outer + i] = stage->extent[i];
    toy_open_loop(code, scope->axes[outer + i], stage->extent[i]);
  }
}

static void write_reduction(Code *code, ExprScope *scope, const Stage *stage, int number) {
  const char *name = arena_printf(code->arena, "s%d", number);
  const char *start = scope->dialect->reduction_start(stage->reduce, stage->value->dtype);
  Search search = {stage->reduce, stage->value->dtype, arena_printf(code->arena, "a%d", number),
                   name};
  bool is_search = reduction_is_search(stage->reduce);
  code_line(code, "double %s = %s;", name, is_search ? "0" : start);
  if (is_search) code_line(code, "double %s = %s;", search.best, start);
  open_stage(code, scope, stage);
  const char *value = expression_render(code, scope, number)[0];
  if (is_search) reduction_write_search(code, scope->dialect, &search, value, "j0");
  else reduction_write_join(code, scope->dialect, stage, stage->value->dtype, name, value);
  for (int i = 0; i < stage->axis_count; i++) code_close(code);
  scope->stages[number] = name;
}

static void write_stages(Code *code, KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  ExprScope scope = function_scope(code->arena, function);
  for (int i = 0; i < kernel->stage_count; i++) {
    const Stage *stage = &kernel->stages[i];
    if (stage->kind == STAGE_REDUCE) {
      write_reduction(code, &scope, stage, i);
      continue;
    }
    open_stage(code, &scope, stage);
    expression_write_stores(code, &scope, i);
    for (int axis = 0; axis < stage->axis_count; axis++) code_close(code);
  }
}

static void write_epilogue(Code *code, KernelFunction *function) {
  ExprScope scope = function_scope(code->arena, function);
  code_line(code, "double sums = 0;");
  scope.result_dtype = toy_write_template(code, function);
  scope.result = "sums";
  expression_write_stores(code, &scope, 0);
}

void toy_write_kernel(Code *code, KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  for (int i = 0; i < kernel->axis_count; i++)
    toy_open_loop(code, arena_printf(code->arena, "i%d", i), kernel->extent[i]);
  if (kernel->kind == KERNEL_LOOP) write_stages(code, function);
  else write_epilogue(code, function);
  for (int i = 0; i < kernel->axis_count; i++) code_close(code);
}
