/* Which example of a file has a number that is not finite. */
#include <math.h>
#include <stdio.h>

#include "data/columns.h"
#include "data/read.h"
#include "data/set.h"

typedef struct Search {
  int64_t width;        /* values in a row */
  int64_t first, count; /* of the rows that have such a number */
  int64_t last;         /* the one counted last */
} Search;

static void look(void *state, int64_t column, int64_t count, const double *values) {
  Search *search = state;
  for (int64_t i = 0; i < count; i++) {
    int64_t row = (column + i) / search->width;
    if (isfinite(values[i]) || row == search->last) continue;
    if (search->count++ == 0) search->first = row;
    search->last = row;
  }
}

/* The input's field in this table; NULL: it has none, or its rows overlap or are made. */
static const DataField *find_field(const DataTable *table, const char *input) {
  for (int f = 0; f < table->field_count; f++) {
    const DataField *field = &table->fields[f];
    bool is_it = field->input && strcmp(field->name, input) == 0;
    if (is_it && field->batched && field->file && !field->is_made && field->step == field->width &&
        field->width > 0 && !table->keeps_rows)
      return field;
  }
  return NULL;
}

/* Where rows were chosen, as by `split`, their numbers in the file are forgotten. */
static void put(char text[NNC_MESSAGE], const DataTable *table, const DataField *field,
                const Search *search) {
  bool are_known = table->numbers || table->rows == table->loaded;
  char where[80];
  int64_t others = search->count - 1;
  if (!are_known)
    snprintf(where, sizeof where, "%lld of the set's examples", (long long)search->count);
  else if (others == 0)
    snprintf(where, sizeof where, "example %lld (from 0)",
             (long long)data_row_number(table, search->first));
  else
    snprintf(where, sizeof where, "example %lld (from 0) and of %lld other%s",
             (long long)data_row_number(table, search->first), (long long)others,
             others == 1 ? "" : "s");
  snprintf(text, NNC_MESSAGE, "%s: %s of %s is not finite", field->file, field->name, where);
}

bool nnc_data_tell_not_finite(const nnc_data *data, const char *input, char text[NNC_MESSAGE]) {
  for (int t = 0; t < data->table_count; t++) {
    const DataTable *table = &data->tables[t];
    const DataField *field = find_field(table, input);
    if (!field) continue;
    DataField flat = *field; /* as one row */
    Search search = {.width = field->width, .last = -1};
    flat.width = data_field_held(field);
    data_each_block(&flat, 1, &search, look);
    if (search.count == 0) continue;
    put(text, table, field, &search);
    return true;
  }
  return false;
}
