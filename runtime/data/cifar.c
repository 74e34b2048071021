/* Source `cifar(file, ..., classes = 10)`: the binary version of CIFAR-10 and CIFAR-100 (A. Krizhevsky,
 * "Learning Multiple Layers of Features from Tiny Images", 2009). The files follow each other as one.
 *
 *     CIFAR-10     1 byte class, 3072 bytes picture
 *     CIFAR-100    1 byte group of classes, 1 byte class, 3072 bytes picture
 *
 * A picture is planes of red, green and blue, 32 x 32 each. Fields are the picture, its class and, of
 * CIFAR-100, its group. */
#include <stdlib.h>
#include <string.h>

#include "core/number.h"
#include "data/call.h"
#include "data/class.h"
#include "data/disk.h"
#include "data/file.h"
#include "data/table.h"
#include "nnc_data.h"

static const char *const formals[] = {"classes", NULL};

enum { PICTURE, LABEL, GROUP, SIDE = 32, PICTURE_BYTES = 3 * SIDE * SIDE };

/* All files one after the other. */
typedef struct Batches {
  int labels; /* bytes before a picture */
  int count;
  DataFile **files;
  int64_t *rows;
  int64_t total;
} Batches;

static int find_labels(const DataContext *context, int *labels) {
  double classes = 10;
  if (data_argument_number(context, formals, "classes", 10, 100, &classes) < 0) return -1;
  *labels = classes == 100 ? 2 : 1;
  if (classes == 10 || classes == 100) return 0;
  return data_fail_call(context, "cifar has 10 or 100 classes");
}

static int open_batch(const DataContext *context, Batches *batches, const char *name) {
  DataFile **files = realloc(batches->files, (size_t)(batches->count + 1) * sizeof *files);
  if (files) batches->files = files;
  int64_t *rows = realloc(batches->rows, (size_t)(batches->count + 1) * sizeof *rows);
  if (rows) batches->rows = rows;
  if (!files || !rows) return data_fail_memory(context, name, 64);
  DataFile *file = files[batches->count] = data_file_open(context, name);
  if (!file) return -1;
  batches->rows[batches->count++] = 0;
  return 0;
}

static int open_batches(const DataContext *context, Batches *batches, const char *name) {
  DataNames names;
  int result = data_file_names(context, name, &names);
  for (int64_t i = 0; i < names.count && result == 0; i++)
    result = open_batch(context, batches, names.items[i]);
  data_names_free(&names);
  return result;
}

/* From the command line, or of the call. */
static int open_all(const DataContext *context, Batches *batches) {
  const nnc_call *call = context->call;
  for (int i = 0; context->files && i < context->file_count; i++)
    if (open_batches(context, batches, context->files[i]) < 0) return -1;
  for (int i = 0; !context->files && i < call->argument_count; i++)
    if (!*call->arguments[i].name &&
        open_batches(context, batches, call->arguments[i].value.string) < 0)
      return -1;
  return 0;
}

static int fail_size(const DataContext *context, const Batches *batches, const char *name,
                     int64_t bytes) {
  return data_fail(context,
                   "%s: %lld bytes are no whole number of records of %d bytes (%d for classes, %d "
                   "for a picture); CIFAR-100 needs classes = 100",
                   name, (long long)bytes, batches->labels + PICTURE_BYTES, batches->labels,
                   PICTURE_BYTES);
}

/* The fields, whose rows are not known before the files are read. */
static int shape_field(const DataContext *context, DataField *field, bool is_picture,
                       int64_t rows) {
  int64_t dim[4] = {rows, 3, SIDE, SIDE};
  if (!field->batched)
    return data_fail_call(context, "the input %s has no axis of examples", field->name);
  return data_field_shape(context, field, NNC_U8, is_picture ? 4 : 1, dim, false);
}

