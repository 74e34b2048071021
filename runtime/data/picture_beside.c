/* Masks beside pictures: see picture_beside.h.
 *
 * The tables of a set have the same examples in the same order, but each may have moved those rows together that a stage
 * chose. So a row is found again by its number in its source. */
#include "data/picture_beside.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "data/class.h"
#include "data/picture.h"
#include "data/picture_pairs.h"
#include "data/picture_stages.h"
#include "data/set.h"
#include "os/assert.h"
#include "os/message.h"

typedef struct PictureBeside {
  const char *field;          /* of the pictures */
  const DataTable *table;     /* that has them; NULL: nobody reads them */
  atomic_bool has_warned;     /* of a palette */
  atomic_uchar is_compared[]; /* [rows of the masks that are loaded] */
} PictureBeside;

int data_picture_with(const DataContext *context, DataTable *table, const char *field) {
  PictureBeside *beside = table->beside = calloc(1, sizeof *beside + (size_t)table->loaded);
  if (!beside) return data_fail_memory(context, context->call->function, table->loaded);
  beside->field = field;
  return 0;
}

/* ---- sizes ---- */

static const char *name_of(const DataTable *table, int64_t row) {
  return table->source->row_name ? table->source->row_name(table, row) : table->fields[0].file;
}

/* Classes in a palette's indices would silently be the greys of its colours; a program that says so means it. */
static void warn_of_palette(const DataTable *table, const PictureFile *file) {
  const nnc_tensor *input = table->fields[0].input;
  bool is_grey = input && (input->rank == 3 || input->dim[1] == 1);
  if (!file->has_palette || !table->beside || !is_grey) return;
  if (table->fields[0].palette != PALETTE_UNSAID) return;
  if (atomic_exchange(&table->beside->has_warned, true)) return;
  nnc_warning(
      "%s is a PNG with a palette: the mask has the greys of its colours, not the palette's "
      "indices; if these are the classes, say %s(..., palette = \"index\"), and \"color\" if the "
      "greys are meant",
      file->name, table->source->name);
}

/* Of a row's picture, before all stages; 0, or -1 with a message. */
static int find_size(const DataContext *context, const DataTable *table, const DataVisit *visit,
                     int64_t *height, int64_t *width) {
  const DataField *field = &table->fields[0];
  PictureFile file = {0};
  if (table->source->look) {
    if (table->source->look(context, table, visit, &file) < 0) return -1;
    warn_of_palette(table, &file);
    *height = file.height;
    *width = file.width;
  } else if (field->is_picture) {
    *height = table->pictures->height;
    *width = table->pictures->width;
  } else {
    *height = field->dim[field->rank - 2];
    *width = field->dim[field->rank - 1];
  }
  return 0;
}

/* The table's row that has this number in its source; -1. */
static int64_t find_row(const DataTable *table, int64_t number) {
  int64_t first = 0, end = table->rows;
  if (!table->numbers) return number < table->rows ? number : -1;
  while (first < end) {
    int64_t middle = first + (end - first) / 2;
    if (table->numbers[middle] < number) first = middle + 1;
    else end = middle;
  }
  return first < table->rows && table->numbers[first] == number ? first : -1;
}

static int compare(const DataContext *context, const DataTable *masks, const DataVisit *mask,
                   const DataTable *pictures, const DataVisit *picture) {
  int64_t height, width, its_height, its_width;
  char message[NNC_MESSAGE];
  DataContext quiet = *context;
  quiet.message = message;
  if (find_size(&quiet, pictures, picture, &its_height, &its_width) < 0 ||
      find_size(&quiet, masks, mask, &height, &width) < 0)
    return 1;
  if (height == its_height && width == its_width) return 0;
  return data_fail(context,
                   "%s is %lld x %lld, but %s is %lld x %lld: a mask has the height and width of "
                   "its picture",
                   name_of(masks, mask->row), (long long)height, (long long)width,
                   name_of(pictures, picture->row), (long long)its_height, (long long)its_width);
}

DataVisit data_picture_visit(const DataTable *table, const DataVisit *visit) {
  DataVisit own = *visit;
  own.is_index = visit->is_index || table->beside;
  return own;
}

int data_picture_compare(const DataContext *context, const DataTable *table,
                         const DataVisit *visit) {
  PictureBeside *beside = table->beside;
  if (!beside || !beside->table) return 0;
  atomic_uchar *is_compared = &beside->is_compared[visit->row];
  if (atomic_load_explicit(is_compared, memory_order_relaxed)) return 0;
  DataVisit picture = *visit;
  picture.row = find_row(beside->table, visit->number);
  NNC_ASSERT(picture.row >= 0);
  int result = compare(context, table, visit, beside->table, &picture);
  if (result == 0) atomic_store_explicit(is_compared, 1, memory_order_relaxed);
  return result < 0 ? -1 : 0;
}

/* ---- pairs ---- */

static DataLine parts_of(DataTable *table) {
  return table->source->parts ? table->source->parts(table) : (DataLine){1, table};
}

static DataTable *find_pictures(nnc_data *data, const char *field) {
  for (int t = 0; t < data->table_count; t++)
    if (strcmp(data->tables[t].fields[0].name, field) == 0 && data->tables[t].fields[0].input)
      return &data->tables[t];
  return NULL;
}

static int pair(const DataContext *context, DataTable *masks, const DataTable *pictures) {
  masks->beside->table = pictures;
  bool are_arrays = !masks->source->look && !pictures->source->look && masks->rows > 0;
  DataVisit first = {0};
  data_picture_compare_names(masks, pictures);
  return are_arrays && compare(context, masks, &first, pictures, &first) < 0 ? -1 : 0;
}

int data_pictures_pair(const DataContext *context, nnc_data *data) {
  for (int t = 0; t < data->table_count; t++) {
    DataLine masks = parts_of(&data->tables[t]);
    const PictureBeside *beside = masks.tables[0].beside;
    DataTable *found =
        beside && masks.tables[0].fields[0].input ? find_pictures(data, beside->field) : NULL;
    if (!found) continue;
    DataLine pictures = parts_of(found);
    for (int p = 0; p < masks.count && masks.count == pictures.count; p++)
      if (pair(context, &masks.tables[p], &pictures.tables[p]) < 0) return -1;
  }
  return 0;
}
