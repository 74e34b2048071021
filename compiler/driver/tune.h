/* --tune: how a program is computed fastest, by measurement on this machine. */
#ifndef NNC_DRIVER_TUNE_H
#define NNC_DRIVER_TUNE_H

#include "driver/compilation.h"
#include "program/variants.h"

enum { MOST_TUNED_VARIANTS = 16 };

/* Choices for the program as a whole. */
typedef enum TunedPlan {
  PLAN_MODEL,    /* as the cost model picks */
  PLAN_NO_LOOPS, /* without task loops */
  PLAN_PLANES,   /* no values with their channels last */
  PLAN_HALVES,   /* the batch in two micro-batches ... */
  PLAN_QUARTERS, /* ... in four, so that the values of one are in the caches until its gradients need them */
  PLAN_COUNT
} TunedPlan;

/* A kernel of the training step that the target has in several variants. */
typedef struct TunedKernel {
  const char *key, *name; /* kernel_key; as the program calls it */
  int count;              /* of variants, at most MOST_TUNED_VARIANTS */
  int calls;              /* launches in the entries that train */
  const char *how[MOST_TUNED_VARIANTS];
  CacheKey cache_key;
  bool is_measured; /* now, not earlier */
  double ms
      [MOST_TUNED_VARIANTS]; /* of all calls of a step with the waits after them: the least of some rounds */
  int chosen;                /* 0: as the cost model picks */
} TunedKernel;

typedef struct Tuning {
  bool is_wanted;
  int threads;
  double plan_ms[PLAN_COUNT]; /* a step's least time; 0: the plan changes nothing */
  bool are_plans_measured;    /* now, not earlier */
  int plan;                   /* the fastest */
  int count;
  TunedKernel *kernels; /* of that plan */
  /* Where anything differs from the cost model's choice: least times of a step as that picks and as was measured. */
  double model_ms, tuned_ms;
  bool is_kept; /* the tuned step is clearly the faster one */
  Variants variants;
  const Module *module;    /* what the executable is made of, */
  ProgramOptions lowering; /* and by */
} Tuning;

/* Fills *tuning for the program, and says on standard error what it does. The exit status; not 0 after a message. */
int tune(const Compilation *compilation, const Module *module, const ProgramOptions *lowering,
         Tuning *tuning);

/* ---- tune_choice.c ---- */

extern const char *const tuned_plan_names[PLAN_COUNT];

/* The kernel with that key; -1: there is none. */
int tuning_find(const Tuning *tuning, const char *key);
/* The number of the least time, if it is clearly less than that of number 0; else 0. A time of 0 is none. */
int tuning_choose(int count, const double *ms);
/* Whether a step is clearly faster as it was tuned. */
bool tuning_is_worth(double model_ms, double tuned_ms);
/* Times as the cache holds them: a line that begins with what they are of. */
void tuning_write_times(Text *text, const char *of, int count, const double *ms);
/* False where the text is no such line, or has not so many times. */
bool tuning_read_times(const Text *text, const char *of, int count, double *ms);
/* What times of a kernel or a program depend on besides its own text. */
typedef struct TuningKey {
  const char *version; /* of nnc */
  const char *target, *arch, *cflags;
  int threads;
} TuningKey;
void tuning_add_key(Sha256 *hash, const TuningKey *key);
/* Gives each launch of the steps its share of the wait at the barrier after it, whose time is that of its number. */
void tuning_share_waits(const ProgramEntry *entry, double *ms);

/* ---- tune_run.c: executables that are measured ---- */

/* Runs `executable profile`: adds to ms[i] the time of kernel i in a step. The time of a step in ms, negative after a
 * message. */
double tune_profile(Arena *arena, const char *executable, int steps, const Program *program,
                    const Tuning *tuning, double *ms);
/* Runs `executable bench`; the least time of a step in ms, negative after a message. */
double tune_bench(Arena *arena, const char *executable, int threads, int steps);

/* ---- tune_report.c ---- */

void tuning_print(Text *text, const Tuning *tuning);
/* Adds the member "tuning" to the JSON object that `text` ends with. */
void tuning_add_json(Text *text, const Tuning *tuning);

#endif
