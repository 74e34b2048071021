/* The reader and writer of safetensors.h. */
#include "core/safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/number.h"
#include "os/assert.h"
#include "os/buffer.h"
#include "os/message.h"
#include "os/replace.h"

enum {
  PIECE = NNC_BUFFER(1 << 16, 8), /* of a tensor, on its way */
  LARGEST_READ = NNC_BUFFER(1 << 30, 3)
};
enum { PREFIX = 8, ALIGNMENT = 64, LARGEST_HEADER = 100 * 1000 * 1000 };

/* --- Reading -------------------------------------------------------------------------------- */

static bool read_exactly(int fd, const char *path, void *into, uint64_t count, uint64_t at) {
  char *to = into;
  while (count > 0) {
    ssize_t done = pread(fd, to, count < LARGEST_READ ? count : LARGEST_READ, (off_t)at);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) {
      nnc_error_system("read", path);
      return false;
    }
    if (done == 0) {
      nnc_error("%s ends at byte %llu, %llu more were expected", path, (unsigned long long)at,
                (unsigned long long)count);
      return false;
    }
    to += done;
    at += (uint64_t)done;
    count -= (uint64_t)done;
  }
  return true;
}

static int stored_size(const char *dtype) {
  static const struct {
    const char *name;
    int size;
  } others[] = {{"I8", 1},  {"I16", 2},     {"U16", 2},    {"U32", 4},
                {"U64", 8}, {"F8_E4M3", 1}, {"F8_E5M2", 1}};
  int ours = nnc_dtype_find_stored(dtype);
  if (ours >= 0) return (int)nnc_dtype_size(ours);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strcmp(others[i].name, dtype) == 0) return others[i].size;
  return 0;
}

/* The shape; false when a value is no extent.  `elements` saturates: a product that overflows
 * fits no file. */
static bool parse_shape(const nnc_json_document *document, const nnc_json *shape,
                        nnc_stored *stored, uint64_t *elements) {
  const nnc_json *child = NULL;
  bool overflow = false;
  *elements = 1;
  if (!shape || shape->kind != NNC_JSON_ARRAY) return false;
  while ((child = nnc_json_next(document, shape, child))) {
    uint64_t extent;
    if (!nnc_json_unsigned(child, &extent) || extent > INT64_MAX) return false;
    if (stored->rank < NNC_MAX_RANK) stored->dim[stored->rank] = (int64_t)extent;
    stored->rank++;
    if (extent == 0) overflow = false, *elements = 0;
    else if (*elements && __builtin_mul_overflow(*elements, extent, elements)) overflow = true;
    if (overflow) *elements = UINT64_MAX / 8;
  }
  return true;
}

static bool parse_offsets(const nnc_json_document *document, const nnc_json *offsets,
                          nnc_stored *stored) {
  if (!offsets || offsets->kind != NNC_JSON_ARRAY || offsets->count != 2) return false;
  const nnc_json *begin = nnc_json_next(document, offsets, NULL);
  const nnc_json *end = nnc_json_next(document, offsets, begin);
  return nnc_json_unsigned(begin, &stored->begin) && nnc_json_unsigned(end, &stored->end) &&
         stored->begin <= stored->end;
}

static bool parse_tensor(nnc_safetensors *file, const nnc_json *entry, nnc_stored *stored) {
  const nnc_json_document *document = &file->document;
  const nnc_json *dtype = nnc_json_member(document, entry, "dtype");
  uint64_t elements;
  *stored = (nnc_stored){.name = entry->key};
  if (!dtype || dtype->kind != NNC_JSON_STRING ||
      !parse_shape(document, nnc_json_member(document, entry, "shape"), stored, &elements) ||
      !parse_offsets(document, nnc_json_member(document, entry, "data_offsets"), stored)) {
    nnc_error(
        "%s: the header's entry for '%s' is malformed (dtype, shape and data_offsets expected)",
        file->path, entry->key);
    return false;
  }
  stored->dtype_name = dtype->text;
  stored->dtype = nnc_dtype_find_stored(dtype->text);
  uint64_t size = (uint64_t)stored_size(dtype->text), bytes;
  if (size == 0) return true; /* a type of the future: its extent cannot be checked */
  if (__builtin_mul_overflow(elements, size, &bytes) || bytes != stored->end - stored->begin) {
    char type[NNC_STORED_TEXT];
    nnc_error("%s: '%s' is %s, but %llu bytes are given to it", file->path, stored->name,
              nnc_stored_type_text(type, stored),
              (unsigned long long)(stored->end - stored->begin));
    return false;
  }
  return true;
}

