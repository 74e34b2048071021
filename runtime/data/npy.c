/* Source `npy(file, ...)`: NumPy's array format (NumPy Enhancement Proposal 1, numpy.lib.format).
 *
 *     6 bytes   93 'N' 'U' 'M' 'P' 'Y'
 *     2 bytes   version, major 1 to 3
 *     2 or 4    length of the header, little-endian (4 bytes from version 2)
 *     header    a Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (60000,
 * 784), } values
 *
 * The header is read by a small strict parser.  Arrays in Fortran order are scattered into C order
 * as they are read, so that there is never a second copy. */
#include "data/npy.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/convert.h"
#include "core/number.h"
#include "data/call.h"
#include "data/class.h"
#include "data/file.h"
#include "data/table.h"
#include "os/assert.h"
#include "os/buffer.h"
#include "nnc_data.h"

static const char *const formals[] = {NULL};

enum {
  HEADER_MOST = 1 << 16,
  CHUNK = NNC_BUFFER(1 << 16, 8)
}; /* CHUNK: whole values of any type */

typedef struct Header {
  int dtype, rank;
  int64_t dim[NNC_MAX_RANK];
  bool is_big_endian, is_fortran;
  bool has_descr, has_order, has_shape;
} Header;

static const struct {
  const char *code;
  int dtype;
} types[] = {{"b1", NNC_BOOL}, {"u1", NNC_U8},  {"u2", NNC_U16}, {"u4", NNC_U32},
             {"i1", NNC_I8},   {"i2", NNC_I16}, {"i4", NNC_I32}, {"i8", NNC_I64},
             {"f2", NNC_F16},  {"f4", NNC_F32}, {"f8", NNC_F64}};

static const char *skip_space(const char *at) {
  while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r') at++;
  return at;
}

static bool take(const char **at, const char *word) {
  *at = skip_space(*at);
  size_t length = strlen(word);
  if (strncmp(*at, word, length) != 0) return false;
  *at += length;
  return true;
}

/* A string in either kind of quotes; no escapes, which these headers never need. */
static bool take_string(const char **at, char *text, size_t size) {
  *at = skip_space(*at);
  char quote = **at;
  if (quote != '\'' && quote != '"') return false;
  const char *end = strchr(*at + 1, quote);
  if (!end || (size_t)(end - *at) > size) return false;
  size_t length = (size_t)(end - *at - 1);
  memcpy(text, *at + 1, length);
  text[length] = 0;
  *at = end + 1;
  return true;
}

static bool take_extent(const char **at, int64_t *extent) {
  *at = skip_space(*at);
  if (!isdigit((unsigned char)**at)) return false;
  *extent = 0;
  for (; isdigit((unsigned char)**at); ++*at)
    if (__builtin_mul_overflow(*extent, 10, extent) ||
        __builtin_add_overflow(*extent, **at - '0', extent))
      return false;
  if (**at == 'L') ++*at; /* written by Python 2 */
  return true;
}

static bool take_shape(const char **at, Header *header) {
  if (!take(at, "(")) return false;
  while (!take(at, ")")) {
    if (header->rank == NNC_MAX_RANK || !take_extent(at, &header->dim[header->rank++]))
      return false;
    if (take(at, ",")) continue;
    if (!take(at, ")")) return false;
    break;
  }
  return true;
}

static bool decode_type(const char *descr, Header *header) {
  if (!strchr("<>|=", descr[0]) || !descr[0]) return false;
  header->is_big_endian = descr[0] == '>';
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (strcmp(types[i].code, descr + 1) == 0) {
      header->dtype = types[i].dtype;
      return true;
    }
  return false;
}

/* The length of the Python value at `at`, a string or a list of fields; 0: it does not end. */
static int value_length(const char *at) {
  int depth = 0;
  for (const char *c = at; *c; c++) {
    if (*c == '\'' || *c == '"') {
      c = strchr(c + 1, *c);
      if (!c) return 0;
    }
    depth += *c == '[' || *c == '(';
    depth -= *c == ']' || *c == ')';
    if (depth == 0) return (int)(c + 1 - at);
  }
  return 0;
}

