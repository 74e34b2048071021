/* Saving and loading of checkpoint.h.  The differences between a file and the program (checkpoint_fit.c) are found
 * first and told all at once; only then is anything read into the model. */

#include "train/checkpoint.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/convert.h"
#include "core/fitted_text.h"
#include "core/number.h"
#include "core/safetensors.h"
#include "core/scores.h"
#include "core/session.h"
#include "core/tally.h"
#include "os/assert.h"
#include "os/buffer.h"
#include "os/message.h"
#include "os/replace.h"
#include "train/init_files.h"
#include "train/source_change.h"
#include "train/train_command.h"

enum { PIECE = NNC_BUFFER(1 << 16, 8) }; /* of a tensor, on its way */

static const char format_name[] = "nnc checkpoint 1";

/* --- Saving --------------------------------------------------------------------------------- */

static bool is_wanted(const nnc_variable *variable, unsigned kinds) {
  return kinds >> variable->kind & 1;
}

bool nnc_checkpoint_has(const nnc_session *session, int variable, unsigned kinds) {
  const nnc_variable *own = &session->model->variables[variable];
  return is_wanted(own, kinds) && nnc_options_mean(session->options, own->tensor.name);
}

/* "612 1 12 600 0": the fields of nnc_position in their order */
static char *position_format(const nnc_position *position) {
  char *text = NULL;
  int length = asprintf(&text, "%lld %lld %lld %lld %d", (long long)position->step,
                        (long long)position->epoch, (long long)position->step_in_epoch,
                        (long long)position->steps_per_epoch, position->report_is_due);
  return length < 0 ? NULL : text;
}

/* Numbers above MOST are no counts of a run; below it, sums and products with them are safe. */
static bool position_parse(nnc_position *position, const char *text) {
  const long long MOST = 1LL << 40;
  int due, length = 0;
  long long step, epoch, step_in_epoch, steps_per_epoch;
  int fields = sscanf(text, "%lld %lld %lld %lld %d%n", &step, &epoch, &step_in_epoch,
                      &steps_per_epoch, &due, &length);
  if (fields != 5 || text[length] != '\0' || step < 0 || epoch < 0 || steps_per_epoch < 1 ||
      step_in_epoch < 0 || step_in_epoch >= steps_per_epoch || step > MOST || epoch > MOST ||
      steps_per_epoch > MOST)
    return false;
  position->step = step;
  position->epoch = epoch;
  position->step_in_epoch = step_in_epoch;
  position->steps_per_epoch = steps_per_epoch;
  position->report_is_due = due != 0;
  return true;
}

typedef struct Texts { /* malloc'ed parts of the metadata */
  char *fitted, *position, *tally, *seed, *step, *plateaus, *schedule, *options, *flags;
  nnc_steer_texts steer;
} Texts;

static bool texts_make(Texts *texts, const nnc_session *session, const nnc_position *position,
                       nnc_tally *tally) {
  *texts = (Texts){.fitted = nnc_fitted_format(&session->fitted)};
  if (!texts->fitted || asprintf(&texts->seed, "%" PRIu64, session->seed) < 0) return false;
  if (session->model->plateau_count > 0 &&
      !(texts->plateaus = nnc_plateaus_format(&session->plateaus)))
    return false;
  if (session->model->option_count > 0 &&
      !(texts->options = nnc_settings_format(&session->settings)))
    return false;
  if (!position) return true;
  texts->flags = nnc_run_flags_format(&session->flags, session->steer.kept.limit > 0);
  if (!nnc_steer_format(&session->steer, &texts->steer)) return false;
  texts->position = position_format(position);
  texts->tally = nnc_tally_format(tally);
  if (session->schedules_have_length &&
      asprintf(&texts->schedule, "%lld", (long long)position->schedule_steps) < 0)
    return false;
  return texts->position && texts->tally &&
         asprintf(&texts->step, "%lld", (long long)position->step) >= 0;
}

static void texts_free(Texts *texts) {
  free(texts->fitted);
  free(texts->position);
  free(texts->tally);
  free(texts->seed);
  free(texts->step);
  free(texts->plateaus);
  free(texts->schedule);
  free(texts->options);
  free(texts->flags);
  nnc_steer_texts_free(&texts->steer);
}

