/* Which checkpoints of a run stay: the best one, the best k, the last k.
 *
 * They are links to a checkpoint that has just been written, which is replaced and never written in place. That
 * checkpoint says which of them there are; so a run that was killed in between makes up for it when it is resumed
 * (nnc_trainer_recover_kept), and no file is newer than the checkpoint. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os/message.h"
#include "os/replace.h"
#include "train/trainer.h"

static const char best_file[] = "best.safetensors", kept_folder[] = "kept";

/* OUT/NAME; "" after a message. */
static const char *path_in(const Trainer *trainer, char path[NNC_KEPT_PATH], const char *name) {
  int length = snprintf(path, NNC_KEPT_PATH, "%s/%s", trainer->folder, name);
  if (length < NNC_KEPT_PATH) return path;
  nnc_error("the folder's name is too long: %s", trainer->folder);
  path[0] = '\0';
  return path;
}

static const char *kept_path(const Trainer *trainer, char path[NNC_KEPT_PATH], const char *what,
                             int64_t step) {
  char name[64];
  snprintf(name, sizeof name, "%s/%s-%lld.safetensors", kept_folder, what, (long long)step);
  return path_in(trainer, path, name);
}

const char *nnc_trainer_best_path(const Trainer *trainer, char path[NNC_KEPT_PATH]) {
  return path_in(trainer, path, best_file);
}

static bool link_to(const Trainer *trainer, const char *path) {
  return *path && nnc_replace_link(trainer->session->checkpoint, path);
}

static bool link_kept(const Trainer *trainer, const char *what, int64_t step) {
  char folder[NNC_KEPT_PATH], path[NNC_KEPT_PATH];
  size_t made;
  return *path_in(trainer, folder, kept_folder) && nnc_make_folder(folder, &made) &&
         link_to(trainer, kept_path(trainer, path, what, step));
}

static void remove_file(const char *path) {
  if (*path && unlink(path) != 0 && errno != ENOENT) nnc_error_system("remove", path);
}

/* What has fallen out of a list. */
static void remove_fallen(const Trainer *trainer, const nnc_marks *marks, const char *what) {
  char path[NNC_KEPT_PATH];
  for (int64_t i = marks->limit; i < marks->count; i++)
    remove_file(kept_path(trainer, path, what, marks->items[i].step));
}

/* ---- after a save -------------------------------------------------------------------------- */

static bool publish_best(const Trainer *trainer, int64_t step) {
  const nnc_marks *best = &trainer->session->steer.best;
  char path[NNC_KEPT_PATH];
  if (!nnc_marks_find(best, step)) return true;
  if (best->limit > 1 && !link_kept(trainer, "best", step)) return false;
  if (best->items[0].step == step && !link_to(trainer, nnc_trainer_best_path(trainer, path)))
    return false;
  if (best->limit > 1) remove_fallen(trainer, best, "best");
  return true;
}

static bool publish_kept(const Trainer *trainer, int64_t step) {
  const nnc_marks *kept = &trainer->session->steer.kept;
  if (!nnc_marks_find(kept, step)) return true;
  if (!link_kept(trainer, "step", step)) return false;
  remove_fallen(trainer, kept, "step");
  return true;
}

void nnc_trainer_retract_kept(Trainer *trainer) {
  nnc_steer *steer = &trainer->session->steer;
  nnc_marks_retract(&steer->best, trainer->position.step);
  nnc_marks_retract(&steer->kept, trainer->position.step);
}

void nnc_trainer_publish_kept(Trainer *trainer) {
  nnc_steer *steer = &trainer->session->steer;
  int64_t step = trainer->position.step;
  bool has_best = publish_best(trainer, step), has_kept = publish_kept(trainer, step);
  if (!has_best) nnc_marks_retract(&steer->best, step);
  if (!has_kept) nnc_marks_retract(&steer->kept, step);
  if (!has_best || !has_kept)
    nnc_warning("the checkpoint of step %lld is not kept; training goes on", (long long)step);
}

/* ---- a run's beginning --------------------------------------------------------------------- */

static bool is_kept_file(const char *name) {
  const char ending[] = ".safetensors";
  size_t length = strlen(name), end = sizeof ending - 1;
  return (strncmp(name, "step-", 5) == 0 || strncmp(name, "best-", 5) == 0) && length > end &&
         strcmp(name + length - end, ending) == 0;
}

/* Moves the checkpoints of a folder that a run has made to the folder `to`, or removes them where that is NULL. Whatever
 * else lies in it stays, and then the folder, too. */
static void clear_kept_folder(const char *folder, const char *to) {
  DIR *files = opendir(folder);
  char path[NNC_KEPT_PATH + 256], moved[NNC_KEPT_PATH + 256];
  for (struct dirent *file; files && (file = readdir(files));) {
    if (!is_kept_file(file->d_name)) continue;
    snprintf(path, sizeof path, "%s/%s", folder, file->d_name);
    if (!to) {
      remove_file(path);
      continue;
    }
    snprintf(moved, sizeof moved, "%s/%s", to, file->d_name);
    if (rename(path, moved) != 0) nnc_error_system("rename", path);
  }
  if (files) closedir(files); /* only read from */
  (void)rmdir(folder);
}

