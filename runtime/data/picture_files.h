/* Rows that are made of pictures in files. */
#ifndef NNC_DATA_PICTURE_FILES_H
#define NNC_DATA_PICTURE_FILES_H

#include <sys/stat.h>

#include "data/cache.h"
#include "data/picture.h"
#include "data/picture_stages.h"
#include "data/row_files.h"
#include "data/table.h"
#include "data/visit.h"

extern const RowFileKind data_picture_kind;
/* The shape of a field whose rows are made of the files, as its input wants it. */
int data_picture_shape(const DataContext *context, DataField *field, int64_t count);

/* Of the class of a source: what load leaves to do when the table's first field is a picture. */
int data_picture_make(const DataContext *context, const DataTable *table, const DataField *field,
                      const DataVisit *visit, unsigned char *bytes);
/* What the row's file says of its picture. */
int data_picture_look_at(const DataContext *context, const DataTable *table, const DataVisit *visit,
                         PictureFile *file);
/* A picture that lies elsewhere, by what reads it. */
typedef struct PictureOrigin {
  const char *name;  /* in messages */
  const void *state; /* of these: */
  /* 0, or -1: it cannot be looked at. */
  int (*look)(const struct PictureOrigin *origin, struct stat *status);
  /* Its bytes, in the thread's buffer; NULL with a message. */
  unsigned char *(*read)(const DataContext *context, const struct PictureOrigin *origin,
                         DataScratch *scratch, size_t *size);
} PictureOrigin;
int data_picture_make_of(const DataContext *context, const DataTable *table, const DataField *field,
                         const DataVisit *visit, const PictureOrigin *origin, unsigned char *row);

#endif
