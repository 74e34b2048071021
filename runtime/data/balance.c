/* Stages `balance(field)` and `weigh(field)`: how often training reads an example: so that all values of the
 * field come equally often, or in proportion to the field. */
#include <math.h>
#include <stdlib.h>

#include "data/call.h"
#include "data/class.h"
#include "data/groups.h"
#include "data/sampling.h"
#include "data/set.h"
#include "data/table.h"
#include "nnc_data.h"

static const char *const formals[] = {"field", NULL};

/* The name of the stage's field, and what it says, still without examples; NULL with a message. */
static DataSampling *open_sampling(const DataContext *context, nnc_data *data, const char **name) {
  const nnc_value *value = data_argument(context->call, formals, "field");
  *name = value && value->string ? value->string : "";
  if (data->sampling) {
    data_fail_call(context, "%s: another stage says how often examples are drawn",
                   context->call->function);
    return NULL;
  }
  data->sampling = data_sampling_open(data->count);
  if (!data->sampling) data_fail_memory(context, *name, sizeof *data->sampling);
  return data->sampling;
}

static DataLine line_of(DataTable *table) {
  return table->source->parts ? table->source->parts(table) : (DataLine){1, table};
}

static int weigh(const DataContext *context, nnc_data *data, DataTable *table) {
  const char *name;
  DataLine line = line_of(table);
  DataSampling *sampling = open_sampling(context, data, &name);
  if (!sampling) return -1;
  double *weights = sampling->weights = malloc((size_t)sampling->count * sizeof *weights);
  if (!weights) return data_fail_memory(context, name, sampling->count * 8);
  if (data_group_values(context, &line, name, weights) < 0) return -1;
  for (int64_t i = 0; i < sampling->count; i++) {
    if (!(weights[i] >= 0) || isinf(weights[i]))
      return data_fail_call(context, "weigh(%s): a weight is 0 or more, and row %lld has %g", name,
                            (long long)i, weights[i]);
    sampling->total += weights[i];
  }
  if (sampling->total > 0 && !isinf(sampling->total)) return 0;
  return data_fail_call(context, "weigh(%s): the sum of the weights is %g", name, sampling->total);
}

static int balance(const DataContext *context, nnc_data *data, DataTable *table) {
  const char *name;
  DataLine line = line_of(table);
  DataSampling *sampling = open_sampling(context, data, &name);
  if (!sampling) return -1;
  int64_t count = sampling->count;
  uint32_t *groups = malloc((size_t)count * sizeof *groups);
  sampling->members = malloc((size_t)count * sizeof *sampling->members);
  int64_t found = groups && sampling->members ? data_group_rows(context, &line, name, groups)
                                              : data_fail_memory(context, name, count * 8);
  if (found > 0) sampling->starts = calloc((size_t)found + 2, sizeof *sampling->starts);
  if (found > 0 && !sampling->starts) found = data_fail_memory(context, name, found * 8);
  sampling->group_count = found;
  /* starts[g + 1] counts up from the beginning of group g to its end. */
  for (int64_t i = 0; found > 0 && i < count; i++) sampling->starts[groups[i] + 2]++;
  for (int64_t g = 2; found > 0 && g <= found; g++) sampling->starts[g] += sampling->starts[g - 1];
  for (int64_t i = 0; found > 0 && i < count; i++)
    sampling->members[sampling->starts[groups[i] + 1]++] = (uint32_t)i;
  free(groups);
  return found > 0 ? 0 : -1;
}

const struct nnc_stage_class nnc_stage_balance = {
    .name = "balance", .acts_on = DATA_ACTS_ON_balance, .formals = formals, .sample = balance};
const struct nnc_stage_class nnc_stage_weigh = {
    .name = "weigh", .acts_on = DATA_ACTS_ON_weigh, .formals = formals, .sample = weigh};
