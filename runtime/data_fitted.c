/* What stages learnt: a list of named numbers and strings. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data_table.h"

static void value_free(nnc_fitted_value *value) {
  for (int64_t i = 0; value->strings && i < value->count; i++) free(value->strings[i]);
  free(value->strings);
  free(value->numbers);
  free(value->name);
}

/* Takes over `value`, complete or not. */
static int add(nnc_fitted *fitted, nnc_fitted_value value) {
  nnc_fitted_value *values = NULL;
  bool complete = value.name && (value.numbers || value.strings);
  for (int i = 0; complete && i < fitted->count; i++)
    if (strcmp(fitted->values[i].name, value.name) == 0) {
      value_free(&fitted->values[i]);
      fitted->values[i] = value;
      return 0;
    }
  if (complete) values = realloc(fitted->values, ((size_t)fitted->count + 1) * sizeof *values);
  if (!values) {
    value_free(&value);
    return -1;
  }
  fitted->values = values;
  fitted->values[fitted->count++] = value;
  return 0;
}

int nnc_fitted_add_numbers(nnc_fitted *fitted, const char *name, int64_t count,
                           const double *numbers) {
  nnc_fitted_value value = {.name = strdup(name), .count = count};
  value.numbers = calloc((size_t)count + 1, sizeof *value.numbers);
  if (value.numbers && count) memcpy(value.numbers, numbers, (size_t)count * sizeof *numbers);
  return add(fitted, value);
}

int nnc_fitted_add_strings(nnc_fitted *fitted, const char *name, int64_t count,
                           const char *const *strings) {
  nnc_fitted_value value = {.name = strdup(name), .count = count};
  value.strings = calloc((size_t)count + 1, sizeof *value.strings);
  bool complete = value.strings != NULL;
  for (int64_t i = 0; complete && i < count; i++) {
    value.strings[i] = strdup(strings[i]);
    complete = value.strings[i] != NULL;
  }
  if (!complete) {
    value_free(&value);
    return -1;
  }
  return add(fitted, value);
}

const nnc_fitted_value *nnc_fitted_find(const nnc_fitted *fitted, const char *name) {
  for (int i = 0; i < fitted->count; i++)
    if (strcmp(fitted->values[i].name, name) == 0) return &fitted->values[i];
  return NULL;
}

void nnc_fitted_free(nnc_fitted *fitted) {
  for (int i = 0; i < fitted->count; i++) value_free(&fitted->values[i]);
  free(fitted->values);
  *fitted = (nnc_fitted){0};
}

const nnc_fitted_value *nnc_data_class_names(const nnc_fitted *fitted, const char *field) {
  static const char *const kinds[] = {"categories", "text"};
  const nnc_fitted_value *found = NULL;
  for (int i = 0; i < 2 && !found; i++) {
    char name[256];
    if (snprintf(name, sizeof name, "%s.%s", field, kinds[i]) >= (int)sizeof name) return NULL;
    found = nnc_fitted_find(fitted, name);
  }
  return found;
}

void data_fitted_name(char *text, size_t size, const char *field, const char *stage,
                      int64_t column) {
  if (column < 0)
    snprintf(text, size, "%s.%s", field, stage);
  else
    snprintf(text, size, "%s.%s.%lld", field, stage, (long long)column);
}
