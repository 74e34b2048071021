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
  const char *group;    /* a field of whose values each is in one part alone; NULL */
} DataPart;

/* Takes the part of each source of the line, of groups of all sources together. What is chosen stays in its order. A
 * bound is rounded to the same row in every set, so adjoining parts are disjoint and together complete. */
int data_choose_part(const DataContext *context, const DataLine *line, const DataPart *part);

/* Fills the arguments `by` and `group`. */
void data_part_fields(const DataContext *context, const char *const *formals, DataPart *part);

#endif
