/* The command line: one table of flags, one of commands; see docs/executable.md. */
#ifndef NNC_OPTIONS_H
#define NNC_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/flag_value.h"
#include "core/setting.h"
#include "os/exit.h"

enum {
  NNC_MOST_INITS = 16,    /* files of --init */
  NNC_MOST_PATTERNS = 64, /* of --only */
  NNC_MOST_KEPT = 1000,   /* checkpoints beside the newest */
  NNC_MOST_WRONG = 100000 /* examples that eval lists */
};

enum nnc_command_bit {
  NNC_TRAIN = 1,
  NNC_EVAL = 2,
  NNC_PREDICT = 4,
  NNC_INFO = 8,
  NNC_BENCH = 16,
  NNC_EXPORT = 32,
  NNC_STEP = 64,
  NNC_PROFILE = 128,
  NNC_SWEEP = 256,
  NNC_REPORT = 512,
  NNC_GENERATE = 1024
};

typedef struct nnc_options nnc_options;

typedef struct nnc_command {
  const char *name;
  unsigned bit;
  const char *arguments; /* "FILE...", for the usage line */
  int least, most;       /* arguments; most -1: any number */
  const char *summary;
  int (*run)(const nnc_options *options); /* an nnc_exit */
} nnc_command;

/* Tables by class that are wanted; `wrong`: how many examples, -1: not given. */
typedef struct nnc_class_tables {
  bool confusion, per_class, calibration;
  int64_t wrong;
} nnc_class_tables;

struct nnc_options {
  const nnc_command *command;
  const char *data, *out, *log, *format, *inputs, *trace, *isa, *tensorboard, *to, *prompt, *stop,
      *npy, *png, *cache, *over; /* NULL: not given */
  const char *init[NNC_MOST_INITS];
  int init_count;
  const char *only[NNC_MOST_PATTERNS]; /* what matches one of them is meant */
  int only_count;
  const char *resume; /* "": the default checkpoint; NULL: no --resume */
  int64_t epochs, steps, validate_every, warmup, threads, count, schedule, device, resident, group,
      jobs, patience, keep, batch, top, length, top_k; /* -1: not given; yes is 1 */
  double temperature, top_p;
  nnc_interval save_every;
  nnc_class_tables class_tables;
  uint64_t seed;
  bool has_seed, quiet, keep_going, check_numerics, json, all, ahead, data_only, predict, eval,
      best, names, report_live, no_bound, help, version;
  /* of --seed and of the program's options, as they were given; NULL: not given. A sweep has lists in them, and
   * the values that follow are the defaults. */
  const char *seed_text, *setting_texts[NNC_MAX_OPTIONS];
  nnc_settings settings; /* of the program's options */
  int word_count;        /* the whole command line, of a command without arguments */
  char **words;
  int argument_count; /* after the command */
  char **arguments;
};

/* Is the name meant by --only?  Without the flag all are. */
bool nnc_options_mean(const nnc_options *options, const char *name);
/* Reads argv; the default command is the first of the table.  An nnc_exit other than
 * NNC_EXIT_OK ends the program after a message.  `arguments` points into argv, which is
 * rearranged after the program's name. */
int nnc_options_parse(nnc_options *options, int argc, char **argv, int command_count,
                      const nnc_command *commands);
void nnc_options_help(const nnc_options *options, const char *program, int command_count,
                      const nnc_command *commands);

#endif
