/* Masks that go with the pictures of another table: the rows of both are matched, and have the same size. */
#ifndef NNC_DATA_PICTURE_BESIDE_H
#define NNC_DATA_PICTURE_BESIDE_H

#include "data/call.h"
#include "data/table.h"
#include "data/visit.h"

struct nnc_data;

/* The table's first field is masks of the pictures of the field that is called so. */
int data_picture_with(const DataContext *context, DataTable *table, const char *field);

/* When all tables are there: finds the pictures of masks.  Where both are in arrays, and of different sizes: an error. */
int data_pictures_pair(const DataContext *context, struct nnc_data *data);

/* The visit of a row: values of masks are not mixed. */
DataVisit data_picture_visit(const DataTable *table, const DataVisit *visit);

/* Whether the row's mask has the size of its picture, as their files say; looked at when the row is made first.
 * A picture that cannot be read tells it itself. */
int data_picture_compare(const DataContext *context, const DataTable *table,
                         const DataVisit *visit);

#endif
