/* Whether pictures and their masks, which are paired by their order, are called alike. */
#ifndef NNC_DATA_PICTURE_PAIRS_H
#define NNC_DATA_PICTURE_PAIRS_H

#include <stdbool.h>

#include "data/table.h"

/* Warns once, with the first pair, where names of two image_folder say that rows are not of one another. */
void data_picture_compare_names(const DataTable *masks, const DataTable *pictures);

/* Of two image_folder that have not as many rows: the first names that are not of one another, NULL after the last row
 * of the shorter one. False: their names have nothing in common, or they are others than image_folder. */
bool data_picture_first_apart(const DataTable *one, const DataTable *other, const char *names[2]);

#endif
