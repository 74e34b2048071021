/* Fields: their shapes against the inputs, their memory. */
#include "data/table.h"

#include <stdlib.h>
#include <string.h>

#include "core/convert.h"
#include "core/number.h"
#include "core/dictionary.h"
#include "data/call.h"
#include "data/class.h"
#include "data/disk.h"
#include "os/assert.h"

static int fail_shape(const DataContext *context, const DataField *field, int dtype, int rank,
                      const int64_t *dim) {
  char found[160], wanted[160];
  const nnc_tensor *input = field->input;
  data_shape_text(found, sizeof found, dtype, rank, dim);
  data_shape_text(wanted, sizeof wanted, input->dtype, input->rank, input->dim);
  return data_fail(context, "%s: has %s, but input %s is %s%s", field->file, found, field->name,
                   wanted,
                   field->window     ? ", whose second axis is that of the window's rows"
                   : field->is_class ? ", whose last axis is that of one_hot's classes"
                   : field->batched  ? "; all axes but the first must agree"
                                     : "");
}

int data_field_shape(const DataContext *context, DataField *field, int dtype, int rank,
                     const int64_t *dim, bool is_flat) {
  const nnc_tensor *input = field->input;
  int skipped = field->batched ? 1 : 0;
  int windows = field->window > 0; /* the input's second axis is that of a window's rows */
  int input_rank = input->rank - field->is_class;
  NNC_ASSERT(input && rank >= 0);
  if (rank < skipped || rank > NNC_MAX_RANK) return fail_shape(context, field, dtype, rank, dim);
  int64_t width = 1, wanted = 1;
  bool agree = rank + windows == input_rank;
  if (windows && (input->rank < 2 || input->dim[1] != field->window))
    return fail_shape(context, field, dtype, rank, dim);
  for (int i = skipped; i < rank; i++) {
    if (!nnc_multiply(width, dim[i], &width)) return fail_shape(context, field, dtype, rank, dim);
    bool may_differ = (field->is_picture && i >= rank - 2) || i + windows >= input_rank;
    agree = agree && (may_differ || dim[i] == input->dim[i + windows]);
  }
  for (int i = skipped + windows; i < input_rank; i++) wanted *= input->dim[i];
  if (!(is_flat ? width == wanted : agree)) return fail_shape(context, field, dtype, rank, dim);
  if (field->batched && dim[0] > UINT32_MAX)
    return data_fail(context, "%s: %lld examples are more than %lld, the most that can be read",
                     field->file, (long long)dim[0], (long long)UINT32_MAX);
  field->dtype = dtype;
  field->rank = rank;
  memcpy(field->dim, dim, (size_t)rank * sizeof *dim);
  field->width = field->step = width;
  return 0;
}

int64_t data_field_held(const DataField *field) {
  if (!field->batched) return field->width;
  return field->dim[0] > 0 ? (field->dim[0] - 1) * field->step + field->width : 0;
}

int64_t data_shape_bytes(int dtype, int rank, const int64_t *dim) {
  int64_t bytes = nnc_dtype_size(dtype);
  for (int i = 0; i < rank; i++)
    if (!nnc_multiply(bytes, dim[i], &bytes)) return -1;
  return bytes == INT64_MAX ? -1 : bytes;
}

int data_field_allocate(const DataContext *context, DataField *field) {
  int64_t bytes = data_shape_bytes(field->dtype, field->rank, field->dim);
  field->values = bytes < 0 ? NULL : malloc((size_t)bytes + 1);
  return field->values ? 0 : data_fail_memory(context, field->file, bytes < 0 ? INT64_MAX : bytes);
}

int data_field_store_row(const DataContext *context, const DataField *field, const char *name,
                         int dtype, const void *values, void *row) {
  int to = field->dtype;
  if (dtype == to) {
    memcpy(row, values, (size_t)(field->width * nnc_dtype_size(to)));
    return 0;
  }
  if (nnc_is_widening(dtype, to)) {
    nnc_widen(dtype, values, to, row, field->width);
    return 0;
  }
  for (int64_t i = 0; i < field->width; i++) {
    double value = nnc_number_get(dtype, values, i);
    if (nnc_store_double(value, to, (char *)row + i * nnc_dtype_size(to))) continue;
    return data_fail(context, "%s: %s: value %.17g does not fit input type %s", name, field->name,
                     value, nnc_dtype_name(to));
  }
  return 0;
}

int64_t data_line_examples(const DataLine *line) {
  int64_t count = 0;
  for (int t = 0; t < line->count; t++) count += line->tables[t].count;
  return count;
}

void data_field_free_text(DataField *field) {
  for (int64_t k = 0; field->dictionaries && k < field->width; k++)
    nnc_dictionary_free(&field->dictionaries[k]);
  free(field->dictionaries);
  field->dictionaries = NULL;
}

const char *data_table_file(const DataTable *table, const DataField *field, int64_t *line) {
  int64_t file = *line >> DATA_LINE_BITS;
  *line -= file << DATA_LINE_BITS;
  return file < table->files.count ? table->files.items[file] : field->file;
}

void data_names_free(DataNames *names) {
  for (int64_t i = 0; i < names->count; i++) free(names->items[i]);
  free(names->items);
  *names = (DataNames){0};
}

void data_table_free(DataTable *table) {
  for (int i = 0; i < table->field_count; i++) {
    DataField *field = &table->fields[i];
    data_field_free_text(field);
    if (!field->is_view) free(field->owned ? field->owned : field->values);
    if (field->disk) field->disk->close(field->disk);
    free(field->file);
  }
  free(table->fields);
  if (table->source && table->source->close) table->source->close(table);
  data_names_free(&table->files);
  free(table->stream.values);
  free(table->order);
  free(table->numbers);
  free(table->pictures);
  free(table->beside);
  *table = (DataTable){0};
}
