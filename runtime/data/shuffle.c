/* Stage `shuffle(seed = 0)`: a fixed random order of the rows. */
#include <stdlib.h>

#include "data/call.h"
#include "data/class.h"
#include "data/rows.h"
#include "data/table.h"
#include "nnc_data.h"

static const char *const formals[] = {"seed", NULL};

static int shuffle(const DataContext *context, uint64_t seed, DataTable *table) {
  uint32_t *permutation = malloc((size_t)table->count * sizeof *permutation + 1);
  if (!permutation || data_table_need_order(context, table) < 0) {
    free(permutation);
    return data_fail_memory(context, "shuffle", table->count * 4);
  }
  data_permutation(seed, DATA_STREAM_SHUFFLE, table->count, permutation);
  for (int64_t i = 0; i < table->count; i++) permutation[i] = table->order[permutation[i]];
  free(table->order);
  table->order = permutation;
  return 0;
}

static int rows(const DataContext *context, const DataLine *line) {
  double seed = 0;
  if (data_argument_number(context, formals, "seed", 0, 0x1p53, &seed) < 0) return -1;
  for (int t = 0; t < line->count; t++)
    if (shuffle(context, (uint64_t)seed, &line->tables[t]) < 0) return -1;
  return 0;
}

const struct nnc_stage_class nnc_stage_shuffle = {
    .name = "shuffle", .acts_on = DATA_ACTS_ON_shuffle, .formals = formals, .rows = rows};
