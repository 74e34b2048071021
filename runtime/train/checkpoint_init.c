/* --init: parameters and states from files that need not be of this program.
 *
 * A layer, the variables whose paths differ in the last element only, is taken whole or not at all: a
 * bias without its weight, or a scale without its statistics, is another layer's.  What is not taken
 * keeps its initial values and is listed.  A frozen variable cannot be left to these: nothing would
 * ever correct them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fitted.h"
#include "core/fitted_text.h"
#include "core/safetensors.h"
#include "core/session.h"
#include "data/open.h"
#include "os/message.h"
#include "train/checkpoint.h"
#include "train/init_files.h"

enum { MOST_LAYERS = 20, LAYER_TEXT = 1024 };

typedef struct Init {
  nnc_session *session;
  const nnc_model *model;
  const nnc_init_files *files;
  bool *fits;  /* of each variable: a file has it */
  bool *taken; /* ... and its whole layer */
  int layers;  /* listed so far */
} Init;

static const char *name_of(const Init *init, int variable) {
  return init->model->variables[variable].tensor.name;
}

static bool is_weight(const Init *init, int variable) {
  int kind = init->model->variables[variable].kind;
  return kind == NNC_PARAM || kind == NNC_STATE;
}

/* Bytes of the layer's path: "h1.w" is in "h1"; 0 at the top level, where each is by itself. */
static size_t layer_length(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot ? (size_t)(dot - name) : 0;
}

/* What keeps a variable from being read; false when nothing does. */
static bool misfit(const Init *init, int variable, char text[512]) {
  const nnc_tensor *tensor = &init->model->variables[variable].tensor;
  const nnc_safetensors *file;
  const nnc_stored *stored = nnc_init_files_find(init->files, tensor->name, &file);
  return nnc_checkpoint_misfit(text, tensor, stored, nnc_init_files_call(init->files, file), false);
}

static bool same_layer(const Init *init, int a, int b) {
  const char *x = name_of(init, a), *y = name_of(init, b);
  size_t length = layer_length(x);
  if (a == b) return true;
  return is_weight(init, b) && length > 0 && length == layer_length(y) &&
         strncmp(x, y, length) == 0;
}

/* What is wrong with a layer, or that nothing is: its members that do not fit, and those that would. */
static void describe_layer(const Init *init, int first, char text[LAYER_TEXT]) {
  const nnc_safetensors *file;
  size_t length = layer_length(name_of(init, first)), at = 0;
  int missing = 0, all = 0;
  for (int i = first; i < init->model->variable_count; i++) {
    if (!same_layer(init, first, i)) continue;
    all++;
    missing += nnc_init_files_find(init->files, name_of(init, i), &file) == NULL;
  }
  if (all == missing && length > 0) {
    snprintf(text, LAYER_TEXT, "%s none of its %d tensors",
             init->files->count > 1 ? "the files have" : "the file has", all);
    return;
  }
  for (int i = first; i < init->model->variable_count && at < LAYER_TEXT; i++) {
    const nnc_tensor *tensor = &init->model->variables[i].tensor;
    char found[512] = "fits, but the layer is taken whole or not at all";
    if (!same_layer(init, first, i)) continue;
    (void)misfit(init, i, found);
    const char *member = length > 0 ? tensor->name + length + 1 : "";
    at += (size_t)snprintf(text + at, LAYER_TEXT - at, "%s%s%s%s", at ? "; " : "", member,
                           *member ? ": " : "", found);
  }
}

static void list_layer(Init *init, int first) {
  char text[LAYER_TEXT];
  const char *name = name_of(init, first);
  size_t length = layer_length(name);
  if (init->layers++ >= MOST_LAYERS) return;
  describe_layer(init, first, text);
  nnc_note("not loaded: %.*s: %s", length > 0 ? (int)length : (int)strlen(name), name, text);
}

/* Decides what is taken, lists the rest. */
static void choose(Init *init) {
  const nnc_model *model = init->model;
  char found[512];
  for (int i = 0; i < model->variable_count; i++)
    init->fits[i] = is_weight(init, i) && !misfit(init, i, found);
  for (int i = 0; i < model->variable_count; i++) {
    bool whole = is_weight(init, i), is_first = true;
    for (int k = 0; is_weight(init, i) && k < model->variable_count; k++) {
      if (!same_layer(init, i, k)) continue;
      whole = whole && init->fits[k];
      is_first = is_first && k >= i;
    }
    init->taken[i] = whole;
    if (is_weight(init, i) && !whole && is_first) list_layer(init, i);
  }
  if (init->layers > MOST_LAYERS)
    nnc_note("not loaded: %d more layers", init->layers - MOST_LAYERS);
}

