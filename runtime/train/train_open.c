/* Opening a training run: data, folder, log, weights.  Whatever can be wrong is found here,
 * before the first step. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/planned.h"
#include "core/safetensors.h"
#include "core/scores.h"
#include "core/session.h"
#include "core/tally.h"
#include "data/loader.h"
#include "data/open.h"
#include "data/read.h"
#include "data/session_data.h"
#include "os/clock.h"
#include "os/lock.h"
#include "os/memory.h"
#include "os/message.h"
#include "os/replace.h"
#include "train/report.h"
#include "train/trainer.h"

/* --- Data ----------------------------------------------------------------------------------- */

static const nnc_data_set *find_set(const nnc_model *model, const char *name) {
  for (int i = 0; i < model->data_set_count; i++)
    if (strcmp(model->data_sets[i].name, name) == 0) return &model->data_sets[i];
  return NULL;
}

static bool wants_training(const Trainer *trainer) {
  const nnc_options *options = trainer->options;
  if (options->epochs >= 0) return options->epochs > 0;
  if (options->steps >= 0) return options->steps > 0;
  return trainer->model->epochs > 0 || trainer->model->steps > 0;
}

/* What the device keeps is loaded no more: batches are the numbers of their examples. */
static bool keep_data(Trainer *trainer, nnc_loader_options *options) {
  if (!nnc_session_keep_data(trainer->session, trainer->data)) return true;
  options->names = true;
  trainer->examples = calloc((size_t)options->batch + 1, sizeof *trainer->examples);
  if (!trainer->examples) nnc_error("cannot allocate a batch of %lld", (long long)options->batch);
  return trainer->examples != NULL;
}

static bool open_loader(Trainer *trainer) {
  nnc_session *session = trainer->session;
  const nnc_model *model = trainer->model;
  char message[NNC_MESSAGE];
  trainer->data = nnc_session_open_data(session, "train", &model->train);
  if (!trainer->data) return false;
  nnc_loader_options options = nnc_loader_training(model, trainer->data);
  options.seed = session->seed;
  bool keeps = wants_training(trainer) && !trainer->options->check_numerics;
  if (keeps && !keep_data(trainer, &options)) return false;
  trainer->loader = nnc_loader_open(trainer->data, &options, message);
  if (!trainer->loader) nnc_error("data train: %s", message);
  if (!trainer->loader ||
      !nnc_feed_open(&trainer->train_feed, session->device, &model->train, &model->train))
    return false;
  return model->accumulation <= 1 || nnc_feed_open(&trainer->accumulate_feed, session->device,
                                                   &model->train, &model->accumulate);
}

static bool open_data(Trainer *trainer) {
  const nnc_model *model = trainer->model;
  const nnc_data_set *set = find_set(model, "train");
  bool trains = wants_training(trainer);
  bool only_saves = trainer->options->epochs == 0 || trainer->options->steps == 0;
  if (!model->train.run && !only_saves) {
    nnc_error("%s does not train: it has no 'train' block%s", model->file,
              model->predict.run ? "; its command is predict" : "");
    return false;
  }
  if (model->train.input_count == 0) {
    if (trains) (void)nnc_session_keep_rows(trainer->session, NULL);
    return true;
  }
  if (!set && trains) {
    nnc_error("%s has inputs but no 'data train'", model->file);
    return false;
  }
  if (!set || (!trains && !nnc_data_learns(set))) return true;
  return open_loader(trainer);
}

/* --- How long ------------------------------------------------------------------------------- */

/* The step at which `epochs` epochs are over. */
static int64_t step_after(const nnc_position *position, int64_t epochs, int64_t per_epoch) {
  int64_t whole, left = epochs - position->epoch;
  if (__builtin_mul_overflow(left, per_epoch, &whole) || whole > INT64_MAX / 2)
    return INT64_MAX / 2;
  return position->step + whole - position->step_in_epoch;
}

/* How long schedules take the run to be: what --schedule says; what they began with, so that a run
 * that is resumed in parts does not end its schedule in each; else the whole run. */
