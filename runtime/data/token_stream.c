/* Source `token_stream(file, length, stride = length, from = 0, to = 1, type = "u16")`: token ids,
 * as tokenizers leave them in a binary file, little-endian.
 *
 * A file that begins with the header of llm.c's data (256 numbers of 32 bits: magic, version,
 * count; https://github.com/karpathy/llm.c, dev/data/data_common.py) says its type itself. */
#include <stdlib.h>
#include <string.h>

#include "core/convert.h"
#include "core/number.h"
#include "data/call.h"
#include "data/class.h"
#include "data/file.h"
#include "data/table.h"
#include "data/windows.h"
#include "os/assert.h"
#include "nnc_data.h"

static const char *const formals[] = {"file", "length", "stride", "from", "to", "type", NULL};

enum { HEADER_BYTES = 1024 };

static const struct {
  uint32_t magic, version;
  int dtype;
} headers[] = {{20240520, 1, NNC_U16}, {20240801, 7, NNC_U32}};

static uint32_t number_at(const char *bytes, int64_t index) {
  const unsigned char *b = (const unsigned char *)bytes + 4 * index;
  return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* Where the ids begin, with their type; -1 when the header promises other than what follows. */
static int64_t read_header(const DataContext *context, const char *name, const char *bytes,
                           int64_t size, int *dtype) {
  for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
    if (size < 4 || number_at(bytes, 0) != headers[i].magic) continue;
    if (size < HEADER_BYTES)
      return data_fail(context,
                       "%s: %lld bytes end inside the header of llm.c's data, which has %d", name,
                       (long long)size, HEADER_BYTES);
    if (number_at(bytes, 1) != headers[i].version)
      return data_fail(context, "%s: a header of version %u; version %u is supported", name,
                       number_at(bytes, 1), headers[i].version);
    *dtype = headers[i].dtype;
    int64_t promised = number_at(bytes, 2);
    int64_t found = (size - HEADER_BYTES) / nnc_dtype_size(*dtype);
    if (promised == found) return HEADER_BYTES;
    return data_fail(context, "%s: the header promises %lld ids, but %lld follow", name,
                     (long long)promised, (long long)found);
  }
  return 0;
}

static int type_of(const DataContext *context, int *dtype) {
  const nnc_value *value = data_argument(context->call, formals, "type");
  const char *word = !value ? "u16" : value->kind == NNC_STRING ? value->string : "";
  *dtype = strcmp(word, "u32") == 0 ? NNC_U32 : NNC_U16;
  if (strcmp(word, nnc_dtype_name(*dtype)) == 0) return 0;
  return data_fail_call(context, "type of token_stream must be \"u16\" or \"u32\"");
}

/* Ids of 32 bits become i32, which inputs have; those that stay on disk when they are read. */
static int check_ids(const DataContext *context, const char *name, DataStream *stream) {
  for (int64_t i = 0; i < stream->count; i++) {
    uint32_t id = stream->dtype == NNC_U16 ? ((const uint16_t *)stream->values)[i]
                                           : ((const uint32_t *)stream->values)[i];
    if (id > INT32_MAX)
      return data_fail(context, "%s: id %u of token %lld is more than %d", name, id, (long long)i,
                       INT32_MAX);
    if (id > stream->most) stream->most = id;
  }
  if (stream->dtype == NNC_U32) stream->dtype = NNC_I32;
  return 0;
}

/* The whole file, or of one whose ids stay on disk as much as its header has. */
static char *read_bytes(const DataContext *context, DataFile *file, int64_t *size) {
  if (!context->disk) return data_file_read_all(context, file, size);
  *size = data_file_limit(file);
  char *bytes = calloc(1, HEADER_BYTES);
  if (!bytes) data_fail_memory(context, data_file_name(file), HEADER_BYTES);
  if (!bytes || data_file_read(context, file, bytes, HEADER_BYTES) >= 0) return bytes;
  free(bytes);
  return NULL;
}

/* What the file holds; its ids, where they do not stay on disk. */
static int read_stream(const DataContext *context, DataFile *file, DataStream *stream) {
  const char *name = data_file_name(file);
  int64_t size = 0;
  stream->values = read_bytes(context, file, &size);
  stream->start =
      stream->values ? read_header(context, name, stream->values, size, &stream->dtype) : -1;
  if (stream->start < 0) return -1;
  if ((size - stream->start) % nnc_dtype_size(stream->dtype) != 0)
    return data_fail(context, "%s: %lld bytes are no whole number of ids of type %s", name,
                     (long long)(size - stream->start), nnc_dtype_name(stream->dtype));
  NNC_ASSERT(stream->start <= size);
  stream->count = (size - stream->start) / nnc_dtype_size(stream->dtype);
  if (context->disk) {
    free(stream->values);
    stream->values = NULL;
    stream->file = file;
    return 0;
  }
  memmove(stream->values, stream->values + stream->start, (size_t)(size - stream->start));
  return check_ids(context, name, stream);
}

static int load(const DataContext *context, DataTable *table) {
  DataWindows windows;
  DataStream stream = {0};
  if (data_window_arguments(context, formals, &windows) < 0 || type_of(context, &stream.dtype) < 0)
    return -1;
  DataFile *file = data_file_open_argument(context, formals);
  if (!file) return -1;
  int result = read_stream(context, file, &stream);
  if (result == 0)
    result = data_window_stream(context, table, data_file_name(file), stream, &windows);
  else free(stream.values);
  data_file_close(file);
  return result;
}

const struct nnc_source_class nnc_source_token_stream = {.name = "token_stream",
                                                         .gives = DATA_GIVES_token_stream,
                                                         .formals = formals,
                                                         .has_file_each = false,
                                                         .load = load};
