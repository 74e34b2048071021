/* Files of data: plain or gzip-compressed (told apart by their first bytes), and standard input.
 *
 * zlib reads all of them.  A name that does not exist is tried again with ".gz" appended. */
#include "data/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "core/convert.h"
#include "core/number.h"
#include "data/call.h"
#include "data/words.h"
#include "data/disk.h"
#include "data/table.h"
#include "os/assert.h"
#include "os/buffer.h"

struct DataFile {
  gzFile stream;                 /* NULL: a member of another file: */
  const DataMemberClass *member; /* its bytes, */
  void *state;                   /* of this */
  int descriptor;                /* of the stream */
  const struct nnc_data_part *part;
  int64_t base; /* its place when it was opened */
  char *name;
  int64_t size;     /* of the file itself; -1 for a pipe */
  int64_t consumed; /* uncompressed bytes read so far */
};

/* Deflate codes at best 258 bytes in 2 bits; zlib's documentation states 1032 : 1 as the bound. */
enum { BEST_COMPRESSION = 1032 };

enum {
  BUFFER = NNC_BUFFER(1 << 17, 8), /* of zlib */
  PIECE = NNC_BUFFER(1 << 30, 3),
  FIRST_PIECE = NNC_BUFFER(1 << 20, 1)
};

char *data_path(const char *directory, const char *name, const char *suffix) {
  bool is_alone = name[0] == '/' || !directory || !*directory || strcmp(directory, ".") == 0;
  size_t length = is_alone ? 0 : strlen(directory);
  while (length > 1 && directory[length - 1] == '/') length--; /* "pictures/" */
  size_t size = length + 1 + strlen(name) + strlen(suffix) + 1;
  char *path = malloc(size);
  if (path)
    snprintf(path, size, "%.*s%s%s%s", (int)length, is_alone ? "" : directory, is_alone ? "" : "/",
             name, suffix);
  return path;
}

