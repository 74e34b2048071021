/* Data sets: reading them, fitting their stages, and delivering batches.
 *
 * The generated program names sources and stages by `&nnc_source_NAME` and `&nnc_stage_NAME`; each
 * is an object of its own in the runtime library, so a program links only what its model names.
 *
 * Use: nnc_data_open reads one data set whole, in the files' own number type, applies its stages
 * and checks it against the inputs of an entry.  After that nothing is allocated: an nnc_loader
 * walks through epochs of shuffled batches (prepared ahead by a thread, if wanted), and
 * nnc_data_read copies any run of examples in order, for evaluation.  Only pictures, which are
 * decoded when they are read, can still fail then, and take memory for it.
 *
 * Functions that can fail take `char message[NNC_MESSAGE]`, fill it with one line without a
 * newline, and return -1 or NULL. */
#ifndef NNC_DATA_H
#define NNC_DATA_H

#include <stdbool.h>

#include "nnc_model.h"

enum { NNC_MESSAGE = 1024 };

extern const struct nnc_source_class nnc_source_idx, nnc_source_csv, nnc_source_npy,
    nnc_source_text, nnc_source_token_stream, nnc_source_copy_task, nnc_source_image_folder,
    nnc_source_files, nnc_source_counter, nnc_source_constant;
extern const struct nnc_stage_class nnc_stage_split, nnc_stage_shuffle, nnc_stage_standardize,
    nnc_stage_impute, nnc_stage_categories, nnc_stage_batch, nnc_stage_prefetch, nnc_stage_resize,
    nnc_stage_center_crop, nnc_stage_random_crop, nnc_stage_random_flip;

/* --- What the stages learnt from the training set; a flat list, for the checkpoint ----------- */

typedef struct nnc_fitted_value {
  char *name; /* "features.standardize.mean", "species.categories" */
  int64_t count;
  double *numbers; /* NULL for strings */
  char **strings;  /* NULL for numbers */
} nnc_fitted_value;

typedef struct nnc_fitted {
  int count;
  nnc_fitted_value *values;     /* in the order in which they were fitted */
  struct DataDictionary *names; /* of the values, to find them */
} nnc_fitted;                   /* all zero: nothing fitted */

/* Add a copy, replacing a value of the same name; -1 when there is no memory. */
int nnc_fitted_add_numbers(nnc_fitted *fitted, const char *name, int64_t count,
                           const double *numbers);
int nnc_fitted_add_strings(nnc_fitted *fitted, const char *name, int64_t count,
                           const char *const *strings);
const nnc_fitted_value *nnc_fitted_find(const nnc_fitted *fitted, const char *name);
void nnc_fitted_free(nnc_fitted *fitted);

/* The class names of a field with a `categories` stage, or the vocabulary of a text, in class order;
 * NULL when there are none. */
const nnc_fitted_value *nnc_data_class_names(const nnc_fitted *fitted, const char *field);

/* --- Data sets ------------------------------------------------------------------------------- */

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

/* Opens files given on the command line for the inputs of `entry` (model->predict), read as `data
 * predict` says, or else the first set that is not "train", or else "train"; `split` and `shuffle`
 * of these other sets are left out.  One file for each needed field, in the order of the fields; a
 * csv source takes one file for all its fields.  "-" is standard input.  Where a line has the source
 * `files`, all are its rows, and other lines read what they name.  Without files those named in
 * `data predict` are read from `directory`. */
nnc_data *nnc_data_open_predict(const nnc_model *model, const nnc_entry *entry,
                                const char *directory, int file_count, const char *const *files,
                                const nnc_fitted *fitted, char message[NNC_MESSAGE]);

/* How many files nnc_data_open_predict wants, and their description ("image (idx)") for a usage
 * message; `text` may be NULL.  -1 with a message when the entry cannot be fed. */
int nnc_data_predict_files(const nnc_model *model, const nnc_entry *entry, char *text,
                           size_t text_size, char message[NNC_MESSAGE]);

int64_t nnc_data_examples(const nnc_data *data);
int64_t nnc_data_bytes(const nnc_data *data); /* memory held */

/* Smallest and largest value of the entry's input `input` over the whole set, but for those equal
 * to `except` (INT64_MIN: none): lets the caller check labels against the number of classes.  False
 * for rows that are made when they are read (pictures), whose values nobody knows before: reading
 * holds each of these against the entry's limit, and fails with the row's name. */
bool nnc_data_range(const nnc_data *data, int input, int64_t except, double *smallest,
                    double *largest);

/* Copies the examples [first, first + count) in the set's order to inputs[i], in the order of
 * entry->inputs, in the inputs' number types, densely.  first + count <= nnc_data_examples.
 * Threads may read one data set at the same time.  -1 with a message when an example cannot be
 * made (a damaged picture). */
int nnc_data_read(const nnc_data *data, int64_t first, int64_t count, void *const *inputs,
                  char message[NNC_MESSAGE]);

void nnc_data_close(nnc_data *data); /* NULL is fine */

/* --- Batches --------------------------------------------------------------------------------- */

typedef struct nnc_loader nnc_loader;

enum nnc_tail { NNC_TAIL_DROP, NNC_TAIL_KEEP, NNC_TAIL_WRAP };
enum { NNC_PREFETCH_DEFAULT = -1 };

typedef struct nnc_loader_options {
  int64_t batch;
  int tail;    /* the incomplete last batch: dropped, short, or filled from the epoch's start */
  int shuffle; /* a new order each epoch, a function of (seed, epoch) alone */
  uint64_t seed;
  int prefetch; /* batches prepared ahead by a thread; 0: no thread;
                 * NNC_PREFETCH_DEFAULT: what the set's prefetch stage says, or 2 */
} nnc_loader_options;

/* For training: the model's batch, seed, `order` and `tail`, and prefetching. */
nnc_loader_options nnc_loader_training(const nnc_model *model, const nnc_data *data);

typedef struct nnc_batch {
  int64_t epoch; /* from 0 */
  int64_t index; /* of the batch in its epoch, from 0 */
  int64_t count; /* examples; less than options.batch only for the last with NNC_TAIL_KEEP; -1: an
                  * example could not be made, nnc_loader_failure says why */
} nnc_batch;

/* Starts at epoch 0, batch 0.  A data set without a whole batch is an error with NNC_TAIL_DROP. */
nnc_loader *nnc_loader_open(const nnc_data *data, const nnc_loader_options *options,
                            char message[NNC_MESSAGE]);
int64_t nnc_loader_batches(const nnc_loader *loader); /* in an epoch */

/* Delivers the next batch into inputs[i] as nnc_data_read does; after the last batch of an epoch
 * comes the first of the next.  Allocates nothing. */
nnc_batch nnc_loader_next(nnc_loader *loader, void *const *inputs);
const char *nnc_loader_failure(const nnc_loader *loader);

/* The position is (epoch, index) of the batch that comes next; seeking there later, in another
 * process too, continues with the same examples. */
void nnc_loader_position(const nnc_loader *loader, int64_t *epoch, int64_t *index);
void nnc_loader_seek(nnc_loader *loader, int64_t epoch, int64_t index);

void nnc_loader_close(
    nnc_loader *loader); /* ends the thread; before nnc_data_close; NULL is fine */

#endif
