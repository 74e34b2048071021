/* Whether pictures and their masks, which are paired by their order, are called alike. */
#ifndef NNC_DATA_PICTURE_PAIRS_H
#define NNC_DATA_PICTURE_PAIRS_H

#include "data/table.h"

/* Warns once, with the first pair, where names of two image_folder say that rows are not of one another. */
void data_picture_compare_names(const DataTable *masks, const DataTable *pictures);

#endif
