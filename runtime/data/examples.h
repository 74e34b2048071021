/* Some examples of a set, and the rows that they are. */
#ifndef NNC_DATA_EXAMPLES_H
#define NNC_DATA_EXAMPLES_H

#include <stdint.h>

#include "data/table.h"

typedef struct DataExamples {
  const uint32_t *list; /* their numbers; NULL: they follow each other from `first` on */
  int64_t first, count;
} DataExamples;

static inline int64_t data_example_at(const DataExamples *examples, int64_t index) {
  return examples->list ? examples->list[index] : examples->first + index;
}

/* The row of the table that example `index` of these is. */
static inline int64_t data_row_of(const DataTable *table, const DataExamples *examples,
                                  int64_t index) {
  int64_t example = data_example_at(examples, index);
  return table->reads ? table->reads[example] : example;
}

#endif
