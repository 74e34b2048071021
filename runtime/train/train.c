/* The train command: the loop over steps.  Nothing is allocated here but the text of
 * checkpoints.
 *
 * A device may run ahead of the host: then a step's loss is looked at when later steps have begun, but
 * always before anything is reported or saved. */
#include <math.h>

#include "core/options.h"
#include "core/session.h"
#include "core/tally.h"
#include "data/loader.h"
#include "data/skipped.h"
#include "os/assert.h"
#include "os/message.h"
#include "os/stop.h"
#include "train/commands.h"
#include "train/trainer.h"

static bool next_batch(const Trainer *trainer, nnc_feed *feed) {
  nnc_loader *loader = trainer->loader;
  if (trainer->examples) return nnc_loader_next(loader, (void *[]){trainer->examples}).count >= 0;
  nnc_batch batch = nnc_loader_next(loader, nnc_feed_begin(feed));
  nnc_feed_end(feed);
  return batch.count >= 0;
}

/* False when the run must end: the loss of the step is no number. */
static bool check_loss(Trainer *trainer, int64_t step) {
  const nnc_model *model = trainer->model;
  if (model->metric_count == 0) return true;
  nnc_tally_metrics(&trainer->step_tally, model, &model->train, trainer->step_metrics);
  double loss = trainer->step_metrics[0];
  if (isfinite(loss)) return true;
  if (!trainer->options->keep_going) trainer->failed_step = step;
  if (trainer->is_replay) return false;
  long long number = (long long)step;
  if (trainer->options->keep_going) {
    nnc_warning("step %lld: %s is %g", number, model->metric_names[0], loss);
    return true;
  }
  if (trainer->saved_step >= 0)
    nnc_error("step %lld: %s is %g; training stops. %s holds step %lld", number,
              model->metric_names[0], loss, trainer->session->checkpoint,
              (long long)trainer->saved_step);
  else
    nnc_error("step %lld: %s is %g; training stops, and nothing was saved yet", number,
              model->metric_names[0], loss);
  return false;
}

/* What the run that comes first of those that have not been looked at has left. */
static void look(Trainer *trainer) {
  const nnc_device *device = trainer->session->device;
  const Unseen *unseen = &trainer->unseen[trainer->first_unseen];
  trainer->first_unseen = (trainer->first_unseen + 1) % trainer->unseen_room;
  trainer->unseen_count--;
  nnc_tally_take(&trainer->tally, unseen->entry, device, unseen->number);
  nnc_tally_take(&trainer->step_tally, unseen->entry, device, unseen->number);
  if (unseen->step == 0) return;
  if (!trainer->has_failed && !check_loss(trainer, unseen->step)) trainer->has_failed = true;
  nnc_tally_reset(&trainer->step_tally);
}

/* A run has begun: those before it are looked at that hold up the device no more. */
static void note_run(Trainer *trainer, const nnc_entry *entry, int64_t step) {
  int64_t at = (trainer->first_unseen + trainer->unseen_count++) % trainer->unseen_room;
  trainer->unseen[at] = (Unseen){entry, nnc_device_under_way(trainer->session->device), step};
  if (trainer->unseen_count == trainer->unseen_room) look(trainer);
}

/* Nothing of the steps so far is under way any more; false as check_loss. */
bool nnc_trainer_settle(Trainer *trainer) {
  while (trainer->unseen_count > 0) look(trainer);
  return !trainer->has_failed;
}

/* False when its examples cannot be read; then nothing has changed. */
static bool run_minibatch(Trainer *trainer, const nnc_entry *entry, nnc_feed *feed,
                          int64_t number) {
  nnc_session *session = trainer->session;
  int64_t step = trainer->position.step + 1;
  if (trainer->loader && !next_batch(trainer, feed)) return false;
  nnc_session_run_on(session, entry, trainer->examples, step, number * entry->batch);
  note_run(trainer, entry, entry == &trainer->model->train ? step : 0);
  return true;
}

int64_t nnc_trainer_minibatches(const nnc_model *model) {
  return model->accumulation > 1 ? model->accumulation : 1;
}

/* One step: `accumulation` - 1 minibatches that add up gradients, and one that updates.  Returns
 * how many of them ran. */
int64_t nnc_trainer_run_step(Trainer *trainer) {
  const nnc_model *model = trainer->model;
  nnc_position *position = &trainer->position;
  int64_t last = nnc_trainer_minibatches(model) - 1;
  if (position->step_in_epoch == 0) nnc_streams_start(trainer->session);
  nnc_session_host(trainer->session, position->step + 1, position->epoch, position->schedule_steps,
                   position->steps_per_epoch);
  for (int64_t i = 0; i < last; i++)
    if (!run_minibatch(trainer, &model->accumulate, &trainer->accumulate_feed, i)) return i;
  return last + run_minibatch(trainer, &model->train, &trainer->train_feed, last);
}

/* Batches that fill no step are left out: the loader goes on with the next epoch. */
void nnc_trainer_advance(Trainer *trainer) {
  nnc_position *position = &trainer->position;
  int64_t epoch, index;
  position->step++;
  trainer->is_best = trainer->keep_is_due = false;
  position->step_in_epoch++;
  NNC_ASSERT(position->step_in_epoch <= position->steps_per_epoch);
  bool ends_epoch = position->step_in_epoch == position->steps_per_epoch;
  if (ends_epoch) {
    position->epoch++;
    position->step_in_epoch = 0;
  }
  if (ends_epoch && trainer->loader) {
    nnc_loader_position(trainer->loader, &epoch, &index);
    if (index != 0) nnc_loader_seek(trainer->loader, position->epoch, 0);
  }
  bool is_due =
      trainer->validate_steps > 0 ? position->step % trainer->validate_steps == 0 : ends_epoch;
  position->report_is_due = is_due || position->step == trainer->total_steps;
}

