/* What steers a run, as numbers: the best reports so far, the checkpoints that are kept, and how long a
 * metric has not improved. The files are train/train_keep.c's. */
#ifndef NNC_STEER_H
#define NNC_STEER_H

#include <stdbool.h>

#include "core/run_flags.h"
#include "nnc_model.h"

/* A report, or a checkpoint. */
typedef struct nnc_moment {
  double value; /* of the metric; 0 where none counts */
  int64_t step, epoch;
} nnc_moment;

/* The first `limit` are kept. The one behind them, if there is one, has just fallen out: its file may
 * still be there when the run was killed. A list that was read may have more of these. */
typedef struct nnc_marks {
  int64_t limit, count; /* count: at most limit + 1, but for one that was read */
  nnc_moment *items;
} nnc_marks;

typedef struct nnc_steer {
  const nnc_model *model;
  const nnc_watch *best_of, *stop_of; /* NULL: the program watches nothing */
  nnc_marks best;                     /* the best first */
  nnc_marks kept;                     /* the newest first */
  nnc_moment good;  /* the last improvement of what may stop the run; step 0: none yet */
  int64_t bad;      /* reports in a row without one */
  int64_t patience; /* the run stops after so many; 0: never */
} nnc_steer;

/* As when a run begins; false after a message. */
bool nnc_steer_open(nnc_steer *steer, const nnc_model *model, const nnc_run_flags *flags);
/* The same flags, or others. */
void nnc_steer_limit(nnc_steer *steer, const nnc_run_flags *flags);
void nnc_steer_close(nnc_steer *steer);

/* A report. True when it is one of the best. */
bool nnc_steer_best(nnc_steer *steer, nnc_moment report);
/* A report that counts for the end of the run. */
void nnc_steer_wait(nnc_steer *steer, nnc_moment report);
bool nnc_steer_stops(const nnc_steer *steer);
/* A checkpoint that is to be kept; nothing when it is. */
void nnc_steer_keep(nnc_steer *steer, nnc_moment checkpoint);

const nnc_moment *nnc_marks_find(const nnc_marks *marks, int64_t step); /* NULL: it is not there */
/* Takes back what was added of this step. */
void nnc_marks_retract(nnc_marks *marks, int64_t step);
void nnc_marks_clear(nnc_marks *marks);
/* What has fallen out earlier is forgotten. */
void nnc_marks_trim(nnc_marks *marks);

/* "val.loss" */
enum { NNC_WATCH_NAME = 256 };
const char *nnc_watch_name(char name[NNC_WATCH_NAME], const nnc_model *model,
                           const nnc_watch *watch);

/* As texts for a checkpoint, exact; each mallocs, and is NULL where the program watches or keeps
 * nothing. False when there is no memory. */
typedef struct nnc_steer_texts {
  char *best; /* "val.loss min VALUE STEP EPOCH ...", the best first */
  char *
      stop; /* "val.loss min BAD VALUE STEP EPOCH" of the last improvement, all 0 before the first */
  char *kept; /* "STEP ...", the newest first */
} nnc_steer_texts;
bool nnc_steer_format(const nnc_steer *steer, nnc_steer_texts *texts);
void nnc_steer_texts_free(nnc_steer_texts *texts);
/* Each is false when the text is of another program, NULL (but for `kept`) or malformed; then that part
 * begins anew. */
bool nnc_steer_parse_best(nnc_steer *steer, const char *text);
bool nnc_steer_parse_stop(nnc_steer *steer, const char *text);
bool nnc_steer_parse_kept(nnc_steer *steer, const char *text);

#endif
