/* Evaluation of whole data sets: full batches by the eval entry, the rest example by example. */
#ifndef NNC_EVALUATE_H
#define NNC_EVALUATE_H

#include "core/feed.h"
#include "core/session.h"
#include "core/tally.h"
#include "data/read.h"
#include "train/ranking.h"

typedef struct nnc_eval_set {
  const char *name;
  nnc_data *data;
} nnc_eval_set;

/* Scores and labels of a whole set, as far as it has been run. */
typedef struct nnc_ranked_set {
  nnc_ranked *list;
  int64_t count, width; /* of an example: how many */
  char *rows;           /* of a batch, as the device has them */
  void *boxes;          /* of the model's class of detections instead; NULL: none */
} nnc_ranked_set;

typedef struct nnc_evaluator {
  nnc_session *session;
  int count;
  nnc_eval_set *sets;
  nnc_feed batch_feed, one_feed; /* of eval and eval_one */
  nnc_tally tally;
  nnc_ranked_set *ranked; /* of the model's rankings; NULL: there are none */
  double *rankings;       /* their values, for the tally */
  /* called after each run of an entry, with the number of its first example; NULL: nobody looks */
  void (*look)(void *context, const nnc_entry *entry, int64_t first);
  void *looker;    /* its context */
  bool has_failed; /* an example could not be read; the message was given */
} nnc_evaluator;

/* Opens the sets called `names`; with none, all but "train" and "predict".  False after a
 * message. */
bool nnc_evaluator_open(nnc_evaluator *evaluator, nnc_session *session, int name_count,
                        char *const *names);
void nnc_evaluator_close(nnc_evaluator *evaluator);

/* The metrics over set number `index`; false when an interrupt came, or `has_failed`.  Streams of
 * training and host scalars stay as they are. */
bool nnc_evaluator_run(nnc_evaluator *evaluator, int index, double *metrics);

#endif
