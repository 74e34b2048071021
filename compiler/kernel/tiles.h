/* How the work of a kernel is cut into tasks and tiles on a CPU.
 *
 * The Program asks for the number of tasks and the bytes of a worker's block; the C back end cuts the
 * same way when it writes the loops. Everything here depends on the kernel alone, never on the number
 * of threads or the width of vectors, so the grid (and with it every bit of the result) is fixed at
 * compile time. */
#ifndef NNC_KERNEL_TILES_H
#define NNC_KERNEL_TILES_H

#include "kernel/kernel.h"

/* Loop kernels: the domain's axes but the last are flattened to `rows`; a task takes `row_chunk` of
 * them and one of `blocks` pieces, `block` long, of the last axis. Task = row chunk * blocks + block. */
typedef struct LoopGrid {
  int64_t rows, row_chunk;
  int64_t last, blocks, block;
  int64_t tasks;
} LoopGrid;

/* Contractions.  `a` is the side whose elements are broadcast, `b` the one that is loaded as vectors;
 * a is the left operand unless `swap`.  A task computes `m_block` rows by `n_block` columns of one
 * batch element; task = (batch * n_blocks + n) * m_blocks + m, so that consecutive tasks of a worker
 * share packed panels of b. */
typedef struct ContractGrid {
  bool swap;                     /* rows of the tile are n of the kernel, columns its m */
  bool pack_a, pack_b;           /* copied to the worker's block: other dtype or awkward strides */
  int64_t batch, m, n, k;        /* extents after the swap */
  int64_t m_block, m_blocks, n_block, n_blocks;
  int64_t k_block;               /* k is cut when panels of b would leave the cache */
  int64_t a_bytes, b_bytes, tile_bytes; /* pieces of the worker's block, in this order */
  int64_t tasks;
} ContractGrid;

enum {
  TILE_MAX_ROWS = 16,     /* of a register tile, at any vector width */
  TILE_MAX_COLUMNS = 64
};

LoopGrid kernel_loop_grid(const Kernel *kernel);
ContractGrid kernel_contract_grid(const Kernel *kernel);
int64_t kernel_task_count(const Kernel *kernel);
/* Bytes that a task needs in its worker's block; a multiple of 64. */
int64_t kernel_worker_bytes(const Kernel *kernel);

/* The type in which a contraction or convolution adds up: integers in theirs, floats in f32 or f64. */
DType kernel_sum_type(const Kernel *kernel);
/* Product of a group's extents; 1 when it is empty. */
int64_t axis_group_extent(const AxisGroup *group);

#endif