static void read_device(const void *source, const nnc_tensor *tensor, int64_t from, int64_t count,
                        void *to) {
  nnc_device_read(source, tensor, from, count, to);
}

static bool save_with(const nnc_session *session, const char *path, const char *keep,
                      unsigned kinds, const Texts *texts, bool is_checkpoint) {
  NNC_ASSERT(!is_checkpoint || texts->position);
  const nnc_model *model = session->model;
  const nnc_tensor **tensors = calloc((size_t)model->variable_count + 1, sizeof *tensors);
  int count = 0;
  if (!tensors) {
    nnc_error("cannot allocate the list of variables");
    return false;
  }
  for (int i = 0; i < model->variable_count; i++)
    if (nnc_checkpoint_has(session, i, kinds)) tensors[count++] = &model->variables[i].tensor;
  nnc_metadata metadata[] = {
      {"format", format_name},
      {"model", model->name},
      {"file", model->file},
      {"compiler", model->compiler},
      {"isa", model->isa},
      {"source", model->source},
      {"definitions", model->definitions},
      {"fitted", texts->fitted},
      {"seed", texts->seed},
      {"options", texts->options},
      {"step", texts->step},
      {"position", texts->position},
      {"metrics", texts->tally},
      {"plateaus", texts->plateaus},
      {"schedule", texts->schedule},
      {"best", texts->steer.best},
      {"patience", texts->steer.stop},
      {"kept", texts->steer.kept},
      {"flags", texts->flags},
  };
  enum { ALL = sizeof metadata / sizeof *metadata, OF_A_RUN = 9 };
  int metadata_count = 0; /* what an export or a program without schedules lacks is left out */
  for (int i = 0; i < (is_checkpoint ? ALL : ALL - OF_A_RUN); i++)
    if (metadata[i].text) metadata[metadata_count++] = metadata[i];
  nnc_safetensors_content content = {.count = count,
                                     .tensors = tensors,
                                     .read = read_device,
                                     .source = session->device,
                                     .metadata_count = metadata_count,
                                     .metadata = metadata};
  bool good = nnc_safetensors_write(path, keep, &content);
  free(tensors);
  return good;
}

bool nnc_checkpoint_save(const nnc_session *session, const char *path, const char *keep,
                         unsigned kinds, const nnc_position *position, nnc_tally *tally) {
  Texts texts = {0};
  bool good = texts_make(&texts, session, position, tally);
  if (good) good = save_with(session, path, keep, kinds, &texts, position != NULL);
  else nnc_error("cannot allocate the metadata of %s", path);
  texts_free(&texts);
  return good;
}

/* --- Loading -------------------------------------------------------------------------------- */

nnc_safetensors *nnc_checkpoint_open(const nnc_session *session, const char *path) {
  nnc_init_files files;
  if (!nnc_init_files_open(&files, 1, &path)) return NULL;
  if (nnc_checkpoint_goes_on(session->model, files.files[0])) return files.files[0];
  nnc_init_files_close(&files);
  return NULL;
}

/* A tensor of another type: read beside, converted, copied. */
static bool take_converted(nnc_session *session, const nnc_safetensors *file,
                           const nnc_stored *stored, const nnc_tensor *tensor) {
  nnc_conversion conversion;
  size_t bytes = (size_t)(stored->end - stored->begin);
  char *values = malloc(bytes + 1);
  bool good = values && nnc_safetensors_read(file, stored, values);
  if (!values) nnc_error("cannot allocate %zu bytes for %s of %s", bytes, stored->name, file->path);
  if (good && nnc_convert(&values, stored->dtype, tensor->dtype, nnc_tensor_elements(tensor),
                          &conversion) < 0) {
    good = false;
    if (conversion.bad < 0) nnc_error("cannot allocate the values of %s", tensor->name);
    else
      nnc_error("%s: value %lld of %s, %g, is none of the program's type %s", file->path,
                (long long)conversion.bad, stored->name, conversion.value,
                nnc_dtype_name(tensor->dtype));
  }
  if (good) nnc_device_write(session->device, tensor, 0, nnc_tensor_elements(tensor), values);
  free(values);
  return good;
}