static void choose_schedule(Trainer *trainer) {
  nnc_position *position = &trainer->position;
  int64_t given = trainer->options->schedule, kept = position->schedule_steps, steps;
  bool counts_epochs = trainer->total_epochs > 0 || trainer->options->epochs == 0;
  bool have_length = trainer->session->schedules_have_length;
  if (given >= 0) {
    if (!have_length)
      nnc_warning("--schedule %lld changes nothing: no schedule of %s depends on the run's length",
                  (long long)given, trainer->model->file);
    if (__builtin_mul_overflow(given, counts_epochs ? position->steps_per_epoch : 1, &steps))
      steps = INT64_MAX / 2;
    position->schedule_steps = steps;
    return;
  }
  if (!trainer->options->resume || kept == 0) {
    position->schedule_steps = trainer->total_steps;
    return;
  }
  if (kept < trainer->total_steps && have_length)
    nnc_warning("the schedules were made for %lld steps and keep that length: from there to step "
                "%lld they stay at their end; --schedule N makes them N %s long",
                (long long)kept, (long long)trainer->total_steps,
                counts_epochs ? "epochs" : "steps");
}

static bool find_length(Trainer *trainer) {
  const nnc_model *model = trainer->model;
  const nnc_options *options = trainer->options;
  nnc_position *position = &trainer->position;
  int64_t epochs = options->epochs >= 0 ? options->epochs : options->steps >= 0 ? 0 : model->epochs;
  int64_t steps = options->steps >= 0 ? options->steps : model->steps;
  int64_t batches = trainer->loader ? nnc_loader_batches(trainer->loader) : 0;
  int64_t per_epoch = trainer->loader ? batches / model->accumulation : epochs > 0 ? 1 : steps;
  if (trainer->loader && per_epoch < 1) {
    nnc_error("data train: %lld batches are fewer than the %lld of one step (accumulate)",
              (long long)batches, (long long)model->accumulation);
    return false;
  }
  if (per_epoch < 1) per_epoch = 1;
  if (position->step_in_epoch > 0 && position->steps_per_epoch != per_epoch) {
    nnc_warning("an epoch has %lld steps, in the checkpoint it had %lld: epoch %lld starts anew",
                (long long)per_epoch, (long long)position->steps_per_epoch,
                (long long)position->epoch + 1);
    position->step_in_epoch = 0;
  }
  position->steps_per_epoch = per_epoch;
  trainer->total_epochs = epochs;
  trainer->total_steps =
      epochs > 0 || options->epochs == 0 ? step_after(position, epochs, per_epoch) : steps;
  choose_schedule(trainer);
  int64_t every = trainer->session->flags.validate_every;
  trainer->validate_steps = every >= 0 ? every : model->validate_steps;
  return true;
}

/* --- Folder, log, weights ------------------------------------------------------------------- */

static bool open_folder(Trainer *trainer) {
  trainer->folder = nnc_default_folder(trainer->options);
  if (!trainer->folder || !nnc_make_folder(trainer->folder, &trainer->folder_made)) return false;
  if (access(trainer->folder, W_OK) != 0) {
    nnc_error_system("write to the folder", trainer->folder);
    return false;
  }
  return nnc_folder_lock(trainer->folder, &trainer->folder_lock);
}

/* A resumed run drops the lines that it will write again; a new one, and one that goes on with the
 * checkpoint of another folder, keeps an earlier run's log under another name, unless the file was
 * named by --log. */
static bool prepare_log(Trainer *trainer) {
  const nnc_position *position = &trainer->position;
  const nnc_options *options = trainer->options;
  if (trainer->resumes_own || (options->resume && options->log))
    return nnc_log_cut(trainer->log_path, position->step, !position->report_is_due,
                       &trainer->seconds);
  if (options->log) return true;
  trainer->log_keep_path = nnc_path_join(trainer->folder, "log.previous.jsonl");
  return trainer->log_keep_path != NULL;
}

static bool open_log(Trainer *trainer) {
  trainer->log_path = trainer->options->log ? strdup(trainer->options->log)
                                            : nnc_path_join(trainer->folder, "log.jsonl");
  if (!trainer->log_path) return false;
  return prepare_log(trainer) &&
         nnc_log_open(&trainer->log, trainer->log_path, trainer->log_keep_path);
}

/* A resumed run goes on with the events that are there, whichever checkpoint it has: DIR is of this run. */
static bool open_events(Trainer *trainer) {
  const nnc_position *position = &trainer->position;
  const nnc_options *options = trainer->options;
  return !options->tensorboard ||
         nnc_event_file_open(&trainer->events, options->tensorboard, options->resume != NULL,
                             position->step, !position->report_is_due);
}

static bool open_page(Trainer *trainer) {
  if (!trainer->options->report_live) return true;
  const struct nnc_report_writer *writer = nnc_report_writer_of(trainer->model, "--report-live");
  if (!writer) return false;
  if (!trainer->log.is_regular) {
    nnc_error("--report-live: the page is made of the log, and %s is no file", trainer->log_path);
    return false;
  }
  trainer->page = nnc_path_join(trainer->folder, "report.html");
  return trainer->page && writer->may_follow(&(nnc_followed_run){.page = trainer->page});
}

