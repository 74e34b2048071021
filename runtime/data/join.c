/* The tables of a set side by side: examples are matched by their row, so all need the same rows in
 * the same order; and sources that have no rows of their own get those. */
#include "data/join.h"

#include <string.h>

#include "data/call.h"
#include "data/class.h"
#include "data/picture_pairs.h"
#include "data/set.h"
#include "data/table.h"

static const char *first_batched(const DataTable *table) {
  for (int f = 0; f < table->field_count; f++)
    if (table->fields[f].input && table->fields[f].batched) return table->fields[f].name;
  return NULL;
}

/* The next stage from call `at` on that chooses rows; NULL: there is none. */
static const nnc_call *next_choice(const nnc_pipeline *pipeline, int *at) {
  while (*at < pipeline->call_count)
    if (pipeline->calls[(*at)++].stage->rows) return &pipeline->calls[*at - 1];
  return NULL;
}

/* Whether the calls have the same numbers; what is not given is 0. */
static bool is_same_choice(const nnc_call *a, const nnc_call *b) {
  if (!a || !b || a->stage != b->stage) return a == b;
  for (int i = 0; a->stage->formals[i]; i++) {
    const nnc_value *x = data_argument(a, a->stage->formals, a->stage->formals[i]);
    const nnc_value *y = data_argument(b, b->stage->formals, a->stage->formals[i]);
    if ((x ? x->number : 0) != (y ? y->number : 0)) return false;
    const char *p = x && x->string ? x->string : "", *q = y && y->string ? y->string : "";
    if (strcmp(p, q) != 0) return false;
  }
  return true;
}

static bool choose_alike(const nnc_pipeline *a, const nnc_pipeline *b) {
  int i = 1, k = 1;
  for (;;) {
    const nnc_call *x = next_choice(a, &i), *y = next_choice(b, &k);
    if (!is_same_choice(x, y)) return false;
    if (!x) return true;
  }
}

/* Rows are matched by their place: as many, and the same of them in the same order. */
static int check_alike(const DataContext *context, const DataTable *first, const DataTable *table,
                       bool are_alike) {
  const char *one = first_batched(first), *other = first_batched(table);
  if (!are_alike)
    return data_fail(context, "%s and %s must go through the same stages that choose rows", one,
                     other);
  if (first->loaded == table->loaded) return 0;
  long long count = first->loaded, other_count = table->loaded;
  const char *names[2];
  if (!data_picture_first_apart(first, table, names))
    return data_fail(context, "%s has %lld examples, but %s has %lld", one, count, other,
                     other_count);
  if (names[0] && names[1])
    return data_fail(context,
                     "%s has %lld examples, but %s has %lld: files are paired in the order of "
                     "their names, and %s and %s are the first that are not called alike",
                     one, count, other, other_count, names[0], names[1]);
  return data_fail(context,
                   "%s has %lld examples, but %s has %lld: %s is the first without another", one,
                   count, other, other_count, names[0] ? names[0] : names[1]);
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
    table->reads = rows ? rows->order : NULL;
    context->call = &pipelines[t]->calls[0];
    if (table->source->follow(context, table, rows) < 0) return -1;
  }
  return 0;
}

int data_join(DataContext *context, const nnc_pipeline *const *pipelines, bool keeps_all_rows,
              nnc_data *data) {
  const DataTable *first = NULL;
  const nnc_pipeline *pipeline = NULL;
  for (int t = 0; t < data->table_count; t++) {
    DataTable *table = &data->tables[t];
    table->reads = table->order;
    if (table->source->follow || !first_batched(table)) continue;
    if (!first) {
      first = table;
      pipeline = pipelines[t];
    }
    bool are_alike = keeps_all_rows || choose_alike(pipeline, pipelines[t]);
    if (check_alike(context, first, table, are_alike) < 0) return -1;
  }
  data->count = first ? first->count : 1;
  if (data->count == 0) return data_fail(context, "there are no examples");
  return follow(context, pipelines, data, first);
}
