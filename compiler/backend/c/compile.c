/* The call of the C compiler: see compile.h. */
#include "backend/c/compile.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "support/text.h"
#include "support/vec.h"

extern char **environ;

typedef VEC(const char *) Arguments;

/* ---- running ---- */

static char **argument_vector(Arena *arena, const Arguments *arguments) {
  char **vector = ARENA_ARRAY(arena, char *, arguments->count + 1);
  for (int i = 0; i < arguments->count; i++) vector[i] = arena_strdup(arena, arguments->items[i]);
  return vector;
}

static int wait_for(pid_t child) {
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* The exit status; -1 with errno when it could not be started. With `output` standard output is read
 * into it and standard error is thrown away. */
static int run(Arena *arena, const Arguments *arguments, Text *output) {
  posix_spawn_file_actions_t actions;
  int ends[2] = {-1, -1};
  if ((errno = posix_spawn_file_actions_init(&actions)) != 0) return -1;
  if (output != NULL) {
    if (pipe(ends) < 0) {
      posix_spawn_file_actions_destroy(&actions);
      return -1;
    }
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1 /* O_WRONLY */, 0);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    posix_spawn_file_actions_addclose(&actions, ends[1]);
  }
  pid_t child;
  int failure = posix_spawnp(&child, arguments->items[0], &actions, NULL,
                             argument_vector(arena, arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (output != NULL) {
    close(ends[1]);
    char piece[512];
    for (ssize_t got; failure == 0 && (got = read(ends[0], piece, sizeof piece)) != 0;) {
      if (got < 0 && errno != EINTR) break;
      if (got > 0) text_add_bytes(output, piece, (size_t)got);
    }
    close(ends[0]);
  }
  if (failure != 0) {
    errno = failure;
    return -1;
  }
  return wait_for(child);
}

/* ---- which compiler ---- */

/* First line of `cc --version`; NULL when it does not run. */
static const char *version_line(Arena *arena, const char *cc) {
  Arguments arguments = {0};
  Text output = {0};
  vec_push(arena, &arguments, cc);
  vec_push(arena, &arguments, "--version");
  int status = run(arena, &arguments, &output);
  const char *line = NULL;
  if (status == 0 && output.data != NULL)
    line = arena_strndup(arena, output.data, strcspn(output.data, "\n"));
  text_free(&output);
  return line;
}

const char *compile_find_cc(Arena *arena, const CompileOptions *options, const char **reason) {
  enum { NEWEST = 23, OLDEST = 14 };
  if (options->cc != NULL) {
    if (version_line(arena, options->cc) != NULL) return options->cc;
    *reason = arena_printf(arena, "the C compiler '%s' (--cc) does not run", options->cc);
    return NULL;
  }
  for (int version = NEWEST; version >= OLDEST; version--) {
    const char *name = arena_printf(arena, "clang-%d", version);
    if (version_line(arena, name) != NULL) return name;
  }
  static const char *const others[] = {"clang", "gcc", "cc"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (version_line(arena, others[i]) != NULL) return others[i];
  *reason = "there is no C compiler: none of clang, gcc and cc runs (install clang, or name one with --cc)";
  return NULL;
}

/* The first word with a digit and a dot. */
const char *compile_describe_cc(Arena *arena, const char *cc) {
  const char *line = version_line(arena, cc);
  if (line == NULL) return cc;
  while (*line) {
    size_t length = strcspn(line, " ");
    const char *word = arena_strndup(arena, line, length);
    if (*word >= '0' && *word <= '9' && strchr(word, '.')) return arena_printf(arena, "%s %s", cc, word);
    line += length + strspn(line + length, " ");
  }
  return cc;
}

/* ---- the command ---- */

/* Whether the linker finds a static libz. */
static bool has_static_zlib(Arena *arena, const char *cc) {
  Arguments arguments = {0};
  Text output = {0};
  vec_push(arena, &arguments, cc);
  vec_push(arena, &arguments, "-print-file-name=libz.a");
  bool found = run(arena, &arguments, &output) == 0 && output.data != NULL &&
               strchr(output.data, '/') != NULL;
  text_free(&output);
  return found;
}

static Arguments compile_arguments(Arena *arena, const CompileOptions *options, const char *cc,
                                   const char *source_path, const char *output_path) {
  static const char *const fixed[] = {"-std=gnu11", "-O3"};
  /* None of these changes a result: errno and traps are not observed. */
  static const char *const exact[] = {"-fno-math-errno", "-fno-trapping-math", "-ffunction-sections",
                                      "-fdata-sections"};
  Arguments arguments = {0};
  vec_push(arena, &arguments, cc);
  for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) vec_push(arena, &arguments, fixed[i]);
  const char *arch = options->arch ? options->arch : "native";
  vec_push(arena, &arguments, arena_printf(arena, "-march=%s", arch));
  for (size_t i = 0; i < sizeof exact / sizeof *exact; i++) vec_push(arena, &arguments, exact[i]);
  if (options->debug) vec_push(arena, &arguments, "-g");
  vec_push(arena, &arguments, "-I");
  vec_push(arena, &arguments, options->include_directory);
  vec_push(arena, &arguments, source_path);
  vec_push(arena, &arguments, "-o");
  vec_push(arena, &arguments, output_path);
  vec_push(arena, &arguments, arena_printf(arena, "%s/libnncrt.a", options->library_directory));
  vec_push(arena, &arguments, has_static_zlib(arena, cc) ? "-l:libz.a" : "-lz");
  vec_push(arena, &arguments, "-lm");
  vec_push(arena, &arguments, "-lpthread");
  vec_push(arena, &arguments, "-Wl,--gc-sections");
  if (!options->debug) vec_push(arena, &arguments, "-Wl,-s");
  return arguments;
}

static void add_for_shell(Text *text, const char *word) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
  if (*word && word[strspn(word, plain)] == 0) {
    text_add(text, word);
    return;
  }
  text_add_char(text, '\'');
  for (; *word; word++) {
    if (*word == '\'') text_add(text, "'\\''");
    else text_add_char(text, *word);
  }
  text_add_char(text, '\'');
}

static const char *shell_line(Arena *arena, const Arguments *arguments) {
  Text text = {0};
  for (int i = 0; i < arguments->count; i++) {
    if (i > 0) text_add_char(&text, ' ');
    add_for_shell(&text, arguments->items[i]);
  }
  const char *line = arena_strdup(arena, text.data);
  text_free(&text);
  return line;
}

const char *compile_command(Arena *arena, const CompileOptions *options, const char *cc,
                            const char *source_path, const char *output_path) {
  Arguments arguments = compile_arguments(arena, options, cc, source_path, output_path);
  return shell_line(arena, &arguments);
}

bool compile_c(Arena *arena, const CompileOptions *options, const char *cc, const char *source_path,
               const char *output_path, const char **reason) {
  Arguments arguments = compile_arguments(arena, options, cc, source_path, output_path);
  if (options->verbose) fprintf(stderr, "%s\n", shell_line(arena, &arguments));
  int status = run(arena, &arguments, NULL);
  if (status == 0) return true;
  if (status < 0) *reason = arena_printf(arena, "cannot run %s: %s", cc, strerror(errno));
  else
    *reason = arena_printf(arena,
                           "%s failed (status %d) on the generated file; this is a bug of nnc, please "
                           "report it with the file, which is kept: %s",
                           cc, status, source_path);
  return false;
}

/* ---- the runtime ---- */

bool compile_find_runtime(Arena *arena, CompileOptions *options, const char **reason) {
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length < 0) {
    *reason = arena_printf(arena, "cannot find nnc's own executable: %s", strerror(errno));
    return false;
  }
  path[length] = 0;
  for (int up = 0; up < 2; up++) {
    char *slash = strrchr(path, '/');
    if (slash != NULL) *slash = 0;
  }
  options->include_directory = arena_printf(arena, "%s/include/nnc", path);
  options->library_directory = arena_printf(arena, "%s/lib/nnc", path);
  const char *library = arena_printf(arena, "%s/libnncrt.a", options->library_directory);
  if (access(library, R_OK) == 0) return true;
  *reason = arena_printf(arena, "the runtime library is not at %s: %s", library, strerror(errno));
  return false;
}
