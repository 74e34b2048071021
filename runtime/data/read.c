/* Reading an open data set: copies of examples, in the types of the inputs. */
#include "data/read.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "core/convert.h"
#include "core/number.h"
#include "data/advice.h"
#include "data/call.h"
#include "data/class.h"
#include "data/columns.h"
#include "data/examples.h"
#include "data/mixing.h"
#include "data/sampling.h"
#include "data/scratch.h"
#include "data/set.h"
#include "data/skipped.h"
#include "data/table.h"
#include "data/visit.h"
#include "data/workers.h"
#include "os/assert.h"
#include "os/buffer.h"
#include "nnc_half.h"

static void copy_values(const DataField *field, int64_t first, int64_t count, char *target) {
  NNC_ASSERT(first >= 0 && count >= 0 && first + count <= data_field_held(field));
  const char *source = field->values + first * nnc_dtype_size(field->dtype);
  if (field->dtype == field->input->dtype)
    memcpy(target, source, (size_t)count * (size_t)nnc_dtype_size(field->dtype));
  else nnc_widen(field->dtype, source, field->input->dtype, target, count);
}

/* Where row `index` of those that are gathered begins, in values. */
static int64_t gathered_at(const DataField *field, const uint32_t *order,
                           const DataExamples *examples, int64_t index) {
  int64_t row = data_example_at(examples, index);
  return (order ? order[row] : row) * field->step;
}

/* Rows that are shuffled lie anywhere in memory: the first lines of a row are asked for while others are copied. */
static void ask_for(const DataField *field, int64_t value) {
  enum { LINE = 64, MOST_BYTES = 1024 };
  int64_t size = nnc_dtype_size(field->dtype), bytes = field->width * size;
  const char *row = field->values + value * size;
  for (int64_t at = 0; at < bytes && at < MOST_BYTES; at += LINE)
    __builtin_prefetch(row + at, 0, 3);
}

static void gather_field(const DataField *field, const uint32_t *order,
                         const DataExamples *examples, char *target) {
  if (!field->batched) {
    copy_values(field, 0, field->width, target);
  } else if (!examples->list && !order && field->step == field->width) {
    copy_values(field, examples->first * field->width, examples->count * field->width, target);
  } else {
    enum { AHEAD = 8 };
    int64_t row_bytes = field->width * nnc_dtype_size(field->input->dtype);
    for (int64_t i = -AHEAD; i < examples->count; i++) {
      if (i + AHEAD < examples->count)
        ask_for(field, gathered_at(field, order, examples, i + AHEAD));
      if (i < 0) continue;
      int64_t first = gathered_at(field, order, examples, i);
      copy_values(field, first, field->width, target + i * row_bytes);
    }
  }
}

/* --- rows that are made ----------------------------------------------------------------------- */

/* One batch of one field.  Of examples that cannot be left out the first failure is told. */
typedef struct Making {
  const nnc_data *data;
  const DataTable *table;
  const DataField *field;
  int64_t limit, except; /* values are below `limit`, but for `except`; 0: any */
  const DataExamples *examples;
  const DataVisit *visit;
  char *target;
  int64_t at_once; /* rows that a thread makes before it asks for more */
  pthread_mutex_t mutex;
  int64_t failed; /* least index of an example that failed; -1 */
  char *message;
  bool skips;
  char **reasons; /* [examples->count]: of those that may be left out; NULL: of none */
} Making;

/* Types of 16 bits are rare, and have all numbers up to 256. */
__attribute__((cold, noinline)) static void halve_bytes(const unsigned char *bytes, int to,
                                                        char *row, int64_t count) {
  for (int64_t i = 0; i < count; i++) {
    uint16_t value = to == NNC_BF16 ? nnc_to_bf16(bytes[i]) : nnc_to_f16(bytes[i]);
    memcpy(row + i * (int64_t)sizeof value, &value, sizeof value);
  }
}

