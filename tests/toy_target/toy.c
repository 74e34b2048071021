/* The records of the toy target: see toy.h. */
#include "toy.h"

/* The parameters as the kernel's function takes them. */
static const char *parameters(Arena *arena, const KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  const char *text = "nnc_worker *worker";
  for (int i = 0; i < kernel->operand_count; i++)
    text = arena_printf(arena, "%s, %s%s *%s", text, kernel->operands[i].is_output ? "" : "const ",
                        function->dialect->storage_type(kernel->operands[i].dtype),
                        function->operands[i]);
  for (int i = 0; i < kernel->scalar_count; i++)
    text = arena_printf(arena, "%s, double %s", text, function->scalars[i]);
  for (int i = 0; i < kernel->key_count; i++)
    text = arena_printf(arena, "%s, uint64_t %s", text, function->keys[i]);
  return text;
}

static void write_kernel(Code *code, KernelFunction *function) {
  code_open(code, "void %s(%s)", function->name, parameters(code->arena, function));
  toy_write_kernel(code, function);
  code_close(code);
}

static void write_declaration(Code *code, const KernelFunction *function) {
  code_line(code, "void %s(%s);", function->name, parameters(code->arena, function));
}

/* All of it is one task, whichever worker takes it. */
static void write_launch(Code *code, const KernelCall *call) {
  code_open(code, "NNC_TASKS(worker, 1, task)");
  function_write_call(code, call->worker, call);
  code_close(code);
}

static const char *const words[] = {"batch", "before", "best",   "better", "channel", "cols",
                                    "depth", "given",  "image",  "part",   "place",   "plane",
                                    "row",   "seen",   "slot",   "sums",   "tap",     "tile",
                                    "value", "where",  "window", NULL};

const BackEnd back_end_toy = {
    .dialect = &dialect_toy,
    .header = "toy_kernel.h",
    .words = words,
    .weights = {[KERNEL_LOOP] = 10},
    .write_kernel = write_kernel,
    .write_declaration = write_declaration,
    .write_launch = write_launch,
};
