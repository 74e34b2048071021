/* The log of a run: one JSON object a line, appended. */
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

/* Opens for appending; what lies behind `keep_bytes` is cut off unless that is -1. */
bool nnc_log_open(nnc_log *log, const char *path, int64_t keep_bytes);
/* Writes one line; a failure is a warning, and the file keeps whole lines only. */
typedef void nnc_log_writer(FILE *file, void *context);
void nnc_log_write(nnc_log *log, nnc_log_writer *writer, void *context);
int64_t nnc_log_bytes(const nnc_log *log); /* -1: unknown */
void nnc_log_close(nnc_log *log);

#endif