/* Bytes at the end of the row become its values, piece by piece, since both lie in the same place: value i ends no
 * later than byte i + 1 begins. u8, and bool of bytes that are 0 or 1, are the values. */
static void widen_bytes(const unsigned char *bytes, int to, char *row, int64_t count) {
  unsigned char piece[NNC_BUFFER(1024, 8)];
  bool is_half = to == NNC_BF16 || to == NNC_F16;
  if (!is_half && !nnc_is_widening(NNC_U8, to)) return;
  for (int64_t from = 0, length; from < count; from += length) {
    length = count - from < (int64_t)sizeof piece ? count - from : (int64_t)sizeof piece;
    char *target = row + from * nnc_dtype_size(to);
    memcpy(piece, bytes + from, (size_t)length);
    if (is_half) halve_bytes(piece, to, target, length);
    else nnc_widen(NNC_U8, piece, to, target, length);
  }
}

static bool may_have_palette(const Making *making) {
  return making->field == making->table->fields && making->table->source->look &&
         making->field->palette == PALETTE_UNSAID;
}

/* Indices that are made are held against their limit here, since kernels do not check them. */
static int check_row(const DataContext *context, const Making *making, int64_t row,
                     const unsigned char *bytes) {
  const DataTable *table = making->table;
  const DataField *field = making->field;
  if (making->limit <= 0 || field->made_most < making->limit) return 0;
  for (int64_t i = 0; i < field->width; i++) {
    double value = field->dtype == NNC_U8 ? bytes[i] : nnc_number_get(field->dtype, bytes, i);
    if ((value >= 0 && value < (double)making->limit) || value == (double)making->except) continue;
    const char *name = table->source->row_name ? table->source->row_name(table, row) : field->file;
    return data_fail(context,
                     "%s: '%s' holds %.17g, but the model takes it as an index from 0 to %lld%s",
                     name, field->name, value, (long long)making->limit - 1,
                     may_have_palette(making)
                         ? "; if it has a palette, palette = \"index\" reads the palette's indices"
                         : "");
  }
  return 0;
}

/* Keeps why an example is to be left out; false when there is no memory. */
static bool keep_reason(Making *making, int64_t index, const char *message) {
  if (!making->reasons)
    making->reasons = calloc((size_t)making->examples->count, sizeof *making->reasons);
  if (making->reasons) making->reasons[index] = strdup(message);
  return making->reasons && making->reasons[index];
}

static void note_failure(Making *making, int64_t index, bool skips, const char *message) {
  pthread_mutex_lock(&making->mutex);
  bool is_kept = skips && keep_reason(making, index, message);
  if (!is_kept && (making->failed < 0 || index < making->failed)) {
    making->failed = index;
    memcpy(making->message, message, NNC_MESSAGE);
  }
  pthread_mutex_unlock(&making->mutex);
}

/* What is made stands at the end of the target's row. */
static void make_row(Making *making, int64_t index, DataScratch *scratch) {
  const DataField *field = making->field;
  char message[NNC_MESSAGE];
  DataContext context = {
      .model = making->data->model, .set = making->data->name, .message = message};
  DataVisit visit = *making->visit;
  visit.row = data_row_of(making->table, making->examples, index);
  visit.number = data_row_number(making->table, visit.row);
  visit.scratch = scratch;
  visit.is_index = making->limit > 0;
  int to = field->input->dtype;
  NNC_ASSERT(visit.row >= 0 && visit.row < making->table->rows);
  int64_t row_bytes = field->width * nnc_dtype_size(to);
  char *row = making->target + index * row_bytes;
  int64_t made_bytes = field->width * nnc_dtype_size(field->dtype);
  unsigned char *bytes = (unsigned char *)row + row_bytes - made_bytes;
  DataMake *make = field->make ? field->make : making->table->make;
  bool is_made = make(&context, making->table, field, &visit, bytes) == 0;
  bool good = is_made && check_row(&context, making, visit.row, bytes) == 0;
  if (good && field->dtype != to) widen_bytes(bytes, to, row, field->width);
  if (!good) note_failure(making, index, !is_made && making->skips, message);
}

