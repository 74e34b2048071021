/* Opening a data set: from the pipelines of a `data` block to tables that feed the inputs of an
 * entry.
 *
 *     bind      each input to the field of its name, and make a table for each pipeline in use
 *     load      by the source; fields that no input uses are not read
 *     rows      split, shuffle
 *     values    what `train` says about the field (impute, standardize, categories), in its order,
 *               wherever the field occurs: a set cannot be fed values that training did not see
 *     finish    convert what a batch could not widen exactly, check that the tables agree */
#include "data/open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/convert.h"
#include "core/number.h"
#include "core/fitted.h"
#include "data/call.h"
#include "data/class.h"
#include "data/disk.h"
#include "data/given.h"
#include "data/join.h"
#include "data/opening.h"
#include "data/picture_beside.h"
#include "data/read.h"
#include "data/rows.h"
#include "data/set.h"
#include "data/table.h"
#include "data/words.h"
#include "data/workers.h"
#include "os/cpus.h"
#include "os/message.h"
#include "nnc_data.h"

bool nnc_data_learns(const nnc_data_set *set) {
  for (int p = 0; p < set->pipeline_count; p++) {
    const nnc_pipeline *pipeline = &set->pipelines[p];
    if (pipeline->calls[0].source->learns) return true;
    for (int c = 1; c < pipeline->call_count; c++)
      if (pipeline->calls[c].stage->fit) return true;
  }
  return false;
}

/* --- load, rows, values ---------------------------------------------------------------------- */

/* Converts now what a batch could not. */
static int convert_field(const DataContext *context, DataField *field, bool knows_rows) {
  int to = field->input->dtype;
  if (field->is_picture || field->dtype == to || nnc_is_widening(field->dtype, to)) return 0;
  int64_t count =
      data_shape_bytes(field->dtype, field->rank, field->dim) / nnc_dtype_size(field->dtype);
  nnc_conversion conversion;
  if (nnc_convert(&field->values, field->dtype, to, count, &conversion) < 0) {
    if (conversion.bad < 0) return data_fail_memory(context, field->file, count * 8);
    if (!knows_rows || !field->batched)
      return data_fail(context, "%s: %s: value %.17g does not fit input type %s", field->file,
                       field->name, conversion.value, nnc_dtype_name(to));
    return data_fail(context,
                     "%s: %s: value %.17g of example %lld (from 0) does not fit input type %s",
                     field->file, field->name, conversion.value,
                     (long long)(conversion.bad / field->width), nnc_dtype_name(to));
  }
  field->dtype = to;
  return 0;
}

static int load_table(Opening *opening, DataTable *table, const nnc_pipeline *pipeline) {
  DataContext *context = &opening->context;
  context->call = &pipeline->calls[0];
  context->disk = NULL;
  context->matching = NULL;
  for (int c = 1; c < pipeline->call_count; c++) {
    const struct nnc_stage_class *stage = pipeline->calls[c].stage;
    context->call = &pipeline->calls[c];
    if (stage->disk) context->disk = stage->disk;
    if (stage->matching) context->matching = stage->matching;
    if (stage->expect && stage->expect(context, table) < 0) return -1;
  }
  context->call = &pipeline->calls[0];
  if (context->disk) {
    table->make = context->disk->make;
    table->keeps_rows = true;
  }
  if (pipeline->calls[0].source->load(context, table) < 0) return -1;
  const DataField *first = NULL;
  for (int f = 0; f < table->field_count; f++) {
    DataField *field = &table->fields[f];
    if (!field->input) continue;
    if (!field->changes && !field->is_made && convert_field(context, field, true) < 0) return -1;
    if (!field->batched) continue;
    if (!first) first = field;
    if (field->dim[0] != first->dim[0])
      return data_fail(context, "%s has %lld examples, but %s has %lld", first->file,
                       (long long)first->dim[0], field->file, (long long)field->dim[0]);
  }
  table->rows = table->count = table->loaded = first ? first->dim[0] : 0;
  return 0;
}

