/* Checkpoints: all variables in the plain layout and, as metadata, all else that a run needs to
 * go on as if it had never stopped: position in the data, seed, accumulated metrics, fitted
 * data values.  Nothing in them depends on the time or the number of threads: equal runs write
 * equal files. */
#ifndef NNC_CHECKPOINT_H
#define NNC_CHECKPOINT_H

#include "core/safetensors.h"
#include "core/session.h"
#include "core/tally.h"
#include "train/init_files.h"

typedef struct nnc_position {
  int64_t step;            /* steps done */
  int64_t epoch;           /* of the next step, from 0 */
  int64_t step_in_epoch;   /* of the next step, from 0 */
  int64_t steps_per_epoch; /* the unit of step_in_epoch */
  bool report_is_due;      /* the metrics of `step` are not yet validated and logged */
  int64_t schedule_steps;  /* how long schedules take the run to be; 0: the file does not say */
} nnc_position;

/* Kinds of variables, as bits. */
enum {
  NNC_WEIGHTS = 1 << NNC_PARAM | 1 << NNC_STATE,
  NNC_EVERYTHING = NNC_WEIGHTS | 1 << NNC_STREAM | 1 << NNC_OPTIMIZER
};

/* Writes the kinds of variables to `path`; `position` and `tally` may be NULL (an export),
 * `keep` too (see nnc_replace_commit).  False after a message; the old file is untouched then. */
bool nnc_checkpoint_save(const nnc_session *session, const char *path, const char *keep,
                         unsigned kinds, const nnc_position *position, nnc_tally *tally);

/* Whether a file of these kinds of variables has this one; with --only its path matches, too. */
bool nnc_checkpoint_has(const nnc_session *session, int variable, unsigned kinds);

/* Opens a checkpoint of this program and checks it: all variables must be there with exactly their types and shapes, and
 * nothing else.  NULL after a message that lists the differences. */
nnc_safetensors *nnc_checkpoint_open(const nnc_session *session, const char *path);

/* Whether there is a file to resume; false after a message that says how to train first. */
bool nnc_checkpoint_is_there(const nnc_session *session, const char *path);

/* Reads all of its variables into the model. */
bool nnc_checkpoint_read(nnc_session *session, nnc_safetensors *file);

/* Reads the fitted values; none are there in a file of another program. */
bool nnc_checkpoint_fitted(nnc_session *session, const nnc_safetensors *file);

/* Reads seed, position and tally; warns when the source or the instruction set differ. */
bool nnc_checkpoint_resume(nnc_session *session, const nnc_safetensors *file,
                           nnc_position *position, nnc_tally *tally);

/* The steps that schedules take the run of a checkpoint to have. */
int64_t nnc_checkpoint_length(const nnc_model *model, const nnc_position *position);

/* The step of a checkpoint; -1 when the file does not say, or after a message. */
int64_t nnc_checkpoint_step(const char *path);

/* What keeps a variable from being read from `where`, "the file"; false when nothing does.  Unless `exactly`, the
 * type may be another of the same sort: floats, or whole numbers and truth values. */
bool nnc_checkpoint_misfit(char text[512], const nnc_tensor *tensor, const nnc_stored *stored,
                           const char *where, bool exactly);
/* checkpoint_fit.c: whether a run goes on with the file, that is whether it has all variables with exactly their types
 * and shapes, and nothing else; false after messages that tell the differences and what to do. */
bool nnc_checkpoint_goes_on(const nnc_model *model, const nnc_safetensors *file);
/* Whether the files have all parameters and states, of types that are converted; false after messages likewise. */
bool nnc_checkpoint_gives_weights(const nnc_model *model, const nnc_init_files *files);
/* Whether a variable has its initial value by load(). */
bool nnc_checkpoint_has_initial(const nnc_model *model, int variable);
/* Whether a variable of this name exists. */
bool nnc_checkpoint_knows(const nnc_model *model, const char *name);
/* Reads one that fits, converting it; false after a message. */
bool nnc_checkpoint_take(nnc_session *session, const nnc_safetensors *file,
                         const nnc_stored *stored, const nnc_tensor *tensor);

/* The files of --init, if there are any (checkpoint_init.c): reads the layers that fit and lists the rest; false
 * after a message, when none of a file does or something frozen is not among them. */
bool nnc_checkpoint_init(nnc_session *session);
/* Whether these files can be read at all, before time is spent on the data; false after a message. */
bool nnc_checkpoint_init_opens(const nnc_options *options);

/* eval, predict, export: initializes, and takes the weights of the files of --init or of the default checkpoint, its
 * fitted values, and where its training stood (step 0 when the file does not say). */
bool nnc_checkpoint_load(nnc_session *session, nnc_position *position);

#endif