/* Rows that are small are made so many at a time, since asking for a row and for the time costs as much. */
static int64_t rows_at_once(const DataField *field) {
  enum { MANY = NNC_BUFFER(32, 2) };
  return field->is_picture || !(field->disk || field->values) ? 1 : MANY;
}

static void make_rows(void *state, int64_t piece, DataScratch *scratch) {
  Making *making = state;
  int64_t first = piece * making->at_once, end = first + making->at_once;
  if (end > making->examples->count) end = making->examples->count;
  data_scratch_begin(scratch);
  for (int64_t i = first; i < end; i++) make_row(making, i, scratch);
  data_scratch_mark(scratch, making->at_once > 1 ? NNC_DATA_READING : NNC_DATA_CONVERTING);
  data_scratch_end(scratch, end - first);
}

static const DataTable *table_of(const nnc_data *data, const DataField *field) {
  const DataTable *table = data->tables;
  NNC_ASSERT(data->table_count > 0);
  while (field < table->fields || field >= table->fields + table->field_count) table++;
  return table;
}

/* A batch whose made fields are filled. */
typedef struct Filling {
  const nnc_data *data;
  DataExamples *examples; /* that are taken: others where some are left out */
  const DataVisit *visit;
  void *const *inputs;
  char *message;
} Filling;

/* 0, or -1 with a message.  *reasons: of the examples that are to be left out, or NULL; the caller's. */
static int make_field(const Filling *filling, int input, const DataExamples *examples, char *target,
                      char ***reasons) {
  const nnc_data *data = filling->data;
  const nnc_entry *entry = data->entry;
  const DataField *field = data->fields[input];
  const DataTable *table = table_of(data, field);
  Making making = {.data = data,
                   .table = table,
                   .field = field,
                   .limit = entry->input_limits ? entry->input_limits[input] : 0,
                   .except = entry->input_exceptions ? entry->input_exceptions[input] : INT64_MIN,
                   .examples = examples,
                   .visit = filling->visit,
                   .target = target,
                   .at_once = rows_at_once(field),
                   .mutex = PTHREAD_MUTEX_INITIALIZER,
                   .failed = -1,
                   .message = filling->message,
                   .skips = data->skipped && table->source->skips && table->source->skips(table)};
  data_workers_run(data->workers, (examples->count + making.at_once - 1) / making.at_once, &making,
                   make_rows);
  *reasons = making.reasons;
  return making.failed < 0 ? 0 : -1;
}

/* --- rows that are left out ------------------------------------------------------------------- */

/* The examples become a list of the batch's own, which can be changed; NULL after a message. */
static uint32_t *own_list(const Filling *filling, uint32_t *own) {
  DataExamples *examples = filling->examples;
  if (own) return own;
  uint32_t *list = malloc((size_t)examples->count * sizeof *list);
  if (!list) {
    DataContext context = {.message = filling->message};
    data_fail_memory(&context, "a batch", examples->count * (int64_t)sizeof *list);
    return NULL;
  }
  for (int64_t i = 0; i < examples->count; i++) list[i] = (uint32_t)data_example_at(examples, i);
  examples->list = list;
  return list;
}

/* Makes the fields up to `last` of one example of the batch again: 1, 0 when it is to be left out, or -1. */
static int make_again(const Filling *filling, int64_t index, int last) {
  const nnc_data *data = filling->data;
  DataExamples one = {filling->examples->list + index, 0, 1};
  for (int i = 0; i <= last; i++) {
    const DataField *field = data->fields[i];
    if (!field->is_made) continue;
    char **reasons, *target = filling->inputs[i];
    target += index * field->width * nnc_dtype_size(field->input->dtype);
    int result = make_field(filling, i, &one, target, &reasons);
    if (reasons) {
      if (result == 0) nnc_skipped_add(data->skipped, *one.list, reasons[0]);
      free(reasons[0]);
      free(reasons);
      return result;
    }
    if (result < 0) return -1;
  }
  return 1;
}

