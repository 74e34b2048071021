/* The call of the C compiler: see compile.h. */
#include "backend/c/compile.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
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

/* The exit status; -1 with errno when it could not be started. With `output` standard output is
 * read into it and standard error is thrown away. */
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

/* NULL after a message. */
static const char *find_compiler(Arena *arena, const char *asked) {
  enum { NEWEST = 23, OLDEST = 14 };
  if (asked != NULL) {
    if (version_line(arena, asked) != NULL) return asked;
    fprintf(stderr, "nnc: error: the C compiler '%s' (--cc) does not run\n", asked);
    return NULL;
  }
  for (int version = NEWEST; version >= OLDEST; version--) {
    const char *name = arena_printf(arena, "clang-%d", version);
    if (version_line(arena, name) != NULL) return name;
  }
  static const char *const others[] = {"clang", "gcc", "cc"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (version_line(arena, others[i]) != NULL) return others[i];
  fprintf(stderr, "nnc: error: none of clang, gcc and cc runs: install clang, or name a C compiler "
                  "with --cc\n");
  return NULL;
}

/* "clang-19 19.1.7": with the first word of its version line that has a digit and a dot. */
static const char *describe_compiler(Arena *arena, const char *cc) {
  const char *line = version_line(arena, cc);
  if (line == NULL) return cc;
  while (*line) {
    size_t length = strcspn(line, " ");
    const char *word = arena_strndup(arena, line, length);
    if (*word >= '0' && *word <= '9' && strchr(word, '.'))
      return arena_printf(arena, "%s %s", cc, word);
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

static void add_words(Arena *arena, Arguments *arguments, const char *text) {
  static const char blanks[] = " \t\n";
  for (text += strspn(text, blanks); *text; text += strspn(text, blanks)) {
    size_t length = strcspn(text, blanks);
    vec_push(arena, arguments, arena_strndup(arena, text, length));
    text += length;
  }
}

static Arguments compile_arguments(Arena *arena, const CompileOptions *options) {
  /* Neither errno nor traps are observed: no result changes by the last two. */
  static const char *const fixed[] = {"-std=gnu11",          "-O3",
                                      "-ffunction-sections", "-fdata-sections",
                                      "-fno-math-errno",     "-fno-trapping-math"};
  Arguments arguments = {0};
  vec_push(arena, &arguments, options->cc);
  for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) vec_push(arena, &arguments, fixed[i]);
  vec_push(arena, &arguments, arena_printf(arena, "-march=%s", options->arch));
  if (options->debug) vec_push(arena, &arguments, "-g");
  add_words(arena, &arguments, options->cflags);
  vec_push(arena, &arguments, "-I");
  vec_push(arena, &arguments, arena_printf(arena, "%s/include/nnc", options->prefix));
  vec_push(arena, &arguments, options->source);
  vec_push(arena, &arguments, "-o");
  vec_push(arena, &arguments, options->output);
  vec_push(arena, &arguments, arena_printf(arena, "%s/lib/nnc/libnncrt.a", options->prefix));
  vec_push(arena, &arguments, has_static_zlib(arena, options->cc) ? "-l:libz.a" : "-lz");
  vec_push(arena, &arguments, "-lm");
  vec_push(arena, &arguments, "-lpthread");
  vec_push(arena, &arguments, "-Wl,--gc-sections");
  if (!options->debug) vec_push(arena, &arguments, "-Wl,-s");
  return arguments;
}

static void add_for_shell(Text *text, const char *word) {
  static const char plain[] =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%";
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

bool compile_prepare(Arena *arena, CompileOptions *options) {
  size_t length = strlen(options->output);
  bool names_source = length > 2 && strcmp(options->output + length - 2, ".c") == 0;
  options->source = names_source ? options->output : arena_printf(arena, "%s.c", options->output);
  if (names_source) options->output = arena_strndup(arena, options->output, length - 2);
  if (options->arch == NULL) options->arch = "native";
  if (options->cflags == NULL) options->cflags = "";
  options->cc = find_compiler(arena, options->cc);
  if (options->cc == NULL) return false;
  options->compiler =
      arena_printf(arena, "%s -O3 -march=%s%s%s", describe_compiler(arena, options->cc),
                   options->arch, *options->cflags ? " " : "", options->cflags);
  Arguments arguments = compile_arguments(arena, options);
  options->command = shell_line(arena, &arguments);
  return true;
}

/* ---- compiling ---- */

static bool write_source(const char *path, const Text *text) {
  FILE *file = fopen(path, "w");
  bool written = file != NULL && fwrite(text->data, 1, text->length, file) == text->length;
  if (file != NULL && fclose(file) != 0) written = false;
  if (!written) fprintf(stderr, "nnc: error: cannot write %s: %s\n", path, strerror(errno));
  return written;
}

bool compile_c(Arena *arena, const CompileOptions *options, const Text *text) {
  if (!write_source(options->source, text)) return false;
  Arguments arguments = compile_arguments(arena, options);
  if (options->verbose) fprintf(stderr, "%s\n", shell_line(arena, &arguments));
  int status = run(arena, &arguments, NULL);
  if (status < 0) {
    fprintf(stderr, "nnc: error: cannot run %s: %s\n", options->cc, strerror(errno));
  } else if (status > 0) {
    const char *library = arena_printf(arena, "%s/lib/nnc/libnncrt.a", options->prefix);
    if (access(library, R_OK) != 0)
      fprintf(stderr, "nnc: error: cannot read the runtime library %s: %s\n", library,
              strerror(errno));
    else
      fprintf(stderr,
              "nnc: internal error: %s refused the generated code (status %d); please report "
              "it with %s, which is kept\n",
              options->cc, status, options->source);
  }
  if (status != 0) return false;
  if (options->save_temps || unlink(options->source) == 0) return true;
  fprintf(stderr, "nnc: error: cannot remove %s: %s\n", options->source, strerror(errno));
  return false;
}