static int ready_rows(Opening *opening, DataTable *table) {
  DataContext *context = &opening->context;
  if (table->source->ready && table->source->ready(context, table) < 0) return -1;
  if (data_table_compact(context, table) < 0) return -1;
  if (opening->set->order != NNC_ORDER_STREAMS || opening->keeps_all_rows) return 0;
  return data_table_order_lanes(context, table, context->model->batch);
}

/* `pipeline`: the line's first, whose stages are those of all. */
static int choose_rows(Opening *opening, nnc_data *data, const DataLine *line,
                       const nnc_pipeline *pipeline) {
  DataContext *context = &opening->context;
  for (int c = 1; c < pipeline->call_count; c++) {
    const struct nnc_stage_class *stage = pipeline->calls[c].stage;
    context->call = &pipeline->calls[c];
    if (stage->rows && !opening->keeps_all_rows && stage->rows(context, line) < 0) return -1;
    if (stage->option && stage->option(context, data) < 0) return -1;
    for (int t = 0; t < line->count && stage->picture; t++)
      if (stage->picture(context, &line->tables[t]) < 0) return -1;
  }
  return 0;
}

static int check_stage(Opening *opening, const DataTable *table, const DataField *field) {
  DataContext *context = &opening->context;
  const struct nnc_stage_class *stage = context->call->stage;
  if (!field->batched)
    return data_fail_call(context, "%s(%s): the input %s has no axis of examples", stage->name,
                          field->name, field->name);
  if (!(table->source->gives & stage->acts_on)) /* of data train, whose source may be another */
    return data_fail_call(context, "%s(%s) acts on %s, which %s of data %s does not give",
                          stage->name, field->name, data_kind_text(stage->acts_on),
                          table->source->name, context->set);
  if (field->is_made)
    return data_fail_call(context, "%s(%s): the rows of %s are made when they are read",
                          stage->name, field->name, field->name);
  if (field->dictionaries && !stage->reads_text)
    return data_fail_call(context, "%s(%s): %s is text; categories(%s) must come first",
                          stage->name, field->name, field->name, field->name);
  return 0;
}

static int apply_stage(Opening *opening, const DataLine *line, int index, const nnc_call *call) {
  DataContext *context = &opening->context;
  const struct nnc_stage_class *stage = call->stage;
  const DataField *field = &line->tables[0].fields[index];
  context->call = call;
  for (int t = 0; t < line->count; t++)
    if (check_stage(opening, &line->tables[t], &line->tables[t].fields[index]) < 0) return -1;
  char whole[256], column[256];
  nnc_fitted_name(whole, sizeof whole, field->name, stage->name, -1);
  nnc_fitted_name(column, sizeof column, field->name, stage->name, 0);
  if (!nnc_fitted_find(context->fitted, whole) && !nnc_fitted_find(context->fitted, column)) {
    if (!context->learns)
      return data_fail_call(context,
                            "%s of %s was never fitted: it takes its values from the "
                            "training set or a checkpoint",
                            stage->name, field->name);
    if (stage->fit(context, line, index, context->learns) < 0) return -1;
  }
  for (int t = 0; t < line->count; t++) {
    DataTable *table = &line->tables[t];
    if (stage->apply(context, table, &table->fields[index], context->fitted) < 0) return -1;
  }
  return 0;
}

static int change_values(Opening *opening, const DataLine *line) {
  for (int f = 0; f < line->tables[0].field_count; f++) {
    const DataField *first = &line->tables[0].fields[f];
    const nnc_pipeline *train = data_value_stages(opening, first->name);
    for (int c = 1; first->input && train && c < train->call_count; c++)
      if (data_stage_meets(train->calls[c].stage, &train->calls[c], first) &&
          apply_stage(opening, line, f, &train->calls[c]) < 0)
        return -1;
    for (int t = 0; t < line->count; t++) {
      DataField *field = &line->tables[t].fields[f];
      if (field->input && !field->is_made && convert_field(&opening->context, field, false) < 0)
        return -1;
    }
  }
  return 0;
}

