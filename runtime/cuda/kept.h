/* Data that the device keeps (--resident): the arrays that the host holds, copied once, and the kernel that
 * fetches from them the rows of a batch (nnc_gather of nnc_cuda_gather.h). */
#ifndef NNC_CUDA_KEPT_H
#define NNC_CUDA_KEPT_H

#include <stdbool.h>

#include "core/device.h"
#include "cuda/play.h"
#include "cuda/transfer.h"

/* Of an entry that trains. */
typedef struct nnc_kept_table {
  /* the kernel's table: how many inputs there are, then a nnc_cuda_rows for each */
  CuAddress address;
  int64_t blocks; /* of the kernel's grid */
} nnc_kept_table;

typedef struct nnc_kept {
  bool is_open;
  CuAddress memory; /* all arrays, one after the other, then the tables */
  int64_t bytes;    /* of the arrays */
  nnc_kept_table train, accumulate;
} nnc_kept;

/* What the device is, for nnc_kept_open. */
typedef struct nnc_kept_place {
  const nnc_gpu *gpu;
  const nnc_model *model;
  CuAddress arena;
  nnc_transfer *transfer; /* for the copies */
} nnc_kept_place;

/* False where the arrays do not fit beside what the program needs, or the kernel cannot fetch them; there
 * is no message then, but when the driver fails. */
bool nnc_kept_open(nnc_kept *kept, const nnc_kept_place *place, int count, const nnc_rows *rows);
void nnc_kept_close(nnc_kept *kept);

/* Puts the kernel into the stream: the run of entry `number` that comes next is told what lies at `told`,
 * state and scalars (`words` of 8 bytes) at `state` and the examples after them. */
typedef struct nnc_told {
  CuAddress told, state;
  int64_t words;
} nnc_told;
void nnc_kept_launch(const nnc_kept *kept, nnc_play *play, enum nnc_entry_number number,
                     const nnc_told *told);

#endif
