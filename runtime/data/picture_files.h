/* Lists of picture files, and rows that are made of them; for the sources image_folder and files. */
#ifndef NNC_DATA_PICTURE_FILES_H
#define NNC_DATA_PICTURE_FILES_H

#include <sys/stat.h>

#include "data/cache.h"
#include "data/picture_stages.h"
#include "data/table.h"
#include "data/visit.h"

/* A growing list of strings that it owns. */
typedef struct PictureNames {
  int64_t count, capacity;
  char **items;
} PictureNames;

/* What a table of pictures has as its state. */
typedef struct PictureFiles {
  PictureNames names; /* of the files, as they are opened: a row each */
  bool skips;         /* files that cannot be read are left out */
  int workers;        /* 0: as many as there are processors */
} PictureFiles;

/* Takes over `name`; NULL is a failure of memory.  0, or -1 with a message. */
int data_picture_add_name(const DataContext *context, PictureNames *names, char *name);
void data_picture_free_names(PictureNames *names);
/* The folder's own folders, or its pictures, sorted; hidden ones do not count. */
int data_picture_list(const DataContext *context, const char *folder, bool wants_folders,
                      PictureNames *names);
/* The pictures of a folder, of which there must be some, after those that are there. */
int data_picture_add_folder(const DataContext *context, const char *folder, PictureNames *names);
/* The files from the command line: pictures, or folders of them. */
int data_picture_add_given(const DataContext *context, PictureNames *names);
/* Makes the table's state, with the call's argument `workers`; NULL with a message. */
PictureFiles *data_picture_open(const DataContext *context, DataTable *table,
                                const char *const *formals);
/* The argument `on_error`. */
int data_picture_on_error(const DataContext *context, PictureFiles *files,
                          const char *const *formals);
/* The shape of a field whose rows are made of the files, as its input wants it. */
int data_picture_shape(const DataContext *context, DataField *field, int64_t count);

/* Of the class of a source: what load leaves to do when the table's first field is a picture. */
int data_picture_make(const DataContext *context, const DataTable *table, const DataField *field,
                      const DataVisit *visit, unsigned char *bytes);
/* The same of a picture that lies elsewhere, by what reads it. */
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
const char *data_picture_row_name(const DataTable *table, int64_t row);
bool data_picture_skips(const DataTable *table);
int data_picture_workers(const DataTable *table);
void data_picture_close(DataTable *table);

#endif