const char *data_path_last(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

const char *data_file_kind(mode_t mode) {
  return S_ISDIR(mode)                    ? "a directory"
         : S_ISFIFO(mode)                 ? "a pipe"
         : S_ISCHR(mode) || S_ISBLK(mode) ? "a device"
         : S_ISSOCK(mode)                 ? "a socket"
                                          : NULL;
}

/* The descriptor, and in *path the name that was opened; -1 with errno, or with 0 and what it is
 * instead of a file in *kind.  That is asked before it is opened, which would wait for the other end
 * of a pipe.  A pipe from the command line is meant (a shell's <(command)); a device has no end. */
static int open_either(const char *directory, const char *name, bool takes_pipe, char **path,
                       const char **kind) {
  static const char *const suffixes[] = {"", ".gz"};
  for (int i = 0; i < 2; i++) {
    struct stat status;
    free(*path);
    *path = data_path(directory, name, suffixes[i]);
    if (!*path) return -1;
    *kind = stat(*path, &status) == 0 ? data_file_kind(status.st_mode) : NULL;
    if (*kind && !(takes_pipe && S_ISFIFO(status.st_mode))) {
      errno = 0;
      return -1;
    }
    int descriptor = open(*path, O_RDONLY | O_CLOEXEC);
    if (descriptor >= 0 || errno != ENOENT) return descriptor;
  }
  (*path)[strlen(*path) - 3] = 0;
  errno = ENOENT;
  return -1;
}

static DataFile *fail_open(const DataContext *context, DataFile *file, int descriptor,
                           const char *reason) {
  const char *name = file && file->name ? file->name : "file";
  if (errno == ENOENT && !context->files)
    data_fail_call(context, "cannot open %s (nor %s.gz): %s; --data says where the data is", name,
                   name, reason);
  else data_fail(context, "cannot open %s: %s", name, reason);
  if (descriptor >= 0) close(descriptor);
  if (file) free(file->name);
  free(file);
  return NULL;
}

DataFile *data_file_open(const DataContext *context, const char *name) {
  DataFile *file = calloc(1, sizeof *file);
  if (!file) return fail_open(context, NULL, -1, strerror(ENOMEM));
  bool is_input = context->files && strcmp(name, "-") == 0;
  const char *kind = NULL;
  int descriptor = is_input ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                            : open_either(context->files ? NULL : context->directory, name,
                                          context->files != NULL, &file->name, &kind);
  if (is_input) file->name = strdup("standard input");
  if (is_input) file->part = context->part;
  if (descriptor < 0 && errno == 0 && kind) {
    char reason[64];
    snprintf(reason, sizeof reason, "it is %s", kind);
    return fail_open(context, file, descriptor, reason);
  }
  if (descriptor < 0 || !file->name) return fail_open(context, file, descriptor, strerror(errno));
  struct stat status;
  if (fstat(descriptor, &status) < 0) return fail_open(context, file, descriptor, strerror(errno));
  if (S_ISDIR(status.st_mode)) {
    errno = EISDIR;
    return fail_open(context, file, descriptor, "it is a directory");
  }
  file->size = S_ISREG(status.st_mode) ? (int64_t)status.st_size : -1;
  if (is_input && file->size >= 0) { /* what was read before is not ours */
    off_t at = lseek(descriptor, 0, SEEK_CUR);
    if (at > 0) file->size = at < status.st_size ? (int64_t)(status.st_size - at) : 0;
    if (at > 0) file->base = (int64_t)at;
  }
  file->descriptor = descriptor;
  file->stream = gzdopen(descriptor, "rb");
  errno = ENOMEM;
  if (!file->stream) return fail_open(context, file, descriptor, strerror(ENOMEM));
  if (gzbuffer(file->stream, BUFFER) != 0) {
    data_fail(context, "cannot open %s: no buffer", file->name);
    data_file_close(file);
    return NULL;
  }
  return file;
}

DataFile *data_file_of_member(const DataContext *context, const DataMemberClass *class, void *state,
                              char *name, int64_t size) {
  DataFile *file = name ? calloc(1, sizeof *file) : NULL;
  if (file) {
    *file = (DataFile){.member = class, .state = state, .name = name, .size = size};
    return file;
  }
  data_fail_memory(context, name ? name : "a member", 64);
  class->close(state);
  free(name);
  return NULL;
}

const char *data_file_name(const DataFile *file) { return file->name; }
const struct nnc_data_part *data_file_part(const DataFile *file) { return file->part; }

static bool is_plain(const DataFile *file) { return !file->stream || gzdirect(file->stream); }

int data_file_place(const DataContext *context, DataFile *file, int64_t *start) {
  *start = file->base;
  bool is_seekable = file->size >= 0 && is_plain(file) && lseek(file->descriptor, 0, SEEK_CUR) >= 0;
  int descriptor = file->member  ? file->member->place(file->state, start)
                   : is_seekable ? file->descriptor
                                 : -1;
  if (descriptor >= 0) return descriptor;
  return data_fail(context, "%s: it is %s; rows are read one by one from plain files alone",
                   file->name, file->size < 0 ? "a pipe" : "compressed");
}

int64_t data_file_consumed(const DataFile *file) { return file->consumed; }

int64_t data_file_limit(const DataFile *file) {
  if (file->size < 0) return INT64_MAX;
  if (is_plain(file)) return file->size - file->consumed;
  return file->size > INT64_MAX / BEST_COMPRESSION ? INT64_MAX : file->size * BEST_COMPRESSION;
}

static int read_stream(const DataContext *context, DataFile *file, void *buffer, unsigned size) {
  errno = 0;
  int got = gzread(file->stream, buffer, size);
  if (got > 0) return got;
  int code = Z_OK; /* the end, or what zlib noticed while it read ahead */
  const char *reason = gzerror(file->stream, &code);
  if (code == Z_ERRNO) reason = strerror(errno);
  if (code == Z_BUF_ERROR) reason = "the compressed file ends too early";
  if (code == Z_DATA_ERROR)
    return data_fail(context, "%s: the compressed data is damaged", file->name);
  if (got < 0 || (code != Z_OK && code != Z_STREAM_END))
    return data_fail(context, "%s: cannot read after %lld bytes: %s", file->name,
                     (long long)file->consumed, reason);
  return 0;
}

int64_t data_file_read(const DataContext *context, DataFile *file, void *buffer, int64_t size) {
  int64_t done = 0;
  while (done < size) {
    int64_t piece = size - done < PIECE ? size - done : PIECE;
    char *at = (char *)buffer + done;
    int64_t got = file->stream ? read_stream(context, file, at, (unsigned)piece)
                               : file->member->read(context, file->state, at, piece);
    if (got < 0) return -1;
    if (got == 0) break;
    NNC_ASSERT(got <= piece);
    done += got;
    file->consumed += got;
  }
  return done;
}

int data_file_expect_end(const DataContext *context, DataFile *file) {
  char extra;
  int64_t got = data_file_read(context, file, &extra, 1);
  if (got < 0) return -1;
  if (got == 0) return 0;
  return data_fail(context, "%s: should end after %lld bytes, but more follow", file->name,
                   (long long)(file->consumed - 1));
}

void data_file_close(DataFile *file) {
  if (!file) return;
  if (file->member) file->member->close(file->state);
  else gzclose_r(file->stream); /* nothing was written: nothing to lose */
  free(file->name);
  free(file);
}

/* The name of a field's file, NULL with a message. */
static const char *name_of_file(const DataContext *context, const DataTable *table, int field) {
  const nnc_call *call = context->call;
  int position = 0, files = 0;
  const char *name = NULL;
  for (int i = 0; i < field; i++) position += !context->files || table->fields[i].input;
  if (context->files) {
    files = context->file_count;
    if (position < files) name = context->files[position];
  } else {
    for (int i = 0; i < call->argument_count; i++) {
      const nnc_value *value = &call->arguments[i].value;
      if (*call->arguments[i].name) continue; /* no file */
      if (value->kind != NNC_STRING) {
        data_fail_call(context, "%s takes names of files in quotes", call->function);
        return NULL;
      }
      if (files++ == position) name = value->string;
    }
    if (files != table->field_count) name = NULL;
  }
  if (!name)
    data_fail_call(context, "%s has %d files for %d fields; each field has a file of its own",
                   call->function, files, table->field_count);
  return name;
}

static bool is_pattern(const DataContext *context, const char *name) {
  return context->matching && !context->files && data_is_pattern(name);
}

int data_names_add(const DataContext *context, DataNames *names, const char *name) {
  char **grown = realloc(names->items, (size_t)(names->count + 1) * sizeof *grown);
  if (grown) names->items = grown;
  char *copy = grown ? strdup(name) : NULL;
  if (!copy) return data_fail_memory(context, name, 64);
  names->items[names->count++] = copy;
  return 0;
}

int data_file_names(const DataContext *context, const char *name, DataNames *names) {
  *names = (DataNames){0};
  return is_pattern(context, name) ? context->matching->match(context, name, names)
                                   : data_names_add(context, names, name);
}

int data_file_load_field(const DataContext *context, DataFile *file, DataField *field,
                         DataFileLoad *load) {
  if (field->file) return context->matching->add_rows(context, file, field, load);
  field->file = strdup(file->name);
  return field->file ? load(context, file, field) : data_fail_memory(context, file->name, 64);
}

int data_file_load_named(const DataContext *context, const char *name, DataField *field,
                         DataFileLoad *load) {
  DataFile *file = data_file_open(context, name);
  int result = file ? data_file_load_field(context, file, field, load) : -1;
  data_file_close(file);
  return result;
}

int data_file_load_each(const DataContext *context, DataTable *table, DataFileLoad *load) {
  for (int i = 0; i < table->field_count; i++) {
    DataField *field = &table->fields[i];
    if (!field->input) continue;
    const char *name = name_of_file(context, table, i);
    int result = !name                       ? -1
                 : is_pattern(context, name) ? context->matching->load(context, name, field, load)
                                             : data_file_load_named(context, name, field, load);
    if (result < 0) return -1;
  }
  return 0;
}

int data_file_fail_short(const DataContext *context, const DataFile *file, const DataField *field,
                         int64_t start) {
  char shape[160];
  data_shape_text(shape, sizeof shape, field->dtype, field->rank, field->dim);
  bool is_bounded = file->consumed == start; /* nothing was read: the claim was refused */
  bool has_size = file->size >= 0 && is_plain(file);
  int64_t needed = start + data_shape_bytes(field->dtype, field->rank, field->dim);
  if (is_bounded && !has_size)
    return data_fail(context, "%s: %s needs %lld bytes; the compressed file cannot hold so many",
                     file->name, shape, (long long)needed);
  return data_fail(context, "%s: %s needs %lld bytes; the file ends after %lld", file->name, shape,
                   (long long)needed, (long long)(is_bounded ? file->size : file->consumed));
}

int64_t data_file_needed(const DataContext *context, const DataFile *file, const DataField *field) {
  int64_t bytes = data_shape_bytes(field->dtype, field->rank, field->dim);
  if (bytes >= 0 && bytes <= INT64_MAX / 2) return bytes;
  char shape[160];
  data_shape_text(shape, sizeof shape, field->dtype, field->rank, field->dim);
  return data_fail(context, "%s: %s is more than a file can hold", file->name, shape);
}

int64_t data_file_claim(const DataContext *context, DataFile *file, DataField *field) {
  int64_t bytes = data_file_needed(context, file, field);
  if (bytes < 0) return -1;
  if (bytes > data_file_limit(file))
    return data_file_fail_short(context, file, field, file->consumed);
  return data_field_allocate(context, field) < 0 ? -1 : bytes;
}

/* The rows are the rest of the file. */
static int note_field(const DataContext *context, DataFile *file, DataField *field, bool swaps) {
  int64_t bytes = data_file_needed(context, file, field), start = file->consumed;
  if (bytes < 0) return -1;
  if (file->size >= 0 && is_plain(file) && bytes > file->size - start)
    return data_file_fail_short(context, file, field, start);
  if (file->size >= 0 && is_plain(file) && bytes < file->size - start)
    return data_fail(context, "%s: should end after %lld bytes, but more follow", file->name,
                     (long long)(start + bytes));
  DataRun run = {.start = start,
                 .step = field->width * nnc_dtype_size(field->dtype),
                 .rows = field->batched ? field->dim[0] : 1,
                 .swaps = swaps};
  return context->disk->add(context, field, file, &run);
}

int data_file_read_field(const DataContext *context, DataFile *file, DataField *field, bool swaps) {
  if (context->disk) return note_field(context, file, field, swaps);
  int64_t start = file->consumed, bytes = data_file_claim(context, file, field);
  int64_t got = bytes < 0 ? -1 : data_file_read(context, file, field->values, bytes);
  if (got < 0) return -1;
  if (got < bytes) return data_file_fail_short(context, file, field, start);
  int64_t size = nnc_dtype_size(field->dtype);
  if (swaps) nnc_swap_bytes(field->values, (int)size, bytes / size);
  return data_file_expect_end(context, file);
}

/* A pipe's or a compressed file's size shows only at its end. */
char *data_file_read_all(const DataContext *context, DataFile *file, int64_t *size) {
  int64_t limit = data_file_limit(file), capacity = limit < FIRST_PIECE ? limit : FIRST_PIECE;
  if (file->size >= 0 && is_plain(file)) capacity = limit;
  char *bytes = NULL;
  *size = 0;
  for (;; capacity += capacity / 2 + 1) {
    char *larger = capacity < INT64_MAX / 2 ? realloc(bytes, (size_t)capacity + 1) : NULL;
    int64_t got = -1;
    if (larger) {
      bytes = larger;
      got = data_file_read(context, file, bytes + *size, capacity + 1 - *size);
    } else {
      data_fail_memory(context, file->name, capacity);
    }
    if (got < 0) {
      free(bytes);
      return NULL;
    }
    *size += got;
    if (*size <= capacity) break; /* the byte beyond the end was not needed */
  }
  bytes[*size] = 0;
  return bytes;
}

static const char *argument_name(const DataContext *context, const char *const *formals) {
  const nnc_value *value = data_argument(context->call, formals, "file");
  if (!value || value->kind != NNC_STRING) {
    data_fail_call(context, "%s needs the name of its file in quotes", context->call->function);
    return NULL;
  }
  return context->files ? context->files[0] : value->string;
}

DataFile *data_file_open_argument(const DataContext *context, const char *const *formals) {
  const char *name = argument_name(context, formals);
  return name ? data_file_open(context, name) : NULL;
}

int data_file_argument_names(const DataContext *context, const char *const *formals,
                             DataNames *names) {
  *names = (DataNames){0};
  const char *name = argument_name(context, formals);
  return name ? data_file_names(context, name, names) : -1;
}
