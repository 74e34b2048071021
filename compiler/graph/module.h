/* A module: everything the compiler knows of one program.  It is what a dump holds and reads back.
 *
 * Entry graphs:
 *   init        -> stores every parameter, state and optimizer state
 *   host        the schedules: host scalars (t, epoch, steps, ...) -> host scalars, f64 only
 *   train       one (last) minibatch of a step, with the update; stores, accumulators
 *   accumulate  an earlier minibatch of a step when `accumulate > 1`; else NULL
 *   eval        one batch; accumulators only
 *   eval_one    the same for a single example (the tail of a data set)
 *   predict     one example; results
 *   predict_batch the same for a batch, where each result follows from its example alone; else NULL
 *   generate    the logits of what follows the tokens of one example; else NULL
 *   finish      accumulators -> loss and metrics, host scalars, f64 only
 *
 * Host scalars are `scalar` leaves of type f64[].  `t` is the step (from 1), `epoch` the epoch (from
 * 0), `steps` the total, `steps_per_epoch`; the values of plateaus and options; all others are
 * outputs of the host graph by name. */
#ifndef NNC_GRAPH_MODULE_H
#define NNC_GRAPH_MODULE_H

#include "graph/graph.h"

typedef enum EntryKind {
  ENTRY_INIT,
  ENTRY_HOST,
  ENTRY_TRAIN,
  ENTRY_ACCUMULATE,
  ENTRY_EVAL,
  ENTRY_EVAL_ONE,
  ENTRY_PREDICT,
  ENTRY_PREDICT_BATCH,
  ENTRY_GENERATE,
  ENTRY_FINISH,
  ENTRY_COUNT
} EntryKind;
const char *entry_name(EntryKind entry);

typedef enum VariableKind {
  VARIABLE_PARAM,     /* trained */
  VARIABLE_STATE,     /* updated by `<-`, saved with the model */
  VARIABLE_STREAM,    /* state of one pass over one data set */
  VARIABLE_OPTIMIZER, /* optimizer state, gradient accumulators */
  VARIABLE_FITTED,    /* means, deviations of a field's columns: "y:standardize" [2, columns] */
  VARIABLE_KIND_COUNT
} VariableKind;

typedef struct Variable {
  VariableKind kind;
  const char *path; /* identity: "h1.w"; optimizer state "h1.w:m" (parameter path ':' state name) */
  Type type;
  bool frozen; /* a parameter that no group trains */
  /* its initial value is read from there when a run begins; NULL: init gives it */
  const char *file;
  const char *entry; /* of a safetensors file; NULL: an array of NumPy's format */
  Span span;         /* its declaration */
} Variable;

typedef struct InputInfo {
  const char *name;
  Type type; /* with the training batch; the first axis is the batch when `is_batched` */
  bool is_batched;
  Span span;
} InputInfo;

/* An argument of a data source or stage, evaluated. */
typedef enum DataValueKind {
  DATA_NUMBER,
  DATA_STRING,
  DATA_BOOL,
  DATA_LIST,
  DATA_NAME,
  DATA_OPTION
} DataValueKind;
typedef struct DataValue {
  DataValueKind kind;
  double number;      /* also for bool; the default of an option */
  const char *string; /* also the name of a field or an option */
  int count;
  struct DataValue *items; /* DATA_LIST */
} DataValue;

typedef struct DataArgument {
  const char *name; /* formal name; positional arguments are resolved to it; "" if variadic */
  DataValue value;
} DataArgument;

/* A call in a pipeline: "idx", "split", ...; the vocabulary is elaborate/sections/data_words.c and docs/data.md. */
typedef struct DataCall {
  const char *function;
  int argument_count;
  DataArgument *arguments;
  Span span;
} DataCall;

typedef struct DataPipeline { /* names = source | stage | stage */
  int field_count;
  const char **fields;
  int call_count;
  DataCall *calls;
  Span span;
  bool is_wrong; /* a mistake in it was told: some calls may be missing */
} DataPipeline;

/* `order = file`, `order = streams`, `order = within(8192)` */
typedef enum DataOrder {
  DATA_ORDER_SHUFFLED,
  DATA_ORDER_FILE,
  DATA_ORDER_STREAMS,
  DATA_ORDER_WITHIN,
  DATA_ORDER_COUNT
} DataOrder;

enum { DATA_MOST_WITHIN = INT32_MAX };

typedef struct DataSet {
  const char *name; /* "train", "test" */
  int pipeline_count;
  DataPipeline *pipelines;
  DataOrder order;
  int64_t within; /* of that order: how many examples are shuffled at a time */
  bool wrap_tail; /* `tail = wrap` */
  Span span;
} DataSet;

typedef struct MetricInfo {
  const char *name; /* "loss" is the first; output of `finish` */
  Span span;
} MetricInfo;

/* The numbers of a plateau, in the order of the runtime (nnc_model.h). */
typedef enum PlateauPart {
  PLATEAU_START,
  PLATEAU_FACTOR,
  PLATEAU_PATIENCE,
  PLATEAU_THRESHOLD,
  PLATEAU_COOLDOWN,
  PLATEAU_FLOOR,
  PLATEAU_LEAST,
  PLATEAU_PART_COUNT
} PlateauPart;
typedef struct PlateauNumber {
  double value;
  const char
      *scalar; /* output of the host entry, of options alone, that gives it; NULL: `value` is it */
} PlateauNumber;

/* A number that falls when a metric no longer improves: a host scalar that the runtime keeps. */
typedef struct Plateau {
  const char *name; /* of the scalar: "plateau:0" */
  const char *metric;
  const char *set; /* the data set that the metric is of, "train" too */
  bool is_max, is_relative;
  PlateauNumber numbers[PLATEAU_PART_COUNT];
  Span span;
} Plateau;

