/* The C compiler: see toolchain.h. */
#include "backend/common/toolchain.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "backend/common/process.h"

/* ---- identities ---- */

void toolchain_add_file(Sha256 *hash, const char *path) {
  struct stat status;
  sha256_add_string(hash, path);
  if (stat(path, &status) != 0) {
    sha256_add_string(hash, "absent");
    return;
  }
  int64_t facts[] = {status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
                     (int64_t)status.st_ino};
  sha256_add(hash, facts, sizeof facts);
}

/* Where $PATH leads; NULL when nowhere. */
static const char *find_program(Arena *arena, const char *name) {
  if (strchr(name, '/') != NULL) return access(name, X_OK) == 0 ? name : NULL;
  const char *folders = getenv("PATH");
  if (folders == NULL) folders = "/bin:/usr/bin";
  for (;;) {
    size_t length = strcspn(folders, ":");
    const char *path =
        arena_printf(arena, "%.*s%s%s", (int)length, folders, length ? "/" : "./", name);
    struct stat status;
    if (access(path, X_OK) == 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode)) return path;
    if (folders[length] == 0) return NULL;
    folders += length + 1;
  }
}

void toolchain_add_program(Arena *arena, Sha256 *hash, const char *name) {
  const char *path = find_program(arena, name);
  char whole[PATH_MAX];
  sha256_add_string(hash, path ? path : name);
  if (path != NULL) toolchain_add_file(hash, realpath(path, whole) ? whole : path);
}

static void add_environment(Sha256 *hash) {
  static const char *const names[] = {"CPATH",         "C_INCLUDE_PATH",  "CCC_OVERRIDE_OPTIONS",
                                      "COMPILER_PATH", "GCC_EXEC_PREFIX", "LIBRARY_PATH",
                                      "LD_RUN_PATH",   "LDEMULATION",     "SOURCE_DATE_EPOCH"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const char *value = getenv(names[i]);
    if (value == NULL) continue;
    sha256_add_string(hash, names[i]);
    sha256_add_string(hash, value);
  }
}

/* The lines that say what the first processor is; clocks and numbers of cores do not matter. */
static void add_processor(Sha256 *hash) {
  static const char *const names[] = {
      "vendor_id", "cpu family",  "model",    "stepping", "flags", "CPU implementer",
      "CPU part",  "CPU variant", "Features", "isa",      "uarch", "cpu"};
  char line[8192];
  FILE *file = fopen("/proc/cpuinfo", "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL && line[0] != '\n') {
    size_t length = strcspn(line, "\t:");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
      if (strlen(names[i]) == length && strncmp(line, names[i], length) == 0)
        sha256_add_string(hash, line);
  }
  if (file != NULL) fclose(file);
}

void toolchain_add_identity(Arena *arena, Sha256 *hash, const Toolchain *toolchain, bool native) {
  sha256_add_string(hash, toolchain->version);
  toolchain_add_program(arena, hash, toolchain->cc);
  toolchain_add_file(hash, toolchain->linker);
  add_environment(hash);
  if (native) add_processor(hash);
}

/* ---- asking a compiler ---- */

const char *const library_names[LIBRARY_COUNT] = {"jpeg", "png", "z"};

/* What it is asked first: for its version, its linker, and where it looks for libraries. */
enum { ASK_VERSION, ASK_LINKER, ASK_FOLDERS, ASK_COUNT };
static const char *const questions[ASK_COUNT] = {"--version", "-print-prog-name=ld",
                                                 "-print-search-dirs"};

/* What is wanted of its files. */
enum { FILE_COUNT = 1 + LIBRARY_COUNT };

/* "" for a name that is not found. */
static const char *answered_path(Arena *arena, const char *line) {
  const char *path = line ? find_program(arena, line) : NULL;
  if (path != NULL) return path;
  return line != NULL && line[0] == '/' && access(line, R_OK) == 0 ? line : "";
}

/* All questions at once, since a compiler takes longer to start than to answer. NULL where it does not run. */
static void ask(Arena *arena, const char *cc, int count, const char *const *asked,
                const char **answers) {
  Arguments *arguments = ARENA_ARRAY(arena, Arguments, count + 1);
  Text *outputs = ARENA_ARRAY(arena, Text, count + 1);
  int *statuses = ARENA_ARRAY(arena, int, count + 1);
  for (int i = 0; i < count; i++) process_add(arena, &arguments[i], cc, asked[i], NULL);
  process_read_all(arena, count, arguments, outputs, statuses);
  for (int i = 0; i < count; i++) {
    bool is_answer = statuses[i] == 0 && outputs[i].data != NULL;
    answers[i] = is_answer ? arena_strndup(arena, outputs[i].data, outputs[i].length) : NULL;
    text_free(&outputs[i]);
  }
}

static const char *first_line(Arena *arena, const char *answer) {
  return answer ? arena_strndup(arena, answer, strcspn(answer, "\n")) : NULL;
}

