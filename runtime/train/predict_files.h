/* Results of predict that go to files instead of lines: --npy, --png. */
#ifndef NNC_PREDICT_FILES_H
#define NNC_PREDICT_FILES_H

#include "data/read.h"
#include "train/predict_print.h"
#include "train/predict_sources.h"

/* Examples whose results the columns hold. */
typedef struct nnc_result_rows {
  int64_t row; /* of the batch, the first; -1: an example that could not be read */
  int64_t count;
  int64_t example; /* number of the first among all */
} nnc_result_rows;

enum { NNC_TO_ARRAYS = 1, NNC_TO_PICTURES = 2 }; /* bits of nnc_predict_column.files */

/* A kind of files. Programs in which no result can be a picture have no writer of pictures: nnc_model names it. */
struct nnc_result_writer {
  unsigned bit;
  bool (*takes)(const nnc_predict_column *column); /* NULL: any */
  /* `data`: of the examples' names; or NULL. `sources`: whose place no file takes. NULL after a message. */
  void *(*open)(const char *folder, int count, const nnc_predict_column *columns,
                const nnc_data *data, const nnc_predict_sources *sources);
  /* Column i of the open ones; false after a message. */
  bool (*put)(void *files, int i, const nnc_predict_column *column, nnc_result_rows rows);
  bool (*close)(void *files, bool is_whole); /* false after a message; whole: all was put */
};

enum { NNC_RESULT_WRITERS = 2 };

typedef struct nnc_predict_files {
  const struct nnc_result_writer *writers[NNC_RESULT_WRITERS]; /* NULL: not asked for */
  void *files[NNC_RESULT_WRITERS];
  const char *folders[NNC_RESULT_WRITERS];
} nnc_predict_files;

/* Marks the columns that go to files, as the flags say; false after a message. */
bool nnc_predict_files_choose(nnc_predict_files *files, const nnc_options *options, int count,
                              nnc_predict_column *columns);
bool nnc_predict_files_open(nnc_predict_files *files, const nnc_options *options, int count,
                            const nnc_predict_column *columns, const nnc_data *data);
bool nnc_predict_files_put(nnc_predict_files *files, int count, const nnc_predict_column *columns,
                           nnc_result_rows rows);
bool nnc_predict_files_close(nnc_predict_files *files, bool is_whole);

#endif
