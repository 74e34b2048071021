/* A kernel as a function: see function.h. */
#include "backend/common/function.h"

#include <string.h>

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

void function_write_call(Code *code, const char *first, const KernelCall *call) {
  enum { WIDTH = 96 };
  Text text = {0};
  size_t line_start = 0;
  text_printf(&text, "%s(%s", call->function->name, first);
  for (int i = 0; i < call->count; i++) {
    text_add_char(&text, ',');
    if (text.length - line_start + strlen(call->arguments[i]) > WIDTH) {
      text_add(&text, "\n      ");
      line_start = text.length - 6;
    } else {
      text_add_char(&text, ' ');
    }
    text_add(&text, call->arguments[i]);
  }
  code_line(code, "%s);", text.data);
  text_free(&text);
}
