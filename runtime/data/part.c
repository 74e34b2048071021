/* Parts of a table's rows: a stretch of a random permutation of them, or all others. */
#include "data/part.h"

#include <math.h>
#include <stdlib.h>

#include "data/call.h"
#include "data/groups.h"
#include "data/rows.h"
#include "os/assert.h"

const char *data_part_by(const DataContext *context, const char *const *formals) {
  const nnc_value *value = data_argument(context->call, formals, "by");
  return value && (value->kind == NNC_FIELD || value->kind == NNC_STRING) ? value->string : NULL;
}

static int spread(const DataContext *context, const DataTable *table, const char *by,
                  uint32_t *permutation) {
  const DataField *field = data_group_field(context, table, by);
  if (!field) return -1;
  uint32_t *groups = malloc((size_t)table->count * sizeof *groups + 1);
  if (!groups) return data_fail_memory(context, by, table->count * 4);
  int64_t count = data_group_rows(context, field, table->order, table->count, groups);
  int result =
      count < 0 ? -1 : data_group_spread(context, groups, count, table->count, permutation);
  free(groups);
  return result;
}

int data_choose_part(const DataContext *context, DataTable *table, const DataPart *part) {
  int64_t count = table->count;
  int64_t first = llround(part->from * (double)count), past = llround(part->to * (double)count);
  int64_t size = part->leaves_out ? count - (past - first) : past - first;
  if (size <= 0)
    return data_fail_call(context, "%s(%.15g, %.15g) of %lld rows has none",
                          context->call->function, part->first, part->second, (long long)count);
  uint32_t *permutation = malloc((size_t)count * sizeof *permutation);
  unsigned char *chosen = calloc(1, (size_t)count);
  int result = permutation && chosen ? data_table_need_order(context, table)
                                     : data_fail_memory(context, "the part", count * 5);
  if (result == 0) {
    data_permutation(part->seed, DATA_STREAM_SPLIT, count, permutation);
    if (part->by) result = spread(context, table, part->by, permutation);
  }
  if (result == 0) {
    for (int64_t i = first; i < past; i++) chosen[permutation[i]] = 1;
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++)
      if (chosen[i] != part->leaves_out) table->order[kept++] = table->order[i];
    NNC_ASSERT(kept == size);
    table->count = kept;
  }
  free(permutation);
  free(chosen);
  return result;
}