/* A second copy of a large tensor may not fit beside the first. */
static bool take_pieces(nnc_session *session, const nnc_safetensors *file, const nnc_stored *stored,
                        const nnc_tensor *tensor) {
  char piece[PIECE];
  int64_t size = nnc_dtype_size(tensor->dtype), elements = nnc_tensor_elements(tensor);
  NNC_ASSERT(stored->end - stored->begin == (uint64_t)nnc_tensor_bytes(tensor));
  for (int64_t from = 0, count; from < elements; from += count) {
    count = elements - from < PIECE / size ? elements - from : PIECE / size;
    if (!nnc_safetensors_read_part(file, stored, (uint64_t)(from * size), (uint64_t)(count * size),
                                   piece))
      return false;
    nnc_device_write(session->device, tensor, from, count, piece);
  }
  return true;
}

bool nnc_checkpoint_take(nnc_session *session, const nnc_safetensors *file,
                         const nnc_stored *stored, const nnc_tensor *tensor) {
  if (stored->dtype != tensor->dtype) return take_converted(session, file, stored, tensor);
  return take_pieces(session, file, stored, tensor);
}

static bool read_kinds(nnc_session *session, const nnc_init_files *files, unsigned kinds) {
  for (int i = 0; i < session->model->variable_count; i++) {
    const nnc_variable *variable = &session->model->variables[i];
    const nnc_safetensors *file;
    if (!is_wanted(variable, kinds)) continue;
    const nnc_stored *stored = nnc_init_files_find(files, variable->tensor.name, &file);
    if (!nnc_checkpoint_take(session, file, stored, &variable->tensor)) return false;
  }
  return true;
}

bool nnc_checkpoint_read(nnc_session *session, nnc_safetensors *file) {
  return read_kinds(session, &(nnc_init_files){1, {file}}, NNC_EVERYTHING);
}

bool nnc_checkpoint_fitted(nnc_session *session, const nnc_safetensors *file) {
  const char *text = nnc_safetensors_metadata(file, "fitted");
  char message[256];
  if (!text || nnc_fitted_parse(&session->fitted, text, message, sizeof message)) return true;
  nnc_error("%s: metadata 'fitted': %s", file->path, message);
  return false;
}

static void warn_of_changes(const nnc_session *session, const nnc_safetensors *file) {
  const char *isa = nnc_safetensors_metadata(file, "isa");
  const char *compiler = nnc_safetensors_metadata(file, "compiler");
  if (isa && strcmp(isa, session->model->isa) != 0)
    nnc_warning("%s was made with %s, this program is for %s: the bits may differ", file->path, isa,
                session->model->isa);
  else if (compiler && strcmp(compiler, session->model->compiler) != 0)
    nnc_warning("%s was made by %s, this program by %s: the bits may differ", file->path, compiler,
                session->model->compiler);
  nnc_warn_source_change(file, session->model);
}

/* Values of schedules; a program that has changed begins them anew. */
static void resume_plateaus(nnc_session *session, const nnc_safetensors *file) {
  const char *text = nnc_safetensors_metadata(file, "plateaus");
  const nnc_plateaus *plateaus = &session->plateaus;
  if (session->model->plateau_count == 0) return;
  if (text && nnc_plateaus_parse(&session->plateaus, text)) {
    if (plateaus->begun_anew < 0) return;
    const nnc_plateau *plateau = &session->model->plateaus[plateaus->begun_anew];
    nnc_note("the plateau of %s.%s begins anew from %g, since %s began with another number",
             plateau->set, session->model->metric_names[plateau->metric],
             plateaus->states[plateaus->begun_anew].value, file->path);
    return;
  }
  nnc_warning("%s has other plateaus: their schedules start anew", file->path);
}

/* A program that watches something else begins anew. */
static void resume_steer(nnc_session *session, const nnc_safetensors *file) {
  nnc_steer *steer = &session->steer;
  char name[NNC_WATCH_NAME];
  const char *flags = nnc_safetensors_metadata(file, "flags");
  if (flags && !nnc_run_flags_recorded(&session->flags, flags, file->path))
    nnc_warning("%s: metadata 'flags' is malformed: '%.100s'", file->path, flags);
  nnc_steer_limit(steer, &session->flags);
  const char *kept = nnc_safetensors_metadata(file, "kept");
  if (steer->best_of && !nnc_steer_parse_best(steer, nnc_safetensors_metadata(file, "best")))
    nnc_warning("%s does not say which %s was best: the best is of what follows", file->path,
                nnc_watch_name(name, steer->model, steer->best_of));
  if (steer->stop_of && !nnc_steer_parse_stop(steer, nnc_safetensors_metadata(file, "patience")))
    nnc_warning("%s does not say how %s went: patience counts from here", file->path,
                nnc_watch_name(name, steer->model, steer->stop_of));
  if (kept && !nnc_steer_parse_kept(steer, kept))
    nnc_warning("%s: metadata 'kept' is malformed: '%.100s'", file->path, kept);
}

