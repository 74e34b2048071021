/* An open data set; private to this folder. */
#ifndef NNC_DATA_SET_H
#define NNC_DATA_SET_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "data/class.h"
#include "data/skipped.h"
#include "data/table.h"

struct nnc_data {
  const nnc_entry *entry;
  const char *name;
  int table_count;
  DataTable *tables;
  DataField **fields; /* of the entry's inputs, in their order */
  int64_t count;      /* examples */
  const nnc_model *model;
  struct DataWorkers *workers; /* NULL: no rows are made */
  bool always_draws; /* outside of training too: the set that is read there has the stages itself */
  nnc_skipped *skipped;          /* rows that were left out; NULL: none may be */
  int prefetch;                  /* -1: no prefetch stage */
  struct DataMixing *mixing;     /* of what training mixes; NULL: of nothing */
  struct DataSampling *sampling; /* how often training reads an example; NULL: once an epoch */
};

/* The line whose first table is number `first`: lines of the same fields are the sources of one. */
static inline DataLine data_line_at(const nnc_data *data, int first) {
  DataLine line = {1, &data->tables[first]};
  const char *name = line.tables[0].fields[0].name;
  while (first + line.count < data->table_count &&
         strcmp(line.tables[line.count].fields[0].name, name) == 0)
    line.count++;
  return line;
}

#endif
