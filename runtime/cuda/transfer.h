/* Copies between any memory of the host and the device's, in the order of the device's stream. */
#ifndef NNC_CUDA_TRANSFER_H
#define NNC_CUDA_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/gpu.h"

enum { NNC_TRANSFER_PIECES = 2 };

typedef struct nnc_transfer {
  const nnc_gpu *gpu;
  char *pinned[NNC_TRANSFER_PIECES];   /* pieces of it go through these in turns */
  CuEvent copied[NNC_TRANSFER_PIECES]; /* the device is done with it */
  int turn;
} nnc_transfer;

bool nnc_transfer_open(nnc_transfer *transfer, const nnc_gpu *gpu); /* false after a message */
void nnc_transfer_close(nnc_transfer *transfer);

/* Returns when `from` has been read; the device may have it later. */
void nnc_transfer_in(nnc_transfer *transfer, CuAddress to, const void *from, int64_t bytes);
/* Waits for all that was put into the stream before, and returns when the values are there. */
void nnc_transfer_out(nnc_transfer *transfer, void *to, CuAddress from, int64_t bytes);

#endif
