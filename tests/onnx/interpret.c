/* One training step of a program by the interpreter, for programs whose results are states.
 *
 *     onnx_interpret PROGRAM.net START.safetensors RESULT.safetensors
 *
 * States begin as START says and end in RESULT, in their own types; inputs are zeros.
 * tests/onnx/judge.py compares RESULT with what ONNX expects, and with the same of an executable. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "elaborate/elaborate.h"
#include "interpret/inputs.h"
#include "interpret/interpret.h"
#include "lib/storage.h"
#include "passes/pass.h"
#include "support/names.h"
#include "syntax/parse.h"

enum { SEED = 7 };

static void die(const char *what, const char *name) {
  fprintf(stderr, "onnx_interpret: %s %s\n", what, name);
  exit(2);
}

static Module *load(Arena *arena, const char *path) {
  const char *reason = NULL;
  SourceFile *source = source_read(arena, path, &reason);
  if (!source) die("cannot read", path);
  Diagnostics *diagnostics = diagnostics_create(arena);
  AstProgram *program = parse_program(arena, diagnostics, source);
  bool good = diagnostics_error_count(diagnostics) == 0;
  Module *module = good ? elaborate(arena, diagnostics, program, NULL) : NULL;
  PipelineOptions options = {.level = 0};
  bool stopped = false;
  if (module && !passes_run(module, diagnostics, &options, &stopped)) module = NULL;
  diagnostics_print(diagnostics, stderr, 0);
  if (!module) die("cannot elaborate", path);
  return module;
}

/* Every tensor of the file is a state. */
static void set_states(Arena *arena, Module *module, Interpreter *interpreter, const char *path) {
  nnc_safetensors *file = nnc_safetensors_open(path);
  if (!file) die("cannot read", path);
  for (int i = 0; i < file->count; i++) {
    const char *name = file->tensors[i].name;
    const Variable *variable = module_find_variable(module, name_intern(name));
    if (!variable) die("there is no variable", name);
    const double *values = storage_load(arena, file, name, variable->type);
    Tensor *tensor = interpreter_variable(interpreter, variable->path);
    memcpy(tensor->data, values, sizeof *values * (size_t)shape_elements(variable->type.shape));
  }
  nnc_safetensors_close(file);
}

static void take_step(Arena *arena, const Module *module, Interpreter *interpreter) {
  int count = module->inputs.count;
  Binding *bindings = ARENA_ARRAY(arena, Binding, count + 1);
  for (int i = 0; i < count; i++) {
    const InputInfo *input = &module->inputs.items[i];
    bindings[i] = (Binding){OP_INPUT, input->name, tensor_create(arena, input->type)};
  }
  interpreter_run(interpreter, ENTRY_TRAIN, count, bindings, (RunTime){1, 0, 1, 1});
}

static void save_states(Arena *arena, const Module *module, Interpreter *interpreter,
                        const char *path) {
  StorageWriter writer = {.arena = arena};
  for (int i = 0; i < module->variables.count; i++) {
    const Variable *variable = &module->variables.items[i];
    if (variable->kind == VARIABLE_STATE)
      storage_add(&writer, variable->path, variable->type.dtype,
                  interpreter_variable(interpreter, variable->path));
  }
  storage_save(&writer, path);
}

int main(int argc, char **argv) {
  if (argc != 4) die("usage:", "onnx_interpret PROGRAM.net START.safetensors RESULT.safetensors");
  Arena *arena = arena_create();
  Module *module = load(arena, argv[1]);
  Interpreter *interpreter = interpreter_create(arena, module, SEED);
  set_states(arena, module, interpreter, argv[2]);
  take_step(arena, module, interpreter);
  save_states(arena, module, interpreter, argv[3]);
  interpreter_destroy(interpreter);
  arena_destroy(arena);
  return 0;
}
