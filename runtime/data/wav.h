/* Rows that are sounds in WAV files. */
#ifndef NNC_DATA_WAV_H
#define NNC_DATA_WAV_H

#include "data/row_files.h"

struct DataVisit;

/* Makes the table's state, with the call's arguments `workers`, `rate` and `fit`; -1 with a message. */
int data_wav_open(const DataContext *context, DataTable *table, const char *const *formals);

int data_wav_make(const DataContext *context, const DataTable *table, const DataField *field,
                  const struct DataVisit *visit, unsigned char *row);

#endif
