/* The train block: its keys and groups, evaluated; and the metrics that it names. */
#ifndef NNC_ELABORATE_TRAIN_H
#define NNC_ELABORATE_TRAIN_H

#include "elaborate/core/elaborator.h"

/* The loss and metrics that a trace has found, in order: "loss", losses of groups, metrics. */
typedef struct Metric {
  const char *name;
  Node *node;
  Span span;
  bool is_loss;
} Metric;
typedef VEC(Metric) Metrics;

typedef enum TrainKey {
  KEY_MINIMIZE,
  KEY_OPTIMIZER,
  KEY_CLIP,
  KEY_LR_SCALE,
  KEY_FROZEN,
  KEY_LAZY,
  KEY_AVERAGE, /* groups may override these */
  KEY_EPOCHS,
  KEY_STEPS,
  KEY_METRICS,
  KEY_PRECISION,
  KEY_LOSS_SCALE,
  KEY_ACCUMULATE,
  KEY_VALIDATE,
  KEY_SEED,
  KEY_SAVE,
  KEY_SAVE_EVERY,
  KEY_KEEP,
  KEY_STOP,
  KEY_COUNT
} TrainKey;

typedef struct KeyValue {
  const AstExpr *expr; /* NULL: not given */
  Value value;
} KeyValue;

/* An argument of the optimizer that a group gives: weight_decay = 0. */
typedef struct Override {
  AstName name;
  Value value;
  Span span; /* of the value */
} Override;

typedef struct TrainGroup {
  const AstEntry *entry;
  int matched; /* parameters */
  KeyValue keys[KEY_COUNT];
  VEC(Override) overrides;
} TrainGroup;

struct TrainPlan {
  const AstStmt *stmt;
  KeyValue keys[KEY_COUNT];
  bool misspelt[KEY_COUNT]; /* an unknown key is near to this one */
  VEC(TrainGroup *) groups;
  Metrics metrics;
};

void train_evaluate(Elaborator *e, const AstStmt *stmt);
/* Fills module->run from the block's keys. */
void train_configure(Elaborator *e);
/* The keys of the block; NULL past the end. */
const char *train_key_name(int i);

#endif