static void pick_bytes(DataTable *table, const unsigned char *record, int labels, int64_t row) {
  for (int f = 0; f < table->field_count; f++) {
    DataField *field = &table->fields[f];
    if (!field->input) continue;
    if (f == PICTURE) memcpy(field->values + row * PICTURE_BYTES, record + labels, PICTURE_BYTES);
    else field->values[row] = (char)record[f == GROUP ? 0 : labels - 1];
  }
}

static int read_batch(const DataContext *context, DataTable *table, const Batches *batches,
                      const unsigned char *bytes, int64_t rows) {
  int64_t size = batches->labels + PICTURE_BYTES, first = batches->total;
  for (int f = 0; f < table->field_count; f++) {
    DataField *field = &table->fields[f];
    if (!field->input) continue;
    int64_t width = f == PICTURE ? PICTURE_BYTES : 1;
    char *values = realloc(field->values, (size_t)((first + rows) * width + 1));
    if (!values) return data_fail_memory(context, field->file, (first + rows) * width);
    field->values = values;
  }
  for (int64_t i = 0; i < rows; i++)
    pick_bytes(table, bytes + i * size, batches->labels, first + i);
  return 0;
}

static int load_batch(const DataContext *context, DataTable *table, Batches *batches, int index) {
  DataFile *file = batches->files[index];
  int64_t bytes = data_file_limit(file), size = batches->labels + PICTURE_BYTES;
  char *values = context->disk ? NULL : data_file_read_all(context, file, &bytes);
  int result = context->disk || values ? 0 : -1;
  if (result == 0 && (bytes % size != 0 || bytes == 0))
    result = fail_size(context, batches, data_file_name(file), bytes);
  int64_t rows = bytes / size;
  if (result == 0 && values)
    result = read_batch(context, table, batches, (const unsigned char *)values, rows);
  free(values);
  batches->rows[index] = rows;
  batches->total += rows;
  return result;
}

static int note_rows(const DataContext *context, DataField *field, int index,
                     const Batches *batches) {
  int64_t step = batches->labels + PICTURE_BYTES;
  int64_t start = index == PICTURE ? batches->labels : index == GROUP ? 0 : batches->labels - 1;
  for (int i = 0; i < batches->count; i++) {
    DataRun run = {.start = start, .step = step, .rows = batches->rows[i]};
    if (context->disk->add(context, field, batches->files[i], &run) < 0) return -1;
  }
  return 0;
}

static int load_all(const DataContext *context, DataTable *table, Batches *batches) {
  if (open_all(context, batches) < 0) return -1;
  for (int f = 0; f < table->field_count; f++)
    if (table->fields[f].input &&
        !(table->fields[f].file = strdup(data_file_name(batches->files[0]))))
      return data_fail_memory(context, "cifar", 64);
  for (int i = 0; i < batches->count; i++)
    if (load_batch(context, table, batches, i) < 0) return -1;
  for (int f = 0; f < table->field_count; f++) {
    DataField *field = &table->fields[f];
    if (!field->input) continue;
    if (shape_field(context, field, f == PICTURE, batches->total) < 0) return -1;
    if (context->disk && note_rows(context, field, f, batches) < 0) return -1;
  }
  return 0;
}

static int load(const DataContext *context, DataTable *table) {
  Batches batches = {0};
  if (find_labels(context, &batches.labels) < 0) return -1;
  if (table->field_count > LABEL + batches.labels)
    return data_fail_call(context, "cifar gives a picture and its class%s, not %d fields",
                          batches.labels > 1 ? " and its group" : "", table->field_count);
  int result = load_all(context, table, &batches);
  for (int i = 0; i < batches.count; i++) data_file_close(batches.files[i]);
  free(batches.files);
  free(batches.rows);
  return result;
}

const struct nnc_source_class nnc_source_cifar = {.name = "cifar",
                                                  .gives = DATA_GIVES_cifar,
                                                  .formals = formals,
                                                  .has_files = true,
                                                  .load = load,
                                                  .takes_many_files = true};