static int compare_offsets(const void *a, const void *b) {
  const nnc_stored *x = a, *y = b;
  if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
  return x->end < y->end ? -1 : x->end > y->end;
}

static int compare_names(const void *a, const void *b) {
  return strcmp(((const nnc_stored *)a)->name, ((const nnc_stored *)b)->name);
}

/* The tensors must follow each other without holes and fill the file. */
static bool check_coverage(nnc_safetensors *file) {
  uint64_t at = 0;
  qsort(file->tensors, (size_t)file->count, sizeof *file->tensors, compare_offsets);
  for (int i = 0; i < file->count; i++) {
    const nnc_stored *stored = &file->tensors[i];
    if (stored->begin != at) {
      nnc_error("%s: '%s' starts at byte %llu of the data, %llu expected", file->path, stored->name,
                (unsigned long long)stored->begin, (unsigned long long)at);
      return false;
    }
    at = stored->end;
  }
  if (at == file->data_bytes) return true;
  nnc_error("%s is %s: its header describes %llu bytes of data, %llu are there", file->path,
            at > file->data_bytes ? "truncated" : "damaged", (unsigned long long)at,
            (unsigned long long)file->data_bytes);
  return false;
}

static bool check_metadata(nnc_safetensors *file, const nnc_json *metadata) {
  const nnc_json *child = NULL;
  bool good = metadata->kind == NNC_JSON_OBJECT;
  while (good && (child = nnc_json_next(&file->document, metadata, child)))
    good = child->kind == NNC_JSON_STRING;
  if (!good) nnc_error("%s: __metadata__ is not an object of strings", file->path);
  file->metadata = metadata;
  return good;
}

static bool parse_header(nnc_safetensors *file, uint64_t header_bytes) {
  char message[128];
  if (!nnc_json_parse(&file->document, file->header, header_bytes, message, sizeof message)) {
    nnc_error("%s is damaged or not a safetensors file: %s of its header", file->path, message);
    return false;
  }
  const nnc_json *root = &file->document.values[0], *child = NULL;
  if (root->kind != NNC_JSON_OBJECT) {
    nnc_error("%s: the header is not a JSON object", file->path);
    return false;
  }
  file->tensors = calloc((size_t)root->count + 1, sizeof *file->tensors);
  if (!file->tensors) {
    nnc_error("cannot allocate the list of %d tensors of %s", root->count, file->path);
    return false;
  }
  while ((child = nnc_json_next(&file->document, root, child))) {
    bool is_metadata = strcmp(child->key, "__metadata__") == 0;
    bool good = is_metadata ? check_metadata(file, child)
                            : parse_tensor(file, child, &file->tensors[file->count]);
    if (!good) return false;
    file->count += !is_metadata;
  }
  if (!check_coverage(file)) return false;
  qsort(file->tensors, (size_t)file->count, sizeof *file->tensors, compare_names);
  return true;
}

/* Other formats of weights by their first bytes, and a line of Python that converts them. */
static const struct {
  const char *magic, *inside; /* `inside`: somewhere in the first bytes; NULL: anything */
  const char *what, *python;
} foreign[] = {
    {"PK\3\4", "data.pkl", "a PyTorch archive",
     "import torch; from safetensors.torch import save_file; save_file({k: v.contiguous().clone() "
     "for k, v in torch.load('%s', map_location='cpu', weights_only=True).items()}, "
     "'weights.safetensors')"},
    {"PK\3\4", ".npy", "an archive of NumPy arrays (.npz)",
     "import numpy; from safetensors.numpy import save_file; save_file(dict(numpy.load('%s')), "
     "'weights.safetensors')"},
    {"PK\3\4", NULL, "a zip archive", NULL},
    {"\x80\2\x8a\nl\xfc\x9c\x46", NULL, "a PyTorch file of the old format (pickle)",
     "import torch; from safetensors.torch import save_file; save_file({k: v.contiguous().clone() "
     "for k, v in torch.load('%s', map_location='cpu', weights_only=True).items()}, "
     "'weights.safetensors')"},
    {"\x80", NULL, "a Python pickle", NULL},
    {"\x89HDF\r\n\x1a\n", NULL, "an HDF5 file (Keras)",
     "import h5py; from safetensors.numpy import save_file; d = {}; "
     "h5py.File('%s').visititems(lambda "
     "n, v: d.update({n.replace('/', '.'): v[()]}) if hasattr(v, 'dtype') else None); "
     "save_file(d, 'weights.safetensors')"},
    {"\x93NUMPY", NULL, "a NumPy array, which load() reads", NULL},
    {"\x1f\x8b", NULL, "compressed by gzip: gunzip it first", NULL},
    {"GGUF", NULL, "a GGUF file", NULL},
};

