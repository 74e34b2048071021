/* Means and deviations for `unstandardize`: see scores.h. */
#include "core/scores.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/convert.h"
#include "core/number.h"
#include "os/message.h"

/* "price:standardize" is of the field price. */
static int field_length(const nnc_tensor *tensor) { return (int)strcspn(tensor->name, ":"); }

static bool refuse_unknown(const nnc_session *session, const nnc_variable *variable,
                           const char *path) {
  int length = field_length(&variable->tensor);
  const char *name = variable->tensor.name, *file = session->model->file;
  if (path)
    nnc_error("%s:%d: 'unstandardize' wants the mean and the deviation of '%.*s', which %s does "
              "not have: it is of a network that was trained without standardize(%.*s); train anew",
              file, variable->line, length, name, path, length, name);
  else
    nnc_error("%s:%d: 'unstandardize' wants the mean and the deviation of '%.*s', but training "
              "does not read this field: use it in the loss or in a metric",
              file, variable->line, length, name);
  return false;
}

/* The deviation of a constant column is noted as infinite, since all its scores are 0. */
static bool store(const nnc_fitted_value *numbers, const nnc_tensor *tensor, char *values) {
  size_t size = (size_t)nnc_dtype_size(tensor->dtype);
  for (int64_t i = 0; i < numbers->count; i++) {
    double number = isinf(numbers->numbers[i]) ? 0 : numbers->numbers[i];
    if (!nnc_store_double(number, tensor->dtype, values + (size_t)i * size)) return false;
  }
  return true;
}

static bool write_numbers(nnc_session *session, const nnc_tensor *tensor,
                          const nnc_fitted_value *numbers) {
  int length = field_length(tensor);
  int64_t count = nnc_tensor_elements(tensor);
  if (!numbers->numbers || numbers->count != count) {
    nnc_error("standardize(%.*s) has learnt %lld numbers of a row, but its input has %lld", length,
              tensor->name, (long long)numbers->count / 2, (long long)count / 2);
    return false;
  }
  char *values = malloc((size_t)nnc_tensor_bytes(tensor) + 1);
  if (!values) {
    nnc_error("cannot allocate %s", tensor->name);
    return false;
  }
  bool fits = store(numbers, tensor, values);
  if (fits) nnc_device_write(session->device, tensor, 0, count, values);
  else
    nnc_error("a mean or a deviation of '%.*s' is too large for %s", length, tensor->name,
              nnc_dtype_name(tensor->dtype));
  free(values);
  return fits;
}

bool nnc_scores_take(nnc_session *session, const char *path) {
  const nnc_model *model = session->model;
  for (int i = 0; i < model->variable_count; i++) {
    const nnc_variable *variable = &model->variables[i];
    char name[256], field[256];
    if (variable->kind != NNC_FITTED) continue;
    int length = field_length(&variable->tensor);
    snprintf(field, sizeof field, "%.*s", length, variable->tensor.name);
    nnc_fitted_name(name, sizeof name, field, "standardize", -1);
    const nnc_fitted_value *numbers = nnc_fitted_find(&session->fitted, name);
    if (!numbers) return refuse_unknown(session, variable, path);
    if (!write_numbers(session, &variable->tensor, numbers)) return false;
  }
  return true;
}
