/* From a Program to an executable: the back end emits, the C compiler compiles and links. */
#include "driver/compilation.h"

#include <stdio.h>
#include <string.h>

#include "backend/common/naming.h"
#include "backend/common/command.h"
#include "backend/common/compile.h"
#include "backend/common/emit.h"
#include "backend/common/externs.h"
#include "backend/common/function.h"
#include "backend/common/units.h"
#include "ops/extern.h"
#include "support/files.h"

/* The folder above the one of nnc itself: include/nnc and lib/nnc lie below it. NULL after a
 * message. */
static const char *installation_prefix(Arena *arena) {
  const char *program = path_of_program(arena);
  if (program == NULL) {
    fprintf(stderr, "nnc: error: cannot tell where nnc lies: there is no /proc/self/exe\n");
    return NULL;
  }
  char *path = arena_strdup(arena, program);
  for (int i = 0; i < 2; i++) {
    char *slash = strrchr(path, '/');
    if (slash) *slash = 0;
  }
  return path;
}

/* Whether the function has a file for the target. */
static bool check_file(const Compilation *compilation, const Target *target,
                       const ExternInfo *external) {
  const char *function = external->function;
  bool is_of_device = target->back_end->write_extern != NULL;
  if (is_of_device ? external->cuda != NULL : external->file_count > 0) return true;
  Diagnostic *d = diag_error(compilation->diagnostics, external->span,
                             "the function '%s' has no %s file, which --target=%s needs", function,
                             is_of_device ? "CUDA" : "C", target->name);
  if (is_of_device)
    diag_help(d,
              "cuda = \"%s.cu\" in the operator's block names one, which includes "
              "nnc_cuda_extern.h and has NNC_EXTERN void %s(int count, const nnc_extern_tensor "
              "*inputs, const nnc_extern_tensor *result)",
              function, function);
  else diag_help(d, "c = \"%s.c\" in the operator's block names one", function);
  return false;
}

/* The functions of the user's that are called; false after a mistake in their names or files. */
static bool find_externs(const Compilation *compilation, const Program *program,
                         CompileOptions *compile) {
  const Module *module = program->module;
  const bool *is_called = extern_called(compilation->arena, module);
  VEC(const ExternInfo *) externs = {0};
  bool good = true;
  for (int i = 0; i < module->externs.count; i++) {
    const ExternInfo *external = &module->externs.items[i];
    if (!is_called[i]) continue;
    vec_push(compilation->arena, &externs, external);
    good = check_file(compilation, program->target, external) && good;
    if (!naming_is_emitted(external->function)) continue;
    Diagnostic *d = diag_error(compilation->diagnostics, external->span,
                               "generated code has a name '%s' of its own", external->function);
    diag_help(d, "give the function another name: function = \"my_%s\"", external->function);
    good = false;
  }
  compile->extern_count = externs.count;
  compile->externs = externs.items;
  compile->diagnostics = compilation->diagnostics;
  return good;
}

int write_executable(const Compilation *compilation, const Program *program, int64_t memory_limit) {
  const Options *options = compilation->options;
  const char *output = options->output ? options->output : program->module->name;
  CompileOptions compile = options->toolchain;
  compile.has_cache = !options->no_cache;
  compile.reads_pictures = command_reads_pictures(program->module);
  compile.memory_limit = memory_limit;
  compile.prefix = installation_prefix(compilation->arena);
  compile.output = output;
  compile.inputs = &compilation->inputs;
  if (compile.prefix == NULL) return EXIT_MACHINE;
  if (!find_externs(compilation, program, &compile)) return EXIT_MISTAKES;
  const BackEnd *back_end = program->target->back_end;
  if (back_end->prepare &&
      !back_end->prepare(compilation->arena, &compile, options->emit == EMIT_EXECUTABLE))
    return EXIT_MACHINE;
  if (compile.images && !externs_read(compilation->arena, &compile)) return EXIT_MACHINE;
  if (!compile_prepare(compilation->arena, &compile)) return EXIT_MACHINE;
  CSource source = {0};
  emit_source(compilation->arena, &source, program, &compile);
  int status = 0;
  if (options->emit == EMIT_C || options->emit == EMIT_CUDA)
    status = write_text(compilation, &source.whole);
  else if (!externs_add_units(compilation->arena, &source, &compile) ||
           !compile_c(compilation->arena, &compile, &source))
    status = diagnostics_error_count(compilation->diagnostics) > 0 ? EXIT_MISTAKES : EXIT_MACHINE;
  units_free(&source);
  return status;
}
