/* Files that a text table names, in its first field:
 *
 *     file,label,age
 *     00/17.jpg,cat,3.5
 *
 * The table is read as `csv` reads it; the names are looked for in `folder`. What is not there is told with the line of
 * the table before training begins, unless it may be skipped. */
#ifndef NNC_DATA_NAME_LIST_H
#define NNC_DATA_NAME_LIST_H

#include "data/row_files.h"

/* Loads a source with the arguments of `csv`, `folder` and `on_error`, whose state is open. */
int data_name_list_load(const DataContext *context, DataTable *table, const char *const *formals);

/* Of the source's class. */
void data_name_list_choose(DataTable *table, const uint32_t *chosen, int64_t count);
const char *data_name_list_row_name(const DataTable *table, int64_t row);

#endif
