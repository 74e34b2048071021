/* The log of a run: one JSON object a line, with "step" and "seconds" among its members. */
#ifndef NNC_RUN_LOG_H
#define NNC_RUN_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct nnc_log {
  FILE *file;
  const char *path; /* the caller's */
  /* gets what an earlier run wrote before the first line; NULL: nothing to keep */
  const char *keep;
  bool is_new;     /* there was none */
  bool is_regular; /* a file, not a terminal or pipe */
  bool has_failed; /* a line could not be written */
} nnc_log;

/* Drops from the file the last run's lines after `step` (and the one of `step` itself unless
 * `keeps_step`), and an unfinished last line.  `seconds`: of the last line that stays, else 0.
 * A file that does not exist is fine.  False after a message. */
bool nnc_log_cut(const char *path, int64_t step, bool keeps_step, double *seconds);

/* For appending; false after a message.  With `keep` (the caller's) the file gets that name when the
 * first line is written, and a new one begins: a run that writes no line leaves all as it was. */
bool nnc_log_open(nnc_log *log, const char *path, const char *keep);

/* Writes one line; a failure is a warning, and the file keeps whole lines only. */
typedef void nnc_log_writer(FILE *file, void *context);
void nnc_log_write(nnc_log *log, nnc_log_writer *writer, void *context);
void nnc_log_close(nnc_log *log);

#endif
