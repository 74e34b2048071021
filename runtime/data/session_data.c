/* Opening data for an entry: the data module reads and converts; here the values of index
 * inputs (labels, tokens) are held against the limits that the program states, because kernels
 * do not check them. */
#include "data/session_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/session.h"
#include "data/class.h"
#include "data/open.h"
#include "data/read.h"
#include "os/message.h"

/* Gives the message out, or to `told`. */
static void tell(char *told, const char *message) {
  if (told) snprintf(told, NNC_MESSAGE, "%s", message);
  else nnc_error("%s", message);
}

static bool check_limits(const char *title, const nnc_data *data, const nnc_entry *entry,
                         char *told) {
  for (int i = 0; entry->input_limits && i < entry->input_count; i++) {
    double smallest, largest;
    int64_t limit = entry->input_limits[i];
    if (limit <= 0 || nnc_data_examples(data) == 0) continue;
    int64_t except = entry->input_exceptions ? entry->input_exceptions[i] : INT64_MIN;
    if (!nnc_data_range(data, i, except, &smallest, &largest)) continue;
    if (smallest >= 0 && largest < (double)limit) continue;
    char message[NNC_MESSAGE], needed[60] = "";
    if (smallest >= 0)
      snprintf(needed, sizeof needed, "; %.0f instead of %lld are needed", largest + 1,
               (long long)limit);
    snprintf(message, sizeof message,
             "%s: '%s' holds %.0f, but the model takes it as an index from 0 to %lld%s", title,
             entry->inputs[i].name, smallest < 0 ? smallest : largest, (long long)limit - 1,
             needed);
    tell(told, message);
    return false;
  }
  return true;
}

/* Takes over `data`; NULL means that opening failed with the message, which may name the set. */
static nnc_data *check(const char *title, nnc_data *data, const nnc_entry *entry,
                       const char *message, char *told) {
  if (!data) {
    bool names_set = strncmp(message, title, strlen(title)) == 0;
    char whole[NNC_MESSAGE];
    snprintf(whole, sizeof whole, "%s%s%s", names_set ? "" : title, names_set ? "" : ": ", message);
    tell(told, whole);
    return NULL;
  }
  if (check_limits(title, data, entry, told)) return data;
  nnc_data_close(data);
  return NULL;
}

/* What --cache says goes to what decodes files. */
static bool open_cache(const nnc_session *session) {
  const nnc_model *model = session->model;
  char message[NNC_MESSAGE];
  if (!session->options->cache) return true;
  for (int s = 0; s < model->data_set_count; s++)
    for (int p = 0; p < model->data_sets[s].pipeline_count; p++) {
      const struct nnc_source_class *source = model->data_sets[s].pipelines[p].calls[0].source;
      if (!source->open_cache) continue;
      if (source->open_cache(session->options->cache, message) == 0) return true;
      nnc_error("%s", message);
      return false;
    }
  nnc_error("--cache: no source of %s decodes files, as image_folder does", model->file);
  return false;
}

nnc_data *nnc_session_open_data(nnc_session *session, const char *set, const nnc_entry *entry) {
  char message[NNC_MESSAGE], title[64];
  if (!open_cache(session)) return NULL;
  snprintf(title, sizeof title, "data %s", set);
  nnc_data *data = nnc_data_open(session->model, set, entry, nnc_data_folder(session->options),
                                 &session->fitted, message);
  return check(title, data, entry, message, NULL);
}

bool nnc_session_keep_rows(nnc_session *session, const nnc_rows *rows) {
  const nnc_options *options = session->options;
  return options->resident != 0 &&
         nnc_device_keep(session->device, session->model->train.input_count, rows,
                         options->group > 0 ? options->group : 0);
}

bool nnc_session_keep_data(nnc_session *session, const nnc_data *data) {
  nnc_rows *rows = calloc((size_t)session->model->train.input_count + 1, sizeof *rows);
  bool keeps = rows && nnc_data_rows(data, rows) && nnc_session_keep_rows(session, rows);
  free(rows);
  return keeps;
}

nnc_data *nnc_session_open_files(nnc_session *session, const nnc_entry *entry,
                                 const nnc_data_part *part, char *told) {
  const nnc_options *options = session->options;
  char message[NNC_MESSAGE];
  nnc_data_files files = {nnc_data_folder(options), options->argument_count,
                          (const char *const *)options->arguments, part};
  nnc_data *data = nnc_data_open_predict(session->model, entry, &files, &session->fitted, message);
  return check("predict", data, entry, message, told);
}