static const char *resume_path(const Trainer *trainer) {
  const char *given = trainer->options->resume;
  return given && *given ? given : trainer->session->checkpoint;
}

/* What a run without a step would do to the checkpoint of one that has trained. */
static bool refuse_untrained(const Trainer *trainer) {
  nnc_error("%s is of an earlier run, and this one has no step to do: it would only replace it; "
            "choose another folder with --out",
            trainer->session->checkpoint);
  return false;
}

/* What a new run finds in its folder is kept under another name until the run after.  A checkpoint
 * of step 0 does not take the name from one that has trained. */
static bool choose_keep(Trainer *trainer) {
  const char *checkpoint = trainer->session->checkpoint;
  if (trainer->resumes_own || access(checkpoint, F_OK) != 0) return true;
  bool is_trained = nnc_checkpoint_step(checkpoint) != 0;
  if (is_trained && trainer->position.step >= trainer->total_steps)
    return refuse_untrained(trainer);
  char *keep = nnc_path_join(trainer->folder, "checkpoint.previous.safetensors");
  if (!keep) return false;
  if (!is_trained && access(keep, F_OK) == 0) {
    free(keep);
    return true;
  }
  trainer->keep_path = keep;
  return true;
}

/* Reads what must be known before the data are opened: the seed and the fitted values. */
static nnc_safetensors *open_resumed(Trainer *trainer) {
  nnc_session *session = trainer->session;
  const char *path = resume_path(trainer);
  if (!nnc_checkpoint_is_there(session, path)) return NULL;
  nnc_safetensors *file = nnc_checkpoint_open(session, path);
  if (!file) return NULL;
  if (nnc_checkpoint_resume(session, file, &trainer->position, &trainer->tally) &&
      nnc_checkpoint_fitted(session, file))
    return file;
  nnc_safetensors_close(file);
  return NULL;
}

static bool load_weights(Trainer *trainer, nnc_safetensors *resumed) {
  nnc_session *session = trainer->session;
  nnc_session_initialize(session);
  bool good = resumed ? nnc_checkpoint_read(session, resumed)
                      : nnc_session_read_initials(session) && nnc_checkpoint_init(session);
  return good && nnc_scores_take(session, NULL);
}

static bool open_tallies(Trainer *trainer) {
  const nnc_model *model = trainer->model;
  size_t rows = (size_t)model->data_set_count + 1;
  if (!nnc_tally_open(&trainer->tally, &model->train)) return false;
  if (!nnc_tally_open(&trainer->step_tally, &model->train)) return false;
  trainer->metrics = calloc(rows * (size_t)model->metric_count + 1, sizeof(double));
  trainer->step_metrics = calloc((size_t)model->metric_count + 1, sizeof(double));
  trainer->rates = calloc((size_t)model->rate_count + 1, sizeof(double));
  if (trainer->metrics && trainer->step_metrics && trainer->rates) return true;
  nnc_error("cannot allocate %d metrics", model->metric_count);
  return false;
}

/* When the device is open with all that it keeps. */
static bool open_unseen(Trainer *trainer) {
  trainer->unseen_room = nnc_device_behind(trainer->session->device) + 1;
  trainer->unseen = calloc((size_t)trainer->unseen_room, sizeof *trainer->unseen);
  if (!trainer->unseen) nnc_error("cannot allocate the list of runs under way");
  return trainer->unseen != NULL;
}

/* When to save and what to keep: as the flags say, of this run or of the checkpoint, else as the program does. */
static bool choose_saves(Trainer *trainer) {
  const nnc_model *model = trainer->model;
  const nnc_interval *given = &trainer->session->flags.save_every;
  bool is_given = given->steps > 0 || given->epochs > 0 || given->minutes > 0;
  trainer->save_every =
      is_given ? *given
               : (nnc_interval){model->save_steps, model->save_epochs, model->save_minutes};
  if (trainer->options->patience >= 0 && !trainer->session->steer.stop_of) {
    nnc_error("--patience: %s does not say what to wait for: stop = patience(COUNT, SET.METRIC)",
              model->file);
    return false;
  }
  if (trainer->options->resume) nnc_trainer_recover_kept(trainer);
  return true;
}

static bool open_rest(Trainer *trainer, nnc_safetensors *resumed) {
  return open_data(trainer) && open_unseen(trainer) && find_length(trainer) &&
         (trainer->total_steps == 0 ||
          nnc_evaluator_open(&trainer->evaluator, trainer->session, 0, NULL)) &&
         nnc_trainer_open_classes(trainer) && open_folder(trainer) && choose_keep(trainer) &&
         choose_saves(trainer) && open_log(trainer) && open_events(trainer) && open_page(trainer) &&
         load_weights(trainer, resumed);
}

