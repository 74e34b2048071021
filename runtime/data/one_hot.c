/* Stage `one_hot(field, ...)`: class numbers become rows with a number for each class along the input's last axis:
 * 1 for its own and 0 for all others. They are made when they are read. */
#include <string.h>

#include "core/number.h"
#include "data/call.h"
#include "data/class.h"
#include "data/scratch.h"
#include "data/table.h"
#include "data/visit.h"
#include "nnc_data.h"

static const char *const formals[] = {NULL};

static int64_t class_count(const DataField *field) {
  return field->input->dim[field->input->rank - 1];
}

static int fail_class(const DataContext *context, const DataField *field, double class) {
  return data_fail(context,
                   "%s: '%s' holds %.17g, but one_hot gives its input classes from 0 to %lld",
                   field->file, field->name, class, (long long)class_count(field) - 1);
}

static bool is_class(const DataField *field, double value) {
  return value >= 0 && value < (double)class_count(field) && value == (double)(int64_t)value;
}

/* `values` of the field's stored row, of that type. */
static int make_classes(const DataContext *context, const DataField *field, int dtype,
                        const void *values, int64_t first, unsigned char *row) {
  int64_t classes = class_count(field);
  memset(row, 0, (size_t)field->width);
  for (int64_t i = 0; i < field->width / classes; i++) {
    double value = nnc_number_get(dtype, values, first + i);
    if (!is_class(field, value)) return fail_class(context, field, value);
    row[i * classes + (int64_t)value] = 1;
  }
  return 0;
}

static int make(const DataContext *context, const DataTable *table, const DataField *field,
                const DataVisit *visit, unsigned char *row) {
  if (field->values)
    return make_classes(context, field, field->stored, field->values, visit->row * field->step,
                        row);
  DataField stored = *field; /* as it lies on disk */
  stored.width = field->step;
  stored.dtype = field->stored;
  void *values = data_scratch_take(visit->scratch, DATA_BUFFER_ROW,
                                   (size_t)(stored.width * nnc_dtype_size(stored.dtype)));
  if (!values) return data_fail_memory(context, field->file, stored.width * 8);
  if (table->make(context, table, &stored, visit, values) < 0) return -1;
  return make_classes(context, field, stored.dtype, values, 0, row);
}

static bool is_named(const DataContext *context, const DataField *field) {
  return field->input && data_call_names(context->call, field->name);
}

static int expect(const DataContext *context, DataTable *table) {
  for (int f = 0; f < table->field_count; f++) {
    DataField *field = &table->fields[f];
    if (!is_named(context, field)) continue;
    if (!field->batched || field->input->rank < 2)
      return data_fail_call(context, "one_hot(%s): the input has no axis of classes", field->name);
    field->is_class = true;
  }
  return 0;
}

static int finish(const DataContext *context, DataTable *table) {
  for (int f = 0; f < table->field_count; f++) {
    DataField *field = &table->fields[f];
    if (!is_named(context, field)) continue;
    if (field->window || field->make || (field->is_made && !field->disk))
      return data_fail_call(context, "one_hot(%s): these are no class numbers", field->name);
    int64_t count = field->values ? data_field_held(field) : 0;
    for (int64_t i = 0; i < count; i++) { /* before training begins */
      double value = nnc_number_get(field->dtype, field->values, i);
      if (!is_class(field, value)) return fail_class(context, field, value);
    }
    field->stored = field->dtype;
    field->dtype = NNC_U8;
    field->made_most = 1;
    field->width *= class_count(field);
    field->dim[field->rank++] = class_count(field);
    field->is_made = true;
    field->make = make;
  }
  return 0;
}

const struct nnc_stage_class nnc_stage_one_hot = {.name = "one_hot",
                                                  .acts_on = DATA_ACTS_ON_one_hot,
                                                  .formals = formals,
                                                  .names_fields = true,
                                                  .expect = expect,
                                                  .finish = finish};