static bool bad_metadata(const nnc_safetensors *file, const char *key, const char *text) {
  if (text) nnc_error("%s: metadata '%s' is malformed: '%.100s'", file->path, key, text);
  else
    nnc_error("%s is no checkpoint of a run (no metadata '%s'); --init can use it", file->path,
              key);
  return false;
}

/* False when it is no number of steps; none is there in a program whose schedules need none. */
static bool read_schedule(const char *text, nnc_position *position) {
  char *end = NULL;
  position->schedule_steps = 0;
  if (!text) return true;
  errno = 0;
  long long steps = strtoll(text, &end, 10);
  if (errno || end == text || *end || steps < 0) return false;
  position->schedule_steps = steps;
  return true;
}

bool nnc_checkpoint_resume(nnc_session *session, const nnc_safetensors *file,
                           nnc_position *position, nnc_tally *tally) {
  const char *seed =
      nnc_safetensors_metadata(file, "seed"); /* of the other metadata, fitted comes later */
  const char *format = nnc_safetensors_metadata(file, "format");
  const char *place = nnc_safetensors_metadata(file, "position");
  const char *metrics = nnc_safetensors_metadata(file, "metrics");
  char *end = NULL;
  errno = 0;
  if (!format) return bad_metadata(file, "format", format);
  if (strcmp(format, format_name) != 0) {
    nnc_error("%s is a '%.100s', of another version of nnc; this program reads a '%s'", file->path,
              format, format_name);
    return false;
  }
  if (seed) session->seed = strtoull(seed, &end, 10);
  if (!seed || *seed < '0' || *seed > '9' || *end || errno) return bad_metadata(file, "seed", seed);
  if (!place || !position_parse(position, place)) return bad_metadata(file, "position", place);
  if (!metrics) return bad_metadata(file, "metrics", metrics);
  const char *schedule = nnc_safetensors_metadata(file, "schedule");
  if (!read_schedule(schedule, position)) return bad_metadata(file, "schedule", schedule);
  warn_of_changes(session, file);
  if (!nnc_session_take_options(session, nnc_safetensors_metadata(file, "options"), file->path))
    return false;
  resume_plateaus(session, file);
  resume_steer(session, file);
  if (nnc_tally_parse(tally, metrics)) return true;
  nnc_warning("%s has other metrics; those of this period start anew", file->path);
  nnc_tally_reset(tally);
  return true;
}

int64_t nnc_checkpoint_step(const char *path) {
  nnc_position position = {.step = -1};
  nnc_safetensors *file = nnc_safetensors_open(path);
  const char *place = file ? nnc_safetensors_metadata(file, "position") : NULL;
  if (place && !position_parse(&position, place)) position.step = -1;
  nnc_safetensors_close(file);
  return position.step;
}

int64_t nnc_checkpoint_length(const nnc_model *model, const nnc_position *position) {
  if (position->schedule_steps > 0) return position->schedule_steps;
  return model->epochs > 0 ? model->epochs * position->steps_per_epoch : model->steps;
}

static bool is_absent(const char *path) { return access(path, F_OK) != 0 && errno == ENOENT; }

/* A run is there, or was not yet: only then does the best one wait for a report. */
static bool no_best(const nnc_session *session, const char *path) {
  const nnc_options *options = session->options;
  char command[NNC_COMMAND_BYTES], *folder = nnc_default_folder(options);
  char *last = folder ? nnc_path_join(folder, "checkpoint.safetensors") : NULL;
  nnc_train_command_text(command, options);
  if (!session->steer.best_of)
    nnc_error("there is no %s: training keeps the best checkpoint where the program says "
              "save = best(SET.METRIC)",
              path);
  else if (last && is_absent(last))
    nnc_error("there is no best checkpoint %s: nothing has been trained here; train first: %s",
              path, command);
  else
    nnc_error("there is no best checkpoint %s: this run has reported nothing yet that could be the "
              "best; go on with it: %s --resume",
              path, command);
  free(folder);
  free(last);
  return false;
}

