/* The page about a run: what its log, its files and the program itself tell. */
#ifndef NNC_REPORT_H
#define NNC_REPORT_H

#include <stdbool.h>

#include "core/json_numbers.h"
#include "core/session.h"
#include "report/history.h"

typedef struct nnc_report_file {
  const char *path; /* NULL: there is none */
  int64_t step;
  bool is_of_other_source; /* the program's text has changed since */
} nnc_report_file;

typedef struct nnc_report {
  const nnc_session *session;
  const nnc_history *history;
  const char *log;            /* its path */
  nnc_report_file best, last; /* checkpoints */
  int refresh; /* the run goes on: the page reads itself anew after so many seconds; 0: it does not */
  /* further sections, after the curves; NULL: none */
  void (*put_more)(FILE *file, void *context);
  void *context;
} nnc_report;

/* Replaces `path`; false after a message. */
bool nnc_report_write(const nnc_report *report, const char *path);
/* Whether it may: there is nothing, or such a page; false after a message. */
bool nnc_report_may_write(const char *path);

/* The best report by the metric that the program keeps the best checkpoint of; else by the loss of the first set that has
 * one, not of training where there is another. */
typedef struct nnc_best_report {
  const nnc_series *series; /* NULL: there is none */
  int64_t at;               /* its number in the history */
} nnc_best_report;
nnc_best_report nnc_report_best(const nnc_history *history, const nnc_model *model);

#endif
