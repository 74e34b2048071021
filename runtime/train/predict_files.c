/* Results of predict that go to files: see predict_files.h. Here NumPy's arrays: one of all examples for each result, written as
 * they come; the header, whose length is the same for any number of examples, is written again at the end. */
#include "train/predict_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/number.h"
#include "core/pattern.h"
#include "os/message.h"
#include "os/replace.h"
#include "train/npy.h"

/* --- Arrays --------------------------------------------------------------------------------- */

typedef struct Array {
  const nnc_predict_column *column; /* NULL: it is not written */
  char *path;
  nnc_replacement out; /* fd: -1 where it is not open */
  int64_t examples;
  int header; /* its length */
} Array;

typedef struct Arrays {
  int count;
  Array items[];
} Arrays;

static int make_header(char header[NNC_NPY_HEADER], const nnc_predict_column *column,
                       int64_t examples, int least) {
  int64_t dim[NNC_MAX_RANK + 1] = {examples};
  for (int i = 0; i < column->rank; i++) dim[i + 1] = column->dim[i];
  return nnc_npy_header(header, column->dtype, column->rank + 1, dim, least);
}

static bool open_array(Array *array, const char *folder, const nnc_predict_column *column,
                       const nnc_predict_sources *sources) {
  array->column = column;
  char header[NNC_NPY_HEADER];
  if (asprintf(&array->path, "%s/%s.npy", folder, column->name) < 0) {
    array->path = NULL;
    nnc_error("cannot allocate a path");
    return false;
  }
  array->header = make_header(header, column, INT64_MAX, 0);
  return nnc_predict_sources_spare(sources, "--npy", array->path) &&
         nnc_may_replace(array->path, "NumPy array", 0, "\x93NUMPY") &&
         nnc_replace_open(&array->out, array->path) &&
         nnc_replace_write(&array->out, header, (size_t)array->header);
}

static bool finish_array(Array *array) {
  char header[NNC_NPY_HEADER];
  int length = make_header(header, array->column, array->examples, array->header);
  if (pwrite(array->out.fd, header, (size_t)length, 0) == length)
    return nnc_replace_commit(&array->out, NULL);
  nnc_error_system("write", array->path);
  nnc_replace_abandon(&array->out);
  return false;
}

static bool close_arrays(void *files, bool is_whole) {
  Arrays *arrays = files;
  bool good = true;
  for (int i = 0; i < arrays->count; i++) {
    Array *array = &arrays->items[i];
    if (array->out.fd >= 0 && is_whole) good = finish_array(array) && good;
    else if (array->out.fd >= 0) nnc_replace_abandon(&array->out);
    free(array->path);
  }
  free(arrays);
  return good;
}

static void *open_arrays(const char *folder, int count, const nnc_predict_column *columns,
                         const nnc_data *data, const nnc_predict_sources *sources) {
  (void)data;
  Arrays *arrays = calloc(1, sizeof *arrays + (size_t)count * sizeof *arrays->items);
  if (!arrays) {
    nnc_error("cannot allocate %d files", count);
    return NULL;
  }
  arrays->count = count;
  for (int i = 0; i < count; i++) arrays->items[i].out.fd = -1;
  for (int i = 0; i < count; i++)
    if ((columns[i].files & NNC_TO_ARRAYS) &&
        !open_array(&arrays->items[i], folder, &columns[i], sources)) {
      close_arrays(arrays, false);
      return NULL;
    }
  return arrays;
}

/* Of an example that could not be read floats are NaN and other numbers 0. */
static bool put_nothing(Array *array, const nnc_predict_column *column) {
  int64_t bytes = column->elements * nnc_npy_size(column->dtype);
  char piece[4096];
  memset(piece, nnc_dtype_is_float(column->dtype) ? 0xff : 0, sizeof piece);
  for (int64_t left = bytes, some; left > 0; left -= some) {
    some = left < (int64_t)sizeof piece ? left : (int64_t)sizeof piece;
    if (!nnc_replace_write(&array->out, piece, (size_t)some)) return false;
  }
  return true;
}

static bool put_elements(Array *array, const nnc_predict_column *column, int64_t first,
                         int64_t count) {
  float wide[1024];
  if (column->dtype != NNC_BF16) {
    int64_t size = nnc_dtype_size(column->dtype);
    return nnc_replace_write(&array->out, column->data + first * size, (size_t)(count * size));
  }
  for (int64_t at = 0, some; at < count; at += some) {
    some = count - at < 1024 ? count - at : 1024;
    for (int64_t i = 0; i < some; i++)
      wide[i] = (float)nnc_number_get(NNC_BF16, column->data, first + at + i);
    if (!nnc_replace_write(&array->out, wide, (size_t)some * sizeof *wide)) return false;
  }
  return true;
}

