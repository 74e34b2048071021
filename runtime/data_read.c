/* Reading an open data set: copies of examples, in the types of the inputs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data_table.h"

static void copy_values(const DataField *field, int64_t first, int64_t count, char *target) {
  const char *source = field->values + first * data_dtype_size(field->dtype);
  if (field->dtype == field->input->dtype)
    memcpy(target, source, (size_t)count * (size_t)data_dtype_size(field->dtype));
  else
    data_widen(field->dtype, source, field->input->dtype, target, count);
}

static void gather_field(const DataField *field, const uint32_t *order, const uint32_t *examples,
                         int64_t first, int64_t count, char *target) {
  if (!field->batched) {
    copy_values(field, 0, field->width, target);
  } else if (!examples && !order && field->step == field->width) {
    copy_values(field, first * field->width, count * field->width, target);
  } else {
    int64_t row_bytes = field->width * data_dtype_size(field->input->dtype);
    for (int64_t i = 0; i < count; i++) {
      int64_t row = examples ? examples[i] : first + i;
      if (order) row = order[row];
      copy_values(field, row * field->step, field->width, target + i * row_bytes);
    }
  }
}

void data_gather(const nnc_data *data, const uint32_t *examples, int64_t first, int64_t count,
                 void *const *inputs) {
  for (int i = 0; i < data->entry->input_count; i++)
    gather_field(data->fields[i], data->order, examples, first, count, inputs[i]);
}

void nnc_data_read(const nnc_data *data, int64_t first, int64_t count, void *const *inputs) {
  data_gather(data, NULL, first, count, inputs);
}

int64_t nnc_data_examples(const nnc_data *data) { return data->count; }

int64_t nnc_data_bytes(const nnc_data *data) {
  int64_t bytes = data->order ? data->count * (int64_t)sizeof *data->order : 0;
  for (int i = 0; i < data->entry->input_count; i++) {
    const DataField *field = data->fields[i];
    if (!field->is_view) bytes += data_field_held(field) * data_dtype_size(field->dtype);
  }
  for (int t = 0; t < data->table_count; t++) {
    const DataStream *stream = &data->tables[t].stream;
    if (stream->values) bytes += stream->count * data_dtype_size(stream->dtype);
  }
  return bytes;
}

typedef struct Range {
  double least, most;
} Range;

static void widen_range(void *state, int64_t column, int64_t count, const double *values) {
  (void)column;
  Range *range = state;
  for (int64_t i = 0; i < count; i++) {
    if (values[i] < range->least) range->least = values[i];
    if (values[i] > range->most) range->most = values[i];
  }
}

void nnc_data_range(const nnc_data *data, int input, double *smallest, double *largest) {
  DataField flat = *data->fields[input]; /* as one row */
  flat.width = data_field_held(&flat);
  Range range = {INFINITY, -INFINITY};
  data_each_block(&flat, 1, &range, widen_range);
  *smallest = range.least;
  *largest = range.most;
}

void nnc_data_close(nnc_data *data) {
  if (!data) return;
  for (int t = 0; t < data->table_count; t++) data_table_free(&data->tables[t]);
  free(data->tables);
  free(data->fields);
  free(data);
}
