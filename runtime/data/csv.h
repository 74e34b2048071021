/* Text tables, for other sources than `csv`. */
#ifndef NNC_DATA_CSV_H
#define NNC_DATA_CSV_H

#include "data/table.h"

/* Fills the table from the call's file; its first arguments are those of csv. */
int data_csv_load(const DataContext *context, DataTable *table);

#endif
