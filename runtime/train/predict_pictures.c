/* Results of predict as pictures: a PNG file for each example, see predict_files.h.
 *
 * A file is called like the example's own, without what the paths of all examples begin with; examples without files have
 * their number. Floats reach from 0, black, to 1, white; bytes, whole numbers and truth values are masks: a number is its
 * byte, true is 255. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "core/number.h"
#include "core/png.h"
#include "os/message.h"
#include "os/replace.h"
#include "train/predict_files.h"

enum { MOST_SIDE = 1 << 15 };

/* Where the values of one result are cut. */
typedef struct Cut {
  double values, beyond, nan; /* how many in all; outside of 0 to 1, and no numbers */
} Cut;

typedef struct Pictures {
  const char *folder;
  int count, chosen; /* results; of these pictures: where there are several each has a folder */
  int64_t names_count;
  char **names; /* "cats/1" of each example; NULL: their numbers */
  unsigned char *bytes;
  size_t room;
  const nnc_predict_column *columns;
  Cut cuts[];
} Pictures;

static bool is_picture(const nnc_predict_column *column) {
  const int64_t *dim = column->dim;
  bool has_channels = column->rank == 3 && (dim[0] == 1 || dim[0] == 3 || dim[0] == 4);
  if (column->rank != 2 && !has_channels) return false;
  const int64_t *side = dim + has_channels;
  return side[0] > 0 && side[1] > 0 && side[0] <= MOST_SIDE && side[1] <= MOST_SIDE;
}

static bool fail_memory(void) {
  nnc_error("cannot allocate a picture");
  return false;
}

/* --- Names ---------------------------------------------------------------------------------- */

static size_t folder_length(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? (size_t)(slash + 1 - path) : 0;
}

/* How much of the first path all of them begin with, up to a slash. */
static size_t common_length(const nnc_data *data, int64_t count) {
  const char *first = nnc_data_row_name(data, 0);
  size_t length = folder_length(first);
  for (int64_t i = 1; i < count; i++) {
    const char *path = nnc_data_row_name(data, i);
    size_t same = 0;
    while (same < length && path[same] == first[same]) same++;
    while (same > 0 && first[same - 1] != '/') same--;
    length = same;
  }
  return length;
}

static char *name_without_end(const char *path) {
  const char *point = strrchr(path, '.'), *slash = strrchr(path, '/');
  bool has_end = point && point != path && (!slash || point > slash + 1);
  return has_end ? strndup(path, (size_t)(point - path)) : strdup(path);
}

