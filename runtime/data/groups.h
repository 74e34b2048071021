/* Examples by the value of a field: what is in one group has the same. */
#ifndef NNC_DATA_GROUPS_H
#define NNC_DATA_GROUPS_H

#include "data/table.h"

/* The field's value of each example of the line, one after the other; texts are numbered, what is missing is
 * NaN. -1 with a message of the stage at work where the field has not one value a row that can be looked at now. */
int data_group_values(const DataContext *context, const DataLine *line, const char *name,
                      double *values);
/* groups[i] of each example of the line, numbered by rising values of the field; missing ones are the last. How many
 * there are, or -1 with a message. */
int64_t data_group_rows(const DataContext *context, const DataLine *line, const char *name,
                        uint32_t *groups);
/* Rearranges the permutation so that each part of it has as much of every group as the whole, to one
 * example; groups[permutation[i]] is the group of its element i. 0, or -1 with a message. */
int data_group_spread(const DataContext *context, const uint32_t *groups, int64_t group_count,
                      int64_t count, uint32_t *permutation);

#endif
