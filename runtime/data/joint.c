/* The lines of a set whose rows follow each other as those of one: `concat(source, ...)` and `mix(source, ...,
 * weights = [...])`. The compiler writes a line for each source, with all stages and one of these as the last.
 *
 * When all are loaded they become one table, whose rows are made of the rows of its parts. So the order, the draws
 * and what is saved of a position know nothing of parts. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "core/number.h"
#include "data/call.h"
#include "data/class.h"
#include "data/sampling.h"
#include "data/scratch.h"
#include "data/set.h"
#include "data/table.h"
#include "data/visit.h"
#include "os/assert.h"
#include "nnc_data.h"

static const char *const no_formals[] = {NULL};
static const char *const formals[] = {"weights", NULL};

typedef struct Joint {
  int count;
  DataTable *parts;
  int64_t *starts; /* of the examples of each part; [count + 1] */
} Joint;

/* Of the example; *local: its number in the part. */
static int find_part(const Joint *joint, int64_t example, int64_t *local) {
  int part = 0;
  while (example >= joint->starts[part + 1]) part++;
  *local = example - joint->starts[part];
  return part;
}

static int64_t row_in(const DataTable *part, int64_t example) {
  return part->order ? (int64_t)part->order[example] : example;
}

/* --- rows ------------------------------------------------------------------------------------- */

static const char *name_in(const DataTable *part, const DataField *field, int64_t row) {
  return part->source->row_name ? part->source->row_name(part, row) : field->file;
}

/* Each part draws its own numbers, the first those that it draws alone. */
static int make(const DataContext *context, const DataTable *table, const DataField *field,
                const DataVisit *visit, unsigned char *row) {
  const Joint *joint = table->state;
  int64_t local;
  int at = find_part(joint, visit->row, &local);
  const DataTable *part = &joint->parts[at];
  const DataField *its = &part->fields[field - table->fields];
  DataVisit own = *visit;
  own.row = row_in(part, local);
  own.number = data_row_number(part, own.row);
  own.seed += (uint64_t)at * 0x9e3779b97f4a7c15u;
  int64_t size = nnc_dtype_size(its->dtype);
  const void *values = its->values + own.row * its->step * size;
  if (its->is_made) {
    DataMake *make_part = its->make ? its->make : part->make;
    if (its->dtype == field->dtype) return make_part(context, part, its, &own, row);
    void *made =
        data_scratch_take(visit->scratch, DATA_BUFFER_JOINT, (size_t)(its->width * size) + 1);
    if (!made) return data_fail_memory(context, its->file, its->width * size);
    if (make_part(context, part, its, &own, made) < 0) return -1;
    values = made;
  }
  return data_field_store_row(context, field, name_in(part, its, own.row), its->dtype, values, row);
}

static const char *row_name(const DataTable *table, int64_t row) {
  const Joint *joint = table->state;
  int64_t local;
  const DataTable *part = &joint->parts[find_part(joint, row, &local)];
  return name_in(part, &part->fields[0], row_in(part, local));
}

static bool makes_rows(const DataTable *part) {
  for (int f = 0; f < part->field_count; f++)
    if (part->fields[f].input && part->fields[f].is_made) return true;
  return false;
}

/* As many as the part that wants most. */
static int workers(const DataTable *table) {
  const Joint *joint = table->state;
  int most = 1;
  for (int p = 0; p < joint->count; p++) {
    const DataTable *part = &joint->parts[p];
    bool is_read = part->make != part->source->make && !part->pictures;
    if (!makes_rows(part) || is_read) continue;
    int wanted = part->source->workers ? part->source->workers(part) : 0;
    if (wanted == 0) return 0;
    if (wanted > most) most = wanted;
  }
  return most;
}

static bool skips(const DataTable *table) {
  const Joint *joint = table->state;
  for (int p = 0; p < joint->count; p++) {
    const DataTable *part = &joint->parts[p];
    if (part->source->skips && part->source->skips(part)) return true;
  }
  return false;
}

