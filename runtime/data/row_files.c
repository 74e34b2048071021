/* Rows that are files, one each: lists of their names. */
#include "data/row_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "data/call.h"
#include "data/file.h"
#include "os/buffer.h"

enum { FIRST_NAMES = NNC_BUFFER(64, 1) };

/* --- lists ------------------------------------------------------------------------------------ */

int data_files_add_name(const DataContext *context, FileNames *names, char *name) {
  if (name && names->count == names->capacity) {
    int64_t capacity = names->capacity ? names->capacity * 2 : FIRST_NAMES;
    char **items = realloc(names->items, (size_t)capacity * sizeof *items);
    if (items) {
      names->items = items;
      names->capacity = capacity;
    }
  }
  if (!name || names->count == names->capacity) {
    free(name);
    return data_fail_memory(context, "the names of the files", names->count * 8);
  }
  names->items[names->count++] = name;
  return 0;
}

void data_files_free_names(FileNames *names) {
  for (int64_t i = 0; i < names->count; i++) free(names->items[i]);
  free(names->items);
}

static bool is_called(const RowFileKind *kind, const char *name) {
  size_t length = strlen(name);
  for (int i = 0; kind->ends[i]; i++) {
    size_t end = strlen(kind->ends[i]);
    if (length > end && strcasecmp(name + length - end, kind->ends[i]) == 0) return true;
  }
  return false;
}