/* An example could not be read.  What the steps before it did is saved, unless the step had begun:
 * then its sums hold a part of it. */
static int starved(Trainer *trainer, bool has_begun) {
  nnc_error("%s", nnc_loader_failure(trainer->loader));
  if (!has_begun && nnc_trainer_may_save(trainer) && nnc_trainer_save(trainer))
    nnc_note("step %lld is saved, --resume continues", (long long)trainer->position.step);
  return NNC_EXIT_FAILURE;
}

static int interrupted(Trainer *trainer) {
  if (!nnc_trainer_may_save(trainer)) {
    nnc_note("interrupted before the first step; nothing is saved");
    return trainer->evaluator.has_failed ? NNC_EXIT_FAILURE : NNC_EXIT_INTERRUPTED;
  }
  if (!nnc_trainer_save(trainer) || trainer->evaluator.has_failed) return NNC_EXIT_FAILURE;
  nnc_note("interrupted; step %lld is saved, --resume continues",
           (long long)trainer->position.step);
  return NNC_EXIT_INTERRUPTED;
}

static int finished(Trainer *trainer) {
  bool was_saved = trainer->saved_step == trainer->position.step;
  if (!nnc_trainer_save(trainer)) return NNC_EXIT_FAILURE;
  nnc_trainer_say_classes(trainer);
  nnc_trainer_say_stop(trainer);
  nnc_trainer_say_best(trainer);
  nnc_note(was_saved ? "%s holds step %lld" : "saved %s (step %lld)", trainer->session->checkpoint,
           (long long)trainer->saved_step);
  return trainer->log.has_failed || trainer->events.has_failed ? NNC_EXIT_FAILURE : NNC_EXIT_OK;
}

/* What comes between two steps: true when the run ends, with *code. */
static bool ends_here(Trainer *trainer, int *code) {
  bool is_reported = trainer->position.report_is_due;
  bool is_over = trainer->position.step >= trainer->total_steps;
  bool is_stopped = nnc_stop_requested();
  *code = NNC_EXIT_FAILURE;
  if ((is_reported || is_over || is_stopped) && !nnc_trainer_settle(trainer)) return true;
  if (is_reported && !nnc_trainer_report(trainer)) return *code = interrupted(trainer), true;
  nnc_trainer_choose_kept(trainer, is_reported);
  if (is_over || nnc_steer_stops(&trainer->session->steer)) return *code = finished(trainer), true;
  if (nnc_trainer_save_is_due(trainer, is_reported)) {
    if (!nnc_trainer_settle(trainer)) return true;
    if (!nnc_trainer_save(trainer)) nnc_warning("training goes on; the next save tries again");
  }
  if (!nnc_stop_requested()) return false;
  if (nnc_trainer_settle(trainer)) *code = interrupted(trainer);
  return true;
}

static int run_steps(Trainer *trainer) {
  int code;
  const nnc_loader *loader = trainer->loader;
  nnc_progress_start(&trainer->progress, trainer->position.step,
                     loader && nnc_loader_makes_rows(loader) ? loader : NULL);
  nnc_trainer_begin_period(trainer);
  while (!ends_here(trainer, &code)) {
    int64_t ran = nnc_trainer_run_step(trainer);
    if (ran < nnc_trainer_minibatches(trainer->model))
      return nnc_trainer_settle(trainer) ? starved(trainer, ran > 0) : NNC_EXIT_FAILURE;
    if (trainer->checker && !nnc_trainer_check(trainer)) return NNC_EXIT_FAILURE;
    nnc_trainer_advance(trainer);
    trainer->has_stepped = true;
    if (trainer->data) nnc_skipped_tell(nnc_data_skipped(trainer->data));
    bool shows = nnc_progress_is_due(&trainer->progress);
    if (trainer->has_failed || (shows && !nnc_trainer_settle(trainer))) return NNC_EXIT_FAILURE;
    nnc_trainer_show_step(trainer);
  }
  return code;
}

int nnc_train_command(const nnc_options *options) {
  nnc_session session;
  Trainer trainer;
  if (options->check_numerics && options->keep_going) {
    nnc_error("--check-numerics stops at what is not finite, --keep-going does not: give one");
    return NNC_EXIT_USAGE;
  }
  if (!nnc_stop_install() || !nnc_session_open(&session, options)) return NNC_EXIT_FAILURE;
  int code = NNC_EXIT_FAILURE;
  if (nnc_trainer_open(&trainer, &session)) {
    if (!options->check_numerics || nnc_trainer_begin_checks(&trainer)) code = run_steps(&trainer);
    nnc_progress_end();
    if (trainer.has_stepped) nnc_trainer_follow(&trainer, false);
    if (code == NNC_EXIT_FAILURE && trainer.failed_step > 0 && !trainer.checker)
      nnc_trainer_explain(&trainer);
    nnc_trainer_end_checks(&trainer);
    nnc_trainer_close(&trainer);
  }
  nnc_session_close(&session);
  return code;
}
