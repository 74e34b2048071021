/* Stage `match`: names of files are patterns. The compiler writes it behind a source that names files so.
 *
 * A name is matched folder by folder: * stands for any characters but /, ? for one character of UTF-8, ** for any
 * folders, also none. What begins with a dot is matched by a dot alone; ** follows no links. The names come sorted by
 * their bytes, each once. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/number.h"
#include "data/call.h"
#include "data/class.h"
#include "data/file.h"
#include "nnc_data.h"

typedef struct Search {
  const DataContext *context;
  const char *pattern;
  DataNames *names;
} Search;

static bool is_inner(char c) {
  return ((unsigned char)c & 0xc0) == 0x80; /* of a character of UTF-8 */
}

/* Whether the first `length` bytes of the pattern, of one folder, match the whole name. */
static bool fits(const char *pattern, size_t length, const char *name) {
  const char *end = pattern + length, *star = NULL, *resume = NULL;
  while (*name) {
    if (pattern < end && *pattern == '*') {
      star = ++pattern;
      resume = name;
    } else if (pattern < end && *pattern == '?') {
      pattern++;
      do name++;
      while (is_inner(*name));
    } else if (pattern < end && *pattern == *name) {
      pattern++;
      name++;
    } else if (star) {
      pattern = star;
      name = ++resume;
    } else {
      return false;
    }
  }
  while (pattern < end && *pattern == '*') pattern++;
  return pattern == end;
}

/* Of a path below the data directory. */
static int look(const Search *search, const char *path, bool follows, mode_t *mode) {
  struct stat status;
  char *full = data_path(search->context->directory, path, "");
  if (!full) return data_fail_memory(search->context, path, 64);
  bool is_there = (follows ? stat(full, &status) : lstat(full, &status)) == 0;
  free(full);
  *mode = is_there ? status.st_mode : 0;
  return 0;
}

/* The path goes on with a name; false where it would be too long. */
static bool extend(char path[PATH_MAX], size_t length, const char *name, size_t size) {
  if (length + size >= PATH_MAX) return false;
  memcpy(path + length, name, size);
  path[length + size] = 0;
  return true;
}

static int find(const Search *search, char path[PATH_MAX], const char *rest);

static int found(const Search *search, char path[PATH_MAX], const char *rest) {
  mode_t mode;
  if (*rest == '/') {
    size_t length = strlen(path), slashes = strspn(rest, "/");
    if (!extend(path, length, "/", 1)) return 0;
    int result = find(search, path, rest + slashes);
    path[length] = 0;
    return result;
  }
  if (look(search, path, true, &mode) < 0) return -1;
  if (mode == 0 || S_ISDIR(mode)) return 0;
  return data_names_add(search->context, search->names, path);
}

/* Each name of the folder at `path` that fits the first `length` bytes of the pattern `rest`; in the folders that `**`
 * stands for the whole of it goes on. */
static int find_in(const Search *search, char path[PATH_MAX], const char *rest, size_t length,
                   bool is_deep) {
  size_t before = strlen(path);
  char *full = data_path(search->context->directory, before ? path : ".", "");
  DIR *folder = full ? opendir(full) : NULL;
  int code = errno, result = 0;
  if (full && !folder && code != ENOENT && code != ENOTDIR)
    result = data_fail(search->context, "cannot read the folder %s: %s", full, strerror(code));
  if (!full) result = data_fail_memory(search->context, path, 64);
  free(full);
  for (struct dirent *entry; folder && result == 0 && (entry = readdir(folder));) {
    const char *name = entry->d_name;
    mode_t mode = 0;
    if (name[0] == '.' && (is_deep || rest[0] != '.')) continue;
    if ((!is_deep && !fits(rest, length, name)) || !extend(path, before, name, strlen(name)))
      continue;
    if (!is_deep) result = found(search, path, rest + length);
    else if ((result = look(search, path, false, &mode)) == 0 && S_ISDIR(mode) &&
             extend(path, strlen(path), "/", 1))
      result = find(search, path, rest);
    path[before] = 0;
  }
  if (folder) closedir(folder);
  return result;
}

