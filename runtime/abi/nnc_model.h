/* The contract between a generated program and the runtime.
 *
 * The generated file defines one `nnc_model nnc_the_model`: tables that describe the network and
 * functions that compute. The runtime owns main(), memory, threads, data, files and messages.  The
 * generated code calls back only the inline functions of nnc_parallel.h and nnc_math.h.
 *
 * Memory: one arena of `arena_bytes` for variables, inputs, activations and results, and one block of
 * `worker_bytes` for each worker thread, or less, in the arena where a phase leaves it free (`workspaces`). All
 * offsets are bytes from the arena's base, multiples of 64. */
#ifndef NNC_MODEL_H
#define NNC_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nnc_dtype.h"

typedef struct nnc_worker nnc_worker; /* nnc_parallel.h */

enum nnc_entry_number {
  NNC_RUN_INIT,
  NNC_RUN_TRAIN,
  NNC_RUN_ACCUMULATE,
  NNC_RUN_EVAL,
  NNC_RUN_EVAL_ONE,
  NNC_RUN_PREDICT,
  NNC_RUN_PREDICT_BATCH,
  NNC_RUN_GENERATE,
  NNC_ENTRY_COUNT
};

typedef struct nnc_tensor {
  const char *name; /* "h1.w", "h1.w:m", "image", "digit" */
  int dtype;
  int rank;
  int64_t dim[NNC_MAX_RANK];
  int64_t offset; /* in the arena */
} nnc_tensor;

/* NNC_FITTED: "price:standardize" [2, columns], the means and deviations of a field's columns (core/scores.c). */
enum nnc_variable_kind { NNC_PARAM, NNC_STATE, NNC_STREAM, NNC_OPTIMIZER, NNC_FITTED };

typedef struct nnc_variable {
  nnc_tensor tensor; /* in the plain, row-major layout, to all but the device */
  int kind;
  int frozen;
  int line;  /* of its declaration in the .net file, 0 when unknown */
  int drawn; /* the init entry gives it random numbers */
} nnc_variable;

/* A variable whose initial value is read from a file when a run begins (initial.c). */
typedef struct nnc_initial {
  int variable;      /* its number */
  const char *file;  /* in the data folder */
  const char *entry; /* of a safetensors file; NULL: an array of NumPy's format */
  int line, column;  /* in the .net file */
} nnc_initial;

struct nnc_session; /* session.h */

/* A place where an executable made with --check-indices checks indices (index_check.c). */
typedef struct nnc_index_place {
  const char *taker; /* "pick", "one_hot", "x[i]"; NULL: the number is not in use */
  const char *path;  /* of the node: "h.embedding" */
  int axis;          /* of what is taken from */
  int64_t extent;
  int rank; /* of the indices */
  int64_t dim[NNC_MAX_RANK];
  int line, column; /* in the .net file; 0 when unknown */
} nnc_index_place;

/* The numbers of a plateau. */
enum {
  NNC_PLATEAU_START,
  NNC_PLATEAU_FACTOR,
  NNC_PLATEAU_PATIENCE, /* reports */
  NNC_PLATEAU_THRESHOLD,
  NNC_PLATEAU_COOLDOWN, /* reports */
  NNC_PLATEAU_FLOOR,
  NNC_PLATEAU_LEAST, /* falls by less are left out */
  NNC_PLATEAU_PARTS
};
typedef struct nnc_plateau_number {
  double value;
  int scalar; /* 1 + the number of the host scalar, of options alone, that gives it; 0: `value` is it */
} nnc_plateau_number;

/* A schedule that falls when a metric no longer improves (plateau.c). */
typedef struct nnc_plateau {
  int metric;      /* its number */
  const char *set; /* the data set that it is of; "train" too */
  int is_max;      /* more is better */
  int is_relative; /* the threshold is a share of the best value */
  nnc_plateau_number numbers[NNC_PLATEAU_PARTS];
} nnc_plateau;

/* A number that the command line of the executable gives (program_option.c). */
typedef struct nnc_program_option {
  const char *name;    /* "weight_decay"; the flag is --weight-decay */
  int is_whole;        /* whole numbers alone */
  const char *unit;    /* "epochs", "steps"; NULL: none */
  double start;        /* by default */
  double least, limit; /* least <= value < limit */
  int sets_epochs, sets_steps, sets_validate, sets_seed; /* what it gives of nnc_model */
  int sets_rows;                                         /* it says which rows a data set has */
  int line;                                              /* in the .net file, 0 when unknown */
} nnc_program_option;

