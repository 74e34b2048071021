/* nnc FILE -o OUT: the whole compiler as a list of calls. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "backend/c/kernels.h"
#include "backend/common/code.h"
#include "backend/common/command.h"
#include "backend/common/compile.h"
#include "backend/common/emit.h"
#include "driver/commands.h"
#include "memory/memory.h"
#include "elaborate/elaborate.h"
#include "graph/textual.h"
#include "interpret/check_gradients.h"
#include "ops/extern.h"
#include "ops/verify.h"
#include "passes/retype.h"
#include "program/program.h"
#include "support/panic.h"
#include "syntax/parse.h"

typedef struct Compilation {
  Arena *arena;
  const Options *options;
  Diagnostics *diagnostics;
  InputFiles inputs; /* which no output may be */
} Compilation;

/* ---- from text to module ---- */

static Module *elaborate_source(Compilation *compilation, const SourceFile *source) {
  const Options *options = compilation->options;
  AstProgram *program = parse_program(compilation->arena, compilation->diagnostics, source);
  if (diagnostics_error_count(compilation->diagnostics) > 0) return NULL;
  ElaborateOptions elaboration = {.check_indices =
                                      options->check_indices || options->passes.level == 0,
                                  .definition_count = options->definitions.count,
                                  .definitions = driver_definitions(compilation->arena, options)};
  Module *module = elaborate(compilation->arena, compilation->diagnostics, program, &elaboration);
  if (module && options->has_float) module_retype_floats(module, options->float_type);
  if (!module) return NULL;
  const char *broken = module_verify(compilation->arena, module);
  if (broken) panic("elaboration made a bad module: %s", broken);
  return module;
}

static Module *front_end(Compilation *compilation, const SourceFile *source) {
  const Options *options = compilation->options;
  Module *module = options->passes.start_after
                       ? module_parse(compilation->arena, compilation->diagnostics, source,
                                      module_find_violation)
                       : elaborate_source(compilation, source);
  if (module && options->has_scans) module->run.scans = options->scans;
  return module;
}

/* ---- files that the program names ---- */

/* Data and initial weights are looked for elsewhere when the executable runs, but may lie here. */
static void add_named(Compilation *compilation, const Module *module, const char *name,
                      const char *what) {
  const char *program = module->source ? module->source->name : "";
  const char *slash = strrchr(program, '/');
  if (name == NULL || !*name) return;
  inputs_add(compilation->arena, &compilation->inputs, name, what);
  if (slash == NULL || name[0] == '/') return;
  const char *beside =
      arena_printf(compilation->arena, "%.*s%s", (int)(slash + 1 - program), program, name);
  inputs_add(compilation->arena, &compilation->inputs, beside, what);
}

static void add_data(Compilation *compilation, const Module *module, const DataSet *set) {
  for (int p = 0; p < set->pipeline_count; p++) {
    const DataPipeline *pipeline = &set->pipelines[p];
    if (pipeline->call_count == 0) continue;
    const DataCall *source = &pipeline->calls[0];
    for (int i = 0; i < source->argument_count; i++)
      if (source->arguments[i].value.kind == DATA_STRING)
        add_named(compilation, module, source->arguments[i].value.string,
                  "a file of the program's data");
  }
}

static void add_inputs(Compilation *compilation, const Module *module) {
  for (int i = 0; i < module->externs.count; i++)
    for (int k = 0; k < module->externs.items[i].file_count; k++)
      inputs_add(compilation->arena, &compilation->inputs, module->externs.items[i].files[k],
                 arena_printf(compilation->arena, "a file of the C function '%s'",
                              module->externs.items[i].function));
  for (int i = 0; i < module->variables.count; i++)
    add_named(compilation, module, module->variables.items[i].file,
              "a file that the program loads");
  for (int i = 0; i < module->data_sets.count; i++)
    add_data(compilation, module, &module->data_sets.items[i]);
}

/* ---- what can be asked for instead of an executable ---- */

static int write_text(const Compilation *compilation, Text *text) {
  Made made = compilation->options->emit == EMIT_C ? MADE_C : MADE_TEXT;
  bool written = driver_write(compilation->arena, &compilation->inputs,
                              compilation->options->output, made, text);
  text_free(text);
  return written ? 0 : EXIT_MACHINE;
}

/* Differences of values of 16 bits would tell nothing: those are f64 here. */
static int gradient_table(const Compilation *compilation, Module *module) {
  Text table = {0};
  module_retype_all_floats(module, DTYPE_F64);
  bool good = check_gradients(compilation->arena, module, pass_find("differentiate")->run,
                              &gradient_check_default, &table);
  int status = write_text(compilation, &table);
  return status ? status : good ? 0 : EXIT_MISTAKES;
}

static int emit_module(const Compilation *compilation, const Module *module) {
  Text text = {0};
  if (compilation->options->emit == EMIT_DOT) module_print_dot(&text, module);
  else module_print(&text, module);
  return write_text(compilation, &text);
}

static int emit_report(const Compilation *compilation, const Program *program,
                       const MemoryFit *fit) {
  Text text = {0};
  if (compilation->options->report == REPORT_JSON) {
    report_print_json(&text, program);
    if (fit->limit > 0) memory_add_json(&text, fit);
  } else {
    report_print(&text, program);
    memory_print(&text, fit);
  }
  return write_text(compilation, &text);
}

static int emit_program(const Compilation *compilation, const Program *program) {
  Text text = {0};
  program_print(&text, program);
  return write_text(compilation, &text);
}

/* ---- the executable ---- */

