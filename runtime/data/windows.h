/* Windows over one stream, for text and token_stream. */
#ifndef NNC_DATA_WINDOWS_H
#define NNC_DATA_WINDOWS_H

#include "data/table.h"

/* The arguments that text and token_stream share: windows of `length` values,
 * `stride` apart, of the part from ... to (fractions) of a stream. */
typedef struct DataWindows {
  double length, stride, from, to;
} DataWindows;
int data_window_arguments(const DataContext *context, const char *const *formals,
                          DataWindows *windows);
/* Makes the table's rows: the fields share the stream, the second begins one value later.  The
 * stream belongs to the table from then on, also when this fails. */
int data_window_stream(const DataContext *context, DataTable *table, const char *file,
                       DataStream stream, const DataWindows *windows);

#endif