/* A metric of a data set that is looked at after each report (core/steer.h). */
enum nnc_watch_kind { NNC_WATCH_BEST, NNC_WATCH_STOP, NNC_WATCH_COUNT };
typedef struct nnc_watch {
  int kind;
  int metric;       /* its number */
  const char *set;  /* the data set that it is of; "train" too */
  int is_max;       /* more is better */
  double threshold; /* an improvement by no more than this is none */
  int64_t count;    /* checkpoints that are kept; reports without an improvement */
} nnc_watch;

/* A learning rate that the log tells. */
typedef struct nnc_rate {
  const char *name; /* "rate", "rate/head.*" */
  int scalar;       /* its number among the host scalars */
} nnc_rate;

/* How the host combines an accumulator over batches, in double; the compiler's Combine. NNC_COUNTS: sums, whose mean over the
 * examples counts. NNC_STEPS: only the last minibatch of a step counts, for all of them. */
enum nnc_combine {
  NNC_MEAN,
  NNC_COUNTS,
  NNC_BATCHES,
  NNC_SUM,
  NNC_MAX,
  NNC_MIN,
  NNC_LAST,
  NNC_STEPS
};

/* Or the overlap, 50 to 95 percent, from which on a found box is right. */
enum nnc_ranking_kind { NNC_RANKING_AUC, NNC_RANKING_AVERAGE, NNC_RANKING_BOXES };

typedef struct nnc_accumulator {
  const char *name;
  int combine;
  nnc_tensor tensor; /* a scalar; read after every run of the entry */
} nnc_accumulator;

/* What multiplies in a step: on a device, units for matrix products of 16 bits and of tf32, which are
 * several times as fast as what computes all else. */
enum nnc_unit { NNC_UNIT_PLAIN, NNC_UNIT_HALF, NNC_UNIT_TF32, NNC_UNIT_COUNT };

/* One step of an entry, for `profile`. What is left out of a row is 0. */
typedef struct nnc_step {
  const char *class_name;    /* "contraction", "elementwise", "copy", "barrier", ... */
  const char *operator_name; /* "contract+9": with 9 operators fused into it; "" for a barrier */
  const char *kernel;        /* its function in the emitted file; "" for barriers and copies */
  const char *path;          /* of the node: "h1.y"; "" for a barrier */
  const char *stores;        /* what it writes: "h1.w:m, h1.w:v, h1.w" */
  double flops, bytes;       /* of all its rounds, by the operators' cost rules */
  int64_t tasks;
  int line;       /* in the .net file, 0 when unknown */
  int64_t rounds; /* how often one run does it, in the loop of a scan; 0: once */
  enum nnc_unit unit;
  const char *nodes; /* what it computes, by lines, in order: "5 log mul, 7 mean" */
  /* Where its operands lie, a line each: USE DTYPE OFFSET ELEMENTS BLOCK_BYTES MOVES
   * (SCAN BYTES TURNS TURN)... NAME. USE is r: read, w: written, u: both. The offset is in the arena, or, with BLOCK_BYTES -1, in the worker's
   * block; in block b of its task loop it is b BLOCK_BYTES further. Each move is of a scan: in its
   * round r, or r + TURN modulo TURNS where it has turns, the operand lies as many times BYTES further. */
  const char *operands;
  int later; /* after so many steps it is launched: a device may launch several as one, with the last of them */
} nnc_step;

/* A row between launches. */
#define NNC_BARRIER                                                                                \
  { .class_name = "barrier", .operator_name = "", .kernel = "", .path = "", .stores = "" }

/* Steps that an entry repeats: the loop of a scan, with its rounds, or a task loop, with its blocks. */
typedef struct nnc_repeat {
  int first, last;
  int64_t times;
} nnc_repeat;

/* Where a value lies in memory, and during which steps of its entry. */
enum nnc_held_kind { NNC_HELD_VARIABLE, NNC_HELD_INPUT, NNC_HELD_ACTIVATION, NNC_HELD_RESULT };
typedef struct nnc_held {
  const char *name;     /* a variable's or an input's; of an activation the path of its node */
  int64_t begin, bytes; /* from the arena's base */
  int first, last;      /* steps */
  int kind;
} nnc_held;

/* The code of a model for one instruction set. */
typedef struct nnc_level {
  const char *name;                /* as --arch named it: "native", "x86-64-v3" */
  const char *isa;                 /* the variant that fixes the bits, "x86-64+avx+fma" */
  const char *extensions;          /* what the processor must have: nnc_isa.h */
  const struct nnc_limits *limits; /* nnc_limits.h: how fast this machine runs such code */
  void (*host)(const double *inputs, double *scalars);
  void (*finish)(const double *accumulators, double *metrics);
  void (*run[NNC_ENTRY_COUNT])(nnc_worker *worker); /* NULL: there is no such entry */
} nnc_level;