/* What the run holds: the plan is exact, the program itself and its stacks come to it. */
static void say_memory(const Trainer *trainer) {
  const nnc_session *session = trainer->session;
  int64_t plan = nnc_planned_bytes(session->model, nnc_device_workers(session->device));
  int64_t data = trainer->data ? nnc_data_bytes(trainer->data) : 0;
  for (int i = 0; i < trainer->evaluator.count; i++)
    data += nnc_data_bytes(trainer->evaluator.sets[i].data);
  char planned[NNC_FORMAT_BYTES], held[NNC_FORMAT_BYTES], there[NNC_FORMAT_BYTES];
  nnc_format_bytes(planned, (double)plan);
  nnc_format_bytes(held, (double)data);
  int64_t kept = nnc_device_kept_bytes(session->device);
  if (kept > 0)
    nnc_note("%s planned on the device, %s of data, %s of them there too", planned, held,
             nnc_format_bytes(there, (double)kept));
  else if (nnc_device_has_number()) nnc_note("%s planned on the device, %s of data", planned, held);
  else
    nnc_note("%s planned for %d thread%s, %s of data", planned, session->threads,
             session->threads == 1 ? "" : "s", held);
}

/* Where a run goes on.  Epochs are counted from 1, steps are those that are done. */
static void say_resumed(const Trainer *trainer) {
  const nnc_position *position = &trainer->position;
  char epoch[80] = "";
  long long number = (long long)position->epoch + 1;
  bool counts_epochs = trainer->total_epochs > 0 || trainer->options->epochs == 0;
  if (position->step >= trainer->total_steps)
    snprintf(epoch, sizeof epoch, ": no step is left to do; a greater --%s goes on",
             counts_epochs ? "epochs" : "steps");
  else if (trainer->total_epochs > 0 && position->step_in_epoch == 0)
    snprintf(epoch, sizeof epoch, "; epoch %lld begins", number);
  else if (trainer->total_epochs > 0)
    snprintf(epoch, sizeof epoch, "; epoch %lld goes on after %lld of its %lld steps", number,
             (long long)position->step_in_epoch, (long long)position->steps_per_epoch);
  nnc_note("resumes %s: step %lld of %lld is done%s", resume_path(trainer),
           (long long)position->step, (long long)trainer->total_steps, epoch);
}

static bool keeps_drawn(const nnc_model *model, int variable) {
  const nnc_variable *v = &model->variables[variable];
  bool is_weight = v->kind == NNC_PARAM || v->kind == NNC_STATE;
  return is_weight && v->frozen && v->drawn && !nnc_checkpoint_has_initial(model, variable);
}

/* Frozen random numbers are rarely meant: usually a trained layer was to be read.  With --init it is an
 * error that the file lacks it, and a checkpoint has all. */
static void warn_of_drawn(const Trainer *trainer) {
  const nnc_model *model = trainer->model;
  const char *first = NULL;
  int count = 0;
  if (trainer->options->init_count > 0 || trainer->options->resume) return;
  for (int i = 0; i < model->variable_count; i++) {
    if (!keeps_drawn(model, i)) continue;
    if (count++ == 0) first = model->variables[i].tensor.name;
  }
  char others[40] = "";
  if (count > 1)
    snprintf(others, sizeof others, " and %d more tensor%s", count - 1, count > 2 ? "s" : "");
  if (count > 0)
    nnc_warning(
        "'%s'%s: frozen, and nothing but random numbers; --init FILE reads trained values, as "
        "load(\"...\") does in the program",
        first, others);
}

/* What nnc_trainer_return needs when nothing has been saved by then. */
static bool note_begin(Trainer *trainer) {
  trainer->begin = (nnc_begin){.position = trainer->position,
                               .plateaus = nnc_plateaus_format(&trainer->session->plateaus),
                               .tally = nnc_tally_format(&trainer->tally)};
  if (trainer->begin.plateaus && trainer->begin.tally) return true;
  nnc_error("cannot allocate what the run begins with");
  return false;
}

