/* Batches for training: a loader goes through epochs of shuffled batches, prepared ahead by a thread,
 * if wanted. After it is open nothing is allocated. */
#ifndef NNC_DATA_LOADER_H
#define NNC_DATA_LOADER_H

#include <stdbool.h>
#include <stdint.h>

#include "os/message.h"
#include "nnc_model.h"

typedef struct nnc_data nnc_data;
typedef struct nnc_loader nnc_loader;

enum nnc_tail { NNC_TAIL_DROP, NNC_TAIL_KEEP, NNC_TAIL_WRAP };
enum { NNC_PREFETCH_DEFAULT = -1 };

typedef struct nnc_loader_options {
  int64_t batch;
  int tail;       /* the incomplete last batch: dropped, short, or filled from the epoch's start */
  int shuffle;    /* a new order each epoch, a function of (seed, epoch) alone */
  int64_t within; /* so many examples at a time, near each other in the set; 0: all at once */
  uint64_t seed;
  /* the numbers of the examples are delivered, 32 bits each, in place of their values */
  bool names;
  int prefetch; /* batches prepared ahead by a thread; 0: no thread;
                 * NNC_PREFETCH_DEFAULT: what the set's prefetch stage says, or 2, or 0 where a batch is a
                 * few rows that lie in memory */
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

/* Delivers the next batch into inputs[i] as nnc_data_read does (with options.names the examples into
 * inputs[0], for nnc_run.examples); after the last batch of an epoch
 * comes the first of the next.  Allocates nothing. */
nnc_batch nnc_loader_next(nnc_loader *loader, void *const *inputs);
const char *nnc_loader_failure(const nnc_loader *loader);

/* Seconds that nnc_loader_next took, all calls together: what training waited for its data. */
double nnc_loader_waited(const nnc_loader *loader);
/* Whether the data are made as they are read, from files: then waiting is to be expected. */
bool nnc_loader_makes_rows(const nnc_loader *loader);

/* The position is (epoch, index) of the batch that comes next; seeking there later, in another
 * process too, continues with the same examples. */
void nnc_loader_position(const nnc_loader *loader, int64_t *epoch, int64_t *index);
void nnc_loader_seek(nnc_loader *loader, int64_t epoch, int64_t index);

void nnc_loader_close(
    nnc_loader *loader); /* ends the thread; before nnc_data_close; NULL is fine */

#endif