/* A computation.  `run` is called by every worker of the pool at the same time (SPMD) and contains its
 * own barriers; it starts and ends with all workers in step. */
typedef struct nnc_entry {
  void (*run)(nnc_worker *worker);       /* the level's; NULL: there is no such entry */
  int input_count;                       /* inputs that it reads */
  const nnc_tensor *inputs;              /* names as in the .net file; batch extent of this entry */
  const unsigned char *input_is_batched; /* the first axis is the batch; NULL: of none */
  /* an integer input used as an index (a label) lies in [0, limit); 0: any */
  const int64_t *input_limits;
  /* a value outside of that which is allowed; INT64_MIN: none; NULL: none */
  const int64_t *input_exceptions;
  int64_t batch;  /* examples in one run */
  int is_for_all; /* some kernel has more than one task: all workers run it, else one does */
  int accumulator_count;
  const nnc_accumulator *accumulators;
  int result_count; /* predict */
  const nnc_tensor *results;
  double flops, bytes;  /* of one run, by the operators' cost rules */
  double product_flops; /* of these: contractions and convolutions, 2 m n k */
  int step_count;
  /* Of the entries that train, and of predict. */
  const nnc_step *steps; /* `run` calls nnc_mark(worker, 0), step 0, nnc_mark(worker, 1), ...;
                                          * nnc_lap() between those of a task loop and
                                          * of the loop of a scan */
  int scan_count, loop_count;
  const nnc_repeat *repeats; /* the scans by their numbers, then the task loops */
  int held_count;
  /* the plan of memory where the model has a report: of train, or of predict where nothing trains */
  const nnc_held *held;
} nnc_entry;

/* Data sources and stages: the evaluated calls of the `data` blocks.  The vocabulary and the meaning
 * of every argument: docs/data.md. */
enum nnc_value_kind { NNC_NUMBER, NNC_STRING, NNC_BOOLEAN, NNC_LIST, NNC_FIELD, NNC_OPTION };

typedef struct nnc_value {
  int kind;
  double number;      /* also for booleans; which of the options */
  const char *string; /* also the name of a field or an option */
  int count;
  const struct nnc_value *items;
} nnc_value;

typedef struct nnc_argument {
  const char *name; /* the formal name; "" for each of a variable list (files of idx) */
  nnc_value value;
} nnc_argument;

struct nnc_source_class; /* nnc_data.h: &nnc_source_idx, ...; only what is named is linked */
struct nnc_stage_class;

typedef struct nnc_call {
  const char *function;
  const struct nnc_source_class *source; /* for the first call of a pipeline */
  const struct nnc_stage_class *stage;   /* for the others */
  int argument_count;
  const nnc_argument *arguments;
  int line, column; /* in the .net file */
} nnc_call;

typedef struct nnc_pipeline {
  int field_count;
  const char *const *fields;
  int call_count;
  const nnc_call *calls;
} nnc_pipeline;

/* How training goes through a data set, and with STREAMS every reader of it: row b of a minibatch
 * continues row b of the one before. WITHIN shuffles so many examples at a time. */
enum nnc_order { NNC_ORDER_SHUFFLED, NNC_ORDER_FILE, NNC_ORDER_STREAMS, NNC_ORDER_WITHIN };

typedef struct nnc_data_set {
  const char *name; /* "train", "test", "predict" */
  int pipeline_count;
  const nnc_pipeline *pipelines;
  int order;      /* enum nnc_order */
  int wrap_tail;  /* 1: the incomplete last batch of training is filled from the start */
  int64_t within; /* of NNC_ORDER_WITHIN: how many examples are shuffled at a time */
} nnc_data_set;

/* The command generate (train/generate.c): linked only where the model names it. An nnc_exit. */
struct nnc_options;
int nnc_generate_text(const struct nnc_options *options);

/* What writes pages about runs (train/report.h): linked only where the model names it. */
struct nnc_report_writer;
extern const struct nnc_report_writer nnc_report_writer;

/* Average precision of found boxes (train/detections.h): linked only where the model names it. */
struct nnc_detection_class;
extern const struct nnc_detection_class nnc_detections;

/* What writes predictions that are pictures (train/predict_files.h): linked only where the model names it. */
struct nnc_result_writer;
extern const struct nnc_result_writer nnc_result_pictures;

/* Reads vocabularies of other programs (data/tokenizer.h): linked only where the model names it. */
struct nnc_tokenizer_class;
extern const struct nnc_tokenizer_class nnc_tokenizer;

/* In a phase: values live up to `at`, bytes from the arena's base; from there each worker needs `bytes`. */
typedef struct nnc_workspace {
  int64_t at, bytes;
} nnc_workspace;

