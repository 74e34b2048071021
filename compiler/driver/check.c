/* nnc check FILE...: every mistake of each file, and nothing else, or with --parameters what it declares. */
#include "driver/parameters.h"

/* prelude: NULL, and it is parsed for this file. */
static int check_file(Arena *arena, const Options *options, const char *path,
                      const Prelude *prelude, Text *text) {
  SourceFile *source = driver_read(arena, path);
  if (!source) return EXIT_MACHINE;
  Diagnostics *diagnostics = diagnostics_create(arena);
  Rebindings rebindings = {0};
  Module *module = driver_elaborate(arena, options, diagnostics, source, prelude, &rebindings);
  if (driver_report(diagnostics, options)) return EXIT_MISTAKES;
  if (!options->parameters || !module) return 0;
  Parameters parameters = parameters_of_module(arena, path, module);
  parameters.rebindings = rebindings;
  if (options->files.count > 1) text_printf(text, "%s:\n", path);
  parameters_print(text, arena, &parameters);
  return 0;
}

int command_check(Arena *arena, const Options *options) {
  int status = 0;
  InputFiles inputs = {0};
  Text text = {0};
  const Prelude *prelude = NULL;
  /* For several files it is parsed once, which takes longer than a small program. */
  if (options->files.count > 1) prelude = elaborate_prelude(arena, diagnostics_create(arena));
  for (int i = 0; i < options->files.count; i++) {
    inputs_add(arena, &inputs, options->files.items[i], "a file that is checked");
    int one = check_file(arena, options, options->files.items[i], prelude, &text);
    if (one == EXIT_MACHINE || status == 0) status = one;
  }
  bool is_told = text.length > 0;
  if (is_told && !driver_write(arena, &inputs, options->output, MADE_TEXT, &text))
    status = EXIT_MACHINE;
  text_free(&text);
  return status;
}
