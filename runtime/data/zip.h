/* Members of zip archives, as NumPy's savez writes them. */
#ifndef NNC_DATA_ZIP_H
#define NNC_DATA_ZIP_H

#include "data/file.h"

typedef struct DataZip DataZip;

/* Reads the directory of the archive, whose file the caller closes after it. */
DataZip *data_zip_open(const DataContext *context, DataFile *file);
void data_zip_close(DataZip *zip);
/* The member "NAMESUFFIX" as a file, while the archive is open; NULL with a message. */
DataFile *data_zip_member(const DataContext *context, const DataZip *zip, const char *name,
                          const char *suffix);

#endif
