/* Source `raw(file, ..., type = TYPE, offset = 0, big_endian = false)`: numbers without any header, a file a
 * field. A row has the shape of the input's, and the file has as many rows as follow the first `offset`
 * bytes. */
#include <string.h>

#include "core/convert.h"
#include "core/number.h"
#include "data/call.h"
#include "data/class.h"
#include "data/file.h"
#include "data/table.h"
#include "nnc_data.h"

static const char *const formals[] = {"type", "offset", "big_endian", NULL};

static int find_type(const DataContext *context, const DataField *field, int *dtype) {
  const nnc_value *value = data_argument(context->call, formals, "type");
  *dtype = field->input->dtype;
  if (!value) return 0;
  for (int d = 0; d < NNC_ALL_DTYPE_COUNT && value->kind == NNC_STRING; d++)
    if (strcmp(nnc_dtype_name(d), value->string) == 0) {
      *dtype = d;
      return 0;
    }
  return data_fail_call(context, "type of raw must be the name of a number type, as \"f32\"");
}

static int skip(const DataContext *context, DataFile *file, int64_t offset) {
  char bytes[512];
  for (int64_t left = offset, got; left > 0; left -= got) {
    got = data_file_read(context, file, bytes, left < 512 ? left : 512);
    if (got < 0) return -1;
    if (got == 0)
      return data_fail(context, "%s: offset = %lld, but it has %lld bytes", data_file_name(file),
                       (long long)offset, (long long)data_file_consumed(file));
  }
  return 0;
}

/* As many rows as there are whole ones: what is compressed shows it when it is read. */
static int load_rest(const DataContext *context, DataFile *file, DataField *field, int dtype,
                     bool swaps) {
  const nnc_tensor *input = field->input;
  int64_t dim[NNC_MAX_RANK], row = nnc_dtype_size(dtype), left = data_file_limit(file);
  int skipped = field->batched + (field->window > 0), rank = input->rank - (field->window > 0);
  for (int i = skipped; i < input->rank; i++) row *= dim[i - (field->window > 0)] = input->dim[i];
  char *bytes = NULL;
  int64_t start = data_file_consumed(file);
  if (!context->disk) bytes = data_file_read_all(context, file, &left);
  if (!context->disk && !bytes) return -1;
  field->values = bytes;
  if (row == 0 || left % row != 0 || (!field->batched && left != row)) {
    char shape[160];
    data_shape_text(shape, sizeof shape, dtype, input->rank - skipped, input->dim + skipped);
    return data_fail(context,
                     "%s: %lld bytes from byte %lld on are no whole number of rows of %s, which "
                     "have %lld bytes",
                     data_file_name(file), (long long)left, (long long)start, shape,
                     (long long)row);
  }
  if (field->batched) dim[0] = left / row;
  if (data_field_shape(context, field, dtype, rank, dim, false) < 0) return -1;
  if (context->disk) return data_file_read_field(context, file, field, swaps);
  int64_t size = nnc_dtype_size(dtype);
  if (swaps) nnc_swap_bytes(field->values, (int)size, left / size);
  for (int64_t i = 0; dtype == NNC_BOOL && i < left; i++) field->values[i] = field->values[i] != 0;
  return 0;
}

static int load_field(const DataContext *context, DataFile *file, DataField *field) {
  const nnc_value *order = data_argument(context->call, formals, "big_endian");
  double offset = 0;
  int dtype;
  if (find_type(context, field, &dtype) < 0 ||
      data_argument_number(context, formals, "offset", 0, 0x1p53, &offset) < 0 ||
      skip(context, file, (int64_t)offset) < 0)
    return -1;
  return load_rest(context, file, field, dtype, order && order->number != 0);
}

static int load(const DataContext *context, DataTable *table) {
  return data_file_load_each(context, table, load_field);
}

const struct nnc_source_class nnc_source_raw = {.name = "raw",
                                                .gives = DATA_GIVES_raw,
                                                .formals = formals,
                                                .has_file_each = true,
                                                .load = load};
