/* The library of the language: see library.h.
 *
 * Its files are embedded in nnc. For an editor to show them, they are written once to a folder of the cache whose name is
 * a digest of their texts, read-only. */
#include "server/library.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/embedded.h"
#include "support/files.h"
#include "support/hash.h"
#include "support/names.h"
#include "support/panic.h"

static const char prefix[] = "prelude/";

/* ---- files ---- */

static bool make_folders(Arena *arena, const char *path) {
  char *copy = arena_strdup(arena, path);
  for (char *at = copy + 1; *at; at++) {
    if (*at != '/') continue;
    *at = 0;
    if (mkdir(copy, 0777) != 0 && errno != EEXIST) return false;
    *at = '/';
  }
  return mkdir(copy, 0777) == 0 || errno == EEXIST;
}

static const char *choose_folder(Arena *arena) {
  const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  uint64_t digest = 0;
  for (int i = 0; i < embedded_file_count; i++)
    if (strncmp(embedded_files[i].name, prefix, strlen(prefix)) == 0)
      digest = digest * 31 + hash_bytes(embedded_files[i].text, embedded_files[i].length);
  if (cache && *cache == '/')
    return arena_printf(arena, "%s/nnc-library-%016llx", cache, (unsigned long long)digest);
  return home && *home == '/' ? arena_printf(arena, "%s/.cache/nnc-library-%016llx", home,
                                             (unsigned long long)digest)
                              : NULL;
}

/* NULL where the files are not there and cannot be written. */
static const char *write_files(Arena *arena) {
  const char *folder = choose_folder(arena);
  if (!folder || !make_folders(arena, folder)) return NULL;
  for (int i = 0; i < embedded_file_count; i++) {
    const EmbeddedFile *file = &embedded_files[i];
    if (strncmp(file->name, prefix, strlen(prefix)) != 0) continue;
    const char *path = arena_printf(arena, "%s/%s", folder, file->name + strlen(prefix));
    if (access(path, R_OK) != 0 && !file_replace(arena, path, 0444, file->text, file->length))
      return NULL;
  }
  return folder;
}

/* ---- the parsed library ---- */

Library *library_create(Arena *arena) {
  Library *library = ARENA_NEW(arena, Library);
  Diagnostics *diagnostics = diagnostics_create(arena);
  library->prelude = elaborate_prelude(arena, diagnostics);
  CHECK(diagnostics_error_count(diagnostics) == 0);
  for (int i = 0; i < library->prelude->count; i++) {
    const AstStmts *stmts = &library->prelude->files[i]->stmts;
    for (int k = 0; k < stmts->count; k++) {
      const AstStmt *stmt = stmts->items[k];
      if (table_add(arena, &library->table, stmt->function.name.text, library->functions.count))
        vec_push(arena, &library->functions, stmt);
    }
  }
  library->folder = write_files(arena);
  return library;
}

const AstStmt *library_find(const Library *library, const char *name) {
  int i = table_find(&library->table, name_intern(name));
  return i < 0 ? NULL : library->functions.items[i];
}

const char *library_uri(Arena *arena, const Library *library, const char *file) {
  const char *slash = strrchr(file, '/');
  if (!library->folder || !slash) return NULL;
  return uri_of_path(arena, arena_printf(arena, "%s%s", library->folder, slash));
}

bool library_has(const Library *library, const char *path) {
  if (!library->folder) return false;
  size_t length = strlen(library->folder);
  return strncmp(path, library->folder, length) == 0 && path[length] == '/';
}

/* ---- addresses ---- */

const char *uri_of_path(Arena *arena, const char *path) {
  Text uri = {0};
  text_add(&uri, "file://");
  for (const char *at = path; *at; at++) {
    if (isalnum((unsigned char)*at) || strchr("/-._~", *at)) text_add_char(&uri, *at);
    else text_printf(&uri, "%%%02X", (unsigned char)*at);
  }
  return text_take(&uri, arena);
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = (char)tolower((unsigned char)c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

const char *path_of_uri(Arena *arena, const char *uri) {
  static const char scheme[] = "file://";
  if (strncmp(uri, scheme, strlen(scheme)) != 0) return NULL;
  const char *at = strchr(uri + strlen(scheme), '/'); /* after the host, which is mostly empty */
  if (!at) return NULL;
  Text path = {0};
  for (; *at; at++) {
    int high = *at == '%' ? hex_digit(at[1]) : -1, low = high >= 0 ? hex_digit(at[2]) : -1;
    if (low < 0) {
      text_add_char(&path, *at);
    } else {
      text_add_char(&path, (char)(high * 16 + low));
      at += 2;
    }
  }
  return text_take(&path, arena);
}
