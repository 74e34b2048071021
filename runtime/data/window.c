/* Stage `window(past, future = 0, stride = 1, from = 0, to = 1)`: rows one after the other, as those of a time
 * series, become examples of `past` rows and of the `future` rows that follow.
 *
 * The part [from, to) of the rows is kept first, so that what is fitted sees no other. Rows lie in memory once,
 * however the windows overlap: an example begins `stride` rows after the one before. */
#include <math.h>
#include <string.h>

#include "core/number.h"
#include "data/call.h"
#include "data/class.h"
#include "data/rows.h"
#include "data/table.h"
#include "nnc_data.h"

static const char *const formals[] = {"past", "future", "stride", "from", "to", NULL};

typedef struct Window {
  double past, future, stride, from, to;
} Window;

static int get_window(const DataContext *context, Window *window) {
  *window = (Window){.stride = 1, .to = 1};
  if (data_argument_number(context, formals, "past", 1, INT32_MAX, &window->past) < 0 ||
      data_argument_number(context, formals, "future", 0, INT32_MAX, &window->future) < 0 ||
      data_argument_number(context, formals, "stride", 1, INT32_MAX, &window->stride) < 0 ||
      data_argument_number(context, formals, "from", 0, 1, &window->from) < 0 ||
      data_argument_number(context, formals, "to", 0, 1, &window->to) < 0)
    return -1;
  if (window->past > 0 && window->from < window->to) return 0;
  return data_fail_call(context, "window needs `past` rows, and from < to");
}

/* The last field has the future, where there is one. */
static bool is_future(const DataTable *table, int field, const Window *window) {
  return window->future > 0 && field == table->field_count - 1;
}

static int expect(const DataContext *context, DataTable *table) {
  Window window;
  if (get_window(context, &window) < 0) return -1;
  for (int f = 0; f < table->field_count; f++)
    table->fields[f].window = (int64_t)(is_future(table, f, &window) ? window.future : window.past);
  return 0;
}

static int choose_part(const DataContext *context, const Window *window, DataTable *table) {
  int64_t first = (int64_t)floor(window->from * (double)table->count);
  int64_t end = (int64_t)floor(window->to * (double)table->count);
  if (first == 0 && end == table->count) return 0;
  if (table->order) return data_fail_call(context, "window needs rows in the order of their file");
  if (data_table_need_order(context, table) < 0) return -1;
  memmove(table->order, table->order + first, (size_t)(end - first) * sizeof *table->order);
  table->count = end - first;
  return 0;
}

/* Of each source. */
static int rows(const DataContext *context, const DataLine *line) {
  Window window;
  if (get_window(context, &window) < 0) return -1;
  for (int t = 0; t < line->count; t++)
    if (choose_part(context, &window, &line->tables[t]) < 0) return -1;
  return 0;
}

/* What was a row of the field becomes one of the first rows of a window. */
static void cut_field(DataField *field, int64_t skipped, int64_t stride, int64_t count) {
  int64_t row = field->width;
  memmove(field->dim + 2, field->dim + 1, (size_t)(field->rank - 1) * sizeof *field->dim);
  field->rank++;
  field->dim[0] = count;
  field->dim[1] = field->window;
  field->owned = field->values;
  field->values += skipped * row * nnc_dtype_size(field->dtype);
  field->width = row * field->window;
  field->step = row * stride;
}

static int finish(const DataContext *context, DataTable *table) {
  Window window;
  if (get_window(context, &window) < 0) return -1;
  int last = table->field_count - 1;
  int64_t past = (int64_t)window.past, needed = past;
  if (is_future(table, last, &window) && table->fields[last].input)
    needed += (int64_t)window.future;
  if (table->order) return data_fail_call(context, "window needs rows in the order of their file");
  if (table->rows < needed)
    return data_fail_call(context, "%lld rows are too few for a window of %lld",
                          (long long)table->rows, (long long)needed);
  int64_t count = (table->rows - needed) / (int64_t)window.stride + 1;
  for (int f = 0; f < table->field_count; f++) {
    DataField *field = &table->fields[f];
    if (!field->input) continue;
    if (field->is_made)
      return data_fail_call(context, "window needs rows in memory, but those of %s are not",
                            field->name);
    if (!field->batched || field->rank == NNC_MAX_RANK)
      return data_fail_call(context, "the input %s cannot have windows of rows", field->name);
    int64_t skipped = is_future(table, f, &window) ? past : 0;
    cut_field(field, skipped, (int64_t)window.stride, count);
  }
  table->rows = table->count = count;
  table->keeps_rows = true;
  return 0;
}

const struct nnc_stage_class nnc_stage_window = {.name = "window",
                                                 .acts_on = DATA_ACTS_ON_window,
                                                 .formals = formals,
                                                 .expect = expect,
                                                 .rows = rows,
                                                 .finish = finish};