static void advise(const nnc_data *data, double wait, double seconds) {
  for (int t = 0; t < data->table_count; t++) {
    const Joint *joint = data->tables[t].state;
    if (data->tables[t].source->advise != advise) continue;
    for (int p = 0; p < joint->count; p++) {
      const struct nnc_source_class *source = joint->parts[p].source;
      if (source->advise) source->advise(data, wait, seconds);
    }
  }
}

static DataLine parts_of(const DataTable *table) {
  const Joint *joint = table->state;
  return (DataLine){joint->count, joint->parts};
}

static void close_joint(DataTable *table) {
  Joint *joint = table->state;
  for (int p = 0; joint && p < joint->count; p++) data_table_free(&joint->parts[p]);
  if (!joint) return;
  free(joint->parts);
  free(joint->starts);
  free(joint);
}

static const struct nnc_source_class joint_class = {.name = "concat",
                                                    .gives = GIVES_ROWS,
                                                    .formals = no_formals,
                                                    .make = make,
                                                    .row_name = row_name,
                                                    .workers = workers,
                                                    .skips = skips,
                                                    .advise = advise,
                                                    .close = close_joint,
                                                    .parts = parts_of};

/* --- joining ---------------------------------------------------------------------------------- */

/* The field of all parts: bytes where all are bytes, else of the input's type. */
static int join_field(const DataContext *context, const Joint *joint, int index, DataField *field) {
  const DataField *first = &joint->parts[0].fields[index];
  *field = (DataField){.name = first->name, .input = first->input, .batched = first->batched};
  if (!field->input) return 0;
  if (!field->batched)
    return data_fail_call(context, "the input %s has no axis of examples", field->name);
  field->file = strdup(first->file);
  if (!field->file) return data_fail_memory(context, first->file, 64);
  bool are_bytes = true;
  for (int p = 0; p < joint->count; p++) {
    const DataField *its = &joint->parts[p].fields[index];
    int most = its->is_made ? its->made_most : its->dtype == NNC_U8 ? UCHAR_MAX : INT_MAX;
    are_bytes = are_bytes && its->dtype == NNC_U8;
    if (most > field->made_most) field->made_most = most;
    NNC_ASSERT(its->width == first->width);
  }
  field->dtype = are_bytes ? NNC_U8 : field->input->dtype;
  field->rank = field->input->rank;
  memcpy(field->dim, field->input->dim, sizeof field->dim);
  field->dim[0] = joint->starts[joint->count];
  field->width = field->step = first->width;
  field->is_made = true;
  return 0;
}

/* Lines that are matched row by row have as many rows in each part. */
static int compare_parts(const DataContext *context, const nnc_data *data, const Joint *joint,
                         int before) {
  for (int t = 0; t < before; t++) {
    const DataTable *table = &data->tables[t];
    const Joint *other = table->state;
    if (table->source != &joint_class) continue;
    for (int p = 0; p < joint->count && p < other->count; p++)
      if (joint->parts[p].loaded != other->parts[p].loaded)
        return data_fail_call(context, "source %d of %s has %lld rows, but of %s it has %lld",
                              p + 1, table->fields[0].name, (long long)other->parts[p].loaded,
                              joint->parts[p].fields[0].name, (long long)joint->parts[p].loaded);
  }
  return 0;
}

