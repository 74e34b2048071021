/* Parts of a table's rows, for split and fold. */
#ifndef NNC_DATA_PART_H
#define NNC_DATA_PART_H

#include "data/table.h"

typedef struct DataPart {
  double from, to; /* of a random permutation of the rows, fractions */
  bool leaves_out; /* all rows but these */
  uint64_t seed;
  double first, second; /* the stage's own numbers, for messages */
  const char *by;       /* a field of which each part has the same share of every value; NULL */
} DataPart;

/* What is chosen stays in its order. A bound is rounded to the same row in every set, so adjoining parts are
 * disjoint and together complete. */
int data_choose_part(const DataContext *context, DataTable *table, const DataPart *part);

/* The argument `by`; NULL where there is none. */
const char *data_part_by(const DataContext *context, const char *const *formals);

#endif