static void rename_old(const Trainer *trainer, const char *name, const char *previous) {
  char from[NNC_KEPT_PATH], to[NNC_KEPT_PATH];
  if (!*path_in(trainer, from, name) || !*path_in(trainer, to, previous)) return;
  if (access(from, F_OK) == 0 && rename(from, to) != 0) nnc_error_system("rename", from);
}

static void rename_old_folder(const Trainer *trainer) {
  char from[NNC_KEPT_PATH], to[NNC_KEPT_PATH];
  size_t made;
  if (!*path_in(trainer, from, kept_folder) || !*path_in(trainer, to, "kept.previous")) return;
  if (access(from, F_OK) != 0) return;
  clear_kept_folder(to, NULL);
  if (nnc_make_folder(to, &made)) clear_kept_folder(from, to);
}

void nnc_trainer_put_aside(Trainer *trainer) {
  if (trainer->resumes_own || trainer->has_put_aside) return;
  trainer->has_put_aside = true;
  rename_old(trainer, best_file, "best.previous.safetensors");
  rename_old_folder(trainer);
}

/* Files of the checkpoint that is resumed, which a killed run may not have come to. */
static void make_up(Trainer *trainer) {
  nnc_steer *steer = &trainer->session->steer;
  if (steer->kept.limit == 0) nnc_marks_clear(&steer->kept); /* their files stay */
  if (!trainer->position.report_is_due) nnc_trainer_publish_kept(trainer);
  remove_fallen(trainer, &steer->best, "best");
  remove_fallen(trainer, &steer->kept, "step");
  nnc_marks_trim(&steer->best);
  nnc_marks_trim(&steer->kept);
}

static void check_best(Trainer *trainer) {
  nnc_marks *best = &trainer->session->steer.best;
  char path[NNC_KEPT_PATH];
  if (best->count == 0 || best->limit == 0 || !*nnc_trainer_best_path(trainer, path)) return;
  if (access(path, F_OK) == 0 && nnc_checkpoint_step(path) == best->items[0].step) return;
  nnc_warning("%s is not the best checkpoint, of step %lld, any more: the best is of what follows",
              path, (long long)best->items[0].step);
  nnc_marks_clear(best);
}

void nnc_trainer_recover_kept(Trainer *trainer) {
  nnc_steer *steer = &trainer->session->steer;
  if (trainer->resumes_own) {
    make_up(trainer);
    check_best(trainer);
    return;
  }
  if (steer->best.count > 0) nnc_note("the best checkpoint is that of what follows in this folder");
  nnc_marks_clear(&steer->best);
  nnc_marks_clear(&steer->kept);
}

/* ---- what the run says --------------------------------------------------------------------- */

/* Where the program does not keep the best: which it was, unless that is what is saved. Of several losses the first says
 * nothing of the others'. */
static void say_least(const Trainer *trainer) {
  const nnc_moment *least = &trainer->least;
  const char *set = trainer->evaluator.count > 0 ? trainer->evaluator.sets[0].name : "train";
  if (trainer->reports < 2 || trainer->model->losses > 1) return;
  if (least->step == 0 || least->step == trainer->position.step) return;
  const char *metric = trainer->model->metric_names[0];
  nnc_note("best %s.%s %.6g in epoch %lld, step %lld, is not kept; 'save = best(%s.%s)' in the "
           "program keeps it",
           set, metric, least->value, (long long)least->epoch, (long long)least->step, set, metric);
}

void nnc_trainer_say_best(const Trainer *trainer) {
  const nnc_steer *steer = &trainer->session->steer;
  if (!steer->best_of) say_least(trainer);
  char name[NNC_WATCH_NAME], path[NNC_KEPT_PATH];
  if (steer->best_of && steer->best.count > 0) {
    const nnc_moment *best = &steer->best.items[0];
    nnc_note("best %s %.6g in epoch %lld, step %lld: %s",
             nnc_watch_name(name, steer->model, steer->best_of), best->value,
             (long long)best->epoch, (long long)best->step, nnc_trainer_best_path(trainer, path));
  }
  if (steer->kept.count > 0) {
    int64_t count = steer->kept.count < steer->kept.limit ? steer->kept.count : steer->kept.limit;
    nnc_note("the last %lld kept: %s", (long long)count, path_in(trainer, path, kept_folder));
  }
}

void nnc_trainer_say_stop(const Trainer *trainer) {
  const nnc_steer *steer = &trainer->session->steer;
  char name[NNC_WATCH_NAME];
  if (!nnc_steer_stops(steer)) return;
  nnc_watch_name(name, steer->model, steer->stop_of);
  if (steer->good.step > 0)
    nnc_note("stopped: %s has not improved in %lld reports, since %.6g in epoch %lld, step %lld",
             name, (long long)steer->bad, steer->good.value, (long long)steer->good.epoch,
             (long long)steer->good.step);
  else nnc_note("stopped: %s was no number in %lld reports", name, (long long)steer->bad);
}