/* Of a file that lies in one of "libraries: =FOLDER:FOLDER...", the first of these; "". */
static const char *in_folders(Arena *arena, const char *answer, const char *name) {
  static const char begin[] = "libraries: =";
  const char *folders = answer ? strstr(answer, begin) : NULL;
  if (folders == NULL) return "";
  folders += sizeof begin - 1;
  for (;;) {
    size_t length = strcspn(folders, ":\n");
    const char *path = arena_printf(arena, "%.*s/%s", (int)length, folders, name);
    if (length > 0 && folders[0] == '/' && access(path, R_OK) == 0) return path;
    if (folders[length] != ':') return "";
    folders += length + 1;
  }
}

/* Fills `paths`: it is asked by name for those alone that are in none of its folders. */
static void find_files(Arena *arena, const char *cc, const char *folders, const char **paths) {
  const char *asked[FILE_COUNT], *answers[FILE_COUNT];
  int missing[FILE_COUNT], count = 0;
  for (int i = 0; i < FILE_COUNT; i++) {
    const char *name = i == 0 ? "rcrt1.o" : arena_printf(arena, "lib%s.a", library_names[i - 1]);
    paths[i] = in_folders(arena, folders, name);
    if (*paths[i]) continue;
    missing[count] = i;
    asked[count++] = arena_printf(arena, "-print-file-name=%s", name);
  }
  ask(arena, cc, count, asked, answers);
  for (int i = 0; i < count; i++)
    paths[missing[i]] = answered_path(arena, first_line(arena, answers[i]));
}

static bool ask_all(Arena *arena, Toolchain *toolchain) {
  const char *answers[ASK_COUNT], *paths[FILE_COUNT];
  ask(arena, toolchain->cc, ASK_COUNT, questions, answers);
  toolchain->version = first_line(arena, answers[ASK_VERSION]);
  if (toolchain->version == NULL) return false;
  toolchain->linker = answered_path(arena, first_line(arena, answers[ASK_LINKER]));
  find_files(arena, toolchain->cc, answers[ASK_FOLDERS], paths);
  toolchain->static_pie = paths[0];
  for (int i = 0; i < LIBRARY_COUNT; i++) toolchain->libraries[i] = paths[1 + i];
  return true;
}

/* ---- remembering ---- */

static CacheKey facts_key(Arena *arena, const char *cc) {
  Sha256 hash;
  sha256_begin(&hash);
  sha256_add_string(&hash, "toolchain 4");
  toolchain_add_program(arena, &hash, cc);
  add_environment(&hash);
  return cache_key(&hash);
}

/* A line each: version, linker, start, libraries. Where a path does not exist any more, they are not
 * believed. */
static bool read_facts(Arena *arena, Toolchain *toolchain, const Text *text) {
  const char *line = arena_strndup(arena, text->data, text->length);
  const char **first[] = {&toolchain->version, &toolchain->linker, &toolchain->static_pie};
  for (int i = -3; i < LIBRARY_COUNT; i++) {
    const char **field = i >= 0 ? &toolchain->libraries[i] : first[i + 3];
    size_t length = strcspn(line, "\n");
    if (line[length] == 0) return false;
    *field = arena_strndup(arena, line, length);
    line += length + 1;
    if (i >= -1 && **field && access(*field, R_OK) != 0) return false;
  }
  return access(toolchain->linker, X_OK) == 0;
}

/* Whether `cc` is there and runs; then the toolchain is filled. */
static bool try_compiler(Arena *arena, Toolchain *toolchain, const char *cc, Cache *cache) {
  toolchain->cc = cc;
  if (find_program(arena, cc) == NULL) return false;
  CacheKey key = facts_key(arena, cc);
  Text text = {0};
  bool known = cache_get(cache, &key, &text) && read_facts(arena, toolchain, &text);
  text_free(&text);
  if (known) return true;
  if (!ask_all(arena, toolchain)) return false;
  if (!*toolchain->linker || !*toolchain->libraries[LIBRARY_ZLIB])
    return true; /* it may be there next time */
  text_printf(&text, "%s\n%s\n%s\n", toolchain->version, toolchain->linker, toolchain->static_pie);
  for (int i = 0; i < LIBRARY_COUNT; i++) text_printf(&text, "%s\n", toolchain->libraries[i]);
  cache_put(cache, &key, text.data, text.length);
  text_free(&text);
  return true;
}

bool toolchain_find(Arena *arena, Toolchain *toolchain, const char *asked, Cache *cache) {
  enum { NEWEST = 23, OLDEST = 14 };
  if (asked != NULL) {
    if (try_compiler(arena, toolchain, asked, cache)) return true;
    fprintf(stderr, "nnc: error: the C compiler '%s' (--cc) does not run\n", asked);
    return false;
  }
  for (int version = NEWEST; version >= OLDEST; version--) {
    const char *name = arena_printf(arena, "clang-%d", version);
    if (try_compiler(arena, toolchain, name, cache)) return true;
  }
  static const char *const others[] = {"clang", "gcc", "cc"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (try_compiler(arena, toolchain, others[i], cache)) return true;
  fprintf(stderr, "nnc: error: none of clang, gcc and cc runs: install clang, or name a C compiler "
                  "with --cc\n");
  return false;
}
