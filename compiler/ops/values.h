/* Values that suit an integer input for which there are no data. */
#ifndef NNC_OPS_VALUES_H
#define NNC_OPS_VALUES_H

#include "graph/module.h"

/* From first to last, both included; last < first: the program does not tell. */
typedef struct InputValues {
  int64_t first, last;
} InputValues;

/* By what the entries do with the input:
 *
 *   - an index into an axis of n entries, or equal to one of 0, 1, ..., n - 1 (as a class is in one_hot): 0 to n - 1;
 *     where x - 1 is that (the last of x steps): 1 to n; of several the values that suit all
 *   - else, above or below some of 0, 1, ..., n - 1 (as a length is): 1 to n; of several the least n
 *   - else, compared with constants from 0 on, the greatest of which is k: 1 to k + 1; but from 0 where it may be
 *     equal to 0, and where no constant but 0 is compared with it. */
InputValues module_input_values(Arena *arena, const Module *module, const char *input);

#endif