/* Examples are made of what the other stages made of the rows. */
static int finish_rows(Opening *opening, DataTable *table, const nnc_pipeline *pipeline) {
  for (int c = 1; c < pipeline->call_count; c++) {
    opening->context.call = &pipeline->calls[c];
    const struct nnc_stage_class *stage = pipeline->calls[c].stage;
    if (stage->finish && stage->finish(&opening->context, table) < 0) return -1;
  }
  return 0;
}

/* --- finish ---------------------------------------------------------------------------------- */

static nnc_data *allocate(const Opening *opening) {
  nnc_data *data = calloc(1, sizeof *data);
  if (!data) return NULL;
  data->tables = calloc((size_t)opening->set->pipeline_count + 1, sizeof *data->tables);
  data->fields = calloc((size_t)opening->entry->input_count + 1, sizeof *data->fields);
  data->entry = opening->entry;
  data->model = opening->context.model;
  data->name = opening->set->name;
  data->prefetch = -1;
  data->always_draws = opening->always_draws;
  if (data->tables && data->fields) return data;
  nnc_data_close(data);
  return NULL;
}

static bool makes_rows(const DataTable *table) {
  for (int f = 0; f < table->field_count; f++)
    if (table->fields[f].is_made) return true;
  return false;
}

/* Threads for the tables whose rows are made. */
static int start_workers(Opening *opening, nnc_data *data) {
  nnc_cpus cpus;
  int count = 0;
  for (int t = 0; t < data->table_count; t++) {
    const DataTable *table = &data->tables[t];
    if (!makes_rows(table)) continue;
    if (!count) nnc_cpus_find(&cpus);
    bool is_read = table->make != table->source->make && !table->pictures; /* that is little work */
    int wanted = is_read ? 1 : table->source->workers ? table->source->workers(table) : 0;
    if (!wanted) wanted = nnc_cpus_default_threads(&cpus);
    if (wanted > count) count = wanted;
  }
  if (count == 0) return 0;
  data->workers = data_workers_open(&opening->context, count);
  return data->workers ? 0 : -1;
}

/* In prediction the rows that cannot be made are told one by one instead. */
static int open_skipped(const Opening *opening, nnc_data *data) {
  bool skips = false;
  for (int t = 0; t < data->table_count; t++) {
    const DataTable *table = &data->tables[t];
    skips = skips || (table->source->skips && table->source->skips(table));
  }
  if (!skips || opening->context.is_prediction) return 0;
  data->skipped = nnc_skipped_open(data->count);
  return data->skipped ? 0 : data_fail_memory(&opening->context, "names of files", data->count * 9);
}

/* The table to which all files from the command line belong; NULL: they go to the tables in turn.
 */
static const DataTable *find_taker(const nnc_data *data) {
  for (int t = 0; t < data->table_count; t++)
    if (data->tables[t].source->takes_all_files) return &data->tables[t];
  return NULL;
}

/* How many files from the command line the table takes: one a field that is needed, or one for all.
 */
static int files_wanted(const nnc_data *data, const DataTable *table) {
  const DataTable *taker = find_taker(data);
  if (table->source->follow || (taker && taker != table)) return 0;
  if (!table->source->has_file_each) return 1;
  int needed = 0;
  for (int f = 0; f < table->field_count; f++) needed += table->fields[f].input != NULL;
  return needed;
}

static int sample(Opening *opening, nnc_data *data) {
  DataContext *context = &opening->context;
  for (int t = 0; t < data->table_count && !context->is_prediction; t++)
    for (int c = 1; c < opening->pipelines[t]->call_count; c++) {
      context->call = &opening->pipelines[t]->calls[c];
      const struct nnc_stage_class *stage = context->call->stage;
      if (stage->sample && stage->sample(context, data, &data->tables[t]) < 0) return -1;
    }
  return 0;
}

/* A table's share of the files from the command line: those that are left begin at `files`. Where several tables take
 * many, it is said who got which: a list in another order than the fields' would be taken as it is. */
