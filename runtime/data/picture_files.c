/* Pictures in files: their rows' shape, and how a file is read; picture_cache.c makes the rows. */
#include "data/picture_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/call.h"
#include "data/class.h"
#include "data/file.h"
#include "data/scratch.h"

const RowFileKind data_picture_kind = {.what = "pictures",
                                       .one = "a picture",
                                       .ends = {".jpg", ".jpeg", ".png"},
                                       .ends_text = ".jpg, .jpeg, .png",
                                       .bytes = sizeof(RowFiles),
                                       .shape = data_picture_shape};

/* The argument `palette` of the source. */
static int read_palette(const DataContext *context, DataField *field) {
  const nnc_value *value = data_argument(context->call, context->call->source->formals, "palette");
  const char *word = value && value->kind == NNC_STRING ? value->string : "";
  if (!value) return 0;
  if (strcmp(word, "color") != 0 && strcmp(word, "index") != 0)
    return data_fail_call(context, "%s takes palette = \"color\" or \"index\"",
                          context->call->function);
  field->palette = strcmp(word, "index") == 0 ? PALETTE_INDEX : PALETTE_COLOR;
  const nnc_tensor *input = field->input;
  if (field->palette != PALETTE_INDEX || input->rank == 3 || input->dim[1] == 1) return 0;
  return data_fail_call(
      context,
      "the indices of a palette are one number a pixel, but the input %s has %lld "
      "channels",
      field->name, (long long)input->dim[1]);
}

/* Without an axis of channels pictures are grey.  The extents are the input's: that the stages make such pictures is checked when all are known,
 * and for each picture. */
int data_picture_shape(const DataContext *context, DataField *field, int64_t count) {
  const nnc_tensor *input = field->input;
  int64_t dim[4] = {count};
  bool fits = input->rank == 3 || (input->rank == 4 && (input->dim[1] == 1 || input->dim[1] == 3));
  if (!fits)
    return data_fail_call(context,
                          "the input %s must be [batch, height, width], or [batch, channels, "
                          "height, width] with 1 or 3 channels",
                          field->name);
  if (input->dtype == NNC_BOOL)
    return data_fail_call(context,
                          "pictures have values from 0 to 255, which the input %s of type "
                          "bool does not take",
                          field->name);
  if (read_palette(context, field) < 0) return -1;
  memcpy(dim + 1, input->dim + 1, (size_t)(input->rank - 1) * sizeof *dim);
  field->is_made = true;
  field->made_most = 255;
  return data_field_shape(context, field, NNC_U8, input->rank, dim, false);
}

/* --- making rows ------------------------------------------------------------------------------ */

static int look_at_file(const PictureOrigin *origin, struct stat *status) {
  return stat(origin->name, status);
}

static unsigned char *read_file(const DataContext *context, const PictureOrigin *origin,
                                DataScratch *scratch, size_t *size) {
  const char *name = origin->name;
  struct stat status;
  const char *kind = stat(name, &status) == 0 ? data_file_kind(status.st_mode) : NULL;
  if (kind) { /* before it is opened: a pipe would wait for its other end */
    data_fail(context, "cannot read %s: it is %s", name, kind);
    return NULL;
  }
  int file = open(name, O_RDONLY | O_CLOEXEC);
  unsigned char *bytes = NULL;
  ssize_t got = 0;
  *size = 0;
  if (file >= 0 && fstat(file, &status) == 0 &&
      (bytes = data_scratch_take(scratch, DATA_BUFFER_FILE, (size_t)status.st_size + 1)))
    while (*size < (size_t)status.st_size &&
           (got = read(file, bytes + *size, (size_t)status.st_size - *size)) > 0)
      *size += (size_t)got;
  if (!bytes || got < 0) data_fail(context, "cannot read %s: %s", name, strerror(errno));
  if (file >= 0) close(file);
  return got < 0 ? NULL : bytes;
}

int data_picture_look_at(const DataContext *context, const DataTable *table, const DataVisit *visit,
                         PictureFile *file) {
  const RowFiles *files = table->state;
  PictureOrigin origin = {.name = files->names.items[visit->row]};
  size_t size;
  const unsigned char *bytes = read_file(context, &origin, visit->scratch, &size);
  data_scratch_mark(visit->scratch, NNC_DATA_READING);
  return bytes ? data_picture_look(context, origin.name, bytes, size, file) : -1;
}

int data_picture_make(const DataContext *context, const DataTable *table, const DataField *field,
                      const DataVisit *visit, unsigned char *row) {
  const RowFiles *files = table->state;
  PictureOrigin origin = {
      .name = files->names.items[visit->row], .look = look_at_file, .read = read_file};
  return data_picture_make_of(context, table, field, visit, &origin, row);
}
