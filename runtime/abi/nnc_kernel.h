/* What all generated kernels use of the runtime: inline functions only. Contractions and convolutions have more, in
 * nnc_products.h and nnc_convolutions.h: a compiler reads these for a tenth of a second. */
#ifndef NNC_KERNEL_H
#define NNC_KERNEL_H

/* Functions of one kind have the same parameters, whether or not one of them needs all. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#include "nnc_check_index.h"
#include "nnc_extern.h"
#include "nnc_half.h"
#include "nnc_lanes.h"
#include "nnc_math.h"
#include "nnc_ops.h"
#include "nnc_parallel.h"
#include "nnc_pool.h"
#include "nnc_random.h"
#include "nnc_sort.h"
#include "nnc_stream.h"
#include "nnc_vector.h"

/* Copies a buffer, every worker its share. */
NNC_INLINE void nnc_copy(nnc_worker *worker, void *restrict to, const void *restrict from,
                         int64_t bytes) {
  enum { PIECE = 16384 };
  NNC_TASKS(worker, (bytes + PIECE - 1) / PIECE, task) {
    const int64_t at = task * PIECE;
    memcpy((char *)to + at, (const char *)from + at, (size_t)nnc_least(PIECE, bytes - at));
  }
}

#endif