static bool contains(const char *bytes, size_t count, const char *word) {
  size_t length = strlen(word);
  for (size_t i = 0; i + length <= count; i++)
    if (memcmp(bytes + i, word, length) == 0) return true;
  return false;
}

/* Says what a file is instead; false when it is none of them. */
static bool tell_foreign(const nnc_safetensors *file) {
  char bytes[128];
  ssize_t count = pread(file->fd, bytes, sizeof bytes, 0);
  for (size_t i = 0; count > 0 && i < sizeof foreign / sizeof *foreign; i++) {
    size_t length = strlen(foreign[i].magic);
    if ((size_t)count < length || memcmp(bytes, foreign[i].magic, length) != 0) continue;
    if (foreign[i].inside && !contains(bytes, (size_t)count, foreign[i].inside)) continue;
    nnc_error("%s is %s, not a safetensors file", file->path, foreign[i].what);
    const char *python = foreign[i].python, *hole = python ? strstr(python, "%s") : NULL;
    if (hole)
      nnc_note("convert it: python3 -c \"%.*s%s%s\"", (int)(hole - python), python, file->path,
               hole + 2);
    return true;
  }
  return false;
}

/* Reads the prefix and the header; `bytes` is the file's size. */
static bool read_header(nnc_safetensors *file, uint64_t bytes) {
  unsigned char prefix[PREFIX];
  uint64_t header_bytes = 0;
  if (bytes < PREFIX) {
    nnc_error("%s is truncated: %llu bytes, at least %d expected", file->path,
              (unsigned long long)bytes, PREFIX);
    return false;
  }
  if (!read_exactly(file->fd, file->path, prefix, PREFIX, 0)) return false;
  for (int i = PREFIX; i-- > 0;) header_bytes = header_bytes << 8 | prefix[i];
  bool is_damaged = header_bytes > LARGEST_HEADER || header_bytes > bytes - PREFIX;
  if (is_damaged && tell_foreign(file)) return false;
  if (header_bytes > LARGEST_HEADER) {
    nnc_error("%s is not a safetensors file: its header would have %llu bytes", file->path,
              (unsigned long long)header_bytes);
    return false;
  }
  if (header_bytes > bytes - PREFIX) {
    nnc_error("%s is truncated: a header of %llu bytes expected, %llu are there", file->path,
              (unsigned long long)header_bytes, (unsigned long long)(bytes - PREFIX));
    return false;
  }
  file->data_start = PREFIX + header_bytes;
  file->data_bytes = bytes - file->data_start;
  file->header = malloc(header_bytes + 1);
  if (!file->header) {
    nnc_error("cannot allocate %llu bytes for the header of %s", (unsigned long long)header_bytes,
              file->path);
    return false;
  }
  return read_exactly(file->fd, file->path, file->header, header_bytes, PREFIX) &&
         parse_header(file, header_bytes);
}

nnc_safetensors *nnc_safetensors_open(const char *path) {
  nnc_safetensors *file = calloc(1, sizeof *file);
  if (file) file->path = strdup(path);
  if (!file || !file->path) {
    nnc_error("cannot allocate a reader of %s", path);
    free(file);
    return NULL;
  }
  struct stat status;
  file->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* of a pipe: it is refused below */
  if (file->fd < 0 || fstat(file->fd, &status) != 0) nnc_error_system("open", path);
  else if (!S_ISREG(status.st_mode)) nnc_error("%s is not a regular file", path);
  else if (read_header(file, (uint64_t)status.st_size)) return file;
  nnc_safetensors_close(file);
  return NULL;
}

void nnc_safetensors_close(nnc_safetensors *file) {
  if (!file) return;
  if (file->fd >= 0) close(file->fd); /* only read: nothing can be lost */
  nnc_json_free(&file->document);
  free(file->header);
  free(file->tensors);
  free(file->path);
  free(file);
}

const char *nnc_safetensors_metadata(const nnc_safetensors *file, const char *key) {
  const nnc_json *value = nnc_json_member(&file->document, file->metadata, key);
  return value ? value->text : NULL;
}

const nnc_stored *nnc_safetensors_find(const nnc_safetensors *file, const char *name) {
  nnc_stored wanted = {.name = name};
  return bsearch(&wanted, file->tensors, (size_t)file->count, sizeof wanted, compare_names);
}

bool nnc_safetensors_read(const nnc_safetensors *file, const nnc_stored *stored, void *into) {
  return nnc_safetensors_read_part(file, stored, 0, stored->end - stored->begin, into);
}

