/* What the targets of the compiler share: bytes become a source in memory, a module goes through
 * the rest of the compiler up to the emitted C.
 *
 * A panic, a crash, a diagnostic that cannot be printed, and a refusal without a diagnostic are
 * findings; a program with mistakes is none. */
#ifndef TESTS_FUZZ_COMPILER_H
#define TESTS_FUZZ_COMPILER_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "backend/c/kernels.h"
#include "backend/common/emit.h"
#include "elaborate/elaborate.h"
#include "graph/textual.h"
#include "ops/verify.h"
#include "passes/pass.h"
#include "program/program.h"
#include "support/panic.h"
#include "syntax/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static inline SourceFile *fuzz_source(Arena *arena, const uint8_t *bytes, size_t size) {
  return source_from_text(arena, "fuzz.net", (const char *)bytes, size);
}

/* The messages are made, and thrown away. */
static inline void fuzz_report(const Diagnostics *diagnostics) {
  static FILE *nowhere;
  if (!nowhere) nowhere = fopen("/dev/null", "w");
  if (!nowhere) panic("cannot open /dev/null");
  diagnostics_print(diagnostics, nowhere, 0);
}

/* Parsed, elaborated, verified; NULL after diagnostics. */
static inline Module *fuzz_module(Arena *arena, Diagnostics *diagnostics, const SourceFile *source,
                                  bool check_only) {
  AstProgram *program = parse_program(arena, diagnostics, source);
  if (diagnostics_error_count(diagnostics) > 0) return NULL;
  ElaborateOptions options = {.check_only = check_only};
  Module *module = elaborate(arena, diagnostics, program, &options);
  if (!module && diagnostics_error_count(diagnostics) == 0 && !check_only)
    panic("the program is refused without a reason");
  const char *broken = module ? module_verify(arena, module) : NULL;
  if (broken) panic("elaboration made a bad module: %s", broken);
  return module;
}

/* The C text of a sound program. */
static inline void fuzz_emit(const Program *program) {
  CompileOptions compile = {.cc = "cc",
                            .arch = "native",
                            .prefix = "/usr",
                            .output = "fuzz",
                            .source = "fuzz.c",
                            .compiler = "cc",
                            .command = "cc fuzz.c"};
  Text text = {0};
  emit_c(&text, program, &compile);
  text_free(&text);
}

/* The passes after `start_after`, at -O `level`; the program; the C text.  The runner
 * verifies after each pass. */
static inline void fuzz_back_end(Arena *arena, Diagnostics *diagnostics, Module *module,
                                 const char *start_after, int level) {
  PipelineOptions passes = {.level = level, .start_after = start_after};
  bool stopped = false;
  if (!passes_run(module, diagnostics, &passes, &stopped)) {
    if (diagnostics_error_count(diagnostics) == 0) panic("a pass refuses without a reason");
    return;
  }
  ProgramOptions lowering = {.level = level, .target = &target_c};
  Program *program = program_create(arena, module, &lowering);
  const char *broken = program_verify(arena, program);
  if (broken) panic("the program is not sound: %s", broken);
  fuzz_emit(program);
}

#endif
