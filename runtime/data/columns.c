/* Columns of numbers: walking over them, changing them, and the numbers learnt about them. */
#include "data/columns.h"

#include <stdlib.h>

#include "core/convert.h"
#include "core/number.h"
#include "core/fitted.h"
#include "data/call.h"
#include "data/table.h"
#include "os/assert.h"

void data_each_block(const DataField *field, int64_t rows, void *state,
                     void (*each)(void *state, int64_t column, int64_t count,
                                  const double *values)) {
  double doubles[DATA_BLOCK];
  NNC_ASSERT(rows >= 0 && field->width >= 0 && !field->is_made);
  const char *at = field->values;
  for (int64_t row = 0; row < rows; row++)
    for (int64_t column = 0; column < field->width; column += DATA_BLOCK) {
      int64_t count = field->width - column < DATA_BLOCK ? field->width - column : DATA_BLOCK;
      nnc_load_doubles(field->dtype, at, count, doubles);
      each(state, column, count, doubles);
      at += count * nnc_dtype_size(field->dtype);
    }
}

void data_each_block_of_line(const DataLine *line, int field, void *state,
                             void (*each)(void *state, int64_t column, int64_t count,
                                          const double *values)) {
  for (int t = 0; t < line->count; t++) {
    const DataTable *table = &line->tables[t];
    for (int64_t i = 0; i < table->count; i++) {
      DataField one = table->fields[field]; /* the row */
      one.values += data_example_row(table, i) * one.width * nnc_dtype_size(one.dtype);
      data_each_block(&one, 1, state, each);
    }
  }
}

int data_field_to_float(const DataContext *context, DataField *field) {
  int dtype = nnc_dtype_size(field->dtype) >= 4 && field->dtype != NNC_F32 ? NNC_F64 : NNC_F32;
  if (field->input->dtype == NNC_F64) dtype = NNC_F64;
  int64_t count = field->dim[0] * field->width;
  nnc_conversion conversion;
  if (nnc_convert(&field->values, field->dtype, dtype, count, &conversion) < 0)
    return conversion.bad < 0
               ? data_fail_memory(context, field->file, count * 8)
               : data_fail(context, "%s: %s: value %.17g has no exact floating-point form",
                           field->file, field->name, conversion.value);
  field->dtype = dtype;
  return 0;
}

void data_map_columns(DataField *field, int64_t rows, const double *numbers,
                      double (*map)(double x, const double *numbers, int64_t column,
                                    int64_t width)) {
  int64_t width = field->width;
  NNC_ASSERT(field->dtype == NNC_F64 || field->dtype == NNC_F32);
  for (int64_t row = 0; row < rows; row++)
    if (field->dtype == NNC_F64) {
      double *values = (double *)field->values + row * width;
      for (int64_t k = 0; k < width; k++) values[k] = map(values[k], numbers, k, width);
    } else {
      float *values = (float *)field->values + row * width;
      for (int64_t k = 0; k < width; k++) values[k] = (float)map(values[k], numbers, k, width);
    }
}

const double *data_fitted_numbers(const DataContext *context, const DataField *field,
                                  const char *stage, int64_t count, const nnc_fitted *fitted) {
  char name[256];
  nnc_fitted_name(name, sizeof name, field->name, stage, -1);
  const nnc_fitted_value *value = nnc_fitted_find(fitted, name);
  if (value && value->numbers && value->count == count) return value->numbers;
  data_fail_call(context,
                 "%s holds %lld numbers, but %lld are needed: it was fitted to other columns", name,
                 value ? (long long)value->count : 0, (long long)count);
  return NULL;
}

int data_fit_numbers(const DataContext *context, const DataField *field, const char *stage,
                     int64_t count, const double *numbers, nnc_fitted *fitted) {
  char name[256];
  nnc_fitted_name(name, sizeof name, field->name, stage, -1);
  if (nnc_fitted_add_numbers(fitted, name, count, numbers) == 0) return 0;
  return data_fail_memory(context, name, count * 8);
}
