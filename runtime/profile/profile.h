/* Inside of the profile command: what is measured (profile.c), the tables made of it
 * (profile_table.c) and the ways to show them (profile_text.c, profile_json.c, profile_trace.c).
 *
 * A step's time is divided into rows: one for every step of the train and accumulate entries, and
 * four of the runtime's own. Each worker's times between marks sum to the step exactly; a row's
 * time is the mean over the workers, so the rows sum to the step as well, but for the marks' own
 * time, which is taken off.  What a worker waits for others is in the barriers' rows. */
#ifndef NNC_PROFILE_H
#define NNC_PROFILE_H

#include <stdio.h>

#include "core/speed.h"
#include "profile/trial.h"

enum nnc_profile_own_row {
  NNC_ROW_HOST,  /* the schedules */
  NNC_ROW_DATA,  /* getting a minibatch from the loader */
  NNC_ROW_START, /* until the workers begin */
  NNC_ROW_JOIN,  /* until all workers are done */
  NNC_ROW_OWN_COUNT
};

typedef struct nnc_profile_row {
  const char *class_name, *operator_name;
  const char *name;     /* the path; "after h1.y" for a barrier */
  const nnc_step *step; /* NULL for the runtime's own, and for sums of rows */
  const char *entry;    /* "train", "accumulate", "" */
  int number;           /* of the step in its entry */
  double calls;         /* in a training step, as all that follows */
  double seconds;
  double flops, bytes;
  double least_seconds; /* what the machine could do it in */
} nnc_profile_row;

typedef struct nnc_profile_table {
  int count;
  nnc_profile_row *rows; /* the longest first */
  nnc_profile_row total;
} nnc_profile_table;

/* Times of one run of an entry, in nanoseconds. */
typedef struct nnc_profile_run {
  int64_t load, begin, end;
  int64_t *marks; /* [workers][stride] */
} nnc_profile_run;

typedef struct nnc_profile {
  nnc_session *session;
  nnc_trial trial;
  int64_t steps, warmup;
  int64_t stride;   /* marks of a worker: a multiple of a cache line */
  int first_row[2]; /* of the accumulate entry and of the train entry */
  int row_count;
  nnc_profile_row *rows;
  int64_t *times;         /* [steps][rows], summed over the workers */
  int64_t *marked;        /* [steps]: whole steps while measuring */
  int64_t *plain;         /* [steps]: as many without, in turns with them */
  int64_t *marks;         /* of the current run */
  int64_t trace_steps;    /* that many of the last steps are kept for the trace */
  nnc_profile_run *trace; /* [trace_steps][runs] */
  int64_t *trace_begin;   /* [trace_steps]: when the host began */
  int64_t *trace_marks;
  /* Results. */
  double mark_seconds; /* what one mark costs: taken off the row of the step before it */
  double marked_seconds, plain_seconds; /* a step with and without marks */
  int64_t counted;                      /* steps in the middle half */
  int loading_threads;                  /* that made rows beside the workers; 0: none */
  double loading_seconds;               /* their processor time in a step, of all together */
  bool has_bound;                       /* the speed is measured */
  nnc_speed speed;
  nnc_profile_table classes, operators, instances;
} nnc_profile;

int nnc_profile_command(const nnc_options *options); /* an nnc_exit */

/* As many steps as --steps says; false after a message, and nnc_profile_close is fine then too. */
bool nnc_profile_measure(nnc_profile *profile, nnc_session *session);
void nnc_profile_close(nnc_profile *profile);

/* The tables from the rows' times; false after a message. */
bool nnc_profile_tabulate(nnc_profile *profile);
void nnc_profile_free_tables(nnc_profile *profile);
/* What is achieved of the bound, 0 to 1 (more when the operands sit in a nearer cache). */
static inline double nnc_profile_bound(const nnc_profile_row *row) {
  return row->seconds > 0 ? row->least_seconds / row->seconds : 0;
}

void nnc_profile_print(const nnc_profile *profile);
/* A section of a page (report/page.h). */
void nnc_profile_put_page(FILE *file, const nnc_profile *profile);
void nnc_profile_print_json(const nnc_profile *profile);
/* Whether the file may be written, and writing it; both false after a message. */
bool nnc_profile_check_trace(const char *path);
bool nnc_profile_write_trace(const nnc_profile *profile, const char *path);

#endif
