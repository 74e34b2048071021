/* What stages learnt: a list of named numbers and strings. */
#include "core/fitted.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/dictionary.h"
#include "os/assert.h"

static void value_free(nnc_fitted_value *value) {
  for (int64_t i = 0; value->strings && i < value->count; i++) free(value->strings[i]);
  free(value->strings);
  free(value->numbers);
  free(value->name);
}

/* A place for one value more, and the dictionary.  There are places up to the next power of two. */
static bool grow(nnc_fitted *fitted) {
  if (!fitted->names) fitted->names = calloc(1, sizeof *fitted->names);
  if (!fitted->names) return false;
  if ((fitted->count & (fitted->count - 1)) != 0) return true;
  size_t places = fitted->count ? (size_t)fitted->count * 2 : 1;
  nnc_fitted_value *values = realloc(fitted->values, places * sizeof *values);
  if (values) fitted->values = values;
  return values != NULL;
}

/* Takes over `value`, complete or not; it replaces one of the same name. */
static int add(nnc_fitted *fitted, nnc_fitted_value value) {
  bool complete = value.name && (value.numbers || value.strings) && grow(fitted);
  int32_t place =
      complete ? nnc_dictionary_add(fitted->names, value.name, (int64_t)strlen(value.name), 0) : -1;
  if (place < 0) {
    value_free(&value);
    return -1;
  }
  NNC_ASSERT(place <= fitted->count);
  if (place == fitted->count) fitted->count++;
  else value_free(&fitted->values[place]);
  fitted->values[place] = value;
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
  if (!fitted->names) return NULL;
  int32_t place = nnc_dictionary_find(fitted->names, name, (int64_t)strlen(name));
  return place < 0 ? NULL : &fitted->values[place];
}

void nnc_fitted_free(nnc_fitted *fitted) {
  for (int i = 0; i < fitted->count; i++) value_free(&fitted->values[i]);
  free(fitted->values);
  if (fitted->names) nnc_dictionary_free(fitted->names);
  free(fitted->names);
  *fitted = (nnc_fitted){0};
}

const nnc_fitted_value *nnc_fitted_class_names(const nnc_fitted *fitted, const char *field) {
  static const char *const kinds[] = {"categories", "text"};
  const nnc_fitted_value *found = NULL;
  for (int i = 0; i < 2 && !found; i++) {
    char name[256];
    if (snprintf(name, sizeof name, "%s.%s", field, kinds[i]) >= (int)sizeof name) return NULL;
    found = nnc_fitted_find(fitted, name);
  }
  return found;
}

bool nnc_fitted_is_columns(const nnc_fitted_value *value) {
  const char *dot = strrchr(value->name, '.');
  return value->strings && dot && strcmp(dot + 1, NNC_FITTED_COLUMNS) == 0;
}

void nnc_fitted_name(char *text, size_t size, const char *field, const char *stage,
                     int64_t column) {
  if (column < 0) snprintf(text, size, "%s.%s", field, stage);
  else snprintf(text, size, "%s.%s.%lld", field, stage, (long long)column);
}
