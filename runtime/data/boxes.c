/* Stage `boxes(field, classes = field, least = 0)`: the field is boxes in the line's pictures, which go through the same
 * stages as these, with the same draws.
 *
 * A box is its left, upper, right and lower edge, x1 y1 x2 y2, in pixels of the picture as it is to be seen before the
 * stages: 0 is the picture's left or upper edge, its width or height the other. A row has one box or several. What a
 * box becomes is the smallest box around its four corners where the stages bring them, cut off at the picture's edges.
 * One of which nothing is left, or less than the share `least` of its area, is 0 0 0 0, and its class -1; so is one that
 * has no area in the file, as rows with fewer boxes than others are filled up.
 *
 * The picture's size is looked up in its file, which is not decoded for it. */
#include <limits.h>
#include <math.h>
#include <string.h>

#include "core/number.h"
#include "data/call.h"
#include "data/class.h"
#include "data/picture.h"
#include "data/picture_stages.h"
#include "data/picture_view.h"
#include "data/scratch.h"
#include "data/table.h"
#include "data/visit.h"
#include "nnc_data.h"

static const char *const formals[] = {"field", "classes", "least", NULL};

enum { EDGES = 4 };

/* ---- one box ---- */

/* The box where the stages bring it; false: it is not seen. */
static bool move_box(const PicturePlace *place, const PicturePart *seen, double least,
                     double box[EDGES]) {
  double left = INFINITY, top = INFINITY, right = -INFINITY, bottom = -INFINITY;
  if (!(box[2] > box[0]) || !(box[3] > box[1])) return false;
  for (int corner = 0; corner < 4; corner++) {
    double x = box[corner & 1 ? 2 : 0], y = box[corner & 2 ? 3 : 1];
    double at_x = place->a * x + place->b * y + place->x;
    double at_y = place->c * x + place->d * y + place->y;
    left = fmin(left, at_x);
    right = fmax(right, at_x);
    top = fmin(top, at_y);
    bottom = fmax(bottom, at_y);
  }
  double area = (right - left) * (bottom - top);
  box[0] = fmax(left, 0);
  box[1] = fmax(top, 0);
  box[2] = fmin(right, (double)seen->width);
  box[3] = fmin(bottom, (double)seen->height);
  if (!(box[2] > box[0]) || !(box[3] > box[1])) return false;
  return (box[2] - box[0]) * (box[3] - box[1]) >= least * area;
}

/* ---- rows ---- */

/* What the stages make of the row's picture, as far as places go. */
static int look(const DataContext *context, const DataTable *table, const DataVisit *visit,
                PictureView *view) {
  const PictureRows *rows = table->pictures;
  PictureFile file = {.context = context,
                      .name = table->fields[0].file,
                      .height = rows->height,
                      .width = rows->width,
                      .orientation = 1};
  if (table->source->look && table->source->look(context, table, visit, &file) < 0) return -1;
  *view = data_view_file(&file, 1, visit->scratch);
  view->is_sizes = true;
  PictureStages stages = data_picture_places(&rows->stages);
  int result = data_picture_apply(context, &stages, visit, view);
  view->file = NULL;
  return result;
}

/* The row's numbers as they are stored. */
static double *read_stored(const DataContext *context, const DataTable *table,
                           const DataField *field, const DataVisit *visit, enum DataBuffer buffer) {
  double *numbers =
      data_scratch_take(visit->scratch, buffer, ((size_t)field->width + 1) * sizeof *numbers);
  const void *values = field->values;
  int64_t first = visit->row * field->step;
  if (!numbers) data_fail_memory(context, field->file, field->width * 8);
  if (numbers && !values) {
    DataField stored = *field;
    stored.dtype = field->stored;
    void *made = data_scratch_take(visit->scratch, DATA_BUFFER_ROW,
                                   (size_t)(stored.width * nnc_dtype_size(stored.dtype)) + 1);
    if (!made) data_fail_memory(context, field->file, stored.width * 8);
    if (!made || table->make(context, table, &stored, visit, made) < 0) return NULL;
    values = made;
    first = 0;
  }
  for (int64_t i = 0; numbers && i < field->width; i++)
    numbers[i] = nnc_number_get(field->stored, values, first + i);
  return numbers;
}

