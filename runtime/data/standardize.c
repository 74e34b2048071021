/* Stage `standardize(field, ...)`: each column to mean 0 and standard deviation 1.
 *
 * Learns, for each field, the columns' means and then their deviations (of the population), in two
 * passes in double. A column that is constant in the training set becomes 0 everywhere: its
 * deviation is stored as infinite.  Missing values (NaN) do not count and stay. */
#include <math.h>
#include <stdlib.h>

#include "core/convert.h"
#include "core/number.h"
#include "core/fitted.h"
#include "data/call.h"
#include "data/class.h"
#include "data/columns.h"
#include "data/table.h"
#include "nnc_data.h"

static const char *const formals[] = {NULL};

typedef struct Moments {
  double *mean, *square, *least, *most, *count;
} Moments;

static void add_values(void *state, int64_t column, int64_t count, const double *values) {
  Moments *moments = state;
  for (int64_t i = 0; i < count; i++) {
    int64_t k = column + i;
    if (isnan(values[i])) continue;
    moments->mean[k] += values[i];
    moments->count[k]++;
    moments->least[k] = fmin(moments->least[k], values[i]);
    moments->most[k] = fmax(moments->most[k], values[i]);
  }
}

static void add_squares(void *state, int64_t column, int64_t count, const double *values) {
  Moments *moments = state;
  for (int64_t i = 0; i < count; i++) {
    double distance = values[i] - moments->mean[column + i];
    if (!isnan(distance)) moments->square[column + i] += distance * distance;
  }
}

static int fit(const DataContext *context, const DataLine *line, int index, nnc_fitted *fitted) {
  const DataField *field = &line->tables[0].fields[index];
  int64_t width = field->width;
  double *block = calloc((size_t)(5 * width), sizeof *block);
  if (!block) return data_fail_memory(context, "standardize", 40 * width);
  Moments moments = {block, block + width, block + 2 * width, block + 3 * width, block + 4 * width};
  for (int64_t k = 0; k < width; k++) {
    moments.least[k] = INFINITY;
    moments.most[k] = -INFINITY;
  }
  data_each_block_of_line(line, index, &moments, add_values);
  for (int64_t k = 0; k < width; k++)
    if (moments.count[k] > 0) moments.mean[k] /= moments.count[k];
  data_each_block_of_line(line, index, &moments, add_squares);
  int result = 0;
  for (int64_t k = 0; k < width; k++) {
    bool is_constant = !(moments.least[k] < moments.most[k]);
    moments.square[k] = is_constant ? INFINITY : sqrt(moments.square[k] / moments.count[k]);
    if (result == 0 && !is_constant && !isfinite(moments.square[k]))
      result = data_fail(context,
                         "%s: %s: column %lld has infinite values or overflows; it cannot be "
                         "standardized",
                         field->file, field->name, (long long)k);
  }
  if (result == 0)
    result = data_fit_numbers(context, field, "standardize", 2 * width, block, fitted);
  free(block);
  return result;
}

static double map(double x, const double *numbers, int64_t column, int64_t width) {
  if (isinf(numbers[width + column])) return isnan(x) ? x : 0;
  return (x - numbers[column]) / numbers[width + column];
}

static int apply(const DataContext *context, DataTable *table, DataField *field,
                 const nnc_fitted *fitted) {
  if (!nnc_dtype_is_float(field->input->dtype))
    return data_fail_call(context,
                          "standardize(%s): the input %s is %s; standard scores need a float "
                          "type",
                          field->name, field->name, nnc_dtype_name(field->input->dtype));
  const double *numbers =
      data_fitted_numbers(context, field, "standardize", 2 * field->width, fitted);
  if (!numbers || data_field_to_float(context, field) < 0) return -1;
  data_map_columns(field, table->rows, numbers, map);
  return 0;
}

const struct nnc_stage_class nnc_stage_standardize = {.name = "standardize",
                                                      .acts_on = DATA_ACTS_ON_standardize,
                                                      .formals = formals,
                                                      .names_fields = true,
                                                      .fit = fit,
                                                      .apply = apply};