/* The next example of the set, in its order, that can be made stands in the place of one that cannot:
 * which one depends on the files alone. */
static int replace_example(const Filling *filling, uint32_t *list, int64_t index, int last,
                           const char *reason) {
  const nnc_data *data = filling->data;
  nnc_skipped_add(data->skipped, list[index], reason);
  for (int64_t tried = 1; tried < data->count; tried++) {
    list[index] = (uint32_t)((list[index] + 1) % data->count);
    int result = make_again(filling, index, last);
    if (result != 0) return result < 0 ? -1 : 0;
  }
  DataContext context = {.message = filling->message};
  return data_fail(&context, "none of %lld examples can be read: %s", (long long)data->count,
                   reason);
}

/* One field of the batch; those before it are made again where an example is left out. */
static int fill_field(const Filling *filling, int input, uint32_t **own) {
  char **reasons;
  int64_t count = filling->examples->count;
  int result = make_field(filling, input, filling->examples, filling->inputs[input], &reasons);
  if (reasons && result == 0) result = (*own = own_list(filling, *own)) ? 0 : -1;
  for (int64_t i = 0; reasons && i < count; i++) {
    if (reasons[i] && result == 0) result = replace_example(filling, *own, i, input, reasons[i]);
    free(reasons[i]);
  }
  free(reasons);
  return result;
}

/* --- reading ---------------------------------------------------------------------------------- */

int data_gather(const nnc_data *data, const DataExamples *examples, const DataVisit *visit,
                void *const *inputs, char *message) {
  DataExamples taken = *examples;
  Filling filling = {data, &taken, visit, inputs, message};
  uint32_t *own = NULL; /* the list of what is taken, where examples are left out */
  int result = 0;
  for (int i = 0; i < data->entry->input_count && result == 0; i++)
    if (data->fields[i]->is_made) result = fill_field(&filling, i, &own);
  for (int i = 0; i < data->entry->input_count && result == 0; i++) {
    const DataField *field = data->fields[i];
    if (!field->is_made) gather_field(field, table_of(data, field)->reads, &taken, inputs[i]);
  }
  for (const DataMixing *m = data->mixing; m && result == 0 && visit->draws; m = m->next)
    m->mix(m, data, &taken, visit, inputs);
  free(own);
  return result;
}

bool data_only_copies(const nnc_data *data) {
  for (int i = 0; i < data->entry->input_count; i++)
    if (data->fields[i]->is_made) return false;
  return data->mixing == NULL;
}

struct nnc_skipped *nnc_data_skipped(const nnc_data *data) {
  return data->skipped;
}

int nnc_data_read(const nnc_data *data, int64_t first, int64_t count, void *const *inputs,
                  char message[NNC_MESSAGE]) {
  DataExamples examples = {NULL, first, count};
  NNC_ASSERT(first >= 0 && count >= 0 && first + count <= data->count);
  DataVisit visit = {
      .seed = data->model->seed, .epoch = DATA_NO_EPOCH, .draws = data->always_draws};
  return data_gather(data, &examples, &visit, inputs, message);
}

static nnc_rows rows_of(const nnc_data *data, const DataField *field) {
  const DataTable *table = table_of(data, field);
  const DataStream *stream = &table->stream;
  int64_t bytes = data_field_held(field) * nnc_dtype_size(field->dtype);
  return (nnc_rows){.input = field->input->name,
                    .dtype = field->dtype,
                    .is_batched = field->batched,
                    .width = field->width,
                    .step = field->step,
                    .values = field->values,
                    .held = field->is_view ? stream->values
                            : field->owned ? field->owned
                                           : field->values,
                    .held_bytes = field->is_view ? stream->count * nnc_dtype_size(stream->dtype)
                                  : field->owned ? bytes + (field->values - field->owned)
                                                 : bytes,
                    .order = field->batched ? table->reads : NULL,
                    .order_count = data->count};
}