static int fail_type(const DataContext *context, const char *name, const char *at) {
  enum { SHOWN = 40 };
  int length = value_length(at);
  bool is_cut = length == 0 || length > SHOWN;
  return data_fail(context,
                   "%s: number type %.*s%s; supported are b1 u1 u2 u4 i1 i2 i4 i8 f2 f4 f8", name,
                   is_cut ? SHOWN : length, at, is_cut ? " ..." : "");
}

static int fail_header(const DataContext *context, const char *name, const char *at) {
  return data_fail(context, "%s: cannot understand the NumPy header at '%.40s'", name, at);
}

static int parse_header(const DataContext *context, const char *name, const char *at,
                        Header *header) {
  char key[32], descr[32];
  if (!take(&at, "{")) return fail_header(context, name, at);
  while (!take(&at, "}")) {
    const char *start = at;
    if (!take_string(&at, key, sizeof key) || !take(&at, ":"))
      return fail_header(context, name, start);
    if (strcmp(key, "descr") == 0) {
      if (!take_string(&at, descr, sizeof descr) || !decode_type(descr, header))
        return fail_type(context, name, skip_space(strchr(start, ':') + 1));
      header->has_descr = true;
    } else if (strcmp(key, "fortran_order") == 0) {
      header->is_fortran = take(&at, "True");
      if (!header->is_fortran && !take(&at, "False")) return fail_header(context, name, at);
      header->has_order = true;
    } else if (strcmp(key, "shape") == 0 && !header->has_shape) {
      if (!take_shape(&at, header)) return fail_header(context, name, start);
      header->has_shape = true;
    } else {
      return fail_header(context, name, start);
    }
    if (take(&at, ",")) continue;
    if (!take(&at, "}")) return fail_header(context, name, at);
    break;
  }
  const char *lacks = !header->has_descr   ? "descr"
                      : !header->has_order ? "fortran_order"
                      : !header->has_shape ? "shape"
                                           : NULL;
  if (lacks)
    return data_fail(context, "%s: cannot understand the NumPy header: it lacks '%s'", name, lacks);
  if (*skip_space(at)) return fail_header(context, name, at);
  return 0;
}

static int read_header(const DataContext *context, DataFile *file, Header *header) {
  const char *name = data_file_name(file);
  unsigned char head[12];
  int64_t got = data_file_read(context, file, head, 10);
  if (got < 0) return -1;
  if (got < 10 || memcmp(head, "\x93NUMPY", 6) != 0 || head[6] < 1 || head[6] > 3)
    return data_fail(context, "%s: not a NumPy file of version 1 to 3%s", name,
                     got >= 4 && memcmp(head, "PK\3\4", 4) == 0
                         ? ", but an archive of arrays, which npz reads"
                         : "");
  if (head[6] > 1 && (got = data_file_read(context, file, head + 10, 2)) < 2)
    return got < 0 ? -1 : data_fail(context, "%s: ends inside the header", name);
  uint32_t length = (uint32_t)head[8] | (uint32_t)head[9] << 8;
  if (head[6] > 1) length |= (uint32_t)head[10] << 16 | (uint32_t)head[11] << 24;
  if (length > HEADER_MOST)
    return data_fail(context, "%s: a header of %u bytes; at most %d are supported", name, length,
                     HEADER_MOST);
  char *text = calloc(1, length + 1);
  if (!text) return data_fail_memory(context, name, length);
  got = data_file_read(context, file, text, length);
  int result = got < 0 ? -1 : 0;
  if (got >= 0 && got < length) result = data_fail(context, "%s: ends inside the header", name);
  if (result == 0) result = parse_header(context, name, text, header);
  free(text);
  return result;
}