static int share_files(Opening *opening, const DataTable *table, int count,
                       const char *const *files) {
  DataContext *context = &opening->context;
  bool takes_many = count > 0 && table->source->takes_many_files;
  struct stat status;
  context->file_count = takes_many ? opening->files_each : count;
  context->files = count > 0 ? files : NULL;
  if (takes_many && opening->takers > 1 && opening->files_each > 1)
    nnc_note("%s: %d files, from %s to %s", table->fields[0].name, opening->files_each, files[0],
             files[opening->files_each - 1]);
  for (int i = 0; i < count && !takes_many && opening->takers > 0; i++)
    if (stat(files[i], &status) == 0 && S_ISDIR(status.st_mode))
      return data_fail_call(context,
                            "%s is a folder, but %s takes a file; predict takes, in this order: %s",
                            files[i], table->source->name, opening->wanted);
  return 0;
}

/* *files: those of the command line that are left; NULL: there are none. */
static int load_line(Opening *opening, nnc_data *data, int first, const char *const **files) {
  DataContext *context = &opening->context;
  DataLine line = data_line_at(data, first);
  const nnc_pipeline **pipelines = opening->pipelines + first;
  for (int t = 0; t < line.count; t++) {
    const DataTable *table = &line.tables[t];
    context->call = &pipelines[t]->calls[0];
    context->files = NULL;
    context->file_count = 0;
    if (*files && share_files(opening, table, files_wanted(data, table), *files) < 0) return -1;
    if (load_table(opening, &line.tables[t], pipelines[t]) < 0) return -1;
    if (*files) *files += context->file_count;
  }
  if (choose_rows(opening, data, &line, pipelines[0]) < 0) return -1;
  for (int t = 0; t < line.count; t++) {
    context->call = &pipelines[t]->calls[0];
    if (ready_rows(opening, &line.tables[t]) < 0) return -1;
  }
  if (change_values(opening, &line) < 0) return -1;
  for (int t = 0; t < line.count; t++)
    if (finish_rows(opening, &line.tables[t], pipelines[t]) < 0) return -1;
  return 0;
}

static int load_all(Opening *opening, nnc_data *data) {
  DataContext *context = &opening->context;
  const char *const *files = context->files;
  for (int t = 0; t < data->table_count; t += data_line_at(data, t).count)
    if (!data->tables[t].source->follow && load_line(opening, data, t, &files) < 0) return -1;
  context->files = NULL;
  for (int t = 0; t < data->table_count; t++)
    for (int c = 1; c < opening->pipelines[t]->call_count; c++) {
      context->call = &opening->pipelines[t]->calls[c];
      const struct nnc_stage_class *stage = context->call->stage;
      if (stage->combine && stage->combine(context, opening->pipelines, data, t) < 0) return -1;
    }
  if (data_pictures_pair(context, data) < 0) return -1;
  if (data_join(context, opening->pipelines, opening->keeps_all_rows, data) < 0) return -1;
  for (int t = 0; t < data->table_count; t++) {
    DataLine one = {1, &data->tables[t]};
    if (one.tables->source->follow && change_values(opening, &one) < 0) return -1;
  }
  if (sample(opening, data) < 0 || open_skipped(opening, data) < 0) return -1;
  return start_workers(opening, data);
}

static bool states_scores(const nnc_pipeline *pipeline, const char *field) {
  for (int c = 1; c < pipeline->call_count; c++)
    if (strcmp(pipeline->calls[c].function, "standardize") == 0 &&
        data_call_names(&pipeline->calls[c], field))
      return true;
  return false;
}

const nnc_call *nnc_data_unstated(const nnc_model *model, const nnc_fitted *fitted,
                                  const char **field) {
  const nnc_data_set *train = data_set_called(model, "train");
  for (int p = 0; train && p < train->pipeline_count; p++)
    for (int f = 0; f < train->pipelines[p].field_count; f++) {
      const nnc_pipeline *pipeline = &train->pipelines[p];
      char name[256];
      *field = pipeline->fields[f];
      nnc_fitted_name(name, sizeof name, *field, "standardize", -1);
      if (nnc_fitted_find(fitted, name) && !states_scores(pipeline, *field))
        return &pipeline->calls[0];
    }
  return NULL;
}

