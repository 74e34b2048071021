/* How the work of a kernel is cut into tasks and tiles on a CPU.
 *
 * The number of tasks and the bytes of a worker's block go into the Program (target/target.h); the
 * writers of the kernels cut the same way. Everything here depends on the kernel alone, never on the
 * number of threads or the width of vectors, so the grid (and with it every bit of the result) is
 * fixed at compile time. */
#ifndef NNC_BACKEND_C_TILES_H
#define NNC_BACKEND_C_TILES_H

#include "kernel/kernel.h"
#include "support/integers.h"
#include "target/target.h"

enum {
  SHORT_ROW = 8, /* a reduction over fewer elements is a scalar loop */
  STREAM_BYTES =
      64 << 20, /* of an operand that is in no cache: twice the last one of many processors */
  FAR_SIDE_BYTES =
      2 << 20, /* twice the second-level cache: most of a larger side of a product lies beyond it */
  LAST_CACHE_BYTES = 8 << 20, /* an operand that stays in the last cache until it is read again */
  /* A matrix that is read once: several of its lines at a time are faster than one where they come from beyond the
   * second-level cache. */
  FAR_MATRIX_BYTES = 1 << 20,
  LEAST_AXPY_COLUMNS = 256 /* of such lines that are added up (CONTRACT_AXPY) */
};

struct WindowProduct; /* window.h */

/* Loop kernels: the domain's axes but the last are flattened to `rows`; a task takes `row_chunk` of
 * them and one of `blocks` pieces, `block` long, of the last axis. Task = row chunk * blocks +
 * block. */
typedef struct LoopGrid {
  int64_t rows, row_chunk;
  int64_t last, blocks, block;
  int64_t tasks;
} LoopGrid;

/* Contractions.  `a` is the side whose elements are broadcast, `b` the one that is loaded as
 * vectors; a is the left operand unless `swap`.  A task computes `m_block` rows by `n_block`
 * columns of one batch element; task = (batch * n_blocks + n) * m_blocks + m, so that consecutive
 * tasks of a worker share packed panels of b. */
typedef enum ContractWay {
  CONTRACT_TILES,
  CONTRACT_DOTS, /* few rows of a, with k along lines of both sides: nnc_thin.h */
  CONTRACT_AXPY, /* few rows of a, to which lines of a large b are added; the same header */
  CONTRACT_LINES /* short k: whole lines of the result; the same header */
} ContractWay;

typedef struct ContractGrid {
  ContractWay way;
  bool swap;           /* rows of the tile are n of the kernel, columns its m */
  bool pack_a, pack_b; /* copied to the worker's block, where that is faster or must be */
  bool is_bf16;        /* both sides, with sums in f32: nnc_gemm_bf16.h */
  bool is_x3;          /* both sides are f32 and split in two bf16: nnc_gemm_x3.h */
  bool on_unit;        /* either: a matrix unit computes it if there is one */
  bool is_window;      /* of a convolution: window.h */
  bool reads_lines;    /* bf16: a matrix unit reads the rows of a where they are; packed else */
  bool reads_runs;     /* of a convolution's lines, which are copied once (contract_seen.c) */
  bool keeps_b;        /* for the tasks that follow, in its whole depth */
  bool is_kept; /* b lies in panels of the whole depth, from run to run (Kernel.keeps_weights) */
  int64_t kept_bytes;     /* of these */
  int64_t batch, m, n, k; /* extents after the swap */
  int64_t m_block, m_blocks, n_block, n_blocks;
  int64_t height;     /* rows of a tile at most, at any width of vectors */
  int64_t k_block;    /* k is cut when panels of b would leave the cache */
  bool stores_tiles;  /* tiles are the result's own memory: no epilogue */
  int64_t result_row; /* then elements of the result from row to row of a tile */
  int64_t b_piece;    /* elements of a piece of k of the kept panels */
  int64_t sums_row;   /* elements of a row of the sums, where tiles are not NR apart */
  int64_t a_bytes, b_bytes, tile_bytes; /* pieces of the worker's block, in this order */
  int64_t tasks;
} ContractGrid;

/* Convolutions, with one or two spatial axes as three whose first extents are 1.
 *
 * A task works on a block of one image's grid: output positions of conv, for conv_input positions
 * that stand for `stride` inputs each ("output phases").  Planes of its source (x, or dy) are
 * copied into the worker's block with padding as rasters `length` long along each axis, for conv
 * one for every residue of the taps modulo the stride ("source phases").  Zeros that end a row of a
 * raster may be those that begin the next one ("gap").  conv_weight sums over
 * images and blocks within a task, which owns `rows` x `channels` kernels. */
