/* Source `constant(value)`: the same value for each row.  A number, or nested lists of numbers that
 * are broadcast to the shape of a row, as NumPy does. */
#include <string.h>

#include "core/convert.h"
#include "core/number.h"
#include "data/call.h"
#include "data/class.h"
#include "data/table.h"
#include "nnc_data.h"

static const char *const formals[] = {"value", NULL};

/* Of lists of equal length, which the compiler has checked. */
static int value_shape(const nnc_value *value, int64_t dim[NNC_MAX_RANK]) {
  int rank = 0;
  for (; value->kind == NNC_LIST; value = &value->items[0]) {
    if (rank == NNC_MAX_RANK || value->count == 0) return -1;
    dim[rank++] = value->count;
  }
  return rank;
}

/* The value's number at a place of the row: its axes are the row's last. */
static const nnc_value *value_at(const nnc_value *value, int axis, const int64_t *place) {
  while (value->kind == NNC_LIST) {
    int64_t at = place[axis++];
    value = &value->items[value->count == 1 ? 0 : at];
  }
  return value;
}

static int fill(const DataContext *context, DataField *field, const nnc_value *value, int rank) {
  const int64_t *dim = field->dim + field->batched;
  int row_rank = field->rank - field->batched, size = nnc_dtype_size(field->dtype);
  int64_t place[NNC_MAX_RANK] = {0};
  for (int64_t i = 0; i < field->width; i++) {
    const nnc_value *number = value_at(value, row_rank - rank, place);
    if ((number->kind != NNC_NUMBER && number->kind != NNC_BOOLEAN) ||
        !nnc_store_double(number->number, field->dtype, field->values + i * size))
      return data_fail_call(context, "%.17g does not fit the input %s of type %s", number->number,
                            field->name, nnc_dtype_name(field->dtype));
    for (int axis = row_rank - 1; axis >= 0 && ++place[axis] == dim[axis]; axis--) place[axis] = 0;
  }
  return 0;
}

static bool broadcasts(const nnc_tensor *input, bool batched, int rank, const int64_t *dim) {
  if (rank < 0 || rank > input->rank - batched) return false;
  for (int i = 0; i < rank; i++)
    if (dim[i] != 1 && dim[i] != input->dim[input->rank - rank + i]) return false;
  return true;
}

/* One row, from which the next is no step away. */
static int follow(const DataContext *context, DataTable *table, const DataTable *rows) {
  DataField *field = &table->fields[0];
  const nnc_tensor *input = field->input;
  const nnc_value *value = data_argument(context->call, formals, "value");
  int64_t dim[NNC_MAX_RANK];
  int rank = value ? value_shape(value, dim) : -1;
  if (!broadcasts(input, field->batched, rank, dim))
    return data_fail_call(context, "the constant does not fit the rows of the input %s",
                          field->name);
  field->file = strdup("constant");
  if (!field->file) return data_fail_memory(context, "constant", 16);
  memcpy(dim, input->dim, sizeof dim);
  if (field->batched) dim[0] = 1;
  if (data_field_shape(context, field, input->dtype, input->rank, dim, false) < 0 ||
      data_field_allocate(context, field) < 0 || fill(context, field, value, rank) < 0)
    return -1;
  table->rows = rows ? rows->rows : 1;
  table->count = rows ? rows->count : 1;
  field->step = 0;
  return 0;
}

const struct nnc_source_class nnc_source_constant = {
    .name = "constant", .gives = DATA_GIVES_constant, .formals = formals, .follow = follow};
