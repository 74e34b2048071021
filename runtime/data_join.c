/* The tables of a set side by side: examples are matched by their row, so all need the same rows in
 * the same order; and sources that have no rows of their own get those. */
#include <string.h>

#include "data_table.h"

static const char *first_batched(const DataTable *table) {
  for (int f = 0; f < table->field_count; f++)
    if (table->fields[f].input && table->fields[f].batched) return table->fields[f].name;
  return NULL;
}

static int check_alike(const DataContext *context, const DataTable *first, const DataTable *table) {
  if (table->count != first->count)
    return data_fail(context, "%s has %lld examples, but %s has %lld", first_batched(first),
                     (long long)first->count, first_batched(table), (long long)table->count);
  bool differ = !first->order != !table->order;
  if (first->order && table->order)
    differ = memcmp(first->order, table->order, (size_t)first->count * sizeof *first->order) != 0;
  if (differ)
    return data_fail(context, "%s and %s must go through the same split and shuffle stages",
                     first_batched(first), first_batched(table));
  return 0;
}

static int follow(DataContext *context, const nnc_pipeline *const *pipelines, nnc_data *data,
                  const DataTable *rows) {
  for (int t = 0; t < data->table_count; t++) {
    DataTable *table = &data->tables[t];
    if (!table->source->follow) continue;
    if (!rows && !context->is_prediction && first_batched(table))
      return data_fail(context, "%s has the rows of other fields, but no input needs another field",
                       first_batched(table));
    table->keeps_rows = true;
    context->call = &pipelines[t]->calls[0];
    if (table->source->follow(context, table, rows) < 0) return -1;
  }
  return 0;
}

int data_join(DataContext *context, const nnc_pipeline *const *pipelines, nnc_data *data) {
  const DataTable *first = NULL;
  for (int t = 0; t < data->table_count; t++) {
    const DataTable *table = &data->tables[t];
    if (table->source->follow || !first_batched(table)) continue;
    if (!first) first = table;
    if (check_alike(context, first, table) < 0) return -1;
  }
  data->count = first ? first->count : 1;
  data->order = first ? first->order : NULL;
  if (data->count == 0) return data_fail(context, "there are no examples");
  return follow(context, pipelines, data, first);
}
