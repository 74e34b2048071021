/* Keys of what is compiled: see keys.h, and compile.h for what they are made of. */
#include "backend/common/keys.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "backend/common/code_runs.h"
#include "backend/common/command.h"
#include "backend/common/externs.h"
#include "backend/common/images.h"
#include "support/files.h"

bool keys_are_complete(const CompileOptions *options) {
  static const char *const flags[] = {"@", "-fplugin", "-fprofile", "-fauto-profile", "-specs"};
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
    if (strstr(options->cflags, flags[i]) != NULL) return false;
  return true;
}

static void add_words(Sha256 *hash, const Arguments *arguments) {
  for (int i = 0; i < arguments->count; i++) sha256_add_string(hash, arguments->items[i]);
}

/* Toolchain and flags; `step` keeps the kinds of keys apart. */
static void begin_key(const Build *build, Sha256 *hash, const char *step) {
  const CompileOptions *options = build->options;
  Arguments flags = {0};
  command_flags(build->arena, &flags, options, NULL);
  for (int i = 0; i < options->level_count; i++)
    command_flags(build->arena, &flags, options, options->levels[i]);
  command_include(build->arena, &flags, options);
  command_libraries(build->arena, &flags, options);
  bool native = strstr(options->arch, "native") || strstr(options->cflags, "native");
  sha256_begin(hash);
  sha256_add_string(hash, step);
  toolchain_add_identity(build->arena, hash, &options->toolchain, native);
  add_words(hash, &flags);
  char *folder = options->debug ? getcwd(NULL, 0) : NULL; /* it is in the debugging information */
  if (folder != NULL) sha256_add_string(hash, folder);
  free(folder);
}

/* The entry that lists the headers of a unit, or the files of a link. */
static CacheKey list_key(const Build *build, const char *step) {
  Sha256 hash;
  begin_key(build, &hash, step);
  return cache_key(&hash);
}

static bool add_contents(Sha256 *hash, const char *path) {
  Text text = {0};
  bool good = file_read(path, &text);
  if (good) {
    sha256_add(hash, &text.length, sizeof text.length);
    sha256_add(hash, text.data, text.length);
  }
  text_free(&text);
  return good;
}

/* Adds the files of a list in the cache, contents and all, or what identifies them; false when
 * there is none. */
static bool add_listed(const Build *build, Sha256 *hash, const char *step, bool with_contents) {
  CacheKey key = list_key(build, step);
  Text list = {0};
  bool good = cache_get(build->options->cache, &key, &list) && list.length > 0;
  const char *library = command_library(build->arena, build->options);
  for (char *path = list.data; good && *path;) {
    size_t length = strcspn(path, "\n");
    char *next = path + length + (path[length] != 0);
    path[length] = 0;
    if (with_contents || strcmp(path, library) == 0) good = add_contents(hash, path);
    else toolchain_add_file(hash, path);
    path = next;
  }
  text_free(&list);
  return good;
}

static const char headers_list[] = "headers 1", linked_list[] = "linked 1";

/* Adds a unit's text: without comments, unless lines may be in the object, by debugging information
 * or by what flags of the user ask for. */
static void add_unit(const CompileOptions *options, Sha256 *hash, const Text *text) {
  bool has_lines = options->debug || options->cflags[0] != 0;
  code_runs_add(hash, text->data, text->length, has_lines);
}

static int is_header(const struct dirent *entry) {
  size_t length = strlen(entry->d_name);
  return length > 2 && strcmp(entry->d_name + length - 2, ".h") == 0;
}

/* Adds all of nnc's headers: units include those of the kinds of their kernels, and lists are of one unit. */
static bool add_headers(const Build *build, Sha256 *hash) {
  const char *folder = command_headers(build->arena, build->options);
  struct dirent **entries = NULL;
  int count = scandir(folder, &entries, is_header, alphasort);
  bool good = count > 0;
  for (int i = 0; i < count; i++) {
    const char *name = entries[i]->d_name;
    sha256_add_string(hash, name);
    good = good && add_contents(hash, arena_printf(build->arena, "%s/%s", folder, name));
    free(entries[i]);
  }
  free(entries);
  return good;
}