bool nnc_data_rows(const nnc_data *data, nnc_rows *rows) {
  if (!data_only_copies(data)) return false;
  for (int i = 0; i < data->entry->input_count; i++) rows[i] = rows_of(data, data->fields[i]);
  return true;
}

int64_t nnc_data_examples(const nnc_data *data) { return data->count; }

/* Of a table that is made of others, also theirs. */
static int64_t table_bytes(const DataTable *table) {
  const DataStream *stream = &table->stream;
  DataLine parts = table->source->parts ? table->source->parts(table) : (DataLine){0};
  int64_t bytes = table->order ? table->count * (int64_t)sizeof(uint32_t) : 0;
  if (stream->values) bytes += stream->count * nnc_dtype_size(stream->dtype);
  for (int f = 0; f < table->field_count; f++) {
    const DataField *field = &table->fields[f];
    if (field->input && field->values && !field->is_view)
      bytes += data_field_held(field) * nnc_dtype_size(data_value_type(field));
  }
  for (int p = 0; p < parts.count; p++) bytes += table_bytes(&parts.tables[p]);
  return bytes;
}

int64_t nnc_data_bytes(const nnc_data *data) {
  int64_t bytes = 0;
  for (int t = 0; t < data->table_count; t++) bytes += table_bytes(&data->tables[t]);
  return bytes;
}

nnc_data_spent nnc_data_spend(const nnc_data *data) {
  nnc_data_spent spent = {.threads = data->workers ? data_workers_count(data->workers) : 0};
  for (int t = 0; t < spent.threads; t++)
    data_scratch_add_to(data_workers_scratch(data->workers, t), &spent);
  return spent;
}

void nnc_data_advise(const nnc_data *data, double wait, double seconds) {
  for (int t = 0; t < data->table_count; t++)
    if (data->tables[t].source->advise) data->tables[t].source->advise(data, wait, seconds);
  if (data->workers) data_advise_by(data, wait, seconds, data_advice_plain);
}

typedef struct Range {
  double least, most, except;
} Range;

static void widen_range(void *state, int64_t column, int64_t count, const double *values) {
  (void)column;
  Range *range = state;
  for (int64_t i = 0; i < count; i++) {
    if (values[i] == range->except) continue;
    if (values[i] < range->least) range->least = values[i];
    if (values[i] > range->most) range->most = values[i];
  }
}

bool nnc_data_range(const nnc_data *data, int input, int64_t except, double *smallest,
                    double *largest) {
  DataField flat = *data->fields[input]; /* as one row */
  if (flat.is_made) return false;
  NNC_ASSERT(input < data->entry->input_count);
  flat.width = data_field_held(&flat);
  Range range = {INFINITY, -INFINITY, except == INT64_MIN ? NAN : (double)except};
  data_each_block(&flat, 1, &range, widen_range);
  *smallest = range.least;
  *largest = range.most;
  return true;
}

void nnc_data_close(nnc_data *data) {
  if (!data) return;
  data_workers_close(data->workers);
  nnc_skipped_close(data->skipped);
  if (data->sampling) data->sampling->close(data->sampling);
  for (DataMixing *next; data->mixing; data->mixing = next) {
    next = data->mixing->next;
    data->mixing->close(data->mixing);
  }
  for (int t = 0; t < data->table_count; t++) data_table_free(&data->tables[t]);
  free(data->tables);
  free(data->fields);
  free(data);
}

const char *nnc_data_row_name(const nnc_data *data, int64_t example) {
  NNC_ASSERT(example >= 0 && example < data->count);
  DataExamples one = {.first = example, .count = 1};
  for (int i = 0; i < data->table_count; i++) {
    const DataTable *table = &data->tables[i];
    if (!table->source->row_name) continue;
    return table->source->row_name(table, data_row_of(table, &one, 0));
  }
  return NULL;
}
