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

/* False after a message. */
static bool add_source(nnc_predict_sources *sources, const char *path) {
  nnc_predict_source found;
  if (!find_source(path, &found)) return true;
  if (sources->count == sources->room) {
    int64_t room = 2 * sources->room + 16;
    nnc_predict_source *grown = realloc(sources->items, (size_t)room * sizeof *grown);
    if (!grown) {
      nnc_error("cannot allocate a list of %lld files", (long long)room);
      return false;
    }
    sources->items = grown;
    sources->room = room;
  }
  sources->items[sources->count++] = found;
  return true;
}

/* A text of the program, which may be the name of a file. */
static bool add_text(nnc_predict_sources *sources, const char *folder, const char *text) {
  char *path = nnc_path_join(folder, text);
  bool good = path && add_source(sources, path);
  free(path);
  return good;
}

static bool add_texts(nnc_predict_sources *sources, const char *folder) {
  const nnc_model *model = &nnc_the_model;
  bool good = true;
  for (int i = 0; good && i < model->initial_count; i++)
    good = add_text(sources, folder, model->initials[i].file);
  for (int s = 0; s < model->data_set_count; s++)
    for (int p = 0; p < model->data_sets[s].pipeline_count; p++) {
      const nnc_call *call = &model->data_sets[s].pipelines[p].calls[0];
      for (int i = 0; good && i < call->argument_count; i++)
        if (call->arguments[i].value.kind == NNC_STRING)
          good = add_text(sources, folder, call->arguments[i].value.string);
    }
  return good;
}

bool nnc_predict_sources_find(nnc_predict_sources *sources, const nnc_options *options,
                              const nnc_data *data) {
  int64_t examples = data ? nnc_data_examples(data) : 0;
  bool has_names = examples > 0 && nnc_data_row_name(data, 0);
  *sources = (nnc_predict_sources){0};
  bool good = add_texts(sources, nnc_data_folder(options));
  for (int i = 0; good && i < options->argument_count; i++)
    good = add_source(sources, options->arguments[i]);
  for (int64_t i = 0; good && has_names && i < examples; i++)
    good = add_source(sources, nnc_data_row_name(data, i));
  if (sources->count > 1)
    qsort(sources->items, (size_t)sources->count, sizeof *sources->items, compare_sources);
  return good;
}

void nnc_predict_sources_free(nnc_predict_sources *sources) {
  free(sources->items);
  *sources = (nnc_predict_sources){0};
}

bool nnc_predict_sources_spare(const nnc_predict_sources *sources, const char *flag,
                               const char *path) {
  nnc_predict_source found;
  if (sources->count == 0 || !find_source(path, &found) ||
      !bsearch(&found, sources->items, (size_t)sources->count, sizeof found, compare_sources))
    return true;
  nnc_error("%s: a result would be written over %s, which the program reads; name another folder",
            flag, path);
  return false;
}