/* The examples that come next; what a device keeps is loaded again, since it is to be looked at. */
static bool reload(Trainer *trainer) {
  const nnc_position *position = &trainer->position;
  char message[NNC_MESSAGE];
  if (trainer->examples) {
    nnc_loader_options options = nnc_loader_training(trainer->model, trainer->data);
    options.seed = trainer->session->seed;
    nnc_loader_close(trainer->loader);
    free(trainer->examples);
    trainer->examples = NULL;
    trainer->loader = nnc_loader_open(trainer->data, &options, message);
    if (!trainer->loader) nnc_error("data train: %s", message);
    if (!trainer->loader) return false;
  }
  if (trainer->loader)
    nnc_loader_seek(trainer->loader, position->epoch,
                    position->step_in_epoch * trainer->model->accumulation);
  return true;
}

bool nnc_trainer_return(Trainer *trainer) {
  nnc_session *session = trainer->session;
  bool is_saved = trainer->saved_step >= 0, is_quiet = nnc_message_is_quiet();
  const char *path = is_saved                   ? session->checkpoint
                     : trainer->options->resume ? resume_path(trainer)
                                                : NULL;
  nnc_safetensors *file = path ? nnc_checkpoint_open(session, path) : NULL;
  if (path && !file) return false;
  trainer->position = trainer->begin.position;
  nnc_message_quiet(true); /* what is loaded was told when the run began */
  bool good = load_weights(trainer, file);
  if (good && is_saved) {
    nnc_position position;
    good = nnc_checkpoint_resume(session, file, &position, &trainer->tally);
    trainer->position.step = position.step;
    trainer->position.epoch = position.epoch;
    trainer->position.step_in_epoch = position.step_in_epoch;
    trainer->position.report_is_due = position.report_is_due;
  } else if (good) {
    good = nnc_plateaus_parse(&session->plateaus, trainer->begin.plateaus) &&
           nnc_tally_parse(&trainer->tally, trainer->begin.tally);
  }
  nnc_message_quiet(is_quiet);
  nnc_safetensors_close(file);
  return good && reload(trainer);
}

bool nnc_trainer_open(Trainer *trainer, nnc_session *session) {
  nnc_safetensors *resumed = NULL;
  *trainer = (Trainer){.session = session,
                       .model = session->model,
                       .options = session->options,
                       .folder_lock = -1,
                       .events = {.fd = -1},
                       .saved_step = -1};
  trainer->position = (nnc_position){.steps_per_epoch = 1};
  trainer->resumes_own =
      trainer->options->resume && strcmp(resume_path(trainer), session->checkpoint) == 0;
  bool good = open_tallies(trainer) && nnc_checkpoint_init_opens(trainer->options);
  if (good && trainer->options->resume) {
    resumed = open_resumed(trainer);
    good = resumed != NULL;
  }
  good = good && open_rest(trainer, resumed) && nnc_plateaus_check(&session->plateaus) &&
         note_begin(trainer);
  nnc_safetensors_close(resumed);
  if (!good) {
    nnc_trainer_close(trainer);
    return false;
  }
  const nnc_position *position = &trainer->position;
  if (trainer->loader)
    nnc_loader_seek(trainer->loader, position->epoch,
                    position->step_in_epoch * trainer->model->accumulation);
  if (trainer->resumes_own && !position->report_is_due) trainer->saved_step = position->step;
  if (trainer->options->resume) say_resumed(trainer);
  if (trainer->keep_path)
    nnc_note("the first save renames %s to %s", session->checkpoint, trainer->keep_path);
  if (position->step < trainer->total_steps) {
    warn_of_drawn(trainer);
    say_memory(trainer);
    if (trainer->page) nnc_note("the page about the run is %s", trainer->page);
  }
  trainer->start = trainer->save_time = nnc_seconds_now();
  trainer->start -= trainer->seconds;
  return true;
}

void nnc_trainer_close(Trainer *trainer) {
  nnc_loader_close(trainer->loader);
  nnc_data_close(trainer->data);
  nnc_trainer_close_classes(trainer);
  nnc_evaluator_close(&trainer->evaluator);
  nnc_tally_close(&trainer->tally);
  nnc_tally_close(&trainer->step_tally);
  nnc_log_close(&trainer->log);
  nnc_event_file_close(&trainer->events);
  if (trainer->folder) nnc_remove_made(trainer->folder, trainer->folder_made);
  nnc_folder_unlock(trainer->folder_lock);
  nnc_feed_close(&trainer->train_feed);
  nnc_feed_close(&trainer->accumulate_feed);
  free(trainer->begin.plateaus);
  free(trainer->begin.tally);
  free(trainer->examples);
  free(trainer->unseen);
  free(trainer->metrics);
  free(trainer->step_metrics);
  free(trainer->rates);
  free(trainer->folder);
  free(trainer->log_path);
  free(trainer->page);
  free(trainer->keep_path);
  free(trainer->log_keep_path);
}
