/* The members of a tar archive, one after the other. */
#ifndef NNC_DATA_TAR_H
#define NNC_DATA_TAR_H

#include "data/file.h"

typedef struct DataTar {
  const DataContext *context;
  const char *name; /* of the archive */
  int descriptor;
  int64_t size; /* of the archive */
  int64_t next; /* where the next header is */
  /* The member: */
  char *path; /* lives until the next call */
  int64_t at, bytes;
} DataTar;

/* `file` stays open while the archive is read. */
int data_tar_open(const DataContext *context, DataFile *file, DataTar *tar);
/* The next regular file: 1; 0 at the end; -1 with a message. */
int data_tar_next(DataTar *tar);
void data_tar_close(DataTar *tar);

#endif