static int compare_names(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Whether an entry is one of what is listed, files of the kind or (NULL) folders: 1 or 0, or -1 with a message.  Of two
 * kinds of entries one would be missed silently: links to nowhere, and what is called like a file and is none.  Where
 * each row is told that cannot be read, they are rows like others. */
static int is_listed(const DataContext *context, const char *path, const char *name,
                     const RowFileKind *kind, bool tells_rows) {
  struct stat status;
  if (name[0] == '.') return 0;
  if (kind && tells_rows) return is_called(kind, name);
  if (stat(path, &status) < 0 && (!kind || is_called(kind, name)))
    return data_fail(context, "%s: %s", path,
                     errno == ENOENT ? "the link leads nowhere" : strerror(errno));
  if (!kind) return S_ISDIR(status.st_mode);
  if (!is_called(kind, name)) return 0;
  const char *other = data_file_kind(status.st_mode);
  return other ? data_fail(context, "%s is called like %s, but is %s", path, kind->one, other) : 1;
}

int data_files_list(const DataContext *context, const char *folder, const RowFileKind *kind,
                    bool tells_rows, FileNames *names) {
  DIR *listing = opendir(folder);
  if (!listing)
    return data_fail_call(context, "cannot read the folder %s: %s%s", folder, strerror(errno),
                          context->files ? "" : "; --data says where the data is");
  int result = 0;
  struct dirent *entry;
  while (result == 0 && (errno = 0, entry = readdir(listing))) {
    char *path = data_path(folder, entry->d_name, "");
    int listed = path ? is_listed(context, path, entry->d_name, kind, tells_rows)
                      : data_fail_memory(context, folder, 256);
    result = listed > 0 ? data_files_add_name(context, names, path) : listed;
    if (listed <= 0) free(path);
  }
  if (result == 0 && errno)
    result = data_fail(context, "cannot read the folder %s: %s", folder, strerror(errno));
  closedir(listing);
  if (names->count > 0)
    qsort(names->items, (size_t)names->count, sizeof *names->items, compare_names);
  return result;
}

bool data_files_hold(const DataContext *context, const char *folder, const RowFileKind *kind) {
  FileNames files = {0};
  bool holds = data_files_list(context, folder, kind, true, &files) == 0 && files.count > 0;
  data_files_free_names(&files);
  return holds;
}

/* The names of the folders in it, of the first `most`, that hold files of the kind: "a, b, c and others"; how many
 * there are, beyond three only that there are more. */
static int list_holders(const DataContext *context, const char *folder, const RowFileKind *kind,
                        int64_t most, char text[NNC_MESSAGE / 4]) {
  enum { SHOWN = 3 };
  char unsaid[NNC_MESSAGE];
  DataContext quiet = *context;
  quiet.message = unsaid;
  FileNames folders = {0};
  int found = 0;
  size_t length = 0;
  text[0] = 0;
  data_files_list(&quiet, folder, NULL, false, &folders);
  for (int64_t i = 0; i < folders.count && i < most && found <= SHOWN; i++) {
    const char *name = data_path_last(folders.items[i]);
    if (!data_files_hold(&quiet, folders.items[i], kind)) continue;
    if (found++ < SHOWN)
      length += (size_t)snprintf(text + length, NNC_MESSAGE / 4 - length, "%s%.60s",
                                 length ? ", " : "", name);
    else snprintf(text + length, NNC_MESSAGE / 4 - length, " and others");
  }
  data_files_free_names(&folders);
  return found;
}

static int fail_empty(const DataContext *context, const char *folder, const RowFileKind *kind) {
  enum { LOOKED_INTO = 100 }; /* a hint need not be complete */
  char holders[NNC_MESSAGE / 4];
  int count = list_holders(context, folder, kind, LOOKED_INTO, holders);
  if (count == 0)
    return data_fail(context, "%s holds no %s (%s)", folder, kind->what, kind->ends_text);
  const char *plural = count > 1 ? "s" : "", *does = count > 1 ? "do" : "does";
  if (context->files)
    return data_fail(context, "%s holds no %s itself (%s); its folder%s %s %s: give %s", folder,
                     kind->what, kind->ends_text, plural, holders, does,
                     count > 1 ? "these" : "this");
  return data_fail(
      context,
      "%s holds no %s itself (%s); its folder%s %s %s: %s takes the folder whose folders "
      "are the classes, and these hold files",
      folder, kind->what, kind->ends_text, plural, holders, does, context->call->function);
}

int data_files_add_flat(const DataContext *context, const char *root, RowFiles *files) {
  const RowFileKind *kind = files->kind;
  char holders[NNC_MESSAGE / 4];
  int count = list_holders(context, root, kind, INT64_MAX, holders);
  if (count == 0) return data_files_add_folder(context, root, files);
  return data_fail(
      context,
      "%s holds %s itself, and so do%s its folder%s %s: %s reads the one or the other; "
      "move what is not meant elsewhere",
      root, kind->what, count > 1 ? "" : "es", count > 1 ? "s" : "", holders,
      context->call->function);
}

int data_files_fail_flat(const DataContext *context, const char *root, const RowFileKind *kind) {
  char unsaid[NNC_MESSAGE];
  DataContext quiet = *context;
  quiet.message = unsaid;
  const char *function = context->call->function;
  if (!data_files_hold(&quiet, root, kind))
    return data_fail(context, "%s holds neither %s (%s) nor folders of them", root, kind->what,
                     kind->ends_text);
  return data_fail(
      context,
      "%s has no folders, but %s, and the second field of %s is the class, a folder "
      "each: move them to %s/CLASS, or leave that field out where there are no classes",
      root, kind->what, function, root);
}

int data_files_add_folder(const DataContext *context, const char *folder, RowFiles *files) {
  FileNames found = {0};
  bool tells_rows = files->skips || context->is_prediction;
  int result = data_files_list(context, folder, files->kind, tells_rows, &found);
  if (result == 0 && found.count == 0) result = fail_empty(context, folder, files->kind);
  for (int64_t i = 0; result == 0 && i < found.count; i++) {
    result = data_files_add_name(context, &files->names, found.items[i]);
    found.items[i] = NULL; /* it belongs to the files now, or is gone */
  }
  data_files_free_names(&found);
  return result;
}

/* Those of all its folders, which are the classes, in the order that a set has. */
static int add_class_folders(const DataContext *context, const char *root, RowFiles *files) {
  FileNames folders = {0};
  int result = data_files_list(context, root, NULL, false, &folders);
  for (int64_t i = 0; result == 0 && i < folders.count; i++)
    result = data_files_add_folder(context, folders.items[i], files);
  data_files_free_names(&folders);
  return result;
}

static int add_given_folder(const DataContext *context, const char *folder, RowFiles *files,
                            bool has_classes) {
  char holders[NNC_MESSAGE / 4];
  bool is_root = has_classes && !data_files_hold(context, folder, files->kind) &&
                 list_holders(context, folder, files->kind, INT64_MAX, holders) > 0;
  return (is_root ? add_class_folders : data_files_add_folder)(context, folder, files);
}

int data_files_add_given(const DataContext *context, RowFiles *files, bool has_classes) {
  struct stat status;
  int result = 0;
  for (int i = 0; result == 0 && i < context->file_count; i++) {
    const char *name = context->files[i];
    if (strcmp(name, "-") == 0)
      return data_fail(context, "%s are read from files, not from standard input",
                       files->kind->what);
    bool is_folder = stat(name, &status) == 0 && S_ISDIR(status.st_mode);
    result = is_folder ? add_given_folder(context, name, files, has_classes)
                       : data_files_add_name(context, &files->names, strdup(name));
  }
  return result;
}

/* --- opening ---------------------------------------------------------------------------------- */

RowFiles *data_files_open(const DataContext *context, DataTable *table, const RowFileKind *kind,
                          const char *const *formals) {
  double workers = 0;
  if (data_argument_number(context, formals, "workers", 0, 256, &workers) < 0) return NULL;
  RowFiles *files = table->state = calloc(1, kind->bytes);
  if (!files) {
    data_fail_memory(context, context->call->function, (int64_t)kind->bytes);
    return NULL;
  }
  files->kind = kind;
  files->workers = (int)workers;
  table->keeps_rows = true;
  return files;
}

int data_files_on_error(const DataContext *context, RowFiles *files, const char *const *formals) {
  const nnc_value *value = data_argument(context->call, formals, "on_error");
  const char *word = value && value->kind == NNC_STRING ? value->string : value ? "" : "stop";
  files->skips = strcmp(word, "skip") == 0;
  if (files->skips || strcmp(word, "stop") == 0) return 0;
  return data_fail_call(context, "%s takes on_error = \"stop\" or \"skip\"",
                        context->call->function);
}

/* --- of the class of a source ----------------------------------------------------------------- */

const char *data_files_row_name(const DataTable *table, int64_t row) {
  return ((const RowFiles *)table->state)->names.items[row];
}

bool data_files_skips(const DataTable *table) { return ((const RowFiles *)table->state)->skips; }

int data_files_workers(const DataTable *table) { return ((const RowFiles *)table->state)->workers; }

void data_files_close(DataTable *table) {
  RowFiles *files = table->state;
  if (files) data_files_free_names(&files->names);
  free(files);
}
