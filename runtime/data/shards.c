/* Source `shards(files, members = [...], rate, fit = "exact", workers = 0, on_error = "stop", palette = "color")`: tar
 * archives in the layout of WebDataset (https://github.com/webdataset/webdataset).
 *
 * Files of an archive that follow each other and agree up to the first dot of their name are one example:
 *
 *     cat/001.jpg  cat/001.cls  cat/002.jpg  cat/002.cls
 *
 * Opening goes through the headers alone and notes where members lie; a member is read at its place when
 * its example is wanted. So any order is possible, and memory holds some hundred bytes an example. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "core/number.h"
#include "data/advice.h"
#include "data/call.h"
#include "data/class.h"
#include "data/decimal.h"
#include "data/file.h"
#include "data/npy.h"
#include "data/patterns.h"
#include "data/picture_files.h"
#include "data/scratch.h"
#include "data/words.h"
#include "data/table.h"
#include "data/tar.h"
#include "data/wav.h"
#include "os/buffer.h"
#include "nnc_data.h"

static const char *const formals[] = {"files",   "members",  "rate",    "fit",
                                      "workers", "on_error", "palette", NULL};

/* Archives that stay open, at most; the others are opened for each read. */
enum { MOST_OPEN = NNC_BUFFER(128, 1) };
enum { FIRST_EXAMPLES = NNC_BUFFER(256, 1), CLASS_BYTES = 64 };

/* Where a member lies. */
typedef struct Member {
  int64_t at;
  int32_t bytes, shard;
} Member;

/* What one field takes of each example. */
typedef struct Take {
  const char *names; /* "jpg;png" */
  enum ShardKind kind;
  Member *members; /* of each example; NULL for classes, which are read at once */
  int64_t *classes;
  int64_t found; /* the number of the example that has it already; -1 */
} Take;

typedef struct Shards {
  RowFiles pictures; /* the first, as of other pictures; its names are those of the examples */
  FileNames shards;  /* as they are opened */
  int descriptors[MOST_OPEN]; /* of the first of them */
  int open;
  int take_count;
  Take *takes;
  int64_t count, capacity; /* of examples */
  WavForm sounds;
} Shards;

/* --- one example after the other -------------------------------------------------------------- */

/* The part of a path that all members of an example share; the rest is what a member is. */
static size_t key_length(const char *path) {
  const char *slash = strrchr(path, '/');
  const char *dot = strchr(slash ? slash : path, '.');
  return dot ? (size_t)(dot - path) : strlen(path);
}

static int grow(const DataContext *context, Shards *shards) {
  if (shards->count < shards->capacity) return 0;
  int64_t capacity = shards->capacity ? 2 * shards->capacity : FIRST_EXAMPLES;
  for (int t = 0; t < shards->take_count; t++) {
    Take *take = &shards->takes[t];
    if (!take->names) continue;
    bool is_class = take->kind == SHARD_CLASS;
    size_t size = is_class ? sizeof *take->classes : sizeof *take->members;
    void *grown =
        realloc(is_class ? (void *)take->classes : take->members, (size_t)capacity * size);
    if (!grown) return data_fail_memory(context, "the members of shards", capacity * (int64_t)size);
    if (is_class) take->classes = grown;
    else take->members = grown;
  }
  shards->capacity = capacity;
  return 0;
}

