/* The flags that the C compiler is called with. */
#include "backend/c/command.h"

void command_flags(Arena *arena, Arguments *arguments, const CompileOptions *options) {
  /* Neither errno nor traps are observed: no result changes by the last two. */
  static const char *const fixed[] = {"-std=gnu11",          "-O3",
                                      "-ffunction-sections", "-fdata-sections",
                                      "-fno-math-errno",     "-fno-trapping-math"};
  vec_push(arena, arguments, options->toolchain.cc);
  for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) vec_push(arena, arguments, fixed[i]);
  vec_push(arena, arguments, options->debug ? "-g" : "-fno-asynchronous-unwind-tables");
  vec_push(arena, arguments, arena_printf(arena, "-march=%s", options->arch));
  arguments_add_words(arena, arguments, options->cflags);
}

void command_include(Arena *arena, Arguments *arguments, const CompileOptions *options) {
  vec_push(arena, arguments, "-I");
  vec_push(arena, arguments, arena_printf(arena, "%s/include/nnc", options->prefix));
}

const char *command_library(Arena *arena, const CompileOptions *options) {
  return arena_printf(arena, "%s/lib/nnc/libnncrt.a", options->prefix);
}

void command_libraries(Arena *arena, Arguments *arguments, const CompileOptions *options) {
  vec_push(arena, arguments, command_library(arena, options));
  for (int i = options->reads_pictures ? 0 : LIBRARY_ZLIB; i < LIBRARY_COUNT; i++)
    vec_push(arena, arguments,
             arena_printf(arena, *options->toolchain.libraries[i] ? "-l:lib%s.a" : "-l%s",
                          library_names[i]));
  vec_push(arena, arguments, "-lm");
  vec_push(arena, arguments, "-lpthread");
  vec_push(arena, arguments, "-Wl,--gc-sections");
  if (options->is_static) vec_push(arena, arguments, "-static");
  if (!options->debug) vec_push(arena, arguments, "-Wl,-s");
}

const char *command_whole(Arena *arena, const CompileOptions *options) {
  Arguments arguments = {0};
  command_flags(arena, &arguments, options);
  command_include(arena, &arguments, options);
  vec_push(arena, &arguments, options->source);
  vec_push(arena, &arguments, "-o");
  vec_push(arena, &arguments, options->output);
  command_libraries(arena, &arguments, options);
  return arguments_line(arena, &arguments);
}
