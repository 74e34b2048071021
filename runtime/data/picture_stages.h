/* The stages that cut and scale pictures. */
#ifndef NNC_DATA_PICTURE_STAGES_H
#define NNC_DATA_PICTURE_STAGES_H

#include "data/picture.h"
#include "data/table.h"
#include "data/visit.h"
#include "data/words.h"

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

/* Adds a stage to the table's, which must make pictures: its state begins with its stages. */
int data_picture_add_stage(const DataContext *context, DataTable *table, PictureStage stage);

/* Applies all in their order to the picture of the file `name`; 0, or -1 with a message. */
int data_picture_apply(const DataContext *context, const char *name, const PictureStages *stages,
                       const DataVisit *visit, Picture *picture);

#endif
