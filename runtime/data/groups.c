/* Groups of examples by the value of a field; for split, fold and balance. */
#include "data/groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/dictionary.h"
#include "core/number.h"
#include "data/call.h"
#include "os/assert.h"

static const DataField *find_field(const DataContext *context, const DataTable *table,
                                   const char *name) {
  const char *stage = context->call->function;
  for (int f = 0; f < table->field_count; f++) {
    const DataField *field = &table->fields[f];
    if (strcmp(field->name, name) != 0) continue;
    if (!field->input)
      data_fail_call(context, "%s needs the values of %s, which no input takes here", stage, name);
    else if (!field->values || !field->batched || field->step != 1 ||
             (field->width != 1 && !field->is_class))
      data_fail_call(context, "%s needs one value of %s for each row, in memory", stage, name);
    else return field;
    return NULL;
  }
  data_fail_call(context, "%s: there is no field '%s' in this line", stage, name);
  return NULL;
}

/* The texts of several tables are numbered together, in `words`. */
static double text_number(const DataField *field, double code, nnc_dictionary *words) {
  const char *word = field->dictionaries[0].words[(int32_t)code];
  return nnc_dictionary_add(words, word, (int64_t)strlen(word), 0);
}

int data_group_values(const DataContext *context, const DataLine *line, const char *name,
                      double *values) {
  nnc_dictionary words = {0};
  int result = 0;
  for (int t = 0; t < line->count && result == 0; t++) {
    const DataTable *table = &line->tables[t];
    const DataField *field = find_field(context, table, name);
    if (!field) result = -1;
    for (int64_t i = 0; i < table->count && result == 0; i++) {
      double value =
          nnc_number_get(data_value_type(field), field->values, table->order ? table->order[i] : i);
      bool is_text = field->dictionaries != NULL;
      if (is_text && value < 0) value = NAN;
      else if (is_text && line->count > 1) value = text_number(field, value, &words);
      if (value < 0 && is_text) result = data_fail_memory(context, name, words.count);
      *values++ = value;
    }
  }
  nnc_dictionary_free(&words);
  return result;
}

typedef struct Keyed {
  double key;
  uint32_t group, index;
} Keyed;

static int compare(const void *a, const void *b) {
  const Keyed *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  if (x->group != y->group) return x->group < y->group ? -1 : 1;
  return x->index < y->index ? -1 : x->index > y->index;
}

int64_t data_group_rows(const DataContext *context, const DataLine *line, const char *name,
                        uint32_t *groups) {
  int64_t count = data_line_examples(line), group = -1;
  Keyed *keyed = malloc((size_t)count * sizeof *keyed + 1);
  double *values = malloc((size_t)count * sizeof *values + 1);
  int result = keyed && values ? data_group_values(context, line, name, values)
                               : data_fail_memory(context, name, count * 24);
  if (result == 0) {
    for (int64_t i = 0; i < count; i++)
      keyed[i] = (Keyed){isnan(values[i]) ? INFINITY : values[i], 0, (uint32_t)i};
    qsort(keyed, (size_t)count, sizeof *keyed, compare);
    for (int64_t i = 0; i < count; i++) {
      if (i == 0 || keyed[i].key != keyed[i - 1].key) group++;
      groups[keyed[i].index] = (uint32_t)group;
    }
  }
  free(keyed);
  free(values);
  return result < 0 ? -1 : group + 1;
}

/* Example i of the n of its group stands at (i + 1/2) / n of the whole. */
int data_group_spread(const DataContext *context, const uint32_t *groups, int64_t group_count,
                      int64_t count, uint32_t *permutation) {
  Keyed *keyed = malloc((size_t)count * sizeof *keyed + 1);
  int64_t *sizes = calloc((size_t)group_count + 1, sizeof *sizes);
  int64_t *seen = calloc((size_t)group_count + 1, sizeof *seen);
  int result = keyed && sizes && seen ? 0 : data_fail_memory(context, "groups of rows", count * 24);
  for (int64_t i = 0; i < count && result == 0; i++) sizes[groups[i]]++;
  for (int64_t i = 0; i < count && result == 0; i++) {
    uint32_t group = groups[permutation[i]];
    NNC_ASSERT(group < group_count);
    double place = ((double)seen[group]++ + 0.5) / (double)sizes[group];
    keyed[i] = (Keyed){place, group, permutation[i]};
  }
  if (result == 0) {
    qsort(keyed, (size_t)count, sizeof *keyed, compare);
    for (int64_t i = 0; i < count; i++) permutation[i] = keyed[i].index;
  }
  free(keyed);
  free(sizes);
  free(seen);
  return result;
}