static int compare_names(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Two files that differ in their ends alone would be one. */
static bool are_different(const Pictures *pictures) {
  size_t count = (size_t)pictures->names_count;
  char **sorted = malloc((count + 1) * sizeof *sorted);
  if (!sorted) return fail_memory();
  memcpy(sorted, pictures->names, count * sizeof *sorted);
  qsort(sorted, count, sizeof *sorted, compare_names);
  const char *twice = NULL;
  for (size_t i = 1; i < count && !twice; i++)
    if (strcmp(sorted[i - 1], sorted[i]) == 0) twice = sorted[i];
  free(sorted);
  if (twice) nnc_error("--png: two examples would be written to %s.png", twice);
  return !twice;
}

static bool leads_out(const char *path) {
  return *path == '/' || strncmp(path, "../", 3) == 0 || strstr(path, "/../");
}

static bool find_names(Pictures *pictures, const nnc_data *data) {
  int64_t count = data ? nnc_data_examples(data) : 0;
  if (count == 0 || !nnc_data_row_name(data, 0)) return true;
  size_t common = common_length(data, count);
  pictures->names = calloc((size_t)count, sizeof *pictures->names);
  if (!pictures->names) return fail_memory();
  for (int64_t i = 0; i < count; i++) {
    const char *path = nnc_data_row_name(data, i) + common;
    if (leads_out(path)) {
      nnc_error("--png: %s would be written outside of %s", path, pictures->folder);
      return false;
    }
    pictures->names[i] = name_without_end(path);
    if (!pictures->names[i]) return fail_memory();
    pictures->names_count++;
  }
  return are_different(pictures);
}

/* malloc'ed; NULL after a message. */
static char *path_of(const Pictures *pictures, const nnc_predict_column *column, int64_t example) {
  char number[24], *path = NULL;
  snprintf(number, sizeof number, "%06lld", (long long)example);
  const char *name = pictures->names ? pictures->names[example] : number;
  bool has_folder = pictures->chosen > 1;
  if (asprintf(&path, "%s/%s%s%s.png", pictures->folder, has_folder ? column->name : "",
               has_folder ? "/" : "", name) < 0) {
    fail_memory();
    return NULL;
  }
  return path;
}

/* The same, when its folder is there. */
static char *make_path(const Pictures *pictures, const nnc_predict_column *column,
                       int64_t example) {
  char *path = path_of(pictures, column, example);
  if (!path) return NULL;
  size_t made, length = folder_length(path);
  path[length - 1] = '\0';
  bool good = nnc_make_folder(path, &made);
  path[length - 1] = '/';
  if (good) return path;
  free(path);
  return NULL;
}

/* Whether no example's file would be written over. */
static bool spare_sources(const Pictures *pictures, const nnc_predict_sources *sources) {
  bool good = true;
  for (int i = 0; i < pictures->count; i++)
    for (int64_t k = 0;
         (pictures->columns[i].files & NNC_TO_PICTURES) && good && k < pictures->names_count; k++) {
      char *path = path_of(pictures, &pictures->columns[i], k);
      good = path && nnc_predict_sources_spare(sources, "--png", path);
      free(path);
    }
  return good;
}

/* --- Opening and closing -------------------------------------------------------------------- */

static void free_pictures(Pictures *pictures) {
  for (int64_t i = 0; i < pictures->names_count; i++) free(pictures->names[i]);
  free(pictures->names);
  free(pictures->bytes);
  free(pictures);
}

static void *open_pictures(const char *folder, int count, const nnc_predict_column *columns,
                           const nnc_data *data, const nnc_predict_sources *sources) {
  Pictures *pictures = calloc(1, sizeof *pictures + (size_t)count * sizeof *pictures->cuts);
  if (!pictures) {
    fail_memory();
    return NULL;
  }
  pictures->folder = folder;
  pictures->count = count;
  pictures->columns = columns;
  for (int i = 0; i < count; i++)
    if (columns[i].files & NNC_TO_PICTURES) pictures->chosen++;
  if (find_names(pictures, data) && spare_sources(pictures, sources)) return pictures;
  free_pictures(pictures);
  return NULL;
}

/* Values that were cut are told where they are no rounding of a sigmoid's ends. */
static bool close_pictures(void *files, bool is_whole) {
  Pictures *pictures = files;
  for (int i = 0; is_whole && i < pictures->count; i++) {
    const Cut *cut = &pictures->cuts[i];
    const char *name = pictures->columns[i].name;
    if (cut->beyond > cut->values / 100)
      nnc_warning("--png: %.0f %% of the values of '%s' lie outside of 0 to 1 and were cut: what "
                  "reaches from -1 to 1 is a picture as (x + 1) / 2",
                  100 * cut->beyond / cut->values, name);
    if (cut->nan > 0)
      nnc_warning("--png: %.0f values of '%s' are no numbers; they are black", cut->nan, name);
  }
  free_pictures(pictures);
  return true;
}

/* --- Pixels --------------------------------------------------------------------------------- */

/* Of a float. */
static uint8_t shade_of(double value, Cut *cut) {
  cut->values++;
  if (isnan(value)) cut->nan++;
  if (value < -1e-3 || value > 1 + 1e-3) cut->beyond++;
  return value > 0 ? (uint8_t)(value < 1 ? value * 255 + 0.5 : 255) : 0;
}

/* Value by value from planes to pixels, a filter's number before each row: none. False after a message. */
static bool make_rows(const nnc_predict_column *column, int64_t first, const int64_t size[3],
                      Cut *cut, uint8_t *at) {
  int64_t channels = size[0], height = size[1], width = size[2];
  bool is_float = nnc_dtype_is_float(column->dtype);
  for (int64_t y = 0; y < height; y++) {
    *at++ = 0;
    for (int64_t x = 0; x < width; x++)
      for (int64_t c = 0; c < channels; c++) {
        int64_t element = first + (c * height + y) * width + x;
        double value = nnc_number_get(column->dtype, column->data, element);
        if (is_float) *at = shade_of(value, cut);
        else if (value < 0 || value > 255) {
          nnc_error("--png: '%s' holds %.0f, but a byte of a mask is 0 to 255", column->name,
                    value);
          return false;
        } else *at = (uint8_t)(column->dtype == NNC_BOOL ? 255 * value : value);
        at++;
      }
  }
  return true;
}

static bool write_file(const char *path, const unsigned char *bytes, size_t count) {
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  bool good = fd >= 0;
  for (ssize_t done; good && count > 0; bytes += done, count -= (size_t)done) {
    done = write(fd, bytes, count);
    good = done >= 0 || errno == EINTR;
    if (done < 0) done = 0;
  }
  int error = errno;
  if (fd >= 0 && close(fd) != 0 && good) error = errno, good = false;
  errno = error;
  if (!good) nnc_error_system("write", path);
  return good;
}

/* Room for rows, and for a file of them. */
static bool has_room(Pictures *pictures, size_t rows, size_t file) {
  if (pictures->room >= rows + file) return true;
  free(pictures->bytes);
  pictures->bytes = malloc(rows + file);
  pictures->room = pictures->bytes ? rows + file : 0;
  return pictures->bytes || fail_memory();
}

static bool put_picture(Pictures *pictures, const nnc_predict_column *column, int64_t first,
                        int64_t example, Cut *cut) {
  bool has_channels = column->rank == 3;
  int64_t size[3] = {has_channels ? column->dim[0] : 1, column->dim[has_channels],
                     column->dim[has_channels + 1]};
  size_t rows = (size_t)(size[1] * (size[0] * size[2] + 1));
  uLongf packed = compressBound((uLong)rows);
  size_t frame = NNC_PNG_HEAD + 2 * (size_t)NNC_PNG_CHUNK;
  if (!has_room(pictures, rows, packed + frame)) return false;
  unsigned char *file = pictures->bytes + rows, *at = file + NNC_PNG_HEAD;
  if (!make_rows(column, first, size, cut, pictures->bytes)) return false;
  if (compress2(at + NNC_PNG_NAME, &packed, pictures->bytes, (uLong)rows, 6) != Z_OK)
    return fail_memory();
  nnc_png_head(file, size[2], size[1], (int)size[0]);
  at += nnc_png_chunk(at, "IDAT", packed);
  at += nnc_png_chunk(at, "IEND", 0);
  char *path = make_path(pictures, column, example);
  bool good = path && write_file(path, file, (size_t)(at - file));
  free(path);
  return good;
}

static bool put_pictures(void *files, int i, const nnc_predict_column *column,
                         nnc_result_rows rows) {
  Pictures *pictures = files;
  if (rows.row < 0) return true;
  for (int64_t k = 0; k < rows.count; k++) {
    int64_t first = column->is_batched ? (rows.row + k) * column->elements : 0;
    if (!put_picture(pictures, column, first, rows.example + k, &pictures->cuts[i])) return false;
  }
  return true;
}

const struct nnc_result_writer nnc_result_pictures = {NNC_TO_PICTURES, is_picture, open_pictures,
                                                      put_pictures, close_pictures};