typedef struct nnc_model {
  int abi;            /* NNC_MODEL_ABI */
  const char *name;   /* "mnist" */
  const char *file;   /* "mnist.net", as it was given */
  const char *source; /* its whole text */
  const char
      *definitions; /* "-D width=32 -D train.epochs=3", by name; NULL: it was compiled without */
  const char *compiler; /* "nnc 0.1.0, clang 14.0.6 -O3 -march=native" */

  /* In the order of what they need. One is chosen before anything else; it fills `run` of the entries,
   * `isa`, `limits`, `host` and `finish`, which the generated file leaves empty. */
  int level_count;
  const nnc_level *const *levels;
  const char *isa;

  int64_t arena_bytes, worker_bytes;
  /* Phases with the last values alive or the largest blocks; 0: all workers' blocks lie behind the arena. */
  int workspace_count;
  const nnc_workspace *workspaces;
  int64_t parameter_bytes, optimizer_bytes, state_bytes, activation_bytes; /* for `info` */
  int variable_count;
  const nnc_variable *variables;
  /* by variable: the device keeps its axis 1 innermost; NULL: none is so */
  const char *channels_last;
  int initial_count;
  const nnc_initial *initials;
  bool (*read_initials)(struct nnc_session *session); /* NULL: there are none */

  nnc_entry init, train, accumulate, eval, eval_one, predict, predict_batch;
  /* reads the tokens of one example, and gives the logits of what follows each of them, or the last */
  nnc_entry generate;
  int (*generate_text)(const struct nnc_options *options); /* NULL: there is no such entry */
  const struct nnc_tokenizer_class *tokenizer;             /* NULL: no source names a vocabulary */
  const struct nnc_limits *limits; /* nnc_limits.h: how fast this machine runs such code */

  int index_place_count; /* 0: indices are not checked */
  const nnc_index_place *index_places;

  int plateau_count;
  const nnc_plateau *plateaus;

  int option_count;
  const nnc_program_option *options;
  const double *option_values; /* as the run has them; the runtime sets it */

  int watch_count; /* one of a kind at most */
  const nnc_watch *watches;
  int64_t keep;                                  /* the last checkpoints that are kept */
  int64_t save_steps, save_epochs, save_minutes; /* when to save; 0: not given */

  /* Host scalars: `inputs` are t, epoch, steps, steps_per_epoch in this order, then the values of the
   * plateaus and those of the options. The outputs are
   * written where the kernels read them (nnc_worker.scalars) before each run of train/accumulate/eval. */
  int scalar_count;
  const char *const *scalar_names;
  void (*host)(const double *inputs, double *scalars);
  int rate_count;
  const nnc_rate *rates;

  /* Metrics: `loss` first.  Accumulators of train and eval come in the same order. */
  int metric_count;
  const char *const *metric_names;
  int64_t
      losses; /* so many of the first are minimized, each for parameters of its own; 0: one for all */
  void (*finish)(const double *accumulators, double *metrics);
  const unsigned char *metric_is_of_steps; /* training alone has it; NULL: there are none */

  /* Metrics of the order of a set: enum nnc_ranking_kind each. Results 2 i and 2 i + 1 of eval and eval_one are the scores and
   * the labels of number i; finish reads their values after the accumulators. By metric: does it depend on them? */
  int ranking_count;
  const unsigned char *rankings, *metric_is_ranked; /* NULL: there are none */
  const struct nnc_detection_class *detections;     /* NULL: none of them is of boxes */

  /* Scores of classes that losses have, and the true ones: where it is one, the next results of eval and eval_one are the
   * scores, [batch, classes] or of two classes [batch], and the labels. */
  int64_t class_losses;
  const char *class_input; /* the input that the labels come from; NULL: they are computed */

  int data_set_count;
  const nnc_data_set *data_sets;
  /* Inputs whose values stages look at to choose rows, or to say how often they are read, as fold(..., by = label); an
   * entry that computes nothing with one has it not among its own. */
  int looked_at_count;
  const nnc_tensor *looked_at;

  const struct nnc_report_writer *report;   /* NULL: the program writes no pages about its runs */
  const struct nnc_result_writer *pictures; /* NULL: no result of predict can be a picture */

  int64_t batch;
  int64_t epochs; /* 0: `steps` counts */
  int64_t steps;
  int64_t validate_steps; /* 0: after every epoch */
  int64_t accumulation;   /* minibatches a step */
  uint64_t seed;
} nnc_model;

enum { NNC_MODEL_ABI = 26 };

extern nnc_model nnc_the_model;

/* False after a message. */
bool nnc_initial_read(struct nnc_session *session);

#endif