/* The paths that begin with `path` and go on as `rest` says. */
static int find(const Search *search, char path[PATH_MAX], const char *rest) {
  size_t length = strcspn(rest, "/"), before = strlen(path);
  if (strncmp(rest, "**/", 3) == 0) {
    int result = find(search, path, rest + 2 + strspn(rest + 2, "/"));
    return result < 0 ? -1 : find_in(search, path, rest, length, true);
  }
  if (memchr(rest, '*', length) || memchr(rest, '?', length))
    return find_in(search, path, rest, length, false);
  if (!extend(path, before, rest, length)) return 0;
  int result = found(search, path, rest + length);
  path[before] = 0;
  return result;
}

static int compare(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static int match(const DataContext *context, const char *pattern, DataNames *names) {
  char path[PATH_MAX] = "";
  Search search = {context, pattern, names};
  if (find(&search, path, pattern) < 0) return -1;
  if (names->count == 0) {
    bool is_in = context->directory && *context->directory &&
                 strcmp(context->directory, ".") != 0 && pattern[0] != '/';
    return data_fail_call(context, "no file matches \"%s\"%s%s; --data says where the data is",
                          pattern, is_in ? " in " : "", is_in ? context->directory : "");
  }
  qsort(names->items, (size_t)names->count, sizeof *names->items, compare);
  int64_t kept = 1; /* ** may find one in several ways */
  for (int64_t i = 1; i < names->count; i++)
    if (strcmp(names->items[kept - 1], names->items[i]) != 0)
      names->items[kept++] = names->items[i];
    else free(names->items[i]);
  names->count = kept;
  return 0;
}

/* ---- rows of several files ---- */

/* The rows of `more` follow those of the field. */
static int append_rows(const DataContext *context, DataField *field, const DataField *more) {
  if (!field->batched)
    return data_fail_call(context, "the input %s has no axis of examples: it takes one file",
                          field->name);
  int64_t rows = field->dim[0] + more->dim[0], size = nnc_dtype_size(more->dtype);
  bool are_alike =
      field->rank == more->rank &&
      memcmp(field->dim + 1, more->dim + 1, (size_t)(field->rank - 1) * sizeof *field->dim) == 0;
  if (!are_alike || (!more->disk && field->dtype != more->dtype)) {
    char one[160], other[160];
    data_shape_text(one, sizeof one, field->dtype, field->rank, field->dim);
    data_shape_text(other, sizeof other, more->dtype, more->rank, more->dim);
    return data_fail(context,
                     "%s has %s, but %s has %s; files of one pattern have rows of one type and "
                     "shape, concat(...) joins others",
                     more->file, other, field->file, one);
  }
  if (rows > UINT32_MAX)
    return data_fail(context, "%s: %lld examples are more than %lld, the most that can be read",
                     more->file, (long long)rows, (long long)UINT32_MAX);
  int64_t held = field->dim[0] * field->width * size, bytes = rows * field->width * size;
  field->dim[0] = rows;
  if (more->disk) return 0;
  char *values = realloc(field->values, (size_t)bytes + 1);
  if (!values) return data_fail_memory(context, more->file, bytes);
  memcpy(values + held, more->values, (size_t)(bytes - held));
  field->values = values;
  return 0;
}

static int add_rows(const DataContext *context, DataFile *file, DataField *field,
                    DataFileLoad *load) {
  DataField more = *field;
  more.values = NULL;
  more.is_made = false;
  more.file = strdup(data_file_name(file));
  int result = more.file ? load(context, file, &more) : data_fail_memory(context, field->file, 64);
  if (result == 0) result = append_rows(context, field, &more);
  free(more.values);
  free(more.file);
  return result;
}

static int load(const DataContext *context, const char *pattern, DataField *field,
                DataFileLoad *load_file) {
  DataNames names = {0};
  int result = match(context, pattern, &names);
  for (int64_t i = 0; i < names.count && result == 0; i++)
    result = data_file_load_named(context, names.items[i], field, load_file);
  data_names_free(&names);
  return result;
}

static const DataMatching matching = {.match = match, .add_rows = add_rows, .load = load};
static const char *const formals[] = {NULL};

const struct nnc_stage_class nnc_stage_match = {
    .name = "match", .acts_on = GIVES_ROWS, .formals = formals, .matching = &matching};