/* False after a message when something frozen would keep the values that it happens to begin with. */
static bool check_frozen(const Init *init) {
  const char *path = init->files->count > 1 ? "--init" : init->files->files[0]->path;
  int count = 0;
  for (int i = 0; i < init->model->variable_count; i++) {
    const nnc_variable *variable = &init->model->variables[i];
    if (!is_weight(init, i) || !variable->frozen || init->taken[i]) continue;
    if (nnc_checkpoint_has_initial(init->model, i)) continue;
    if (count++ < MOST_LAYERS)
      nnc_error("%s: '%s' is frozen, and %s not set it", path, variable->tensor.name,
                init->files->count > 1 ? "these files do" : "this file does");
  }
  if (count > MOST_LAYERS)
    nnc_error("%s: %d more frozen tensors are not set", path, count - MOST_LAYERS);
  return count == 0;
}

/* Optimizer states are named "PARAMETER:NAME"; an --init starts them anew. */
static void list_unused(const Init *init, const nnc_safetensors *file) {
  const char *call = nnc_init_files_call(init->files, file);
  int count = 0;
  for (int i = 0; i < file->count; i++) {
    const char *name = file->tensors[i].name;
    if (nnc_checkpoint_knows(init->model, name) || strchr(name, ':')) continue;
    if (count++ < MOST_LAYERS) nnc_note("not used: %s of %s", name, call);
  }
  if (count > MOST_LAYERS) nnc_note("not used: %d more tensors of %s", count - MOST_LAYERS, call);
}

static bool read_taken(const Init *init) {
  for (int i = 0; i < init->model->variable_count; i++) {
    const nnc_tensor *tensor = &init->model->variables[i].tensor;
    const nnc_safetensors *file;
    const nnc_stored *stored = nnc_init_files_find(init->files, tensor->name, &file);
    if (init->taken[i] && !nnc_checkpoint_take(init->session, file, stored, tensor)) return false;
  }
  return true;
}

/* The layers may still be of use, since other layers may follow them: eval and predict refuse it. */
static void warn_of_scores(const Init *init, const nnc_safetensors *file) {
  const char *text = nnc_safetensors_metadata(file, "fitted"), *field;
  char message[256];
  nnc_fitted fitted = {0};
  if (text && nnc_fitted_parse(&fitted, text, message, sizeof message) &&
      nnc_data_unstated(init->model, &fitted, &field))
    nnc_warning(
        "%s is of a network that was trained with standardize(%s), which data train does not "
        "state: its layers expect standard scores",
        file->path, field);
  nnc_fitted_free(&fitted);
}

static bool init_from(Init *init) {
  choose(init);
  if (!check_frozen(init) || !read_taken(init)) return false;
  for (int i = 0; i < init->files->count; i++) {
    warn_of_scores(init, init->files->files[i]);
    list_unused(init, init->files->files[i]);
  }
  return nnc_init_files_tell(init->files, init->model, init->taken);
}

bool nnc_checkpoint_init_opens(const nnc_options *options) {
  nnc_init_files files;
  if (!nnc_init_files_open(&files, options->init_count, options->init)) return false;
  nnc_init_files_close(&files);
  return true;
}

bool nnc_checkpoint_init(nnc_session *session) {
  const nnc_options *options = session->options;
  size_t count = (size_t)session->model->variable_count + 1;
  nnc_init_files files;
  if (options->init_count == 0) return true;
  if (!nnc_init_files_open(&files, options->init_count, options->init)) return false;
  Init init = {.session = session,
               .model = session->model,
               .files = &files,
               .fits = calloc(count, sizeof(bool)),
               .taken = calloc(count, sizeof(bool))};
  bool good = init.fits && init.taken;
  if (good) good = init_from(&init);
  else nnc_error("cannot allocate a list of %d variables", session->model->variable_count);
  free(init.fits);
  free(init.taken);
  nnc_init_files_close(&files);
  return good;
}
