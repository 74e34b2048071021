/* In how many pieces the depth of a product is made: those with which it is through first, by the time
 * that blocks take for tiles of it. The numbers are clocks of a GPU with PROCESSORS multiprocessors,
 * estimated from how many products such a one makes at a time and what it reads; none is measured. */
#include "backend/cuda/product.h"

#include "support/integers.h"

/* The clocks that a multiprocessor needs for a tile, for a number of `depth` elements. */
typedef struct TileTime {
  int rows, columns;
  double clocks;
} TileTime;

enum { TILE_COUNT = 4, UNIT_BYTES = 64, RESIDENT = 2048 };

/* By threads, for an element of the depth; on tensor cores, for UNIT_BYTES of it. */
static const TileTime by_threads[TILE_COUNT] = {
    {128, 128, 150}, {64, 64, 50}, {32, 32, 24}, {16, 16, 16}};
static const TileTime by_units[TILE_COUNT] = {
    {128, 128, 400}, {64, 128, 224}, {64, 64, 128}, {32, 32, 48}};

static const double join_clocks = 3000, /* a launch more, and a wait for the one before */
    bytes_a_clock = 2300,               /* that all read or write */
    load_clocks = 40,                   /* of products of a thread, one after the other */
    stride_clocks = 150;                /* of one product of each thread of a block */

static double tiles_time(const TileTime *tiles, const ProductShape *product, double depth) {
  const ProductExtents extents = {product->batches, product->rows, product->columns,
                                  product->depth};
  double best = 0;
  for (int i = 0; i < TILE_COUNT; i++) {
    int64_t blocks = product_tiles(&extents, tiles[i].rows, tiles[i].columns);
    double time = (double)divide_up(blocks, PROCESSORS) * tiles[i].clocks * depth;
    if (i == 0 || time < best) best = time;
  }
  return best;
}

/* Few rows or columns: an element of the result a block or, of a short depth, a thread. */
static double points_time(const ProductShape *product) {
  int64_t results = product_results(product), resident = PROCESSORS * RESIDENT;
  if (product->depth < PRODUCT_LONG_DEPTH)
    return (double)divide_up(results, resident) * (double)product->depth * load_clocks;
  int64_t turns = divide_up(results, resident / USUAL_THREADS);
  return (double)turns * (double)divide_up(product->depth, USUAL_THREADS) * stride_clocks;
}

double product_time(const ProductShape *whole, int64_t pieces) {
  ProductShape product = *whole;
  product.batches *= pieces;
  product.depth = divide_up(whole->depth, pieces);
  double time = 0, depth = (double)product.depth;
  bool has_units = dtype_is_half(product.dtype) || product.is_tf32;
  if (product.rows < PRODUCT_FEW || product.columns < PRODUCT_FEW) time = points_time(&product);
  else if (has_units)
    time = tiles_time(by_units, &product, depth * dtype_size(product.dtype) / UNIT_BYTES);
  else time = tiles_time(by_threads, &product, product.dtype == DTYPE_F64 ? 2 * depth : depth);
  if (pieces == 1) return time;
  double bytes = 2 * (double)product_results(&product) * (product.dtype == DTYPE_F64 ? 8 : 4);
  return time + join_clocks + bytes / bytes_a_clock;
}