bool keys_of_objects(Build *build) {
  Sha256 base;
  begin_key(build, &base, "object 3");
  if (!add_headers(build, &base) || !add_listed(build, &base, headers_list, true)) return false;
  for (int i = 0; i < build->object_count; i++) {
    Object *object = &build->objects[i];
    Sha256 hash = base;
    const Text *text = &build->source->units[object->unit].text;
    if (build->source->units[object->unit].is_of_device) {
      object->key = images_key(build, object);
      continue;
    }
    sha256_add_string(&hash, object->level ? object->level : "");
    add_unit(build->options, &hash, text);
    object->key = cache_key(&hash);
  }
  return true;
}

bool keys_of_link(const Build *build, CacheKey *key) {
  Sha256 hash;
  begin_key(build, &hash, "executable 1");
  for (int i = 0; i < build->object_count; i++)
    sha256_add_string(&hash, build->objects[i].key.text);
  bool good = add_listed(build, &hash, linked_list, false);
  int count;
  const ExternFile *files = externs_files(build->arena, build->options, false, &count);
  for (int i = 0; good && i < count; i++) good = add_contents(&hash, files[i].name);
  *key = cache_key(&hash);
  return good;
}

/* ---- lists of files, from those that used them ---- */

/* One path a line, each once. */
static void add_path(Text *list, const char *path, size_t length) {
  for (const char *at = list->data; at && *at; at += strcspn(at, "\n") + 1)
    if (strncmp(at, path, length) == 0 && at[length] == '\n') return;
  text_add_bytes(list, path, length);
  text_add_char(list, '\n');
}

/* A rule of make: "x.o: a.h b\ c.h \" and so on. */
static void read_headers(Text *list, const char *rule) {
  const char *at = strstr(rule, ": ");
  if (at == NULL) return;
  Text path = {0};
  for (at += 2;; at++) {
    bool is_escape = at[0] == '\\' && at[1] && at[1] != '\n';
    bool is_end = !is_escape && (*at == 0 || strchr(" \n\\", *at) != NULL);
    if (is_escape) at++;
    if (!is_end) text_add_char(&path, *at);
    if (is_end && path.length > 0 && path.data[0] == '/') add_path(list, path.data, path.length);
    if (is_end) path.length = 0;
    if (*at == 0) break;
  }
  text_free(&path);
}

/* Lines of a linker's --trace: a file, or "archive(member)". Objects of ours are not listed. */
static void read_linked(const Build *build, Text *list, const char *trace) {
  while (*trace) {
    size_t length = strcspn(trace, "\n"), path = length;
    if (length > 0 && trace[length - 1] == ')') path = strcspn(trace, "(");
    bool is_ours = build->images != NULL && strlen(build->images) == path &&
                   strncmp(build->images, trace, path) == 0;
    for (int i = 0; i < build->object_count; i++)
      is_ours |=
          strlen(build->objects[i].file) == path && !strncmp(build->objects[i].file, trace, path);
    if (!is_ours && path > 0 && trace[0] == '/') add_path(list, trace, path);
    trace += length + (trace[length] != 0);
  }
}

static void keep_list(const Build *build, const char *step, Text *list) {
  CacheKey key = list_key(build, step);
  if (list->length > 0) cache_put(build->options->cache, &key, list->data, list->length);
  text_free(list);
}

void keys_keep_headers(const Build *build, const char *rule_file) {
  Text rule = {0}, list = {0};
  if (file_read(rule_file, &rule) && rule.length > 0) read_headers(&list, rule.data);
  text_free(&rule);
  keep_list(build, headers_list, &list);
}

void keys_keep_linked(const Build *build, const char *trace_file) {
  Text trace = {0}, list = {0};
  if (file_read(trace_file, &trace) && trace.length > 0) read_linked(build, &list, trace.data);
  text_free(&trace);
  keep_list(build, linked_list, &list);
}
