/* --confusion, --per-class, --calibration, --wrong of eval and train: what a set's examples were taken for, class by class. The
 * scores and the true classes are results of the eval entries, where the compiler knows them (nnc_model.class_losses). */
#ifndef NNC_CLASSES_H
#define NNC_CLASSES_H

#include <stdio.h>

#include "core/options.h"
#include "core/session.h"
#include "data/read.h"
#include "train/ranking.h"

/* An example that was taken for another class. */
typedef struct nnc_wrong {
  int64_t number; /* in the set, from 0 */
  int32_t label, guess;
  double confidence; /* the probability of the guess */
} nnc_wrong;

/* Examples by the probability of their guess, of two classes that of the second: above number / NNC_BINS, up to
 * (number + 1) / NNC_BINS. */
enum { NNC_BINS = 15 };
typedef struct nnc_bin {
  int64_t examples, right; /* right: of two classes those of the second */
  double probability;      /* the sum */
} nnc_bin;

typedef struct nnc_classes {
  nnc_session *session;
  nnc_class_tables wanted;
  bool is_binary;            /* one score an example */
  int64_t count;             /* of classes */
  int64_t places;            /* labels of one example: words, pixels */
  char *rows;                /* a batch of scores, then of labels, as the device has them */
  double *odds;              /* of one example: the logarithm of p / (1 - p) of each class */
  int64_t *confusion;        /* [true][guess] */
  double *kept;              /* log-odds of all labels, for the rankings; NULL: not wanted */
  int32_t *labels;           /* of all; likewise */
  nnc_ranked *order;         /* room for the ranking of one class; likewise */
  int64_t room;              /* labels that these three have room for */
  int64_t examples, ignored; /* labels counted; left out, since they say so */
  nnc_wrong *wrong;          /* the most confident first */
  int64_t wrong_count;
  nnc_bin bins[NNC_BINS];
} nnc_classes;

enum { NNC_MOST_CLASSES = 4096 };

/* False after a message: where the model does not know its classes. */
bool nnc_classes_open(nnc_classes *classes, nnc_session *session, const nnc_class_tables *wanted);
void nnc_classes_close(nnc_classes *classes);
/* Some table is wanted. */
bool nnc_wants_classes(const nnc_class_tables *wanted);
/* Before a set is evaluated; false after a message. Allocates nothing where there is room from a time before. */
bool nnc_classes_start(nnc_classes *classes, const nnc_data *data);
/* After each run of an eval entry whose first example has that number; `context` is the nnc_classes. */
void nnc_classes_look(void *context, const nnc_entry *entry, int64_t first);

/* Precision, recall, F1 and the rankings of one class, or their means. */
typedef struct nnc_class_scores {
  double precision, recall, f1, auc, average;
  int64_t support, guessed; /* examples of the class, and those that are taken for it */
} nnc_class_scores;
nnc_class_scores nnc_classes_of(const nnc_classes *classes, int64_t class);
double nnc_classes_accuracy(const nnc_classes *classes);
/* How far the bins' probabilities are from being right, the mean over the examples: `calibration` of the library. */
double nnc_classes_calibration(const nnc_classes *classes);

/* The name that the data give the class, else its number. */
enum { NNC_CLASS_NAME = 256 };
const char *nnc_class_name(const nnc_classes *classes, int64_t class, char name[NNC_CLASS_NAME]);

/* A matrix of more classes is too wide to be read: then its most frequent mistakes are shown. */
enum { NNC_WIDEST_MATRIX = 24, NNC_MOST_MISTAKES = 30 };
typedef struct nnc_mistake {
  int64_t label, guess, count;
} nnc_mistake;
/* The greatest count that comes after `last` in the order of counts, the greatest first, then of classes; 0: there is none. */
nnc_mistake nnc_next_mistake(const nnc_classes *classes, nnc_mistake last);

/* Gives each class to the sink, then the mean (-1) over the classes that occur among labels or guesses and that by
 * support (-2). The rankings' means leave out classes that have none. */
typedef void nnc_scores_sink(void *context, int64_t class, const nnc_class_scores *scores);
void nnc_visit_scores(const nnc_classes *classes, nnc_scores_sink *sink, void *context);

/* classes_text.c: the tables that are wanted, or members of an open JSON object. */
void nnc_classes_print(FILE *file, const nnc_classes *classes, const nnc_data *data);
void nnc_classes_put_json(FILE *file, const nnc_classes *classes, const nnc_data *data);

#endif
