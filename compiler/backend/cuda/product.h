/* Products of matrices that are read element by element: what contractions and convolutions have in
 * common.
 *
 *   result[batch, row, column] = sum over depth of left[batch, row, depth] * right[batch, depth, column] */
#ifndef NNC_BACKEND_CUDA_PRODUCT_H
#define NNC_BACKEND_CUDA_PRODUCT_H

#include "backend/cuda/cuda.h"

typedef struct ProductExtents {
  int64_t batches, rows, columns, depth;
} ProductExtents;

enum {
  PRODUCT_FEW = 8,         /* rows or columns that fill no tile */
  PRODUCT_LONG_DEPTH = 256 /* then worth a block an element */
};

/* How many tiles of so many rows and columns cover the result. */
int64_t product_tiles(const ProductExtents *extents, int rows, int columns);
/* About the clocks of a product whose depth is made in so many pieces (pieces.c). */
double product_time(const ProductShape *whole, int64_t pieces);

/* How the product reads and stores. Texts of CUDA, in which `batch` is the product's number. */
typedef struct ProductText {
  const char *index_type;
  /* Lines that set `value` to the element of row (of the right side: column) `outer` at `depth`. */
  const char *sides[2];
  bool depth_is_inner[2]; /* neighbours along the depth are neighbours in memory */
  /* The element itself, "x[outer * 100 + depth]", of a side that lies in memory as runs of 16 bytes, at
   * multiples of 16, of neighbours along the inner axis (but for the end of the last of them); or NULL. */
  const char *matrices[2];
  /* Lines that set `from` to the address of the 16 bytes that begin with the element, and `bytes` to 16, or
   * leave `bytes` 0 where all their elements are 0: of a side that lies as such runs along the inner axis, each
   * at a place of its own; or NULL. */
  const char *runs[2];
  int operands[2];      /* that the sides are read from */
  const char *epilogue; /* lines for the element `sum` of `row` and `column` */
} ProductText;

/* The element of a side, for ProductText.sides: a number of the type in which the product
 * multiplies. Tensor cores take it as it lies in memory. */
const char *product_loaded(Arena *arena, const KernelFunction *function,
                           const ProductExtents *extents, int operand, const char *at);

CudaGrid product_grid(const Kernel *kernel, const ProductExtents *extents);
void product_write(Code *code, KernelFunction *function, const ProductExtents *extents,
                   const ProductText *text);

#endif