static bool has_standardize(const nnc_data_set *set) {
  for (int p = 0; p < set->pipeline_count; p++)
    for (int c = 1; c < set->pipelines[p].call_count; c++)
      if (strcmp(set->pipelines[p].calls[c].function, "standardize") == 0) return true;
  return false;
}

/* A network that has learnt standard scores of a field is lost on the field itself: a checkpoint may
 * be of a program that standardized more, as earlier compilers did to targets. */
static int check_fitted(Opening *opening) {
  DataContext *context = &opening->context;
  const char *field;
  const nnc_call *call = nnc_data_unstated(context->model, context->fitted, &field);
  if (!call) return 0;
  bool states_others = has_standardize(data_set_called(context->model, "train"));
  context->call = call;
  return data_fail_call(context,
                        "the checkpoint is of a network that was trained with "
                        "standardize(%s), which data train does not state%s; write "
                        "standardize(%s) to use this checkpoint, or train anew",
                        field,
                        states_others
                            ? ": without names the stage leaves fields alone that only the "
                              "loss reads"
                            : "",
                        field);
}

static nnc_data *open_set(Opening *opening) {
  nnc_data *data = allocate(opening);
  int result =
      data ? data_bind_all(opening, data) : data_fail_memory(&opening->context, "a data set", 64);
  if (result == 0) result = check_fitted(opening);
  if (result == 0) result = load_all(opening, data);
  free(opening->pipelines);
  if (result == 0) return data;
  nnc_data_close(data);
  return NULL;
}

nnc_data *nnc_data_open(const nnc_model *model, const char *name, const nnc_entry *entry,
                        const char *directory, nnc_fitted *fitted, char message[NNC_MESSAGE]) {
  Opening opening = {.context = {.model = model,
                                 .set = name,
                                 .directory = directory,
                                 .fitted = fitted,
                                 .learns = strcmp(name, "train") == 0 ? fitted : NULL,
                                 .message = message},
                     .set = data_set_called(model, name),
                     .entry = entry,
                     .always_draws = entry != &model->predict && strcmp(name, "train") != 0};
  if (!opening.set) {
    data_fail(&opening.context, "%s has no data set '%s'", model->file, name);
    return NULL;
  }
  return open_set(&opening);
}

/* --- prediction ------------------------------------------------------------------------------ */

static const nnc_data_set *prediction_set(const nnc_model *model) {
  const nnc_data_set *set = data_set_called(model, "predict");
  for (int i = 0; !set && i < model->data_set_count; i++)
    if (strcmp(model->data_sets[i].name, "train") != 0) set = &model->data_sets[i];
  return set ? set : data_set_called(model, "train");
}

/* Files of the command line for lines none of which decodes pictures. */
static int check_given(Opening *opening, const nnc_data *data, const nnc_data_files *given) {
  const DataTable *arrays = NULL;
  for (int t = 0; t < data->table_count; t++) {
    const DataTable *table = &data->tables[t];
    if (files_wanted(data, table) == 0) continue;
    int gives = table->source->gives;
    if (data_decodes_pictures(gives)) return 0;
    if (!(gives & GIVES_PICTURES) || arrays) continue;
    arrays = table;
    opening->context.call = &opening->pipelines[t]->calls[0];
  }
  return arrays ? data_check_given(&opening->context, arrays, given->count, given->names) : 0;
}

/* Files in the order in which load_all hands them out: by table as first met, then by field. *takers: how many tables
 * take as many as there are.  `given`: those that there are, to be looked at; NULL: none are yet. */
