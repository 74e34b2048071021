/* Source `idx(file, ...)`: IDX, the format of MNIST (Y. LeCun, "The MNIST database", file
 * formats).
 *
 *     byte 0, 1   0
 *     byte 2      type: 8 u8, 9 i8, 11 i16, 12 i32, 13 f32, 14 f64
 *     byte 3      rank
 *     4 bytes     for each extent, big-endian
 *     values      big-endian, row-major */
#include "core/number.h"
#include "data/call.h"
#include "data/class.h"
#include "data/file.h"
#include "data/table.h"
#include "nnc_data.h"

static const char *const formals[] = {NULL};

static const struct {
  unsigned char code;
  int dtype;
} types[] = {{8, NNC_U8}, {9, NNC_I8}, {11, NNC_I16}, {12, NNC_I32}, {13, NNC_F32}, {14, NNC_F64}};

static int dtype_of(unsigned char code) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (types[i].code == code) return types[i].dtype;
  return -1;
}

static int read_header(const DataContext *context, DataFile *file, int *dtype, int *rank,
                       int64_t *dim) {
  unsigned char head[4], extents[4 * NNC_MAX_RANK];
  const char *name = data_file_name(file);
  int64_t got = data_file_read(context, file, head, 4);
  if (got < 0) return -1;
  if (got < 4)
    return data_fail(context, "%s: not an IDX file: it ends after %lld bytes", name,
                     (long long)got);
  *dtype = dtype_of(head[2]);
  *rank = head[3];
  if (head[0] || head[1] || *dtype < 0)
    return data_fail(context,
                     "%s: not an IDX file: starts with %02x %02x %02x %02x, expected 00 00, a type "
                     "(08 09 0b 0c 0d 0e) and a rank",
                     name, head[0], head[1], head[2], head[3]);
  if (*rank < 1 || *rank > NNC_MAX_RANK)
    return data_fail(context, "%s: has rank %d, supported are 1 to %d", name, *rank, NNC_MAX_RANK);
  got = data_file_read(context, file, extents, 4 * *rank);
  if (got < 0) return -1;
  if (got < 4 * *rank)
    return data_fail(context, "%s: ends inside the header, after %lld bytes", name,
                     (long long)(4 + got));
  for (int i = 0; i < *rank; i++) {
    const unsigned char *e = extents + 4 * i;
    dim[i] = (int64_t)e[0] << 24 | e[1] << 16 | e[2] << 8 | e[3];
  }
  return 0;
}

static int load_field(const DataContext *context, DataFile *file, DataField *field) {
  int dtype = -1, rank = 0;
  int64_t dim[NNC_MAX_RANK];
  if (read_header(context, file, &dtype, &rank, dim) < 0) return -1;
  if (data_field_shape(context, field, dtype, rank, dim, false) < 0) return -1;
  return data_file_read_field(context, file, field, true);
}

static int load(const DataContext *context, DataTable *table) {
  return data_file_load_each(context, table, load_field);
}

const struct nnc_source_class nnc_source_idx = {.name = "idx",
                                                .gives = DATA_GIVES_idx,
                                                .formals = formals,
                                                .has_file_each = true,
                                                .load = load};
