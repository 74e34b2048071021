/* The lines of a set, bound to the inputs of an entry: each input to the field of its name, with a table for
 * each line in use; and the calls of these lines, held against what sources give and stages take. */
#include <stdlib.h>
#include <string.h>

#include "core/convert.h"
#include "data/call.h"
#include "data/class.h"
#include "data/opening.h"
#include "data/set.h"
#include "data/table.h"
#include "data/words.h"
#include "os/message.h"
#include "nnc_data.h"

const nnc_data_set *data_set_called(const nnc_model *model, const char *name) {
  for (int i = 0; i < model->data_set_count; i++)
    if (strcmp(model->data_sets[i].name, name) == 0) return &model->data_sets[i];
  return NULL;
}

const nnc_pipeline *data_line_of(const nnc_data_set *set, const char *field, int *index) {
  for (int p = 0; set && p < set->pipeline_count; p++)
    for (int f = 0; f < set->pipelines[p].field_count; f++)
      if (strcmp(set->pipelines[p].fields[f], field) == 0) {
        *index = f;
        return &set->pipelines[p];
      }
  return NULL;
}

/* --- bind ------------------------------------------------------------------------------------ */

static int fail_unfed(const Opening *opening, const char *input) {
  const char *names[64];
  int count = 0;
  for (int p = 0; p < opening->set->pipeline_count; p++)
    for (int f = 0; f < opening->set->pipelines[p].field_count && count < 64; f++)
      names[count++] = opening->set->pipelines[p].fields[f];
  const char *near = nnc_nearest(input, count, names);
  return data_fail(&opening->context, "there is no field '%s' to feed the input of that name%s%s%s",
                   input, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

bool data_stage_meets(const struct nnc_stage_class *stage, const nnc_call *call,
                      const DataField *field) {
  if (!stage->fit || !field->input) return false;
  return data_call_names(call, field->name);
}

/* The value stages of a field are those of the training set. */
const nnc_pipeline *data_value_stages(const Opening *opening, const char *field) {
  int index;
  return data_line_of(data_set_called(opening->context.model, "train"), field, &index);
}

static void expect_stages(const Opening *opening, DataField *field) {
  const nnc_pipeline *pipeline = data_value_stages(opening, field->name);
  for (int c = 1; pipeline && c < pipeline->call_count; c++) {
    const struct nnc_stage_class *stage = pipeline->calls[c].stage;
    if (!data_stage_meets(stage, &pipeline->calls[c], field)) continue;
    field->wants_text |= stage->reads_text;
    field->wants_missing |= stage->fills_missing;
    field->changes = true;
  }
}

static int add_table(Opening *opening, nnc_data *data, const nnc_pipeline *pipeline) {
  DataTable *table = &data->tables[data->table_count];
  table->fields = calloc((size_t)pipeline->field_count + 1, sizeof *table->fields);
  if (!table->fields) return data_fail_memory(&opening->context, "the fields", 64);
  table->field_count = pipeline->field_count;
  for (int f = 0; f < pipeline->field_count; f++) table->fields[f].name = pipeline->fields[f];
  table->source = pipeline->calls[0].source;
  table->make = table->source->make;
  opening->pipelines[data->table_count] = pipeline;
  return data->table_count++;
}

/* Lines of the same fields are the parts of one, which follow each other. */
static int count_parts(const Opening *opening, const nnc_pipeline *line) {
  const nnc_pipeline *end = opening->set->pipelines + opening->set->pipeline_count;
  int count = 1;
  while (!opening->takes_files && line + count < end &&
         strcmp(line[count].fields[0], line->fields[0]) == 0)
    count++;
  return count;
}

static int bind_input(Opening *opening, nnc_data *data, int input) {
  const nnc_tensor *tensor = &opening->entry->inputs[input];
  int index = 0, table = 0;
  const nnc_pipeline *pipeline = data_line_of(opening->set, tensor->name, &index);
  if (!pipeline) return fail_unfed(opening, tensor->name);
  int parts = count_parts(opening, pipeline);
  while (table < data->table_count && opening->pipelines[table] != pipeline) table++;
  bool is_new = table == data->table_count;
  for (int p = 0; p < parts; p++) {
    if (is_new && add_table(opening, data, pipeline + p) < 0) return -1;
    DataField *field = &data->tables[table + p].fields[index];
    field->input = tensor;
    const unsigned char *batched = opening->entry->input_is_batched;
    field->batched = batched && batched[input];
    expect_stages(opening, field);
  }
  data->fields[input] = &data->tables[table].fields[index];
  return 0;
}

/* Files of the command line are in the order of the set's lines, and so are the tables then. */
static int bind_inputs(Opening *opening, nnc_data *data) {
  const nnc_entry *entry = opening->entry;
  if (!opening->takes_files) {
    for (int i = 0; i < entry->input_count; i++)
      if (bind_input(opening, data, i) < 0) return -1;
    return 0;
  }
  for (int p = -1; p < opening->set->pipeline_count; p++)
    for (int i = 0, index; i < entry->input_count; i++) {
      const nnc_pipeline *line = data_line_of(opening->set, entry->inputs[i].name, &index);
      int place = line ? (int)(line - opening->set->pipelines) : -1;
      if (place == p && bind_input(opening, data, i) < 0) return -1;
    }
  return 0;
}

/* --- fields that stages look at --------------------------------------------------------------- */

/* The field becomes one of the table's, though the entry computes nothing with it; one that no input of the program
 * takes stays unknown. */
static void bind_looked_at(Opening *opening, DataTable *table, const char *name) {
  const nnc_model *model = opening->context.model;
  for (int f = 0; f < table->field_count; f++) {
    DataField *field = &table->fields[f];
    if (strcmp(field->name, name) != 0 || field->input) continue;
    for (int i = 0; i < model->looked_at_count; i++)
      if (strcmp(model->looked_at[i].name, name) == 0) field->input = &model->looked_at[i];
    field->batched = true;
    expect_stages(opening, field);
  }
}

/* Whether the entry wants one of the fields that the call names. */
static bool is_wanted(const DataTable *table, const nnc_call *call) {
  for (int f = 0; f < table->field_count; f++)
    if (table->fields[f].input && data_call_names(call, table->fields[f].name)) return true;
  return false;
}

/* Stages that choose rows by a field, or say how often they are read, need its values, and stages that move boxes their
 * pictures: those stages that will act. */
static void bind_choices(Opening *opening, DataTable *table, const nnc_pipeline *pipeline) {
  for (int c = 1; c < pipeline->call_count; c++) {
    const nnc_call *call = &pipeline->calls[c];
    bool is_beside = call->stage->needs_fields && is_wanted(table, call);
    bool acts = (call->stage->rows && !opening->keeps_all_rows) ||
                (call->stage->sample && !opening->context.is_prediction) || is_beside;
    if (is_beside) bind_looked_at(opening, table, table->fields[0].name);
    for (int i = 0; i < call->argument_count && acts; i++)
      if (call->arguments[i].value.kind == NNC_FIELD && call->arguments[i].name[0])
        bind_looked_at(opening, table, call->arguments[i].value.string);
  }
}

/* --- check the calls ------------------------------------------------------------------------- */

/* What arguments calls have, and which fields they name, nnc check has seen. */
static int check_calls(Opening *opening, const nnc_pipeline *pipeline) {
  DataContext *context = &opening->context;
  const struct nnc_source_class *source = pipeline->calls[0].source;
  for (int c = 1; c < pipeline->call_count; c++) {
    context->call = &pipeline->calls[c];
    int acts_on = context->call->stage->acts_on;
    if (source->gives & acts_on) continue;
    return data_fail_call(context, "%s acts on %s, which %s does not give", context->call->function,
                          data_kind_text(acts_on), source->name);
  }
  return 0;
}

int data_bind_all(Opening *opening, nnc_data *data) {
  opening->pipelines = calloc((size_t)opening->set->pipeline_count + 1, sizeof *opening->pipelines);
  if (!opening->pipelines) return data_fail_memory(&opening->context, "the pipelines", 64);
  if (bind_inputs(opening, data) < 0) return -1;
  for (int t = 0; t < data->table_count; t++)
    bind_choices(opening, &data->tables[t], opening->pipelines[t]);
  for (int t = 0; t < data->table_count; t++)
    if (check_calls(opening, opening->pipelines[t]) < 0) return -1;
  return 0;
}
