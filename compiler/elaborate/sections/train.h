/* The train block: its keys and groups, evaluated; what update.c and metrics.c make of them. */
#ifndef NNC_ELABORATE_TRAIN_H
#define NNC_ELABORATE_TRAIN_H

#include "elaborate/core/elaborator.h"
#include "ops/flow.h"

/* The loss and metrics that a walk has found, in order: "loss", losses of groups, metrics. */
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
  KEY_AVERAGE, /* groups may override these */
  KEY_EPOCHS,
  KEY_STEPS,
  KEY_METRICS,
  KEY_PRECISION,
  KEY_LOSS_SCALE,
  KEY_ACCUMULATE,
  KEY_VALIDATE,
  KEY_SEED,
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
} Override;

typedef struct TrainGroup {
  const AstEntry *entry;
  const char **patterns;
  int pattern_count;
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

/* frozen.c: is the variable, by the groups with `frozen`? The train block may stand further down. */
bool path_is_frozen(Elaborator *e, const char *path);
/* Whether the current frame is inside a layer whose states are all frozen: `training` is false. */
bool frame_is_frozen(Elaborator *e);
/* When a walk reaches a group: reports what was not foreseen and matters. */
void check_frozen(Elaborator *e, const AstEntry *entry, const AstExpr *expr, bool frozen);
/* The patterns of groups. */
bool pattern_matches(const char *pattern, const char *path);

/* Fills module->run from the block's keys. */
void train_configure(Elaborator *e);
/* update.c: the stores of the train entry; of the accumulate entry. */
void update_parameters(Elaborator *e);
void update_accumulators(Elaborator *e);
/* Stores of states, behind which no reader comes. */
void update_states(Elaborator *e);

/* metrics.c: accumulators in the graph of each walk (NULL where there is none), the finish
 * entry. */
void metrics_build(Elaborator *e, Walk *eval, Walk *eval_one, Walk *train, Walk *accumulate);
/* mixing.c, of a value whose flow is FLOW_MIXED or FLOW_SIZED: "... what TEXT"; help; a note at the
 * place where the examples mix. */
const char *mixing_text(const Flow *mixed);
const char *mixing_advice(const Flow *mixed);
void note_mixing(Elaborator *e, Diagnostic *diagnostic, const Flow *mixed);
/* Warns of what predict gives that other examples of a batch would have a part in. */
void check_predictions(Elaborator *e, Walk *eval, const Walk *eval_one);

#endif
