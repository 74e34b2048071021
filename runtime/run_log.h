/* The log of a run: one JSON object a line, with "step" and "seconds" among its members. */
#ifndef NNC_RUN_LOG_H
#define NNC_RUN_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct nnc_log {
  FILE *file;
  const char *path;  /* the caller's */
  bool is_regular;   /* a file, not a terminal or pipe */
  bool has_failed;   /* a line could not be written */
} nnc_log;

/* Drops from the file the last run's lines behind `step` (and the one of `step` itself unless
 * `keeps_step`), and an unfinished last line.  `seconds`: of the last line that stays, else 0.
 * A file that does not exist is fine.  False after a message. */
bool nnc_log_cut(const char *path, int64_t step, bool keeps_step, double *seconds);

bool nnc_log_open(nnc_log *log, const char *path); /* for appending; false after a message */

/* Writes one line; a failure is a warning, and the file keeps whole lines only. */
typedef void nnc_log_writer(FILE *file, void *context);
void nnc_log_write(nnc_log *log, nnc_log_writer *writer, void *context);
void nnc_log_close(nnc_log *log);

#endif
