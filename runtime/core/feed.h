/* The inputs of an entry that is run again and again, matched once to those for which data were
 * opened. */
#ifndef NNC_FEED_H
#define NNC_FEED_H

#include <stdbool.h>

#include "core/device.h"

typedef struct nnc_feed {
  nnc_device *device;
  int count;
  const nnc_tensor **inputs; /* in the order of the data's */
  void **places;             /* where the host fills them */
} nnc_feed;

/* For runs of `entry` on data that were opened for `from`; what `entry` does not read goes where
 * `from` reads it. False after a message; nnc_feed_close is fine then too. */
bool nnc_feed_open(nnc_feed *feed, nnc_device *device, const nnc_entry *from,
                   const nnc_entry *entry);
void nnc_feed_close(nnc_feed *feed);

/* Places for a whole batch of each input, to be filled before nnc_feed_end hands them over. */
void *const *nnc_feed_begin(nnc_feed *feed);
/* Where only the first `rows` of `batch` are filled: the others become like the first, so that nothing computes with
 * what was there before. */
void nnc_feed_repeat(nnc_feed *feed, int64_t rows, int64_t batch);
void nnc_feed_end(nnc_feed *feed);

#endif
