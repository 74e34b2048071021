/* Stage `split(from, to, seed = 0)`: the part [from, to) of a fixed random permutation of the
 * rows. The chosen rows stay in file order. A bound is rounded to the same row in every set, so
 * adjoining parts are disjoint and together complete. */
#include <math.h>
#include <stdlib.h>

#include "data/call.h"
#include "data/class.h"
#include "data/rows.h"
#include "data/table.h"
#include "os/assert.h"
#include "nnc_data.h"

static const char *const formals[] = {"from", "to", "seed", NULL};

static int rows(const DataContext *context, DataTable *table) {
  double from = 0, to = 1, seed = 0;
  if (data_argument_number(context, formals, "from", 0, 1, &from) < 0 ||
      data_argument_number(context, formals, "to", 0, 1, &to) < 0 ||
      data_argument_number(context, formals, "seed", 0, 0x1p53, &seed) < 0)
    return -1;
  int64_t first = llround(from * (double)table->count), past = llround(to * (double)table->count);
  if (first >= past)
    return data_fail_call(context, "split(%.15g, %.15g) of %lld rows has none", from, to,
                          (long long)table->count);
  uint32_t *permutation = malloc((size_t)table->count * sizeof *permutation);
  unsigned char *chosen = calloc(1, (size_t)table->count);
  int result = permutation && chosen ? data_table_need_order(context, table)
                                     : data_fail_memory(context, "split", table->count * 5);
  if (result == 0) {
    data_permutation((uint64_t)seed, DATA_STREAM_SPLIT, table->count, permutation);
    for (int64_t i = first; i < past; i++) chosen[permutation[i]] = 1;
    int64_t kept = 0;
    for (int64_t i = 0; i < table->count; i++)
      if (chosen[i]) table->order[kept++] = table->order[i];
    NNC_ASSERT(kept == past - first);
    table->count = kept;
  }
  free(permutation);
  free(chosen);
  return result;
}

const struct nnc_stage_class nnc_stage_split = {
    .name = "split", .acts_on = DATA_ACTS_ON_split, .formals = formals, .rows = rows};
