/* The export command: parameters and states in the plain layout, as safetensors or NumPy's npz. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/options.h"
#include "core/pattern.h"
#include "core/session.h"
#include "os/message.h"
#include "os/replace.h"
#include "train/checkpoint.h"
#include "train/commands.h"
#include "train/npz.h"
#include "train/weights_format.h"

/* By --format, else by the file's ending; -1 after a message. */
static int choose_format(const nnc_options *options) {
  const char *const *names = nnc_weights_format_names;
  if (!options->format) return nnc_weights_format_of(options->arguments[0], "export", false);
  for (int i = 0; i < NNC_WEIGHTS_FORMATS; i++)
    if (strcmp(options->format, names[i]) == 0) return i;
  const char *nearest = nnc_nearest(options->format, NNC_WEIGHTS_FORMATS, names);
  nnc_error("unknown --format '%s'%s%s%s; export knows safetensors and npz", options->format,
            nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
  return -1;
}

static bool is_run_file(const nnc_session *session, const char *name, const struct stat *target) {
  struct stat file;
  char *folder = nnc_default_folder(session->options);
  char *path = folder ? nnc_path_join(folder, name) : NULL;
  bool is_same = path && stat(path, &file) == 0 && target->st_dev == file.st_dev &&
                 target->st_ino == file.st_ino;
  free(folder);
  free(path);
  return is_same;
}

/* Why the file that is there cannot be the target; NULL: it can. */
static const char *find_objection(const nnc_session *session, const char *path) {
  struct stat target;
  if (stat(path, &target) != 0) return NULL;
  if (S_ISDIR(target.st_mode)) return "a folder";
  if (!S_ISREG(target.st_mode)) return "no regular file";
  if (is_run_file(session, "checkpoint.safetensors", &target)) return "the checkpoint itself";
  return is_run_file(session, "best.safetensors", &target) ? "the best checkpoint" : NULL;
}

/* The checkpoint holds more than what is exported, and other files are not ours to replace. */
static bool check_target(const nnc_session *session, const char *path,
                         enum nnc_weights_format format) {
  const char *objection = find_objection(session, path);
  if (!objection) return nnc_weights_may_replace(path, format);
  nnc_error("cannot write %s: it is %s", path, objection);
  return false;
}

/* Each pattern of --only is of something. */
static bool has_all(const nnc_session *session) {
  const nnc_options *options = session->options;
  for (int k = 0; k < options->only_count; k++) {
    bool is_found = false;
    for (int i = 0; i < session->model->variable_count; i++)
      is_found |= nnc_checkpoint_has(session, i, NNC_WEIGHTS) &&
                  nnc_pattern_matches(options->only[k], session->model->variables[i].tensor.name);
    if (is_found) continue;
    nnc_error("--only: no parameter or state has a path like '%s'; info lists them",
              options->only[k]);
    return false;
  }
  return true;
}

static bool export_to(nnc_session *session, const char *path, enum nnc_weights_format format) {
  nnc_position position;
  if (!has_all(session)) return false;
  if (!check_target(session, path, format)) return false;
  if (!nnc_checkpoint_load(session, &position)) return false;
  bool good = format == NNC_NPZ ? nnc_npz_write(session, path, NNC_WEIGHTS)
                                : nnc_checkpoint_save(session, path, NULL, NNC_WEIGHTS, NULL, NULL);
  if (good) nnc_note("wrote %s%s", path, nnc_weights_format_note(path, format));
  return good;
}

/* A symbolic link stays one: the file that it leads to is written. */
static bool export_model(nnc_session *session, enum nnc_weights_format format) {
  const char *path = session->options->arguments[0];
  char *whole = realpath(path, NULL);
  bool good = export_to(session, whole ? whole : path, format);
  free(whole);
  return good;
}

int nnc_export_command(const nnc_options *options) {
  nnc_session session;
  int format = choose_format(options);
  if (format < 0) return NNC_EXIT_USAGE;
  if (!nnc_session_open(&session, options)) return NNC_EXIT_FAILURE;
  bool good = export_model(&session, (enum nnc_weights_format)format);
  nnc_session_close(&session);
  return good ? NNC_EXIT_OK : NNC_EXIT_FAILURE;
}
