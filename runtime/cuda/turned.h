/* Tensors whose channels lie last in the device's memory: [n, c, places...] as n, places..., c. The host
 * knows the elements in their own order, in which files have them. */
#ifndef NNC_CUDA_TURNED_H
#define NNC_CUDA_TURNED_H

#include "cuda/transfer.h"
#include "nnc_model.h"

typedef struct nnc_turned {
  const nnc_model *model;
  char *rows; /* as they lie in the device's memory */
  int64_t bytes;
} nnc_turned;

bool nnc_turned_open(nnc_turned *turned, const nnc_model *model); /* false after a message */
void nnc_turned_close(nnc_turned *turned);

/* Elements [from, from + count) of it, whose memory begins at `base`. */
typedef struct nnc_turned_part {
  const nnc_tensor *tensor;
  CuAddress base;
  int64_t from, count;
} nnc_turned_part;
void nnc_turned_read(const nnc_turned *turned, nnc_transfer *transfer, const nnc_turned_part *part,
                     void *to);
void nnc_turned_write(const nnc_turned *turned, nnc_transfer *transfer, const nnc_turned_part *part,
                      const void *values);

#endif
