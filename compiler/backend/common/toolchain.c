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

/* What it is asked: for its version, and where a program or file lies. */
enum {
  ASK_VERSION,
  ASK_LINKER,
  ASK_STATIC_PIE,
  ASK_LIBRARY,
  ASK_COUNT = ASK_LIBRARY + LIBRARY_COUNT
};

static const char *question(Arena *arena, int which) {
  switch (which) {
  case ASK_VERSION: return "--version";
  case ASK_LINKER: return "-print-prog-name=ld";
  case ASK_STATIC_PIE: return "-print-file-name=rcrt1.o";
  default:
    return arena_printf(arena, "-print-file-name=lib%s.a", library_names[which - ASK_LIBRARY]);
  }
}

/* "" for a name that is not found. */
static const char *answered_path(Arena *arena, const char *line) {
  const char *path = line ? find_program(arena, line) : NULL;
  if (path != NULL) return path;
  return line != NULL && line[0] == '/' && access(line, R_OK) == 0 ? line : "";
}

/* All at once, since a compiler takes longer to start than to answer. Of an answer its first line counts;
 * NULL: it does not run. */
static bool ask_all(Arena *arena, Toolchain *toolchain) {
  Arguments questions[ASK_COUNT] = {0};
  Text outputs[ASK_COUNT] = {0};
  int statuses[ASK_COUNT];
  const char *lines[ASK_COUNT] = {0};
  for (int i = 0; i < ASK_COUNT; i++)
    process_add(arena, &questions[i], toolchain->cc, question(arena, i), NULL);
  process_read_all(arena, ASK_COUNT, questions, outputs, statuses);
  for (int i = 0; i < ASK_COUNT; i++) {
    if (statuses[i] == 0 && outputs[i].data != NULL)
      lines[i] = arena_strndup(arena, outputs[i].data, strcspn(outputs[i].data, "\n"));
    text_free(&outputs[i]);
  }
  toolchain->version = lines[ASK_VERSION];
  if (toolchain->version == NULL) return false;
  toolchain->linker = answered_path(arena, lines[ASK_LINKER]);
  toolchain->static_pie = answered_path(arena, lines[ASK_STATIC_PIE]);
  for (int i = 0; i < LIBRARY_COUNT; i++)
    toolchain->libraries[i] = answered_path(arena, lines[ASK_LIBRARY + i]);
  return true;
}

/* ---- remembering ---- */

static CacheKey facts_key(Arena *arena, const char *cc) {
  Sha256 hash;
  sha256_begin(&hash);
  sha256_add_string(&hash, "toolchain 3");
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
