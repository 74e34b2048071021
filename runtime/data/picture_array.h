/* Pictures in rows of numbers. */
#ifndef NNC_DATA_PICTURE_ARRAY_H
#define NNC_DATA_PICTURE_ARRAY_H

#include "data/call.h"
#include "data/table.h"

/* Of the classes of stages that change pictures: the first field of a table of numbers is pictures, whose rows
 * are made when they are read.  Nothing is done to a table that reads files of pictures. */
int data_picture_expect(const DataContext *context, DataTable *table);
int data_picture_finish(const DataContext *context, DataTable *table);

#endif