static int read_bytes(const DataContext *context, int descriptor, const char *name,
                      const Member *member, void *bytes) {
  for (int64_t done = 0; done < member->bytes;) {
    ssize_t got =
        pread(descriptor, (char *)bytes + done, (size_t)(member->bytes - done), member->at + done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      return data_fail(context, "cannot read %s: %s", name,
                       got < 0 ? strerror(errno) : "the file has become shorter");
    done += got;
  }
  return 0;
}

static int read_class(const DataTar *tar, const Member *member, int64_t *class) {
  char text[CLASS_BYTES + 1] = "";
  double number = NAN;
  int64_t length = 0;
  if (member->bytes <= CLASS_BYTES) {
    if (read_bytes(tar->context, tar->descriptor, tar->name, member, text) < 0) return -1;
    length = (int64_t)strcspn(text, " \t\r\n");
    bool ends = text[length + (int64_t)strspn(text + length, " \t\r\n")] == 0;
    if (!ends || !data_parse_number(text, length, &number)) number = NAN;
  }
  *class = fabs(number) <= 0x1p53 ? (int64_t)number : 0;
  if (number == (double)*class) return 0;
  return data_fail(tar->context, "%s: %s: '%.40s' is no whole number", tar->name, tar->path, text);
}

/* The member belongs to the last example. */
static int add_member(const DataTar *tar, Shards *shards, const char *name) {
  Member member = {tar->at, (int32_t)tar->bytes, (int32_t)shards->shards.count - 1};
  int64_t last = shards->count - 1;
  for (int t = 0; t < shards->take_count; t++) {
    Take *take = &shards->takes[t];
    if (!take->names || !shard_member_is(take->names, name)) continue;
    if (take->found == last)
      return data_fail(tar->context, "%s: %s: the example has two members '%s'", tar->name,
                       tar->path, take->names);
    if (tar->bytes > INT32_MAX)
      return data_fail(tar->context, "%s: %s: a member of %lld bytes; at most %d are read",
                       tar->name, tar->path, (long long)tar->bytes, INT32_MAX);
    take->found = last;
    if (take->kind == SHARD_CLASS) {
      if (read_class(tar, &member, &take->classes[last]) < 0) return -1;
    } else {
      take->members[last] = member;
    }
  }
  return 0;
}

static int end_example(const DataTar *tar, const Shards *shards) {
  int64_t last = shards->count - 1;
  for (int t = 0; t < shards->take_count && last >= 0; t++) {
    const Take *take = &shards->takes[t];
    if (take->names && take->found != last)
      return data_fail(tar->context, "%s: the example has no member '%s'",
                       shards->pictures.names.items[last], take->names);
  }
  return 0;
}

/* The key of the example to which tar->path belongs, "SHARD:KEY". */
static int begin_example(const DataTar *tar, Shards *shards, size_t length) {
  if (grow(tar->context, shards) < 0) return -1;
  char *name = malloc(strlen(tar->name) + length + 2);
  if (name) sprintf(name, "%s:%.*s", tar->name, (int)length, tar->path);
  if (data_files_add_name(tar->context, &shards->pictures.names, name) < 0) return -1;
  shards->count++;
  return 0;
}

static int read_members(DataTar *tar, Shards *shards) {
  int result;
  int64_t first = shards->count;
  size_t prefix = strlen(tar->name) + 1;
  while ((result = data_tar_next(tar)) > 0) {
    size_t length = key_length(tar->path);
    bool is_hidden = length == 0 || tar->path[length - 1] == '/'; /* ._001.jpg, .DS_Store */
    if (is_hidden || !tar->path[length] || !tar->path[length + 1]) continue; /* of no example */
    const char *key =
        shards->count > first ? shards->pictures.names.items[shards->count - 1] + prefix : NULL;
    bool goes_on = key && strlen(key) == length && memcmp(key, tar->path, length) == 0;
    if (!goes_on &&
        ((key && end_example(tar, shards) < 0) || begin_example(tar, shards, length) < 0))
      return -1;
    if (add_member(tar, shards, tar->path + length + 1) < 0) return -1;
  }
  if (result == 0 && shards->count == first)
    return data_fail(tar->context, "%s holds no examples: files such as 001.jpg", tar->name);
  return result < 0 ? -1 : end_example(tar, shards);
}

static int read_shard(const DataContext *context, Shards *shards, const char *name) {
  DataFile *file = data_file_open(context, name);
  if (!file) return -1;
  DataTar tar;
  int result = data_files_add_name(context, &shards->shards, strdup(data_file_name(file)));
  if (result == 0) result = data_tar_open(context, file, &tar);
  if (result == 0) {
    result = read_members(&tar, shards);
    int kept = shards->open < MOST_OPEN ? fcntl(tar.descriptor, F_DUPFD_CLOEXEC, 0) : -1;
    if (kept >= 0 && shards->open == shards->shards.count - 1)
      shards->descriptors[shards->open++] = kept;
    else if (kept >= 0) close(kept);
    data_tar_close(&tar);
  }
  data_file_close(file);
  return result;
}

/* --- loading ---------------------------------------------------------------------------------- */

static int read_named(const DataContext *context, Shards *shards, const char *name) {
  DataNames names;
  int result = data_file_names(context, name, &names);
  for (int64_t i = 0; i < names.count && result == 0; i++)
    result = read_shard(context, shards, names.items[i]);
  data_names_free(&names);
  return result;
}

static int read_shards(const DataContext *context, Shards *shards) {
  for (int i = 0; context->files && i < context->file_count; i++)
    if (read_shard(context, shards, context->files[i]) < 0) return -1;
  if (context->files) return 0;
  const nnc_value *files = data_argument(context->call, formals, "files");
  DataPattern pattern;
  for (int i = 0; files && i < (files->kind == NNC_LIST ? files->count : 1); i++) {
    const nnc_value *value = files->kind == NNC_LIST ? &files->items[i] : files;
    if (value->kind != NNC_STRING)
      return data_fail_call(context, "shards takes names of files in quotes");
    if (data_pattern_open(context, value->string, &pattern) < 0) return -1;
    for (int64_t n = 0; n < pattern.count; n++) {
      char *name = data_pattern_name(&pattern, n);
      int result =
          name ? read_named(context, shards, name) : data_fail_memory(context, value->string, 64);
      free(name);
      if (result < 0) return -1;
    }
  }
  return 0;
}

static int choose_members(const DataContext *context, const DataTable *table, Shards *shards) {
  const nnc_value *members = data_argument(context->call, formals, "members");
  shards->take_count = table->field_count;
  shards->takes = calloc((size_t)table->field_count + 1, sizeof *shards->takes);
  if (!shards->takes) return data_fail_memory(context, "shards", 64);
  for (int f = 0; f < table->field_count; f++) {
    Take *take = &shards->takes[f];
    bool is_stated = members && members->kind == NNC_LIST && f < members->count &&
                     members->items[f].kind == NNC_STRING;
    const char *names = is_stated ? members->items[f].string : members ? "" : shard_default(f);
    take->kind = shard_kind(names);
    take->found = -1;
    if (take->kind == SHARD_NONE || (shard_is_first(take->kind) && f > 0))
      return data_fail_call(context, "members of shards: " SHARD_RULE);
    if (take->kind == SHARD_SOUND && data_wav_form(context, formals, &shards->sounds) < 0)
      return -1;
    if (table->fields[f].input) take->names = names;
  }
  return 0;
}

static int shape_array(DataField *field, int64_t count) {
  const nnc_tensor *input = field->input;
  field->is_made = true;
  field->made_most = INT_MAX;
  field->dtype = input->dtype;
  field->rank = input->rank;
  memcpy(field->dim, input->dim, sizeof field->dim);
  field->dim[0] = count;
  field->width = 1;
  for (int i = 1; i < input->rank; i++) field->width *= input->dim[i];
  field->step = field->width;
  return 0;
}

static int shape_field(const DataContext *context, DataField *field, Take *take, int64_t count) {
  if (!field->batched)
    return data_fail_call(context, "the input %s has no axis of examples", field->name);
  field->file = strdup("shards");
  if (!field->file) return data_fail_memory(context, "shards", 64);
  if (take->kind == SHARD_PICTURE) return data_picture_shape(context, field, count);
  if (take->kind == SHARD_SOUND) return data_wav_shape(context, field, count);
  if (take->kind == SHARD_ARRAY) return shape_array(field, count);
  field->values = (char *)take->classes;
  take->classes = NULL;
  return data_field_shape(context, field, NNC_I64, 1, &count, false);
}

static int load(const DataContext *context, DataTable *table) {
  Shards *shards = table->state = calloc(1, sizeof *shards);
  double workers = 0;
  if (!shards) return data_fail_memory(context, "shards", sizeof *shards);
  table->keeps_rows = true;
  if (data_argument_number(context, formals, "workers", 0, 256, &workers) < 0 ||
      data_files_on_error(context, &shards->pictures, formals) < 0 ||
      choose_members(context, table, shards) < 0 || read_shards(context, shards) < 0)
    return -1;
  shards->pictures.workers = (int)workers;
  for (int f = 0; f < table->field_count; f++)
    if (table->fields[f].input &&
        shape_field(context, &table->fields[f], &shards->takes[f], shards->count) < 0)
      return -1;
  return 0;
}

static void close_shards(DataTable *table) {
  Shards *shards = table->state;
  for (int t = 0; shards && shards->takes && t < shards->take_count; t++) {
    free(shards->takes[t].members);
    free(shards->takes[t].classes);
  }
  if (shards) {
    free(shards->takes);
    for (int i = 0; i < shards->open; i++) close(shards->descriptors[i]);
    data_files_free_names(&shards->shards);
  }
  data_files_close(table);
}

/* --- making rows ------------------------------------------------------------------------------ */

/* An example's member. */
typedef struct Wanted {
  const Shards *shards;
  const Member *member;
} Wanted;

/* The archive of the member; the caller closes it where it does not stay open. */
static int open_shard(const Wanted *wanted, bool *is_open) {
  const Shards *shards = wanted->shards;
  int32_t shard = wanted->member->shard;
  *is_open = shard < shards->open;
  return *is_open ? shards->descriptors[shard]
                  : open(shards->shards.items[shard], O_RDONLY | O_CLOEXEC);
}

static int look_at_member(const PictureOrigin *origin, struct stat *status) {
  bool is_open;
  int descriptor = open_shard(origin->state, &is_open);
  int result = descriptor < 0 ? -1 : fstat(descriptor, status);
  if (descriptor >= 0 && !is_open) close(descriptor);
  return result;
}

/* Its bytes in the thread's buffer; NULL with a message. */
static unsigned char *read_member(const DataContext *context, const PictureOrigin *origin,
                                  DataScratch *scratch, size_t *size) {
  const Wanted *wanted = origin->state;
  const Member *member = wanted->member;
  const char *name = wanted->shards->shards.items[member->shard];
  bool is_open;
  int descriptor = open_shard(wanted, &is_open);
  unsigned char *bytes = NULL;
  if (descriptor < 0) {
    data_fail(context, "cannot open %s: %s", name, strerror(errno));
    return NULL;
  }
  bytes = data_scratch_take(scratch, DATA_BUFFER_FILE, (size_t)member->bytes + 1);
  if (!bytes) data_fail_memory(context, name, member->bytes);
  else if (read_bytes(context, descriptor, name, member, bytes) < 0) bytes = NULL;
  if (!is_open) close(descriptor);
  *size = (size_t)member->bytes;
  return bytes;
}

static int make_sound(const DataContext *context, const Wanted *wanted, const DataField *field,
                      const DataVisit *visit, unsigned char *row) {
  const Member *member = wanted->member;
  WavOrigin origin = {.name = wanted->shards->pictures.names.items[visit->row],
                      .at = member->at,
                      .size = member->bytes};
  bool is_open;
  origin.descriptor = open_shard(wanted, &is_open);
  if (origin.descriptor < 0)
    return data_fail(context, "cannot open %s: %s", wanted->shards->shards.items[member->shard],
                     strerror(errno));
  int result = data_wav_read(context, &wanted->shards->sounds, field, visit, &origin, row);
  if (!is_open) close(origin.descriptor);
  return result;
}

/* A member in memory, as a file. */
typedef struct Bytes {
  const unsigned char *at;
  int64_t left;
} Bytes;

static int64_t copy_bytes(const DataContext *context, void *state, void *buffer, int64_t size) {
  (void)context;
  Bytes *bytes = state;
  if (size > bytes->left) size = bytes->left;
  memcpy(buffer, bytes->at, (size_t)size);
  bytes->at += size;
  bytes->left -= size;
  return size;
}

static int no_place(const void *state, int64_t *start) {
  (void)state;
  (void)start;
  return -1;
}

static void leave_bytes(void *state) { (void)state; }

static const DataMemberClass bytes_class = {
    .read = copy_bytes, .place = no_place, .close = leave_bytes};

static int make_array(const DataContext *context, const DataField *field, const char *name,
                      Bytes bytes, unsigned char *row) {
  nnc_tensor wanted = {.name = field->name, .dtype = field->dtype, .rank = field->rank - 1};
  memcpy(wanted.dim, field->dim + 1, (size_t)wanted.rank * sizeof *wanted.dim);
  DataField array = {.name = field->name};
  DataFile *file = data_file_of_member(context, &bytes_class, &bytes, strdup(name), bytes.left);
  int result = file ? data_npy_read(context, file, &array, &wanted) : -1;
  if (result > 0) {
    char found[160], needed[160];
    data_shape_text(found, sizeof found, array.dtype, array.rank, array.dim);
    data_shape_text(needed, sizeof needed, field->dtype, wanted.rank, wanted.dim);
    result = data_fail(context, "%s: has %s, but a row of the input %s is %s", name, found,
                       field->name, needed);
  }
  if (result == 0)
    result = data_field_store_row(context, field, name, array.dtype, array.values, row);
  free(array.values);
  data_file_close(file);
  return result;
}

/* Of a field of the table, or a copy of one. */
static const Take *take_of(const DataTable *table, const DataField *field) {
  int f = 0;
  while (table->fields[f].name != field->name) f++;
  return &((const Shards *)table->state)->takes[f];
}

static int look(const DataContext *context, const DataTable *table, const DataVisit *visit,
                PictureFile *file) {
  const Shards *shards = table->state;
  Wanted wanted = {shards, &shards->takes[0].members[visit->row]};
  PictureOrigin origin = {.name = shards->pictures.names.items[visit->row], .state = &wanted};
  size_t size;
  const unsigned char *bytes = read_member(context, &origin, visit->scratch, &size);
  data_scratch_mark(visit->scratch, NNC_DATA_READING);
  return bytes ? data_picture_look(context, origin.name, bytes, size, file) : -1;
}

static int make(const DataContext *context, const DataTable *table, const DataField *field,
                const DataVisit *visit, unsigned char *row) {
  const Shards *shards = table->state;
  const Take *take = take_of(table, field);
  Wanted wanted = {shards, &take->members[visit->row]};
  PictureOrigin origin = {shards->pictures.names.items[visit->row], &wanted, look_at_member,
                          read_member};
  size_t size;
  if (take->kind == SHARD_PICTURE)
    return data_picture_make_of(context, table, field, visit, &origin, row);
  if (take->kind == SHARD_SOUND) return make_sound(context, &wanted, field, visit, row);
  unsigned char *bytes = read_member(context, &origin, visit->scratch, &size);
  data_scratch_mark(visit->scratch, NNC_DATA_READING);
  return bytes ? make_array(context, field, origin.name, (Bytes){bytes, (int64_t)size}, row) : -1;
}

static int ready(const DataContext *context, DataTable *table) {
  const Shards *shards = table->state;
  return shards->takes[0].kind == SHARD_PICTURE ? data_picture_ready(context, table) : 0;
}

const struct nnc_source_class nnc_source_shards = {.name = "shards",
                                                   .gives = DATA_GIVES_shards,
                                                   .formals = formals,
                                                   .load = load,
                                                   .make = make,
                                                   .row_name = data_files_row_name,
                                                   .ready = ready,
                                                   .look = look,
                                                   .workers = data_files_workers,
                                                   .skips = data_files_skips,
                                                   .close = close_shards,
                                                   .open_cache = data_cache_open,
                                                   .advise = data_advise,
                                                   .takes_many_files = true};