/* The folder above the one of nnc itself: include/nnc and lib/nnc lie below it. Without /proc the
 * kernel's note of the name that was run says where that is. NULL after a message. */
static const char *installation_prefix(Arena *arena) {
  char path[PATH_MAX];
  const char *name = (const char *)getauxval(AT_EXECFN);
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  bool found = length > 0 && length < (ssize_t)sizeof path - 1;
  if (found) path[length] = 0;
  else found = name != NULL && realpath(name, path) != NULL;
  if (!found) {
    fprintf(stderr, "nnc: error: cannot tell where nnc lies: there is no /proc/self/exe\n");
    return NULL;
  }
  for (int i = 0; i < 2; i++) {
    char *slash = strrchr(path, '/');
    if (slash) *slash = 0;
  }
  return arena_strdup(arena, path);
}

/* The functions of the user's that are called; false after a mistake in their names. */
static bool find_externs(const Compilation *compilation, const Module *module,
                         CompileOptions *compile) {
  const bool *is_called = extern_called(compilation->arena, module);
  VEC(const ExternInfo *) externs = {0};
  bool good = true;
  for (int i = 0; i < module->externs.count; i++) {
    const ExternInfo *external = &module->externs.items[i];
    if (!is_called[i]) continue;
    vec_push(compilation->arena, &externs, external);
    if (!c_is_emitted(external->function)) continue;
    Diagnostic *d = diag_error(compilation->diagnostics, external->span,
                               "generated code has a name '%s' of its own", external->function);
    diag_help(d, "give the C function another name: function = \"my_%s\"", external->function);
    good = false;
  }
  compile->extern_count = externs.count;
  compile->externs = externs.items;
  compile->diagnostics = compilation->diagnostics;
  return good;
}

static int back_end(const Compilation *compilation, const Program *program) {
  const Options *options = compilation->options;
  const char *output = options->output ? options->output : program->module->name;
  CompileOptions compile = {
      .back_end = &back_end_c,
      .cc = options->cc,
      .arch = options->arch,
      .cflags = options->cflags,
      .debug = options->debug,
      .save_temps = options->save_temps,
      .is_static = options->is_static,
      .verbose = options->verbose,
      .jobs = options->jobs,
      .has_cache = !options->no_cache,
      .cache_folder = options->cache_folder,
      .cache_bytes = options->cache_bytes,
      .reads_pictures = command_reads_pictures(program->module),
      .prefix = installation_prefix(compilation->arena),
      .output = output,
      .inputs = &compilation->inputs,
  };
  if (compile.prefix == NULL) return EXIT_MACHINE;
  if (!find_externs(compilation, program->module, &compile)) return EXIT_MISTAKES;
  if (!compile_prepare(compilation->arena, &compile)) return EXIT_MACHINE;
  CSource source = {0};
  emit_source(compilation->arena, &source, program, &compile);
  int status = 0;
  if (options->emit == EMIT_C) status = write_text(compilation, &source.whole);
  else if (!source_add_externs(compilation->arena, &source, &compile) ||
           !compile_c(compilation->arena, &compile, &source))
    status = diagnostics_error_count(compilation->diagnostics) > 0 ? EXIT_MISTAKES : EXIT_MACHINE;
  source_free(&source);
  return status;
}

/* The interpreter knows no functions of the user's. */
static bool can_interpret(const Compilation *compilation, const Module *module) {
  const Node *external = extern_first(module);
  if (!external) return true;
  diag_error(compilation->diagnostics, external->span,
             "--check-gradients cannot compute the extern operator '%s': only an executable does",
             node_string(external, ATTR_NAME));
  return false;
}

static int compile_module(Compilation *compilation, Module *module) {
  const Options *options = compilation->options;
  if (options->check_gradients && !can_interpret(compilation, module)) return EXIT_MISTAKES;
  if (options->check_gradients) return gradient_table(compilation, module);
  bool stopped = false;
  if (!passes_run(module, compilation->diagnostics, &options->passes, &stopped) && !stopped)
    return EXIT_MISTAKES;
  bool is_module_wanted = options->emit == EMIT_IR || options->emit == EMIT_DOT;
  if (is_module_wanted && (stopped || options->memory_limit == 0))
    return emit_module(compilation, module);
  if (stopped || options->passes.dump_after) return 0;
  MemoryFit fit;
  Program *program =
      memory_fit(compilation->arena, module, compilation->diagnostics, options, &fit);
  if (!program) return EXIT_MISTAKES;
  if (is_module_wanted) return emit_module(compilation, module);
  const char *broken = program_verify(compilation->arena, program);
  if (broken) panic("the program is not sound: %s", broken);
  if (options->report != REPORT_NONE) return emit_report(compilation, program, &fit);
  if (options->emit == EMIT_PROGRAM) return emit_program(compilation, program);
  return back_end(compilation, program);
}

int command_compile(Arena *arena, const Options *options) {
  const char *file = options->files.items[0];
  Compilation compilation = {
      .arena = arena, .options = options, .diagnostics = diagnostics_create(arena)};
  SourceFile *source = driver_read(arena, file);
  if (!source) return EXIT_MACHINE;
  inputs_add(arena, &compilation.inputs, file, "the program that is compiled");
  if (options->output && !output_check_input(&compilation.inputs, options->output))
    return EXIT_MACHINE;
  Module *module = front_end(&compilation, source);
  if (module) add_inputs(&compilation, module);
  int status = module ? compile_module(&compilation, module) : EXIT_MISTAKES;
  return driver_report(compilation.diagnostics, options) && status == 0 ? EXIT_MISTAKES : status;
}
