/* Where the host fills inputs while the device computes.
 *
 * There are two halves of pinned memory, which take turns from run to run. What was filled is copied to
 * a buffer of the device in the copy stream, beside the run before, and from there to its tensors in the
 * stream of the runs, in order with them: the tensors' places may be in use for something else until
 * that run has ended. */
#ifndef NNC_CUDA_STAGING_H
#define NNC_CUDA_STAGING_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/gpu.h"

typedef struct nnc_staged nnc_staged; /* a tensor that is being filled */

typedef struct nnc_staging {
  const nnc_gpu *gpu;
  int64_t bytes; /* of a half, and of the device's buffer */
  char *halves[2];
  CuAddress buffer;
  CuEvent arrived[2]; /* the half has been copied to the buffer */
  CuEvent placed;     /* the buffer has been copied to the tensors */
  int turn;           /* the half in use */
  bool turns;         /* a run began: the next write takes the other half */
  int64_t used, sent; /* of the half in use: handed out; of these copied */
  int most, count, sent_count, open_count;
  nnc_staged *staged;
} nnc_staging;

/* For at most `most` tensors of `bytes` together between two runs, each rounded up to multiples of
 * NNC_GPU_ALIGNMENT. False after a message. */
bool nnc_staging_open(nnc_staging *staging, const nnc_gpu *gpu, int most, int64_t bytes);
void nnc_staging_close(nnc_staging *staging);

/* Memory for all bytes of a tensor at `address`; from `end` on they are the tensor's. Several may be
 * open at a time. */
void *nnc_staging_begin(nnc_staging *staging, CuAddress address, int64_t bytes);
void nnc_staging_end(nnc_staging *staging, CuAddress address);

/* A run has been put into the stream. */
void nnc_staging_turn(nnc_staging *staging);

#endif
