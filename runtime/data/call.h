/* Where a call of a source or stage stands, its messages and its arguments; private to this folder. */
#ifndef NNC_DATA_CALL_H
#define NNC_DATA_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/fitted.h"
#include "os/message.h"
#include "nnc_model.h"

#define DATA_PRINTF(at, first) __attribute__((format(printf, at, first)))

/* Names of files, in their order. */
typedef struct DataNames {
  int64_t count;
  char **items;
} DataNames;

/* Where a call stands, for messages and for finding files. */
typedef struct DataContext {
  const nnc_model *model;
  const char *set; /* "train" */
  const char *directory;
  const nnc_call *call; /* the one at work */
  int file_count;       /* files that replace those of the source's arguments; 0: none */
  const char *const *files;
  const struct nnc_data_part
      *part;                /* what standard input is of another (open.h); NULL: it is whole */
  const nnc_fitted *fitted; /* what the training set taught, so far */
  nnc_fitted *learns;       /* where more may be added; NULL: nothing may be fitted */
  const struct DataDiskClass *disk;    /* rows stay on disk; NULL: they are loaded */
  const struct DataMatching *matching; /* of names of files; NULL: the source's are no patterns */
  bool is_prediction;                  /* columns of fields that are not needed may be missing */
  char *message;                       /* NNC_MESSAGE */
} DataContext;

/* The fail functions return -1. */
int data_fail(const DataContext *context, const char *format, ...) DATA_PRINTF(2, 3);
/* The same with "mnist.net:3:9: " of the call in front. */
int data_fail_call(const DataContext *context, const char *format, ...) DATA_PRINTF(2, 3);
int data_fail_memory(const DataContext *context, const char *what, int64_t bytes);
/* "u8[60000, 28, 28]" */
void data_shape_text(char *text, size_t size, int dtype, int rank, const int64_t *dim);
/* The formal argument's value or NULL; also where the call gives it by position. */
const nnc_value *data_argument(const nnc_call *call, const char *const *formals, const char *name);
/* Fills *number; the value stays when the argument is absent.  Fails outside [least, most]. */
int data_argument_number(const DataContext *context, const char *const *formals, const char *name,
                         double least, double most, double *number);
/* Does the stage's call name this field? */
bool data_call_names(const nnc_call *call, const char *field);

#endif
