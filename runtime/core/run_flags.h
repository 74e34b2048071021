/* What the command line says of a run's reports and checkpoints. A checkpoint keeps it, so that --resume goes on in the same
 * way without these flags; one that is given again counts. */
#ifndef NNC_RUN_FLAGS_H
#define NNC_RUN_FLAGS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/options.h"

/* -1, and an interval of zeros: not given. */
typedef struct nnc_run_flags {
  int64_t keep, patience, validate_every;
  nnc_interval save_every;
  nnc_class_tables class_tables;
} nnc_run_flags;

nnc_run_flags nnc_run_flags_of(const nnc_options *options);

/* `keeps`: some checkpoints stay; where none does, when to save changes nothing that is saved, and is left out.
 * "KEEP PATIENCE VALIDATE_EVERY SAVE_STEPS SAVE_EPOCHS SAVE_MINUTES TABLES WRONG", malloc'ed: NULL when none is given, or
 * there is no memory. TABLES is a sum: 1 confusion, 2 per-class, 4 calibration. */
char *nnc_run_flags_format(const nnc_run_flags *flags, bool keeps);

/* Takes what is not given from such a text, or one that ends before TABLES, and says what that is; `path`: where the text is. False when it is malformed. */
bool nnc_run_flags_recorded(nnc_run_flags *flags, const char *text, const char *path);

#endif
