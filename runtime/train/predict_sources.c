/* Files are compared by what they are, not by their names: see predict_sources.h. */
#include "train/predict_sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "data/session_data.h"
#include "os/message.h"
#include "os/replace.h"

struct nnc_predict_source {
  dev_t device;
  ino_t inode;
};

static int compare_sources(const void *a, const void *b) {
  const nnc_predict_source *x = a, *y = b;
  if (x->device != y->device) return x->device < y->device ? -1 : 1;
  return (x->inode > y->inode) - (x->inode < y->inode);
}

/* False where there is no such file. */
static bool find_source(const char *path, nnc_predict_source *source) {
  struct stat status;
  if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  *source = (nnc_predict_source){status.st_dev, status.st_ino};
  return true;
}

static void add_source(nnc_predict_sources *sources, const char *path) {
  if (find_source(path, &sources->items[sources->count])) sources->count++;
}

static bool add_text(nnc_predict_sources *sources, const char *folder, const char *text) {
  char *path = nnc_path_join(folder, text);
  if (!path) return false;
  add_source(sources, path);
  free(path);
  return true;
}

/* Texts in the program, each of which may be the name of a file; adds them, or only counts them. */
static bool take_texts(nnc_predict_sources *sources, const char *folder, int64_t *texts) {
  const nnc_model *model = &nnc_the_model;
  for (int i = 0; i < model->initial_count; i++) {
    (*texts)++;
    if (sources->items && !add_text(sources, folder, model->initials[i].file)) return false;
  }
  for (int s = 0; s < model->data_set_count; s++)
    for (int p = 0; p < model->data_sets[s].pipeline_count; p++) {
      const nnc_call *call = &model->data_sets[s].pipelines[p].calls[0];
      for (int i = 0; i < call->argument_count; i++) {
        const nnc_value *value = &call->arguments[i].value;
        if (value->kind != NNC_STRING) continue;
        (*texts)++;
        if (sources->items && !add_text(sources, folder, value->string)) return false;
      }
    }
  return true;
}

bool nnc_predict_sources_find(nnc_predict_sources *sources, const nnc_options *options,
                              const nnc_data *data) {
  int64_t examples = data ? nnc_data_examples(data) : 0, texts = 0;
  bool has_names = examples > 0 && nnc_data_row_name(data, 0);
  const char *folder = nnc_data_folder(options);
  *sources = (nnc_predict_sources){0};
  take_texts(sources, folder, &texts);
  int64_t most = texts + options->argument_count + (has_names ? examples : 0);
  sources->items = calloc((size_t)most + 1, sizeof *sources->items);
  if (!sources->items) {
    nnc_error("cannot allocate the list of %lld files", (long long)most);
    return false;
  }
  for (int i = 0; i < options->argument_count; i++) add_source(sources, options->arguments[i]);
  for (int64_t i = 0; has_names && i < examples; i++)
    add_source(sources, nnc_data_row_name(data, i));
  if (!take_texts(sources, folder, &texts)) return false;
  qsort(sources->items, (size_t)sources->count, sizeof *sources->items, compare_sources);
  return true;
}

void nnc_predict_sources_free(nnc_predict_sources *sources) {
  free(sources->items);
  *sources = (nnc_predict_sources){0};
}

bool nnc_predict_sources_spare(const nnc_predict_sources *sources, const char *flag,
                               const char *path) {
  nnc_predict_source found;
  if (!find_source(path, &found) ||
      !bsearch(&found, sources->items, (size_t)sources->count, sizeof found, compare_sources))
    return true;
  nnc_error("%s: a result would be written over %s, which the program reads; name another folder",
            flag, path);
  return false;
}
