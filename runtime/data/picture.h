/* Pictures: decoding JPEG and PNG, and the stages that cut and scale; private to picture*.c,
 * image_folder.c and files.c.
 *
 * A picture is interleaved bytes, rows from the top: [height][width][channels], 1 channel (grey) or
 * 3 (red, green, blue). */
#ifndef NNC_DATA_PICTURE_H
#define NNC_DATA_PICTURE_H

#include "data/table.h"

typedef struct Picture {
  int64_t height, width;
  int channels;
  unsigned char *bytes; /* allocated */
} Picture;

/* Pixels of a picture, as decoded and as computed by scaling, at most. */
enum { PICTURE_PIXELS = 1 << 27, PICTURE_TOO_LARGE = -2 };

/* Decodes a file in memory to `channels` channels: JPEG, or PNG (over black where it is
 * transparent).  0, or -1 with a message; then there is nothing to free. */
int data_picture_decode(const DataContext *context, const char *name, const unsigned char *file,
                        size_t size, int channels, Picture *picture);

/* Of a picture, or of what it is to be scaled to. */
typedef struct PicturePart {
  int64_t top, left, height, width;
} PicturePart;

/* Makes it the part of what it is when scaled to height x width by the triangle filter whose
 * support grows with the reduction, so that what gets smaller is averaged, not skipped: what
 * others call antialiased bilinear interpolation.  Pixel centres lie at halves.  The part has the
 * bits that it has in the whole.  -1 when there is no memory, PICTURE_TOO_LARGE when the part has
 * too many pixels. */
int data_picture_scale(Picture *picture, int64_t height, int64_t width, PicturePart part);

typedef enum PictureStageKind {
  PICTURE_RESIZE,
  PICTURE_CENTER_CROP,
  PICTURE_RANDOM_CROP,
  PICTURE_RANDOM_FLIP
} PictureStageKind;

typedef struct PictureStage {
  PictureStageKind kind;
  int64_t height, width; /* resize: width 0 says that `height` is for the shorter side */
  double probability;    /* of a flip */
} PictureStage;

typedef struct PictureStages {
  int count;
  PictureStage stages[DATA_PICTURE_STAGES];
} PictureStages;

/* Adds a stage to the table's, which must make pictures. */
int data_picture_add_stage(const DataContext *context, DataTable *table, PictureStage stage);

/* Applies all in their order to the picture of the file `name`; 0, or -1 with a message. */
int data_picture_apply(const DataContext *context, const char *name, const PictureStages *stages,
                       const DataVisit *visit, Picture *picture);

/* A growing list of strings that it owns. */
typedef struct PictureNames {
  int64_t count, capacity;
  char **items;
} PictureNames;

/* What a table of pictures has as its state. */
typedef struct PictureFiles {
  PictureNames names; /* of the files, as they are opened: a row each */
  PictureStages stages;
  int workers; /* 0: as many as there are processors */
} PictureFiles;

/* picture_files.c: lists of files, and rows that are made of them. */

/* Takes over `name`; NULL is a failure of memory.  0, or -1 with a message. */
int data_picture_add_name(const DataContext *context, PictureNames *names, char *name);
void data_picture_free_names(PictureNames *names);
/* The folder's own folders, or its pictures, sorted; hidden ones do not count. */
int data_picture_list(const DataContext *context, const char *folder, bool wants_folders,
                      PictureNames *names);
/* The pictures of a folder, of which there must be some, behind those that are there. */
int data_picture_add_folder(const DataContext *context, const char *folder, PictureNames *names);
/* The files from the command line: pictures, or folders of them. */
int data_picture_add_given(const DataContext *context, PictureNames *names);
/* Makes the table's state, with the call's argument `workers`; NULL with a message. */
PictureFiles *data_picture_open(const DataContext *context, DataTable *table,
                                const char *const *formals);
/* The shape of a field whose rows are made of the files, as its input wants it. */
int data_picture_shape(const DataContext *context, DataField *field, int64_t count);

/* Of the class of a source: what load leaves to do when the table's first field is a picture. */
int data_picture_ready(const DataContext *context, DataTable *table);
int data_picture_make(const DataContext *context, const DataTable *table, const DataField *field,
                      const DataVisit *visit, unsigned char *bytes);
const char *data_picture_row_name(const DataTable *table, int64_t row);
int data_picture_workers(const DataTable *table);
void data_picture_close(DataTable *table);

#endif