typedef struct ConvGrid {
  bool is_serial; /* one worker does all tasks */
  int64_t extent_in[3], extent_out[3], kernel[3], stride[3], low[3], dilation[3];
  int64_t grid[3];   /* positions along each axis */
  int64_t least[3];  /* conv_input: the first position */
  int64_t extra[3];  /* raster length beyond the block */
  int64_t margin;    /* zeros both before and after each row of the source */
  int64_t gap;       /* of these, those after a row that are also those before the next one */
  int64_t length[3]; /* of a raster */
  int64_t source_phases[3], output_phases[3];
  int block_axis;
  int64_t block, blocks;
  int64_t images, groups, group_chunk, chunks;
  int64_t rows, channels; /* of a group: result channels, summed channels; conv_weight: k and c */
  int64_t row_block, channel_block; /* conv_weight, and by columns or patches */
  bool by_columns;                  /* conv_input: codegen_templates/conv_columns.c */
  bool by_patches;                  /* conv_patches.c, conv_weight_patches.c */
  bool shifted; /* conv_weight: for each tap of the last axis rasters of their own, as long as
                            * the output along it, so that dy needs no gaps */
  bool moved;   /* shifted, and each raster is a plane of the source moved as a whole, with zeros
                            * where that leaves it */
  bool dy_in_place; /* conv_weight: read where it is */
  int64_t span;     /* conv_weight: positions summed at a time, for the first-level cache */
  bool is_one_sum;  /* conv_weight: all that a weight sums over is summed at a time */
  int64_t stack;    /* by columns or patches: images at a time */
  int64_t padded;   /* output positions, of these for conv and conv_input, up to whole vectors */
  int64_t phase;    /* elements from one source phase's raster to the next one's */
  int64_t plane;    /* elements of one channel's rasters of all source phases */
  int64_t raster;   /* elements of a raster, at most, up to the last output position */
  int64_t source_bytes, other_bytes, tile_bytes; /* pieces of the worker's block, in this order */
  int64_t tasks;
} ConvGrid;

/* Whether the sums of a whole task are kept while k goes on. */
static inline bool contract_keeps_sums(const ContractGrid *grid) {
  return grid->k > grid->k_block && !grid->stores_tiles;
}

/* Bytes of whole cache lines, which are as long as the widest vector. */
static inline int64_t align_64(int64_t bytes) { return align_up(bytes, 64); }

enum {
  TILE_CHAIN = 256,   /* NNC_TILE_CHAIN: products that are summed one after the other */
  TILE_MAX_ROWS = 16, /* of a register tile, at any vector width */
  TILE_MAX_COLUMNS = 64,
  RASTER_SLACK = 2 * TILE_MAX_COLUMNS, /* elements that vectors read or write beyond a raster */
  DOT_GROUP_ROWS = 8,                  /* of a group of dots, at most (nnc_thin.h) */
  TILE_ROWS = 8,                       /* of the highest tile of vectors (NNC_TILE_ROWS) */
  TILE_COLUMNS = 48                    /* of the widest: three vectors of 64 bytes of f32 */
};

/* The height of the tiles of `rows` rows. A last tile of one or two would take half as long as a whole one,
 * since few sums wait for each other: all are lower, if there need not be more of them. */
int64_t even_tile_height(int64_t rows);
/* Rows of a tile as C. */
const char *tile_height_text(Arena *arena, int64_t height);

/* How many taps of an axis until their places are the same again modulo the stride: tap t has the
 * source phase t modulo that. */
int64_t conv_tap_period(const ConvGrid *grid, int axis);
/* The place of the first tap of a source phase, modulo the stride; with shifted rasters that of the
 * tap. */
int64_t conv_phase_begin(const ConvGrid *grid, int axis, int64_t phase);

/* The stride of the flat axis that the axes [first, end) are in an affine index; 0: they are none. */
int64_t kernel_flat_stride(const Kernel *kernel, const int64_t *coefficient, int first, int end);

LoopGrid loop_grid(const Kernel *kernel);
/* Whether a loop kernel writes a store of a stage past the caches: the operand is far larger than they
 * are, so that none of it would be left there when all is written, the kernel does not read it, and
 * the stage's innermost loop writes neighbours. The same of some store of an operand. */
bool streams_store(const Kernel *kernel, const Stage *stage, const Store *store);
bool streams_operand(const Kernel *kernel, int operand);
/* Whether an operand is so large, and the kernel does not read it. */
bool is_streamed_size(const Kernel *kernel, int operand);
/* True when the stages with loops of their own read along these loops rather than along the
 * domain's last axis: rows, not columns. */
bool runs_along_rows(const Kernel *kernel);
/* `window`: of a convolution as this product, or NULL. */
ContractGrid contract_grid(const Kernel *kernel, const struct WindowProduct *window);
/* About the clocks of a product of matrices that are copied, made in so many pieces of its depth which are then added up
 * (DepthLimits). */
double contract_pieces_clocks(const ProductShape *product, int64_t pieces);
/* How many variants there are of it (Kernel.variant). */
int64_t contract_variants(const Kernel *kernel, const struct WindowProduct *window);
/* The kernel's: "12 blocks of 240 x 96, right side copied". */
const char *contract_text(Arena *arena, const Kernel *kernel, const struct WindowProduct *window);
ConvGrid conv_grid(const Kernel *kernel);
/* Templates that go through `rows` one by one, with `work` element operations each. */
LoopGrid rows_grid(const Kernel *kernel, int64_t rows, int64_t work);

#endif
