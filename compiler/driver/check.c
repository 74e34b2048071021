/* nnc check FILE...: every mistake of each file, and nothing else. */
#include "driver/commands.h"
#include "elaborate/elaborate.h"
#include "syntax/parse.h"

int command_check(Arena *arena, const Options *options) {
  int status = 0;
  for (int i = 0; i < options->files.count; i++) {
    SourceFile *source = driver_read(arena, options->files.items[i]);
    if (!source) {
      status = EXIT_MACHINE;
      continue;
    }
    Diagnostics *diagnostics = diagnostics_create(arena);
    AstProgram *program = parse_program(arena, diagnostics, source);
    ElaborateOptions elaboration = {.definition_count = options->definitions.count,
                                    .definitions = driver_definitions(arena, options),
                                    .check_only = true};
    if (diagnostics_error_count(diagnostics) == 0)
      elaborate(arena, diagnostics, program, &elaboration);
    if (driver_report(diagnostics, options) && status == 0) status = EXIT_MISTAKES;
  }
  return status;
}
