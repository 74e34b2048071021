/* Lines of images that a product makes when a depthwise convolution reads them: its feeder (kernel/feed.h). */
#ifndef NNC_BACKEND_C_FEED_H
#define NNC_BACKEND_C_FEED_H

#include "backend/c/kernels.h"

/* Whether the feeder is a pointwise convolution that can make the kernel's lines: a task has `block` channels of them, which
 * must be all; lines must be long and weights few, since each line reads these anew. */
bool feed_makes_lines(const Kernel *kernel, const Kernel *feeder, int64_t block);
/* Bytes of the weights that a feeder keeps; elements of its sums, and of all lines that are held. */
int64_t feed_kept_bytes(const Kernel *feeder);
int64_t feed_sums_elements(void);

/* The lines that a worker holds: a ring of as many as a position sees. */
typedef struct FeedRing {
  int64_t lines, first; /* how many; which is the first that position 0 sees */
  int64_t at;   /* elements of the worker's block before the sums, which are before the lines */
  int64_t kept; /* elements that the kernel itself keeps, before those of its feeder */
} FeedRing;

/* What the kernel's function has for its feeder. */
typedef struct FeedText {
  const char *fill;  /* a call that fills the weights that the feeder keeps */
  const char *begin; /* declarations before all tasks */
  const char *lines; /* makes what line `p1` of the results of `image` sees */
  const char *line;  /* declares line_of_x: line `x1` of these */
} FeedText;
/* Writes the functions of the feeder, which the text calls. */
FeedText feed_write(Code *code, const KernelFunction *function, const FeedRing *ring);

#endif
