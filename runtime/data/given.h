/* What the command line of predict names, beside what the program reads; private to this folder. */
#ifndef NNC_DATA_GIVEN_H
#define NNC_DATA_GIVEN_H

#include "data/call.h"
#include "data/table.h"

/* Pictures, or folders of them, for a line that reads arrays: 0 where there are none, else -1 with a
 * message that says what the program needs for them.  `context->call` is the source of `table`. */
int data_check_given(const DataContext *context, const DataTable *table, int count,
                     const char *const *files);

#endif
