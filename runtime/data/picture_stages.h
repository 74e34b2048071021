/* The stages that cut and scale pictures. */
#ifndef NNC_DATA_PICTURE_STAGES_H
#define NNC_DATA_PICTURE_STAGES_H

#include "data/picture_color.h"
#include "data/picture_view.h"
#include "data/table.h"
#include "data/visit.h"
#include "data/words.h"

typedef enum PictureStageKind {
  PICTURE_RESIZE,
  PICTURE_CENTER_CROP,
  PICTURE_RANDOM_CROP,
  PICTURE_RANDOM_FLIP,
  PICTURE_RANDOM_RESIZED_CROP,
  PICTURE_PAD,
  PICTURE_COLOR_JITTER,
  PICTURE_RANDOM_AFFINE,
  PICTURE_RANDOM_ERASE,
  PICTURE_STAGE_KINDS
} PictureStageKind;

typedef struct PictureStage {
  PictureStageKind kind;
  /* resize: width 0 says that `height` is for the shorter side; pad: what is added at each side */
  int64_t height, width;
  double probability;        /* of a flip, of erasing */
  double scale[2];           /* of a part: its share of the area, */
  double ratio[2];           /* and its width to its height; of an affine map: its factor */
  double value;              /* of what is added */
  double degrees, shear;     /* of an affine map, either way */
  double translate;          /* either way, a part of the height and of the width */
  double color[DATA_COLORS]; /* of a color jitter, by DataColor: how far factors are from 1 */
} PictureStage;

typedef struct PictureStages {
  int count;
  PictureStage stages[DATA_PICTURE_STAGES];
  int first; /* those before it have acted already */
} PictureStages;

/* What a table knows of the pictures of its first field. */
typedef struct PictureRows {
  PictureStages stages;
  /* Of those in rows of numbers: their size (0: each picture shows its own), and what reads a row that is not
   * in memory. */
  int64_t height, width;
  DataMake *read;
} PictureRows;

/* Height and width of the input that the field feeds. */
static inline const int64_t *data_picture_sides(const DataField *field) {
  return field->input->dim + field->input->rank - 2;
}

/* What a table knows of its pictures, made where there is nothing yet. */
int data_picture_open(const DataContext *context, DataTable *table);

/* When all stages are known: whether they make pictures of the input's size, where that can be told. */
int data_picture_ready(const DataContext *context, DataTable *table);

/* Lets the view see what all of them make, in their order; 0, or -1 with a message. */
int data_picture_apply(const DataContext *context, const PictureStages *stages,
                       const DataVisit *visit, PictureView *view);

/* The same for PICTURE_TOO_LARGE, which a view's functions return. */
int data_picture_result(const DataContext *context, const PictureView *view, int result);

/* How many of the stages, from the first on, do the same in each visit of this kind. */
int data_picture_same(const PictureStages *stages, const DataVisit *visit);

/* Those of them that move pixels; they draw what they draw among the others. */
PictureStages data_picture_places(const PictureStages *stages);

/* Those of the table; none where it has none. */
const PictureStages *data_picture_stages(const DataTable *table);

/* What is to be seen of the picture before any stage. */
PictureView data_picture_view(const PictureFile *picture, const DataField *field,
                              const DataVisit *visit);

/* Fills a row of the field with what the stages make of the picture. */
int data_picture_show(const PictureStages *stages, const PictureFile *picture,
                      const DataField *field, const DataVisit *visit, unsigned char *row);

#endif
