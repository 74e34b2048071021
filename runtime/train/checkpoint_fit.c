/* Whether the tensors of a file are those of the program, and what differs. Differences of the optimizer's states
 * alone, or of types alone, have one cause and need one line. */
#include <stdio.h>
#include <string.h>

#include "core/number.h"
#include "os/message.h"
#include "train/checkpoint.h"
#include "train/source_change.h"

enum { MOST_SHOWN = 5, DIFFERENCE = 512 };

/* Floats become other floats, whole numbers and truth values others of these. */
static bool converts(int from, int to) {
  return from == to || (from >= 0 && nnc_dtype_is_float(from) == nnc_dtype_is_float(to));
}

static bool same_shape(const nnc_stored *stored, const nnc_tensor *tensor) {
  if (stored->rank != tensor->rank) return false;
  for (int i = 0; i < tensor->rank; i++)
    if (stored->dim[i] != tensor->dim[i]) return false;
  return true;
}

static bool fits(const nnc_stored *stored, const nnc_tensor *tensor, bool exactly) {
  bool type_fits =
      exactly ? stored->dtype == tensor->dtype : converts(stored->dtype, tensor->dtype);
  return type_fits && same_shape(stored, tensor);
}

bool nnc_checkpoint_misfit(char text[512], const nnc_tensor *tensor, const nnc_stored *stored,
                           const char *where, bool exactly) {
  char wanted[NNC_SHAPE_TEXT], found[NNC_STORED_TEXT];
  nnc_tensor_type_text(wanted, tensor->dtype, tensor->rank, tensor->dim);
  if (stored && fits(stored, tensor, exactly)) return false;
  if (!stored) snprintf(text, 512, "missing in %s, the program has %s", where, wanted);
  else
    snprintf(text, 512, "%s in %s, %s in the program", nnc_stored_type_text(found, stored), where,
             wanted);
  return true;
}

bool nnc_checkpoint_knows(const nnc_model *model, const char *name) {
  for (int i = 0; i < model->variable_count; i++)
    if (strcmp(model->variables[i].tensor.name, name) == 0) return true;
  return false;
}

static bool is_weight(const nnc_variable *variable) { return NNC_WEIGHTS >> variable->kind & 1; }

/* --- Going on ------------------------------------------------------------------------------- */

/* What differs between a checkpoint and the program. */
typedef struct Differences {
  const nnc_model *model;
  const nnc_safetensors *file;
  int count, of_optimizer, of_types; /* of_types: in the type alone */
  int fitting;                       /* parameters and states that --init would take */
  char first[DIFFERENCE];            /* of all */
  int shown;
  char others[MOST_SHOWN][DIFFERENCE]; /* the first that are not of the optimizer */
} Differences;

static void add(Differences *differences, const char *name, bool is_optimizer, const char *what) {
  char text[DIFFERENCE];
  snprintf(text, sizeof text, "%s: %s", name, what);
  if (differences->count++ == 0) strcpy(differences->first, text);
  if (is_optimizer) differences->of_optimizer++;
  else if (differences->shown < MOST_SHOWN) strcpy(differences->others[differences->shown++], text);
}

/* "w:m" is a state of the optimizer, of the parameter w; "w:average" is a weight. */
static bool is_named_optimizer(const char *name) {
  const char *colon = strrchr(name, ':');
  return colon && strcmp(colon, ":average") != 0;
}

static void find_differences(Differences *differences) {
  const nnc_model *model = differences->model;
  const nnc_safetensors *file = differences->file;
  char text[DIFFERENCE];
  for (int i = 0; i < model->variable_count; i++) {
    const nnc_variable *variable = &model->variables[i];
    if (!(NNC_EVERYTHING >> variable->kind & 1)) continue;
    const nnc_tensor *tensor = &variable->tensor;
    const nnc_stored *stored = nnc_safetensors_find(file, tensor->name);
    differences->fitting += is_weight(variable) && stored && fits(stored, tensor, false);
    if (!nnc_checkpoint_misfit(text, tensor, stored, "the file", true)) continue;
    differences->of_types += stored && fits(stored, tensor, false);
    add(differences, tensor->name, variable->kind == NNC_OPTIMIZER, text);
  }
  for (int i = 0; i < file->count; i++) {
    const char *name = file->tensors[i].name;
    if (!nnc_checkpoint_knows(model, name))
      add(differences, name, is_named_optimizer(name), "in the file, unknown to the program");
  }
}

/* One cause of all. */
static void tell_cause(const Differences *differences, const char *what, const char *how) {
  const char *path = differences->file->path;
  nnc_error(
      "--resume cannot go on with %s: %s (%s%s); --init %s begins a new run with its weights%s",
      path, what, differences->first, differences->count > 1 ? ", and others" : "", path, how);
}

static void tell(const Differences *differences) {
  const char *path = differences->file->path;
  int count = differences->count;
  bool is_of_a_run = nnc_safetensors_metadata(differences->file, "position") != NULL;
  if (!is_of_a_run && differences->fitting > 0)
    return tell_cause(differences, "it is no checkpoint of a run", "");
  if (count == differences->of_optimizer)
    return tell_cause(differences, "the states of its optimizer are not those of this program", "");
  if (count == differences->of_types)
    return tell_cause(differences, "its numbers are of another type", ", converted");
  nnc_error("%s does not fit this program%s%s%s:", path,
            differences->fitting > 0 ? "; --init " : "", differences->fitting > 0 ? path : "",
            differences->fitting > 0 ? " begins a new run with what fits of it" : "");
  for (int i = 0; i < differences->shown; i++) nnc_error("  %s", differences->others[i]);
  if (count > differences->shown) nnc_error("  ... and %d more", count - differences->shown);
}

bool nnc_checkpoint_goes_on(const nnc_model *model, const nnc_safetensors *file) {
  Differences differences = {.model = model, .file = file};
  find_differences(&differences);
  if (differences.count == 0) return true;
  nnc_warn_source_change(file, model);
  tell(&differences);
  return false;
}

/* --- Weights -------------------------------------------------------------------------------- */

bool nnc_checkpoint_gives_weights(const nnc_model *model, const nnc_init_files *files) {
  const char *path = files->count > 1 ? "what the files of --init have" : files->files[0]->path;
  const nnc_safetensors *from;
  char text[DIFFERENCE];
  int count = 0;
  for (int i = 0; i < model->variable_count; i++) {
    const nnc_tensor *tensor = &model->variables[i].tensor;
    if (!is_weight(&model->variables[i])) continue;
    const nnc_stored *stored = nnc_init_files_find(files, tensor->name, &from);
    if (!nnc_checkpoint_misfit(text, tensor, stored, nnc_init_files_call(files, from), false))
      continue;
    if (count++ == 0) nnc_error("%s does not fit this program:", path);
    if (count <= MOST_SHOWN) nnc_error("  %s: %s", tensor->name, text);
  }
  if (count > MOST_SHOWN) nnc_error("  ... and %d more", count - MOST_SHOWN);
  return count == 0;
}
