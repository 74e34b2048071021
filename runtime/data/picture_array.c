/* Pictures in rows of numbers, as those of MNIST and CIFAR: planes of bytes, in memory or on disk, that go through
 * the stages of pictures like what is decoded of a file. */
#include "data/picture_array.h"

#include "core/number.h"
#include "data/class.h"
#include "data/picture.h"
#include "data/picture_beside.h"
#include "data/picture_stages.h"
#include "data/scratch.h"
#include "data/visit.h"
#include "data/words.h"

/* Planes become pixels side by side; a single plane is what it is. */
static int decode(const PictureFile *file, int divisor, const PicturePart *wanted,
                  DataScratch *scratch, Picture *picture, PicturePart *stored) {
  (void)divisor;
  int64_t height = file->height, width = file->width, plane = height * width;
  *picture = (Picture){height, width, picture->channels, picture->pixel, file->bytes};
  *stored = (PicturePart){0, 0, height, width};
  if (picture->channels == 1) return 0;
  unsigned char *pixels =
      data_scratch_take(scratch, DATA_BUFFER_DECODED, (size_t)(plane * picture->pixel));
  if (!pixels) return data_fail_memory(file->context, file->name, plane * picture->pixel);
  for (int64_t row = wanted->top; row < wanted->top + wanted->height; row++)
    for (int64_t i = row * width; i < (row + 1) * width; i++)
      for (int c = 0; c < 3; c++) pixels[3 * i + c] = file->bytes[c * plane + i];
  picture->bytes = pixels;
  return 0;
}

static const PictureFormat planes = {
    .name = "array", .decode = decode, .color_pixel = 3, .most_divisor = 1};

static int make(const DataContext *context, const DataTable *table, const DataField *field,
                const DataVisit *visit, unsigned char *row) {
  const PictureRows *rows = table->pictures;
  DataField stored = *field;
  DataVisit own = data_picture_visit(table, visit);
  if (data_picture_compare(context, table, visit) < 0) return -1;
  stored.width = field->step;
  const unsigned char *bytes = (unsigned char *)field->values + visit->row * stored.width;
  if (rows->read) {
    unsigned char *copy =
        data_scratch_take(visit->scratch, DATA_BUFFER_ROW, (size_t)stored.width + 1);
    if (!copy) return data_fail_memory(context, field->file, stored.width);
    if (rows->read(context, table, &stored, visit, copy) < 0) return -1;
    data_scratch_mark(visit->scratch, NNC_DATA_READING);
    bytes = copy;
  }
  PictureFile picture = {.context = context,
                         .name = field->file,
                         .bytes = bytes,
                         .size = (size_t)stored.width,
                         .format = &planes,
                         .height = rows->height,
                         .width = rows->width,
                         .orientation = 1};
  return data_picture_show(data_picture_stages(table), &picture, field, &own, row);
}

/* Rows keep their numbers, from which stages draw, as those of files of pictures do: a mask may be one. */
int data_picture_expect(const DataContext *context, DataTable *table) {
  (void)context;
  if (data_decodes_pictures(table->source->gives)) return 0;
  table->fields[0].is_picture = true;
  table->keeps_rows = true;
  return 0;
}

int data_picture_finish(const DataContext *context, DataTable *table) {
  DataField *field = &table->fields[0];
  PictureRows *rows = table->pictures;
  if (!field->is_picture || !field->input || field->make) return 0;
  char shape[160];
  data_shape_text(shape, sizeof shape, field->dtype, field->rank, field->dim);
  bool is_picture =
      field->rank == 3 || (field->rank == 4 && (field->dim[1] == 1 || field->dim[1] == 3));
  if (!field->batched || !is_picture || field->dtype != NNC_U8)
    return data_fail(context,
                     "%s: %s changes pictures, u8[count, height, width] or u8[count, channels, "
                     "height, width] with 1 or 3 channels; %s is %s",
                     field->file, context->call->function, field->name, shape);
  int64_t *dim = field->dim;
  const int64_t *side = data_picture_sides(field);
  rows->height = dim[field->rank - 2];
  rows->width = dim[field->rank - 1];
  if (rows->height < 1 || rows->width < 1 || rows->height > PICTURE_PIXELS / rows->width)
    return data_fail(context, "%s: %s is %s; a picture has 1 to %d pixels", field->file,
                     field->name, shape, PICTURE_PIXELS);
  rows->read = field->is_made ? table->make : NULL;
  dim[field->rank - 2] = side[0];
  dim[field->rank - 1] = side[1];
  field->step = field->width;
  field->width = side[0] * side[1] * (field->rank == 4 ? dim[1] : 1);
  field->is_made = true;
  field->made_most = 255;
  field->make = make;
  field->stored = NNC_U8;
  return data_picture_ready(context, table);
}
