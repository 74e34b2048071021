/* What a program that nnc made with --report-page has besides the others: pages about its runs. The model names it, so that
 * others do not hold it. */
#ifndef NNC_TRAIN_REPORT_H
#define NNC_TRAIN_REPORT_H

#include <stdbool.h>

#include "core/options.h"
#include "core/session.h"

typedef struct nnc_followed_run {
  const char *page, *log;  /* the page is made of the log */
  const char *best, *last; /* checkpoints; NULL: there is none yet */
  int64_t best_step, last_step;
  bool goes_on;
} nnc_followed_run;

struct nnc_report_writer {
  int (*run)(const nnc_options *options); /* the command; an nnc_exit */
  bool (*may_follow)(
      const nnc_followed_run *run); /* whether the page may be written; false after a message */
  /* The page of a run that trains in this session; false after a message. */
  bool (*follow)(const nnc_session *session, const nnc_followed_run *run);
};

/* NULL after a message, which begins with what wants it: this program has none. */
const struct nnc_report_writer *nnc_report_writer_of(const nnc_model *model, const char *wanted);

#endif
