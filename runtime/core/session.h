/* A session: the model in memory and the workers that run its entries; what every command opens
 * first. */
#ifndef NNC_SESSION_H
#define NNC_SESSION_H

#include <stdbool.h>

#include "core/device.h"
#include "core/fitted.h"
#include "core/options.h"
#include "core/plateau.h"
#include "core/steer.h"

typedef struct nnc_session {
  const nnc_model *model;
  const nnc_options *options;
  nnc_device *device; /* has the model's memory and runs its entries */
  int threads;
  uint64_t seed;
  nnc_settings settings;      /* of the program's options */
  double *scalars;            /* the host's, read by the kernels */
  nnc_fitted fitted;          /* what the data's stages learnt */
  double *host_inputs;        /* of the model's host function */
  bool schedules_have_length; /* some schedule depends on the number of steps of the run */
  nnc_plateaus plateaus;
  nnc_run_flags flags; /* those of the checkpoint that is resumed, too */
  nnc_steer steer;
  char *stream_start; /* the streams' values at the start of a pass */
  char *stream_saved; /* those of training while an evaluation runs */
  char *checkpoint;   /* path of the default checkpoint; with --best of the best one */
} nnc_session;

/* Takes memory and starts the workers; the init entry has not run yet.  False after a message. */
bool nnc_session_open(nnc_session *session, const nnc_options *options);
void nnc_session_close(nnc_session *session);

/* Takes the values of options that a checkpoint holds, where the command line gives none; NULL: it has
 * none. False after a message. */
bool nnc_session_take_options(nnc_session *session, const char *text, const char *path);

/* Runs the init entry with the session's seed; then the streams' start is known. */
void nnc_session_initialize(nnc_session *session);

/* A new run: reads the initial values that come from files.  False after a message. */
bool nnc_session_read_initials(nnc_session *session);

/* Runs an entry with all workers.  `step`: 0 outside training; `example`: the batch's first. */
void nnc_session_run(nnc_session *session, const nnc_entry *entry, int64_t step, int64_t example);
/* The same on these examples of data that the device keeps. */
void nnc_session_run_on(nnc_session *session, const nnc_entry *entry, const uint32_t *examples,
                        int64_t step, int64_t example);

/* Lets the host compute its scalars; t from 1, epoch from 0. */
void nnc_session_host(nnc_session *session, int64_t t, int64_t epoch, int64_t steps,
                      int64_t steps_per_epoch);

/* The folder of checkpoint and log: --out or MODEL.run.  malloc'ed; NULL after a message. */
char *nnc_default_folder(const nnc_options *options);

/* Streams: the state of one pass over one data set. */
void nnc_streams_start(nnc_session *session); /* a new pass begins */
void nnc_streams_save(nnc_session *session);  /* training's, before an evaluation */
void nnc_streams_restore(nnc_session *session);

#endif
