/* What can be asked for instead of an executable. */
#include "driver/compilation.h"

#include <stdio.h>
#include <string.h>

#include "driver/tune.h"
#include "graph/textual.h"
#include "interpret/check_gradients.h"
#include "ops/extern.h"
#include "ops/retype.h"
#include "passes/pass.h"

static Made kind_of_text(const Options *options) {
  if (options->check_gradients) return MADE_GRADIENTS;
  if (options->report != REPORT_NONE) return MADE_REPORT;
  return options->emit == EMIT_C || options->emit == EMIT_CUDA ? MADE_C : MADE_TEXT;
}

int write_text(const Compilation *compilation, Text *text) {
  Made made = kind_of_text(compilation->options);
  bool written = driver_write(compilation->arena, &compilation->inputs,
                              compilation->options->output, made, text);
  text_free(text);
  return written ? 0 : EXIT_MACHINE;
}

int write_module(const Compilation *compilation, const Module *module) {
  Text text = {0};
  if (compilation->options->emit == EMIT_DOT) module_print_dot(&text, module);
  else module_print(&text, module);
  return write_text(compilation, &text);
}

/* Whether mixed precision's numbers of 16 bits lie in memory as f32 (program/widen.c). */
static bool keeps_as_f32(const Program *program, const MemoryFit *fit) {
  DType precision = program->module->run.precision;
  const ProgramOptions *lowering = &fit->lowering;
  return lowering->level > 0 && ((precision == DTYPE_BF16 && lowering->widens_bf16) ||
                                 (precision == DTYPE_F16 && lowering->widens_f16));
}

/* `--report -o gpt`: a name as executables have, one of which may have been meant. */
static void explain_report(const char *output) {
  const char *slash = output ? strrchr(output, '/') : NULL;
  bool is_device = output && strncmp(output, "/dev/", 5) == 0;
  if (!output || is_device || strcmp(output, "-") == 0 || strchr(slash ? slash : output, '.'))
    return;
  fprintf(stderr, "nnc: %s is the report and no executable: --report compiles nothing\n", output);
}

int write_report(const Compilation *compilation, const Program *program, const MemoryFit *fit,
                 const Tuning *tuning) {
  Text text = {0};
  if (compilation->options->report == REPORT_JSON) {
    report_print_json(&text, program);
    if (fit->limit > 0) memory_add_json(&text, fit);
    if (tuning->is_wanted) tuning_add_json(&text, tuning);
  } else {
    report_print(&text, program);
    if (keeps_as_f32(program, fit))
      text_printf(&text,
                  "  numbers of %s are kept as f32, which is faster here; a memory limit, such as "
                  "100%%, keeps 16 bits\n",
                  dtype_name(program->module->run.precision));
    if (program->module->run.splits_in_vain)
      text_add(&text, "  products of bf16x3 are those of f32: here is no matrix unit\n");
    memory_print(&text, fit);
    if (tuning->is_wanted) text_add_char(&text, '\n');
    tuning_print(&text, tuning);
  }
  int status = write_text(compilation, &text);
  if (status == 0) explain_report(compilation->options->output);
  return status;
}

int write_program(const Compilation *compilation, const Program *program) {
  Text text = {0};
  program_print(&text, program);
  return write_text(compilation, &text);
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

/* Differences of values of 16 bits would tell nothing: those are f64 here. */
int write_gradient_table(const Compilation *compilation, Module *module) {
  Text table = {0};
  if (!can_interpret(compilation, module)) return EXIT_MISTAKES;
  module_retype_all_floats(module, DTYPE_F64);
  bool good = check_gradients(compilation->arena, module, pass_find("differentiate")->run,
                              &gradient_check_default, &table, compilation->diagnostics);
  int status = write_text(compilation, &table);
  return status ? status : good ? 0 : EXIT_MISTAKES;
}
