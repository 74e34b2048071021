/* Stage `impute(field, ..., with = "mean")`: missing values (NaN) become the column's mean or
 * median in the training set, or a given number. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/convert.h"
#include "core/number.h"
#include "core/fitted.h"
#include "data/call.h"
#include "data/class.h"
#include "data/columns.h"
#include "data/table.h"
#include "nnc_data.h"

static const char *const formals[] = {"with", NULL};

typedef struct Columns {
  double *sum, *count;
} Columns;

static void add_values(void *state, int64_t column, int64_t count, const double *values) {
  Columns *columns = state;
  for (int64_t i = 0; i < count; i++) {
    if (isnan(values[i])) continue;
    columns->sum[column + i] += values[i];
    columns->count[column + i]++;
  }
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* `sorted` can hold all rows; the mean of the two middle values when their number is even. */
static double median(const DataLine *line, int index, int64_t column, double *sorted) {
  int64_t count = 0;
  for (int t = 0; t < line->count; t++) {
    const DataField *field = &line->tables[t].fields[index];
    for (int64_t i = 0; i < line->tables[t].count; i++) {
      int64_t row = data_example_row(&line->tables[t], i);
      sorted[count] = nnc_number_get(field->dtype, field->values, row * field->width + column);
      count += !isnan(sorted[count]);
    }
  }
  qsort(sorted, (size_t)count, sizeof *sorted, compare);
  return count % 2 ? sorted[count / 2] : sorted[count / 2 - 1] / 2 + sorted[count / 2] / 2;
}

static int learn(const DataContext *context, const DataLine *line, int index, bool is_median,
                 Columns *columns) {
  const DataField *field = &line->tables[0].fields[index];
  data_each_block_of_line(line, index, columns, add_values);
  int64_t rows = data_line_examples(line);
  double *sorted = is_median ? malloc(((size_t)rows + 1) * sizeof *sorted) : NULL;
  if (is_median && !sorted) return data_fail_memory(context, "impute", rows * 8);
  int result = 0;
  for (int64_t k = 0; k < field->width && result == 0; k++) {
    if (columns->count[k] == 0)
      result = data_fail(context,
                         "%s: %s: column %lld has no value in the training set; impute cannot "
                         "fill it",
                         field->file, field->name, (long long)k);
    else
      columns->sum[k] =
          is_median ? median(line, index, k, sorted) : columns->sum[k] / columns->count[k];
  }
  free(sorted);
  return result;
}

static int fit(const DataContext *context, const DataLine *line, int index, nnc_fitted *fitted) {
  const DataField *field = &line->tables[0].fields[index];
  const nnc_value *with = data_argument(context->call, formals, "with");
  bool is_median = with && with->kind == NNC_STRING && strcmp(with->string, "median") == 0;
  bool is_mean = !with || (with->kind == NNC_STRING && strcmp(with->string, "mean") == 0);
  if (!is_mean && !is_median && with->kind != NNC_NUMBER)
    return data_fail_call(context, "with of impute must be \"mean\", \"median\" or a number");
  double *block = calloc((size_t)(2 * field->width), sizeof *block);
  if (!block) return data_fail_memory(context, "impute", 16 * field->width);
  Columns columns = {block, block + field->width};
  int result = 0;
  if (is_mean || is_median) result = learn(context, line, index, is_median, &columns);
  else
    for (int64_t k = 0; k < field->width; k++) columns.sum[k] = with->number;
  if (result == 0) result = data_fit_numbers(context, field, "impute", field->width, block, fitted);
  free(block);
  return result;
}

static double map(double x, const double *numbers, int64_t column, int64_t width) {
  (void)width;
  return isnan(x) ? numbers[column] : x;
}

static int apply(const DataContext *context, DataTable *table, DataField *field,
                 const nnc_fitted *fitted) {
  const double *numbers = data_fitted_numbers(context, field, "impute", field->width, fitted);
  if (!numbers) return -1;
  if (!nnc_dtype_is_float(field->dtype)) return 0; /* integers have no missing value */
  if (data_field_to_float(context, field) < 0) return -1;
  data_map_columns(field, table->rows, numbers, map);
  return 0;
}

const struct nnc_stage_class nnc_stage_impute = {.name = "impute",
                                                 .acts_on = DATA_ACTS_ON_impute,
                                                 .formals = formals,
                                                 .names_fields = true,
                                                 .fills_missing = true,
                                                 .fit = fit,
                                                 .apply = apply};
