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
static const char *launch_text(Arena *arena, const KernelCall *call) {
  return arena_printf(arena, "NNC_TASKS(worker, 1, task) %s", function_call_text(arena, call));
}

static const char *const words[] = {"batch", "before", "best",   "better", "channel", "cols",
                                    "depth", "given",  "image",  "part",   "place",   "plane",
                                    "row",   "seen",   "slot",   "sums",   "tap",     "tile",
                                    "value", "where",  "window", NULL};

const BackEnd back_end_toy = {
    .dialect = &dialect_toy,
    .header = "toy_kernel.h",
    .words = words,
    .write_kernel = write_kernel,
    .write_declaration = write_declaration,
    .launch_text = launch_text,
};

/* Every kernel is one task, which needs no memory of the worker's. */
static const TargetKernel one_task = {.write = toy_write_kernel, .weight = 10};

static bool never(const ConvSlots *slots) {
  (void)slots;
  return false;
}

const Target target_toy = {
    .name = "toy",
    .back_end = &back_end_toy,
    .kernels =
        {
#define KERNEL(identifier, name) [KERNEL_##identifier] = &one_task,
#define SOME_KERNEL(identifier, name)
#include "kernel/kernels.def"
        },
    .alignment = 16,
    .reductions = {.large = 1 << 30, .least_pieces = 1, .most_pieces = 1},
    .fusion = {.most_operands = 8, .most_stages = 4},
    .conv_weight_is_product = never,
    .least_product_rows = INT64_MAX,
};
