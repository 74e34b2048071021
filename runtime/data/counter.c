/* Source `counter()`: the number of the row in the data set, from 0 in the order of the files.
 *
 * The rows are those of the set's other lines, so `split` leaves the numbers without gaps, and a
 * row keeps its number in whatever order it is read: a table of one entry a row can be indexed by
 * it. */
#include <stdlib.h>
#include <string.h>

#include "core/convert.h"
#include "core/number.h"
#include "data/call.h"
#include "data/class.h"
#include "data/table.h"
#include "nnc_data.h"

static const char *const formals[] = {NULL};

static void store(const DataField *field, int64_t row, int64_t number) {
  char *value = field->values + row * nnc_dtype_size(field->dtype);
  int32_t narrow = (int32_t)number;
  if (field->dtype == NNC_I32) memcpy(value, &narrow, sizeof narrow);
  else memcpy(value, &number, sizeof number);
}

/* Rows that were not chosen have gaps between the numbers of their neighbours filled with 0. */
static int number_chosen(const DataContext *context, const DataField *field,
                         const DataTable *rows) {
  unsigned char *chosen = calloc(1, (size_t)rows->rows + 1);
  if (!chosen) return data_fail_memory(context, "counter", rows->rows);
  for (int64_t i = 0; i < rows->count; i++) chosen[rows->order[i]] = 1;
  for (int64_t row = 0, number = 0; row < rows->rows; row++)
    store(field, row, chosen[row] ? number++ : 0);
  free(chosen);
  return 0;
}

static int follow(const DataContext *context, DataTable *table, const DataTable *rows) {
  DataField *field = &table->fields[0];
  const nnc_tensor *input = field->input;
  table->rows = rows ? rows->rows : 1;
  table->count = rows ? rows->count : 1;
  field->file = strdup("counter");
  if (!field->file) return data_fail_memory(context, "counter", 8);
  if (!field->batched || (input->dtype != NNC_I32 && input->dtype != NNC_I64))
    return data_fail_call(context,
                          "counter gives a number a row; the input %s must be i32[batch] "
                          "or i64[batch]",
                          field->name);
  if (input->dtype == NNC_I32 && table->count > (int64_t)INT32_MAX + 1)
    return data_fail_call(context,
                          "%lld rows are too many for numbers of type i32: the input %s "
                          "must be i64[batch]",
                          (long long)table->count, field->name);
  int64_t dim[1] = {table->rows};
  if (data_field_shape(context, field, input->dtype, 1, dim, false) < 0 ||
      data_field_allocate(context, field) < 0)
    return -1;
  if (rows && rows->order) return number_chosen(context, field, rows);
  for (int64_t row = 0; row < table->rows; row++) store(field, row, row);
  return 0;
}

const struct nnc_source_class nnc_source_counter = {
    .name = "counter", .gives = DATA_GIVES_counter, .formals = formals, .follow = follow};
