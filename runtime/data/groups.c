/* Groups of examples by the value of a field; for split, fold and balance. */
#include "data/groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/number.h"
#include "data/call.h"
#include "os/assert.h"

const DataField *data_group_field(const DataContext *context, const DataTable *table,
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

int64_t data_group_rows(const DataContext *context, const DataField *field, const uint32_t *order,
                        int64_t count, uint32_t *groups) {
  Keyed *keyed = malloc((size_t)count * sizeof *keyed + 1);
  if (!keyed) return data_fail_memory(context, field->file, count * (int64_t)sizeof *keyed);
  for (int64_t i = 0; i < count; i++) {
    double value = nnc_number_get(data_value_type(field), field->values, order ? order[i] : i);
    bool is_missing = isnan(value) || (field->dictionaries && value < 0);
    keyed[i] = (Keyed){is_missing ? INFINITY : value, 0, (uint32_t)i};
  }
  qsort(keyed, (size_t)count, sizeof *keyed, compare);
  int64_t group = -1;
  for (int64_t i = 0; i < count; i++) {
    if (i == 0 || keyed[i].key != keyed[i - 1].key) group++;
    groups[keyed[i].index] = (uint32_t)group;
  }
  free(keyed);
  return group + 1;
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