static int store(const DataContext *context, const DataField *field, const double *numbers,
                 unsigned char *row) {
  return data_field_store_row(context, field, field->file, NNC_F64, numbers, row);
}

/* The row's boxes where the stages bring them; is_seen of each is whether anything is left of it. */
static double *move_row(const DataContext *context, const DataTable *table, const DataField *boxes,
                        const DataVisit *visit) {
  PictureView view;
  if (look(context, table, visit, &view) < 0) return NULL;
  double *edges = read_stored(context, table, boxes, visit, DATA_BUFFER_SCALED);
  for (int64_t i = 0; edges && i < boxes->width; i += EDGES)
    if (!move_box(&view.place, &view.part, boxes->least, edges + i))
      memset(edges + i, 0, EDGES * sizeof *edges);
  return edges;
}

static int make_boxes(const DataContext *context, const DataTable *table, const DataField *field,
                      const DataVisit *visit, unsigned char *row) {
  const double *edges = move_row(context, table, field, visit);
  return edges ? store(context, field, edges, row) : -1;
}

static int make_classes(const DataContext *context, const DataTable *table, const DataField *field,
                        const DataVisit *visit, unsigned char *row) {
  const DataField *boxes = &table->fields[field->boxes];
  double *classes = read_stored(context, table, field, visit, DATA_BUFFER_SCALED_AGAIN);
  const double *edges = classes ? move_row(context, table, boxes, visit) : NULL;
  if (!edges) return -1;
  for (int64_t i = 0; i < field->width; i++)
    if (edges[EDGES * i + 2] == 0) classes[i] = -1; /* the right edge of what is seen is not 0 */
  return store(context, field, classes, row);
}

/* ---- opening ---- */

static DataField *find_field(const DataContext *context, DataTable *table, const char *formal) {
  const nnc_value *value = data_argument(context->call, formals, formal);
  for (int f = 0; value && f < table->field_count; f++)
    if (value->kind == NNC_FIELD && strcmp(table->fields[f].name, value->string) == 0)
      return &table->fields[f];
  return NULL;
}

static int change(const DataContext *context, DataField *field, DataMake *make) {
  if (!field->batched || field->window || field->make)
    return data_fail_call(context, "boxes(%s): this field is made otherwise already", field->name);
  field->stored = field->dtype;
  field->dtype = field->input->dtype;
  field->made_most = INT_MAX;
  field->is_made = true;
  field->make = make;
  return 0;
}

static int finish(const DataContext *context, DataTable *table) {
  double least = 0;
  DataField *boxes = find_field(context, table, "field");
  DataField *classes = find_field(context, table, "classes");
  if (data_argument_number(context, formals, "least", 0, 1, &least) < 0) return -1;
  if (!boxes || !boxes->input) return 0; /* nobody reads them */
  if (!table->pictures)
    return data_fail_call(context, "boxes(%s): no stage of the line changes its pictures",
                          boxes->name);
  if (boxes->width % EDGES != 0)
    return data_fail_call(context, "boxes(%s): a box is four numbers", boxes->name);
  boxes->least = least;
  if (change(context, boxes, make_boxes) < 0) return -1;
  if (!classes || !classes->input) return 0;
  classes->boxes = (int)(boxes - table->fields);
  if (classes->width * EDGES != boxes->width)
    return data_fail_call(context, "boxes(%s, classes = %s): each box has a class", boxes->name,
                          classes->name);
  return change(context, classes, make_classes);
}

const struct nnc_stage_class nnc_stage_boxes = {.name = "boxes",
                                                .acts_on = DATA_ACTS_ON_boxes,
                                                .formals = formals,
                                                .needs_fields = true,
                                                .finish = finish};
