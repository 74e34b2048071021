/* Opening data sets: nnc_data_open reads one whole, in the files' own number type, applies its
 * stages and checks it against the inputs of an entry.
 *
 * Functions that can fail take `char message[NNC_MESSAGE]`, fill it with one line without a
 * newline, and return -1 or NULL. */
#ifndef NNC_DATA_OPEN_H
#define NNC_DATA_OPEN_H

#include <stdbool.h>
#include <stddef.h>

#include "core/fitted.h"
#include "os/message.h"
#include "nnc_model.h"

typedef struct nnc_data nnc_data;

/* Does reading the set teach what a later `eval` of the checkpoint needs (means, classes)? */
bool nnc_data_learns(const nnc_data_set *set);

/* Does `fitted`, of a checkpoint, hold standard scores of a field of data train which that does not
 * state any more?  The call that reads the field; NULL: no. */
const nnc_call *nnc_data_unstated(const nnc_model *model, const nnc_fitted *fitted,
                                  const char **field);

/* Stages that draw (random_crop, random_flip) do so in training, and where the set that is evaluated
 * or `data predict` has them itself. Elsewhere a random_crop is a center_crop, a random_flip nothing.
 *
 * Opens the set called `name` ("train", "test", ...) for the inputs of `entry`, and checks their
 * types and shapes.  Paths are relative to `directory`.  Stages take their values from `fitted`;
 * those not found there are fitted when the set is "train" and added; in any other set they are an
 * error.  So: with an empty list open "train" first; with a checkpoint's list open any. */
nnc_data *nnc_data_open(const nnc_model *model, const char *name, const nnc_entry *entry,
                        const char *directory, nnc_fitted *fitted, char message[NNC_MESSAGE]);

/* Where a part of standard input was in it: the first lines as they are, then those from `line` on. */
typedef struct nnc_data_part {
  int64_t head_lines, line;
} nnc_data_part;

/* Files given on the command line, and where the others are. */
typedef struct nnc_data_files {
  const char *directory;
  int count;
  const char *const *names;
  const nnc_data_part *part; /* of standard input, which is a part of another; NULL: it is whole */
} nnc_data_files;

/* Opens files given on the command line for the inputs of `entry` (model->predict), read as `data
 * predict` says, or else the first set that is not "train", or else "train"; `split` and `shuffle`
 * of these other sets are left out.  One file for each needed field, in the order of the fields; a
 * csv source takes one file for all its fields; those whose examples are files take equally many.
 * "-" is standard input.  Where a line has the source `files`, all are its rows, and other lines read what they name.
 * Without files those named in `data predict` are read from `directory`. */
nnc_data *nnc_data_open_predict(const nnc_model *model, const nnc_entry *entry,
                                const nnc_data_files *files, const nnc_fitted *fitted,
                                char message[NNC_MESSAGE]);

/* How many files nnc_data_open_predict wants, and their description ("image (idx)") for a usage
 * message; `text` may be NULL.  -1 with a message when the entry cannot be fed. */
int nnc_data_predict_files(const nnc_model *model, const nnc_entry *entry, char *text,
                           size_t text_size, char message[NNC_MESSAGE]);

#endif