bool nnc_safetensors_read_part(const nnc_safetensors *file, const nnc_stored *stored, uint64_t from,
                               uint64_t count, void *into) {
  NNC_ASSERT(from <= stored->end - stored->begin && count <= stored->end - stored->begin - from);
  return read_exactly(file->fd, file->path, into, count, file->data_start + stored->begin + from);
}

const char *nnc_stored_type_text(char *buffer, const nnc_stored *stored) {
  int at = snprintf(buffer, NNC_STORED_TEXT, "%.32s[", stored->dtype_name);
  int known = stored->rank < NNC_MAX_RANK ? stored->rank : NNC_MAX_RANK;
  for (int i = 0; i < known; i++)
    at += snprintf(buffer + at, (size_t)(NNC_STORED_TEXT - at), i ? ", %lld" : "%lld",
                   (long long)stored->dim[i]);
  snprintf(buffer + at, (size_t)(NNC_STORED_TEXT - at), stored->rank > known ? ", ...]" : "]");
  return buffer;
}

/* --- Writing -------------------------------------------------------------------------------- */

/* Wider types first: then every tensor is aligned to its type without holes, which the format
 * forbids. */
static const int size_order[] = {8, 4, 2, 1};
enum { SIZE_COUNT = sizeof size_order / sizeof *size_order };

static void put_tensor_entry(FILE *file, const nnc_tensor *tensor, int64_t begin) {
  fputc(',', file);
  nnc_json_put_string(file, tensor->name);
  fprintf(file, ":{\"dtype\":\"%s\",\"shape\":[", nnc_dtype_stored_name(tensor->dtype));
  for (int i = 0; i < tensor->rank; i++)
    fprintf(file, i ? ",%lld" : "%lld", (long long)tensor->dim[i]);
  fprintf(file, "],\"data_offsets\":[%lld,%lld]}", (long long)begin,
          (long long)(begin + nnc_tensor_bytes(tensor)));
}

/* The header with its prefix, padded so that the data start aligned; malloc'ed. */
static char *make_header(const nnc_safetensors_content *content, size_t *size) {
  char *text = NULL;
  int64_t at = 0;
  FILE *file = open_memstream(&text, size);
  if (!file) return NULL;
  fwrite("\0\0\0\0\0\0\0", 1, PREFIX, file);
  fputs("{\"__metadata__\":{", file);
  for (int i = 0; i < content->metadata_count; i++) {
    if (i) fputc(',', file);
    nnc_json_put_string(file, content->metadata[i].key);
    fputc(':', file);
    nnc_json_put_string(file, content->metadata[i].text);
  }
  fputc('}', file);
  for (int s = 0; s < SIZE_COUNT; s++) {
    for (int i = 0; i < content->count; i++) {
      const nnc_tensor *tensor = content->tensors[i];
      if (nnc_dtype_size(tensor->dtype) != size_order[s]) continue;
      put_tensor_entry(file, tensor, at);
      at += nnc_tensor_bytes(tensor);
    }
  }
  fputc('}', file);
  while (ftell(file) % ALIGNMENT != 0) fputc(' ', file);
  bool failed = ferror(file) != 0;
  if (fclose(file) != 0 || failed) {
    free(text);
    return NULL;
  }
  for (int i = 0; i < PREFIX; i++) text[i] = (char)((uint64_t)(*size - PREFIX) >> 8 * i);
  return text;
}

/* Piece by piece: a second copy of a large tensor may not fit beside the first. */
static bool write_tensor(nnc_replacement *replacement, const nnc_safetensors_content *content,
                         const nnc_tensor *tensor) {
  char piece[PIECE];
  int64_t size = nnc_dtype_size(tensor->dtype), elements = nnc_tensor_elements(tensor);
  for (int64_t from = 0, count; from < elements; from += count) {
    count = elements - from < PIECE / size ? elements - from : PIECE / size;
    content->read(content->source, tensor, from, count, piece);
    if (!nnc_replace_write(replacement, piece, (size_t)(count * size))) return false;
  }
  return true;
}

bool nnc_safetensors_write(const char *path, const char *keep,
                           const nnc_safetensors_content *content) {
  size_t header_bytes;
  char *header = make_header(content, &header_bytes);
  nnc_replacement replacement;
  if (!header) {
    nnc_error("cannot allocate the header of %s", path);
    return false;
  }
  bool good =
      nnc_replace_open(&replacement, path) && nnc_replace_write(&replacement, header, header_bytes);
  free(header);
  for (int s = 0; good && s < SIZE_COUNT; s++)
    for (int i = 0; good && i < content->count; i++)
      if (nnc_dtype_size(content->tensors[i]->dtype) == size_order[s])
        good = write_tensor(&replacement, content, content->tensors[i]);
  return good && nnc_replace_commit(&replacement, keep);
}