static bool no_checkpoint(const nnc_session *session, const char *path) {
  char command[NNC_COMMAND_BYTES];
  if (session->options->best) return no_best(session, path);
  if (session->model->train.run)
    nnc_error("there is no checkpoint %s; train first: %s, or give one with --init FILE", path,
              nnc_train_command_text(command, session->options));
  else nnc_error("there is no checkpoint %s; give one with --init FILE", path);
  return false;
}

bool nnc_checkpoint_is_there(const nnc_session *session, const char *path) {
  char command[NNC_COMMAND_BYTES];
  if (!is_absent(path)) return true;
  nnc_train_command_text(command, session->options);
  if (strcmp(path, session->checkpoint) == 0)
    nnc_error("there is no checkpoint %s to resume: nothing has been trained here; train first: %s",
              path, command);
  else
    nnc_error("there is no checkpoint %s to resume; --resume without a file goes on with %s", path,
              session->checkpoint);
  return false;
}

bool nnc_checkpoint_has_initial(const nnc_model *model, int variable) {
  for (int i = 0; i < model->initial_count; i++)
    if (model->initials[i].variable == variable) return true;
  return false;
}

/* A program that does not train may have all its parameters by load(): then it needs no checkpoint, unless this has
 * what standardize learnt. */
static bool load_initials(nnc_session *session) {
  const nnc_model *model = session->model;
  for (int i = 0; i < model->variable_count; i++) {
    int kind = model->variables[i].kind;
    if ((kind == NNC_PARAM && !nnc_checkpoint_has_initial(model, i)) || kind == NNC_FITTED)
      return no_checkpoint(session, session->checkpoint);
  }
  return nnc_session_read_initials(session);
}

/* Where the training of the files stood; the beginning when none says. */
static void take_position(const nnc_init_files *files, nnc_position *position) {
  const char *path, *place = nnc_init_files_metadata(files, "position", &path);
  if (!place || !position_parse(position, place)) *position = (nnc_position){.steps_per_epoch = 1};
  if (!read_schedule(nnc_init_files_metadata(files, "schedule", &path), position))
    position->schedule_steps = 0;
}

static bool load_files(nnc_session *session, const nnc_init_files *files, nnc_position *position) {
  const char *path, *options = nnc_init_files_metadata(files, "options", &path);
  if (!nnc_checkpoint_gives_weights(session->model, files) ||
      !nnc_session_take_options(session, options, path))
    return false;
  nnc_session_initialize(session);
  take_position(files, position);
  const char *seed = nnc_init_files_metadata(files, "seed", &path);
  bool has_seed = session->options->has_seed || nnc_settings_give_seed(&session->settings);
  if (seed && !has_seed) session->seed = strtoull(seed, NULL, 10);
  const char *plateaus = nnc_init_files_metadata(files, "plateaus", &path);
  if (plateaus) nnc_plateaus_parse(&session->plateaus, plateaus);
  if (!read_kinds(session, files, NNC_WEIGHTS)) return false;
  for (int i = 0; i < files->count; i++) /* values of a later one replace those of the same name */
    if (!nnc_checkpoint_fitted(session, files->files[i])) return false;
  return nnc_init_files_tell(files, session->model, NULL);
}

bool nnc_checkpoint_load(nnc_session *session, nnc_position *position) {
  const nnc_options *options = session->options;
  bool is_given = options->init_count > 0;
  const char *own = session->checkpoint;
  nnc_init_files files;
  if (!is_given && is_absent(own)) {
    *position = (nnc_position){.steps_per_epoch = 1};
    nnc_session_initialize(session);
    return !session->model->train.run ? load_initials(session) : no_checkpoint(session, own);
  }
  if (!nnc_init_files_open(&files, is_given ? options->init_count : 1,
                           is_given ? options->init : &own))
    return false;
  bool good = load_files(session, &files, position) &&
              nnc_scores_take(session, files.count == 1 ? files.files[0]->path : "--init");
  nnc_init_files_close(&files);
  return good;
}
