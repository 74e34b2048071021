/* A data set that is being opened; private to open.c and bind.c. */
#ifndef NNC_DATA_OPENING_H
#define NNC_DATA_OPENING_H

#include <stdbool.h>

#include "data/call.h"
#include "data/set.h"
#include "data/table.h"

/* What is being opened; DataContext.set and .call follow the work. */
typedef struct Opening {
  DataContext context;
  const nnc_data_set *set;
  const nnc_entry *entry;
  bool always_draws;              /* stages that draw do so outside of training too */
  bool takes_files;               /* from the command line: by the first of a line's sources */
  bool keeps_all_rows;            /* files from the command line: no split, no shuffle */
  const nnc_pipeline **pipelines; /* of the tables */
  int takers;         /* tables that take as many files from the command line as there are */
  int files_each;     /* and how many each of them takes */
  const char *wanted; /* what the command line is to name: "image (image_folder), x (csv)" */
} Opening;

/* NULL when there is none of this name. */
const nnc_data_set *data_set_called(const nnc_model *model, const char *name);
/* The line that has the field, as number *index of its fields; `set` may be NULL. */
const nnc_pipeline *data_line_of(const nnc_data_set *set, const char *field, int *index);
/* The line of the training set whose stages change the field's values; NULL. */
const nnc_pipeline *data_value_stages(const Opening *opening, const char *field);
/* Whether the call is of a stage that learns, and names the field, which feeds an input. */
bool data_stage_meets(const struct nnc_stage_class *stage, const nnc_call *call,
                      const DataField *field);
/* Makes the tables of the inputs' fields, and checks the calls of their lines. */
int data_bind_all(Opening *opening, nnc_data *data);

#endif
