/* nnc: the compiler's main program. */
#include <string.h>
#include "backend/cuda/nvrtc.h"
#include "driver/commands.h"

int main(int argc, char **argv) {
  static int (*const commands[COMMAND_COUNT])(Arena *, const Options *) = {
      [COMMAND_COMPILE] = command_compile, [COMMAND_CHECK] = command_check,
      [COMMAND_FORMAT] = command_format,   [COMMAND_DOC] = command_doc,
      [COMMAND_LSP] = command_lsp,         [COMMAND_DIFF_PARAMETERS] = command_diff_parameters,
  };
  if (argc > 1 && strcmp(argv[1], nvrtc_worker_word) == 0) return nvrtc_worker(argc - 2, argv + 2);
  Arena *arena = arena_create();
  Options options = options_parse(arena, argc, argv);
  int status = commands[options.command](arena, &options);
  arena_destroy(arena);
  return status;
}