/* The parts leave the set's tables for the joint one, which stands in the place of the first. */
static int take_parts(const DataContext *context, const nnc_pipeline **pipelines, nnc_data *data,
                      int first, int count, Joint *joint) {
  joint->parts = malloc((size_t)count * sizeof *joint->parts);
  joint->starts = calloc((size_t)count + 1, sizeof *joint->starts);
  if (!joint->parts || !joint->starts) return data_fail_memory(context, "concat", 64);
  DataTable *table = &data->tables[first];
  memcpy(joint->parts, table, (size_t)count * sizeof *table);
  joint->count = count;
  int after = data->table_count - first - count;
  memmove(table + 1, table + count, (size_t)after * sizeof *table);
  memmove(pipelines + first + 1, pipelines + first + count, (size_t)after * sizeof *pipelines);
  data->table_count -= count - 1;
  *table = (DataTable){.source = &joint_class, .make = make, .keeps_rows = true, .state = joint};
  for (int p = 0; p < count; p++) {
    table->loaded += joint->parts[p].loaded;
    joint->starts[p + 1] = joint->starts[p] + joint->parts[p].count;
  }
  table->rows = table->count = joint->starts[count];
  return 0;
}

static int combine(const DataContext *context, const nnc_pipeline **pipelines, nnc_data *data,
                   int first) {
  int count = data_line_at(data, first).count;
  DataTable *table = &data->tables[first];
  if (count == 1) return 0; /* in prediction the first source reads the files */
  Joint *joint = calloc(1, sizeof *joint);
  DataField *fields = calloc((size_t)table->field_count + 1, sizeof *fields);
  if (!joint || !fields || take_parts(context, pipelines, data, first, count, joint) < 0) {
    free(fields);
    if (joint && table->state != joint) {
      free(joint->parts);
      free(joint->starts);
      free(joint);
    }
    return -1;
  }
  table->field_count = joint->parts[0].field_count;
  table->fields = fields;
  if (table->rows > UINT32_MAX)
    return data_fail_call(context, "%lld examples are more than %lld, the most that can be read",
                          (long long)table->rows, (long long)UINT32_MAX);
  for (int f = 0; f < table->field_count; f++) {
    if (join_field(context, joint, f, &fields[f]) < 0) return -1;
    for (int i = 0; i < data->entry->input_count; i++)
      if (data->fields[i] == &joint->parts[0].fields[f]) data->fields[i] = &fields[f];
  }
  return compare_parts(context, data, joint, first);
}

/* --- mixing ----------------------------------------------------------------------------------- */

/* Of each source as many draws as its weight's share. Other lines of the set have the same weights. */
static int sample(const DataContext *context, nnc_data *data, DataTable *table) {
  const nnc_value *weights = data_argument(context->call, formals, "weights");
  if (table->source != &joint_class || data->sampling) return 0;
  const Joint *joint = table->state;
  if (!weights || weights->kind != NNC_LIST || weights->count != joint->count)
    return data_fail_call(context, "mix needs a weight for each of its %d sources", joint->count);
  DataSampling *sampling = data->sampling = data_sampling_open(data->count);
  if (sampling) sampling->weights = malloc((size_t)data->count * sizeof *sampling->weights);
  if (!sampling || !sampling->weights) return data_fail_memory(context, "mix", data->count * 8);
  for (int p = 0; p < joint->count; p++) {
    int64_t count = joint->starts[p + 1] - joint->starts[p];
    if (count == 0)
      return data_fail_call(context, "source %d of mix has no rows (%s)", p + 1,
                            joint->parts[p].fields[0].name);
    for (int64_t i = joint->starts[p]; i < joint->starts[p + 1]; i++)
      sampling->weights[i] = weights->items[p].number / (double)count;
    sampling->total += weights->items[p].number;
  }
  size_t size = ((size_t)joint->count + 1) * sizeof *joint->starts;
  sampling->starts = malloc(size);
  if (!sampling->starts) return data_fail_memory(context, "mix", (int64_t)size);
  memcpy(sampling->starts, joint->starts, size);
  sampling->group_count = joint->count;
  return 0;
}

const struct nnc_stage_class nnc_stage_concat = {
    .name = "concat", .acts_on = GIVES_ROWS, .formals = no_formals, .combine = combine};
const struct nnc_stage_class nnc_stage_mix = {
    .name = "mix", .acts_on = GIVES_ROWS, .formals = formals, .combine = combine, .sample = sample};
