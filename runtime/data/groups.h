/* Examples by the value of a field: what is in one group has the same. */
#ifndef NNC_DATA_GROUPS_H
#define NNC_DATA_GROUPS_H

#include "data/table.h"

/* The table's field of that name, if it has one value a row that can be looked at now; else NULL with a
 * message of the stage at work. */
const DataField *data_group_field(const DataContext *context, const DataTable *table,
                                  const char *name);
/* groups[i] of each example, whose row is order[i] (NULL: i), numbered by rising values; missing ones are
 * the last. How many there are, or -1 with a message. */
int64_t data_group_rows(const DataContext *context, const DataField *field, const uint32_t *order,
                        int64_t count, uint32_t *groups);
/* Rearranges the permutation so that each part of it has as much of every group as the whole, to one
 * example; groups[permutation[i]] is the group of its element i. 0, or -1 with a message. */
int data_group_spread(const DataContext *context, const uint32_t *groups, int64_t group_count,
                      int64_t count, uint32_t *permutation);

#endif
