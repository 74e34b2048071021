/* The state of a training run, shared by the loop (train.c), its opening (train_open.c) and its
 * reports and checkpoints (train_report.c). */
#ifndef NNC_TRAINER_H
#define NNC_TRAINER_H

#include "core/feed.h"
#include "data/loader.h"
#include "train/checkpoint.h"
#include "train/evaluate.h"
#include "train/event_file.h"
#include "train/progress.h"
#include "train/run_log.h"

/* A run whose numbers have not been looked at. */
typedef struct Unseen {
  const nnc_entry *entry;
  int64_t number; /* as nnc_device_under_way said */
  int64_t step;   /* that ends with it; 0: none */
} Unseen;

/* What a run began with, to begin there once more. */
typedef struct nnc_begin {
  nnc_position position;
  char *plateaus, *tally; /* as texts */
} nnc_begin;

typedef struct Trainer {
  nnc_session *session;
  const nnc_model *model;
  const nnc_options *options;

  nnc_data *data; /* NULL: the model has no inputs, or nothing is to be trained */
  nnc_loader *loader;
  /* of a batch, where the device keeps the data; else NULL, and feeds are used */
  uint32_t *examples;
  nnc_feed train_feed, accumulate_feed;
  nnc_evaluator evaluator;
  struct nnc_classes *classes; /* of each set of the evaluator; NULL: no tables are wanted */

  nnc_position position;
  int64_t total_steps, total_epochs; /* total_epochs 0: steps count */
  int64_t validate_steps;            /* 0: after each epoch */

  nnc_tally tally;      /* since the last report */
  nnc_tally step_tally; /* of the step that is looked at: is the loss finite? */
  Unseen *unseen;       /* a ring; the device may be that far ahead */
  int64_t unseen_room, first_unseen, unseen_count;
  bool has_failed;     /* a loss is no number; the message was given */
  int64_t failed_step; /* whose loss that is, or after which a parameter was not finite; 0: none */
  nnc_begin begin;     /* of this process */
  bool is_replay;      /* steps are done once more: nothing is told, logged or saved */
  struct nnc_checker *checker; /* --check-numerics; else NULL */
  double *metrics;             /* of the period, then a row for each evaluation set */
  double *step_metrics;
  double *rates; /* of the last step */

  char *folder;       /* of checkpoint and log */
  size_t folder_made; /* of replace.h: how much of it is new */
  int folder_lock;    /* of os/lock.h: one run a folder; -1: none */
  char *log_path;
  nnc_log log;
  bool has_told_command; /* in a line of the log */
  nnc_event_file events; /* of --tensorboard */
  char *page;            /* of --report-live; NULL: none */
  double page_time;      /* when it was last written */
  nnc_moment least;      /* the report of this process with the least loss; step 0: none */
  int64_t reports;       /* of this process */
  nnc_progress progress;
  double start;   /* nnc_seconds_now() less the seconds of the run before */
  double seconds; /* of training up to the last report */
  double period_start,
      period_waited; /* since the last report: when it ended, and the waits so far */
  double data_wait;  /* the part of the period that training waited for its data; -1: not told */

  char *keep_path;      /* gets a checkpoint of an earlier run; NULL when there is none to keep */
  char *log_keep_path;  /* gets its log; NULL likewise */
  bool resumes_own;     /* goes on with the folder's own checkpoint */
  bool has_stepped;     /* this process has done a step */
  int64_t saved_step;   /* of the last good save; -1: none */
  double save_time;     /* when it was last tried */
  bool save_has_failed; /* the last try */

  nnc_interval save_every; /* all 0: by the time */
  bool is_best;            /* the report that just ended is one of the best */
  bool keep_is_due;        /* the checkpoint of this step is to be kept */
  bool has_put_aside;      /* what an earlier run has kept */
} Trainer;

bool nnc_trainer_open(Trainer *trainer, nnc_session *session); /* false after a message */
void nnc_trainer_close(Trainer *trainer);

/* Values, position and data as the last save left them, or as they were when the run began; false after a
 * message. */
bool nnc_trainer_return(Trainer *trainer);

/* One step: how many of its minibatches ran, which is fewer than all where an example cannot be read. */
int64_t nnc_trainer_run_step(Trainer *trainer);
int64_t nnc_trainer_minibatches(const nnc_model *model);
/* Looks at what is under way; false: a loss is no number. */
bool nnc_trainer_settle(Trainer *trainer);
/* The position after a step. */
void nnc_trainer_advance(Trainer *trainer);

/* Where a number that is not finite came from (train_numerics.c): --check-numerics opens an inspector, which is asked
 * after each step; false: the run ends, the message was given. */
bool nnc_trainer_begin_checks(Trainer *trainer);
bool nnc_trainer_check(Trainer *trainer);
void nnc_trainer_end_checks(Trainer *trainer);
/* After a run that failed so: the steps since the last save once more, the last of them step by step. */
void nnc_trainer_explain(Trainer *trainer);

int64_t nnc_trainer_examples_per_step(const Trainer *trainer);

/* Validates, logs and shows the period that ends here; false when an interrupt came: it is
 * still due. */
bool nnc_trainer_report(Trainer *trainer);
/* A period begins, at the start of the run and after each report. */
void nnc_trainer_begin_period(Trainer *trainer);
/* The page of --report-live: while the run goes on at most every few seconds, and at its end. */
void nnc_trainer_follow(Trainer *trainer, bool goes_on);
/* The running line. */
void nnc_trainer_show_step(Trainer *trainer);

/* May the run save?  One that has done no step has nothing that is worth an earlier run's files. */
bool nnc_trainer_may_save(const Trainer *trainer);
/* Saves unless that is done for this step; false after a message, and the run may go on. */
bool nnc_trainer_save(Trainer *trainer);
/* Whether the checkpoint of this step is to be kept beside later ones. */
void nnc_trainer_choose_kept(Trainer *trainer, bool was_reported);
/* Is it time to save? `was_reported`: a report just ended. */
bool nnc_trainer_save_is_due(const Trainer *trainer, bool was_reported);

/* Looks at the metrics of a report that has just ended: is it one of the best, is it time to stop? */
void nnc_trainer_watch(Trainer *trainer);

/* Tables by class (train_classes.c) of the sets that are evaluated, where they are wanted; false after a message. */
bool nnc_trainer_open_classes(Trainer *trainer);
void nnc_trainer_close_classes(Trainer *trainer);
/* Before a set is evaluated: its tables begin anew. */
bool nnc_trainer_watch_classes(Trainer *trainer, int set);
/* The member "tables" of an open JSON object. */
void nnc_trainer_put_classes(const Trainer *trainer, FILE *file);
/* At the end of a run: those of its last report. */
void nnc_trainer_say_classes(const Trainer *trainer);

/* What is kept beside the last checkpoint (train_keep.c): OUT/best.safetensors, OUT/kept/. */
enum { NNC_KEPT_PATH = 4096 };
const char *nnc_trainer_best_path(const Trainer *trainer, char path[NNC_KEPT_PATH]);
/* Before the first save: an earlier run's files get other names. */
void nnc_trainer_put_aside(Trainer *trainer);
/* After a save: the files of this step, if they are to be kept. */
void nnc_trainer_publish_kept(Trainer *trainer);
/* The step could not be saved: nothing of it is kept. */
void nnc_trainer_retract_kept(Trainer *trainer);
/* When a run is resumed. */
void nnc_trainer_recover_kept(Trainer *trainer);
/* Notes at the end of a run. */
void nnc_trainer_say_best(const Trainer *trainer);
void nnc_trainer_say_stop(const Trainer *trainer);

#endif
