/* A session: the model in memory and the workers that run its entries; what every command opens
 * first. */
#ifndef NNC_SESSION_H
#define NNC_SESSION_H

#include <stdbool.h>

#include "os/memory.h"
#include "nnc_data.h"
#include "nnc_parallel.h"
#include "core/options.h"

typedef struct nnc_plateau_state nnc_plateau_state;

typedef struct nnc_session {
  const nnc_model *model;
  const nnc_options *options;
  nnc_block arena;
  nnc_pool *pool;
  int threads;
  uint64_t seed;
  double *scalars;                    /* the host's, read by the kernels */
  nnc_fitted fitted;                  /* what the data's stages learnt */
  double *host_inputs;                /* of the model's host function */
  bool schedules_have_length;         /* some schedule depends on the number of steps of the run */
  struct nnc_plateau_state *plateaus; /* plateau.h */
  char *stream_start;                 /* the streams' values at the start of a pass */
  char *stream_saved;                 /* those of training while an evaluation runs */
  char *checkpoint;                   /* path of the default checkpoint */
} nnc_session;

/* Takes memory and starts the workers; the init entry has not run yet.  False after a message. */
bool nnc_session_open(nnc_session *session, const nnc_options *options);
void nnc_session_close(nnc_session *session);

/* Runs the init entry with the session's seed; then the streams' start is known. */
void nnc_session_initialize(nnc_session *session);

/* A new run: reads the initial values that come from files.  False after a message. */
bool nnc_session_read_initials(nnc_session *session);

/* Runs an entry with all workers.  `step`: 0 outside training; `example`: the batch's first. */
void nnc_session_run(nnc_session *session, const nnc_entry *entry, int64_t step, int64_t example);

/* Lets the host compute its scalars; t from 1, epoch from 0. */
void nnc_session_host(nnc_session *session, int64_t t, int64_t epoch, int64_t steps,
                      int64_t steps_per_epoch);

/* The folder of checkpoint and log: --out or MODEL.run.  malloc'ed; NULL after a message. */
char *nnc_default_folder(const nnc_options *options);

static inline char *nnc_session_at(const nnc_session *session, const nnc_tensor *tensor) {
  return session->arena.base + tensor->offset;
}

/* Where each input of `from` (the entry that data were opened for) lies for a run of `entry`;
 * inputs that `entry` lacks go where they lie for `from`.  malloc'ed; NULL after a message. */
void **nnc_session_bind(const nnc_session *session, const nnc_entry *from, const nnc_entry *entry);

/* The folder of the data: --data or the current one. */
static inline const char *nnc_data_folder(const nnc_options *options) {
  return options->data ? options->data : ".";
}

/* A data set, or the files of the command line, for an entry: opened, and index inputs checked
 * against their limits.  NULL after a message. */
nnc_data *nnc_session_open_data(nnc_session *session, const char *set, const nnc_entry *entry);
nnc_data *nnc_session_open_files(nnc_session *session, const nnc_entry *entry);

/* Streams: the state of one pass over one data set. */
void nnc_streams_start(nnc_session *session); /* a new pass begins */
void nnc_streams_save(nnc_session *session);  /* training's, before an evaluation */
void nnc_streams_restore(nnc_session *session);

#endif
