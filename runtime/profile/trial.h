/* Training steps to be measured, by `bench` and `profile`: on synthetic inputs, or on the data when
 * --data is given; with --predict predictions of one synthetic example. Nothing is saved. */
#ifndef NNC_TRIAL_H
#define NNC_TRIAL_H

#include "core/feed.h"
#include "core/session.h"
#include "data/loader.h"

typedef struct nnc_trial {
  nnc_session *session;
  const nnc_entry *last; /* of a step: the one with the update; or the prediction */
  nnc_data *data;
  nnc_loader *loader; /* NULL: synthetic inputs */
  nnc_feed feed, accumulate_feed;
  char *drawn, *accumulate_drawn; /* synthetic inputs; else NULL */
  uint32_t *examples; /* of a batch, where the device keeps the inputs or the data; else NULL */
  int64_t runs;       /* of an entry, in a step: the minibatches */
  int64_t steps;      /* in all, as the host's schedules see it */
  double waited;      /* what loading had taken when the measured steps began */
  double began;       /* when that was */
  bool has_failed;    /* an example could not be read; the message was given */
} nnc_trial;

/* Initializes the model; `steps` will be taken. The device may keep the inputs where `keeps`, as in
 * training; then to fill and load them is no time of the host's. False after a message. */
bool nnc_trial_open(nnc_trial *trial, nnc_session *session, int64_t steps, bool keeps);
void nnc_trial_close(nnc_trial *trial);

/* The measured steps begin; and the part of the time since then that loading took, -1 without data. */
void nnc_trial_start_clock(nnc_trial *trial);
double nnc_trial_data_wait(const nnc_trial *trial);

/* The entry of the step's run `run`, from 0. */
const nnc_entry *nnc_trial_entry(const nnc_trial *trial, int64_t run);

/* The parts of a step, in this order; it is counted from 1.  Filling the synthetic inputs, which are
 * the same in every step, is no part of what is measured. */
void nnc_trial_host(nnc_trial *trial, int64_t step);
void nnc_trial_fill(nnc_trial *trial, int64_t run);
void nnc_trial_load(nnc_trial *trial, int64_t run);
void nnc_trial_run(nnc_trial *trial, int64_t step, int64_t run);

/* The two halves of nnc_trial_run: between them the device may be at work. */
void nnc_trial_begin(nnc_trial *trial, int64_t step, int64_t run);
void nnc_trial_wait(nnc_trial *trial);

#endif