static bool put_array(void *files, int i, const nnc_predict_column *column, nnc_result_rows rows) {
  Array *array = &((Arrays *)files)->items[i];
  int64_t elements = column->elements;
  array->examples += rows.count;
  if (rows.row < 0) return put_nothing(array, column);
  if (column->is_batched)
    return put_elements(array, column, rows.row * elements, rows.count * elements);
  for (int64_t k = 0; k < rows.count; k++)
    if (!put_elements(array, column, 0, elements)) return false;
  return true;
}

static const struct nnc_result_writer arrays_writer = {NNC_TO_ARRAYS, NULL, open_arrays, put_array,
                                                       close_arrays};

/* --- Results that go to files --------------------------------------------------------------- */

static const char *folder_of(const nnc_options *options, int writer) {
  return writer == 0 ? options->npy : options->png;
}

static bool refuse(const nnc_predict_column *rejected) {
  char type[NNC_SHAPE_TEXT];
  nnc_error("--png: '%s' is %s for each example; a picture is [height, width], or [channels, "
            "height, width] with 1, 3 or 4 channels",
            rejected->name,
            nnc_tensor_type_text(type, rejected->dtype, rejected->rank, rejected->dim));
  return false;
}

/* Each pattern of --only is of a result. */
static bool know_patterns(const nnc_options *options, int count,
                          const nnc_predict_column *columns) {
  for (int k = 0; k < options->only_count; k++) {
    bool is_found = false;
    for (int i = 0; i < count; i++)
      is_found |= nnc_pattern_matches(options->only[k], columns[i].name);
    if (is_found) continue;
    nnc_error("--only: predict has no result called '%s'", options->only[k]);
    return false;
  }
  return true;
}

/* Marks what goes to one kind of files; false after a message where nothing does. */
static bool choose(const struct nnc_result_writer *writer, const nnc_options *options, int count,
                   nnc_predict_column *columns) {
  const nnc_predict_column *rejected = NULL;
  bool has_chosen = false;
  for (int i = 0; i < count; i++) {
    if (!nnc_options_mean(options, columns[i].name)) continue;
    bool takes = writer && (!writer->takes || writer->takes(&columns[i]));
    if (takes) columns[i].files |= writer->bit;
    else rejected = &columns[i];
    has_chosen = has_chosen || takes;
  }
  return has_chosen || !rejected || refuse(rejected);
}

bool nnc_predict_files_choose(nnc_predict_files *files, const nnc_options *options, int count,
                              nnc_predict_column *columns) {
  const struct nnc_result_writer *const writers[] = {&arrays_writer, nnc_the_model.pictures};
  if (!know_patterns(options, count, columns)) return false;
  for (int w = 0; w < NNC_RESULT_WRITERS; w++) {
    if (!folder_of(options, w)) continue;
    if (!choose(writers[w], options, count, columns)) return false;
    files->writers[w] = writers[w];
  }
  return true;
}

bool nnc_predict_files_open(nnc_predict_files *files, const nnc_options *options, int count,
                            const nnc_predict_column *columns, const nnc_data *data) {
  size_t made;
  nnc_predict_sources sources = {0};
  bool has_files = false;
  for (int w = 0; w < NNC_RESULT_WRITERS; w++) has_files = has_files || files->writers[w];
  bool good = !has_files || nnc_predict_sources_find(&sources, options, data);
  for (int w = 0; good && w < NNC_RESULT_WRITERS; w++) {
    const char *folder = folder_of(options, w);
    if (!files->writers[w]) continue;
    good = nnc_make_folder(folder, &made);
    if (good) files->files[w] = files->writers[w]->open(folder, count, columns, data, &sources);
    good = good && files->files[w];
    files->folders[w] = folder;
  }
  nnc_predict_sources_free(&sources);
  return good;
}

bool nnc_predict_files_put(nnc_predict_files *files, int count, const nnc_predict_column *columns,
                           nnc_result_rows rows) {
  for (int w = 0; w < NNC_RESULT_WRITERS; w++)
    for (int i = 0; files->files[w] && i < count; i++)
      if ((columns[i].files & files->writers[w]->bit) &&
          !files->writers[w]->put(files->files[w], i, &columns[i], rows))
        return false;
  return true;
}

bool nnc_predict_files_close(nnc_predict_files *files, bool is_whole) {
  bool good = true;
  for (int w = 0; w < NNC_RESULT_WRITERS; w++) {
    if (!files->files[w]) continue;
    bool is_written = files->writers[w]->close(files->files[w], is_whole);
    if (is_written && is_whole)
      nnc_note("wrote %s to %s", files->writers[w]->bit == NNC_TO_ARRAYS ? "arrays" : "pictures",
               files->folders[w]);
    good = good && is_written;
  }
  return good;
}