static int list_files(Opening *opening, const nnc_data_files *given, char *text, size_t text_size,
                      int *takers) {
  nnc_data *data = allocate(opening);
  int result =
      data ? data_bind_all(opening, data) : data_fail_memory(&opening->context, "predict", 64);
  size_t used = 0;
  int files = 0;
  *takers = 0;
  if (text && text_size) *text = 0;
  for (int t = 0; result == 0 && t < data->table_count; t++) {
    const struct nnc_source_class *source = data->tables[t].source;
    bool starts = true;
    if (files_wanted(data, &data->tables[t]) == 0) continue;
    *takers += source->takes_many_files;
    for (int f = 0; f < data->tables[t].field_count; f++) {
      if (!data->tables[t].fields[f].input) continue;
      bool is_new = starts || source->has_file_each;
      const char *join = !is_new ? " and " : files ? ", " : "";
      files += is_new;
      starts = false;
      if (text && used < text_size)
        used += (size_t)snprintf(text + used, text_size - used, "%s%s (%s)", join,
                                 data->tables[t].fields[f].name, source->name);
    }
  }
  if (result == 0 && given) result = check_given(opening, data, given);
  free(opening->pipelines);
  opening->pipelines = NULL;
  nnc_data_close(data);
  return result < 0 ? -1 : files;
}

int nnc_data_predict_files(const nnc_model *model, const nnc_entry *entry, char *text,
                           size_t text_size, char message[NNC_MESSAGE]) {
  Opening opening = {
      .context = {.model = model, .set = "predict", .is_prediction = true, .message = message},
      .set = prediction_set(model),
      .entry = entry,
      .takes_files = true,
      .keeps_all_rows = !data_set_called(model, "predict")};
  int takers;
  if (!opening.set) return data_fail(&opening.context, "%s has no data block", model->file);
  return list_files(&opening, NULL, text, text_size, &takers);
}

/* One file for each field, or more where these are examples: then as many for each such field. */
static int check_count(Opening *opening, int wanted, int given) {
  int takers = opening->takers, more = given - wanted;
  opening->files_each = takers > 0 && more > 0 ? 1 + more / takers : 1;
  if (more == 0 || (more > 0 && takers > 0 && more % takers == 0)) return 0;
  const char *each = "";
  if (takers > 1)
    each = ": a file or a folder for each field; of several files as many for each, all of the "
           "first field before those of the next";
  return data_fail(&opening->context, "predict needs %d file%s: %s; %d given%s", wanted,
                   wanted == 1 ? "" : "s", opening->wanted, given, each);
}

/* Does a line of `data predict` that is needed wait for files from the command line? */
static bool needs_files(const Opening *opening) {
  for (int i = 0; i < opening->entry->input_count; i++) {
    int index;
    const nnc_pipeline *pipeline =
        data_line_of(opening->set, opening->entry->inputs[i].name, &index);
    if (pipeline && pipeline->calls[0].source->takes_all_files) return true;
  }
  return false;
}

nnc_data *nnc_data_open_predict(const nnc_model *model, const nnc_entry *entry,
                                const nnc_data_files *files, const nnc_fitted *fitted,
                                char message[NNC_MESSAGE]) {
  char wanted[256];
  bool states_set = data_set_called(model, "predict") != NULL;
  Opening opening = {.context = {.model = model,
                                 .set = "predict",
                                 .directory = files->directory,
                                 .files = files->names,
                                 .part = files->part,
                                 .fitted = fitted,
                                 .is_prediction = true,
                                 .message = message},
                     .set = prediction_set(model),
                     .entry = entry,
                     .takes_files = true,
                     .always_draws = states_set,
                     .keeps_all_rows = !states_set,
                     .wanted = wanted};
  if (!opening.set) {
    data_fail(&opening.context, "%s has no data block", model->file);
    return NULL;
  }
  int count = list_files(&opening, files, wanted, sizeof wanted, &opening.takers);
  if (count < 0) return NULL;
  bool reads_named = files->count == 0 && states_set && !needs_files(&opening);
  if (reads_named) opening.context.files = NULL;
  opening.takes_files = !reads_named;
  if (!reads_named && check_count(&opening, count, files->count) < 0) return NULL;
  return open_set(&opening);
}