/* What a number of an option counts. */
typedef enum OptionUnit { UNIT_NONE, UNIT_EPOCHS, UNIT_STEPS, UNIT_COUNT } OptionUnit;

/* A number that the command line of the executable gives; a host scalar MODULE_OPTION "name". */
typedef struct RunOption {
  const char *name; /* "weight_decay"; the flag is --weight-decay */
  bool is_whole;    /* whole numbers alone */
  OptionUnit unit;
  double start;        /* by default */
  double least, limit; /* least <= value < limit */
  /* keys of train that it gives; RunConfig has their defaults */
  bool sets_epochs, sets_steps, sets_validate, sets_seed;
  bool sets_rows; /* it says which rows a data set has */
  Span span;
} RunOption;
#define MODULE_OPTION "option:"
/* The option of such a scalar: "lr" for "option:lr"; NULL for other scalars. */
const char *module_option_name(const char *scalar);

/* A metric of a data set that steers the run after each report: `save = best(val.loss)`,
 * `stop = patience(5, val.loss)`. */
typedef enum WatchKind { WATCH_BEST, WATCH_STOP, WATCH_KIND_COUNT } WatchKind;
typedef struct Watch {
  WatchKind kind;
  const char *metric, *set; /* "train" too */
  bool is_max;              /* more is better */
  double threshold;         /* an improvement by no more than this is none */
  int64_t count;            /* checkpoints that are kept; reports without an improvement */
  Span set_span, span;
} Watch;

/* A learning rate that the log tells, since it is no constant number of the program. */
typedef struct Rate {
  const char *name;   /* in the log: "rate"; of a group of parameters "rate/PATTERN" */
  const char *scalar; /* output of the host graph */
  Span span;
} Rate;

/* --scans: whether the steps of scans are written out (passes/unroll.c). */
typedef enum ScanChoice { SCANS_AUTO, SCANS_UNROLL, SCANS_LOOP, SCAN_CHOICE_COUNT } ScanChoice;

/* A function of the user's that nodes call by its name (extern). It has one file at least. */
typedef struct ExternInfo {
  const char *function;
  int file_count;
  const char **files; /* of C (.c), objects (.o), archives of them (.a) */
  const char *cuda;   /* of CUDA (.cu), or NULL */
  Span span;          /* its declaration */
} ExternInfo;

typedef struct RunConfig {
  int64_t batch;
  const char *batch_name;  /* the constant that names it; NULL when there are no batched inputs */
  const char *definitions; /* "-D width=32 -D train.epochs=3", by name; NULL: none were given */
  int64_t epochs;          /* 0 when steps are given */
  int64_t steps;           /* 0 when epochs are given */
  int64_t validate_steps;  /* 0: after each epoch */
  int64_t accumulate;      /* minibatches a step, at least 1 */
  int64_t seed;
  int64_t keep;                                  /* the last checkpoints that are kept */
  int64_t save_steps, save_epochs, save_minutes; /* one of them at most; 0: not given */
  /* how many scores of classes there are; where it is one, evaluation gives the results below */
  int64_t class_losses;
  int64_t losses;  /* that are minimized, where there are several: the first metrics; else 0 */
  DType precision; /* default float */
  /* precision = tf32: contractions and convolutions of f32 may round their operands */
  bool allows_tf32;
  bool splits_products; /* precision = bf16x3: products of f32 as three of bf16 */
  bool splits_in_vain;  /* it is asked for where no matrix unit would be faster so */
  ScanChoice scans;
} RunConfig;

/* Results of evaluation, an example a row: scores of classes, and the true class, -1 where it does not count. */
#define MODULE_CLASS_SCORES "classified:scores"
#define MODULE_CLASS_LABEL "classified:label"

/* A metric of the order of a set's examples, "ranking:auc:0": a scalar of `finish`; a result of evaluation has its scores,
 * the one after it (":label" after the name) what is true. */
#define MODULE_RANKING "ranking:"
bool module_is_ranking(const char *scalar);
/* The names of those results of scores, in their order. */
typedef VEC(const char *) RankingNames;

struct Target; /* target/target.h */

typedef struct Module {
  Arena *arena;
  const char *name; /* "mnist": the file's base name */
  const SourceFile *source;
  Graph *entries[ENTRY_COUNT]; /* NULL where there is none */
  VEC(Variable) variables;     /* in order of creation; parameters and states interleaved */
  VEC(InputInfo) inputs;
  VEC(DataSet) data_sets;
  VEC(MetricInfo) metrics;
  VEC(Plateau) plateaus;
  VEC(RunOption) options;
  VEC(Watch) watches;
  VEC(Rate) rates;
  VEC(ExternInfo) externs;
  RunConfig run;
  /* The machine that it is compiled for; NULL: any. Passes ask which kernels it has. */
  const struct Target *target;
} Module;

Module *module_create(Arena *arena, const char *name, const SourceFile *source);
Variable *module_find_variable(Module *module, const char *path);
const InputInfo *module_find_input(const Module *module, const char *name);
RunOption *module_find_option(Module *module, const char *name); /* NULL: there is none */
int module_option_index(const Module *module, const char *name);
const char **module_metric_names(Arena *arena, const Module *module);
/* Whether a metric depends on one. */
bool module_metric_is_ranked(Arena *arena, const Module *module, const char *metric);
/* Whether a metric depends on a number of steps (COMBINE_STEPS), which evaluation has not. */
bool module_metric_is_of_steps(Arena *arena, const Module *module, const char *metric);
void module_rankings(Arena *arena, const Module *module, RankingNames *names);
const ExternInfo *module_find_extern(const Module *module, const char *function);

#endif