/* A place in the array, in file order, the first axis fastest, with its index in C order. */
typedef struct FortranPlace {
  int64_t at[NNC_MAX_RANK], stride[NNC_MAX_RANK], place;
} FortranPlace;

static void step_place(FortranPlace *at, const DataField *field) {
  for (int i = 0; i < field->rank; i++) {
    at->place += at->stride[i];
    if (++at->at[i] < field->dim[i]) return;
    at->place -= at->stride[i] * field->dim[i];
    at->at[i] = 0;
  }
}

/* Scatters what the file delivers. */
static int read_fortran(const DataContext *context, DataFile *file, DataField *field, bool swaps) {
  int64_t start = data_file_consumed(file), size = nnc_dtype_size(field->dtype);
  int64_t bytes = data_file_claim(context, file, field);
  if (bytes < 0) return -1;
  char *chunk = malloc(CHUNK);
  if (!chunk) return data_fail_memory(context, data_file_name(file), CHUNK);
  FortranPlace at = {.place = 0};
  for (int64_t i = field->rank - 1, stride = 1; i >= 0; i--) {
    at.stride[i] = stride;
    stride *= field->dim[i];
  }
  int64_t got = 0, done = 0;
  for (; done < bytes; done += got) {
    int64_t piece = bytes - done < CHUNK ? bytes - done : CHUNK;
    got = data_file_read(context, file, chunk, piece);
    if (got < piece) break;
    NNC_ASSERT(piece % size == 0);
    for (int64_t k = 0; k < piece; k += size, step_place(&at, field))
      memcpy(field->values + at.place * size, chunk + k, (size_t)size);
  }
  free(chunk);
  if (got < 0) return -1;
  if (done < bytes) return data_file_fail_short(context, file, field, start);
  if (swaps) nnc_swap_bytes(field->values, (int)size, bytes / size);
  return data_file_expect_end(context, file);
}

/* The values after the header, of the field's shape. */
static int read_values(const DataContext *context, DataFile *file, const Header *header,
                       DataField *field) {
  bool scatters = header->is_fortran && header->rank > 1;
  if (scatters && context->disk)
    return data_fail(context,
                     "%s: an array in Fortran order does not stay on disk, since its rows lie "
                     "scattered; numpy.ascontiguousarray(x) puts them together",
                     data_file_name(file));
  if ((scatters ? read_fortran(context, file, field, header->is_big_endian)
                : data_file_read_field(context, file, field, header->is_big_endian)) < 0)
    return -1;
  int64_t size = nnc_dtype_size(field->dtype);
  int64_t count = data_shape_bytes(field->dtype, field->rank, field->dim) / size;
  if (field->dtype == NNC_BOOL && !context->disk)
    for (int64_t i = 0; i < count; i++) field->values[i] = field->values[i] != 0;
  return 0;
}

int data_npy_load(const DataContext *context, DataFile *file, DataField *field) {
  Header header = {0};
  if (read_header(context, file, &header) < 0 ||
      data_field_shape(context, field, header.dtype, header.rank, header.dim, false) < 0)
    return -1;
  return read_values(context, file, &header, field);
}

int data_npy_read(const DataContext *context, DataFile *file, DataField *field,
                  const nnc_tensor *tensor) {
  Header header = {0};
  if (read_header(context, file, &header) < 0) return -1;
  field->input = tensor;
  field->file = (char *)data_file_name(file);
  field->dtype = header.dtype;
  field->rank = header.rank;
  memcpy(field->dim, header.dim, sizeof field->dim);
  if (header.rank != tensor->rank ||
      memcmp(header.dim, tensor->dim, (size_t)header.rank * sizeof *header.dim) != 0)
    return 1;
  return read_values(context, file, &header, field);
}

static int load(const DataContext *context, DataTable *table) {
  return data_file_load_each(context, table, data_npy_load);
}

const struct nnc_source_class nnc_source_npy = {.name = "npy",
                                                .gives = DATA_GIVES_npy,
                                                .formals = formals,
                                                .has_file_each = true,
                                                .load = load};
