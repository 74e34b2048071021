/* Convolutions with their channels last, as products whose one side is read through the windows.
 *
 *                result   rows                columns              depth
 *   conv         y        images, positions   channels k           taps, channels c
 *   conv_input   dx       images, positions   channels c           taps, channels k
 *   conv_weight  dw       channels k          taps, channels c     images, positions
 *
 * Rows, columns and depth are those of the register tile, whose rows are broadcast. The adjoint in the
 * input of a strided convolution is such a product for each phase, a residue of the place modulo the
 * stride along each axis, which meets taps of its own. Batches of the product are pieces of the images,
 * groups of the channels, and phases, the last of these the fastest. */
#ifndef NNC_BACKEND_C_WINDOW_H
#define NNC_BACKEND_C_WINDOW_H

#include "kernel/kernel.h"
#include "support/vec.h"

typedef enum WindowSide {
  WINDOW_NONE,   /* each position sees one place, its own: both sides are matrices as they are */
  WINDOW_ROWS,   /* what is read through the windows is broadcast ... */
  WINDOW_COLUMNS /* ... or loaded as vectors */
} WindowSide;

/* See nnc_window.h. */
typedef struct ProductTap {
  int64_t at[3], span, weight;
} ProductTap;

typedef struct WindowProduct {
  const Kernel *kernel; /* the contraction: its slots, and the epilogue over its batches, m and n */
  WindowSide side;
  bool swap;                           /* the tile's rows are n of the contraction */
  int64_t grid[3], step[3], extent[3]; /* of positions; between them; of places */
  int64_t place, channel, image;       /* elements of operand 0 from each to the next */
  int64_t tap_channels;                /* elements of a row for a tap */
  int64_t place_channels;              /* of these, those of one place */
  /* elements of w from a column to the next, and along the depth */
  int64_t weight_row, weight_channel;
  VEC(ProductTap) taps; /* phase by phase */
  int phases;
  int64_t *first_tap; /* of each phase, and after the last */
  int64_t stride[3];  /* place of the result = stride * position + residue */
} WindowProduct;

/* Whether an operand has its channels last. */
bool conv_has_last(const Kernel *kernel, int operand);
/* Whether one of its operands has. */
bool conv_has_some_last(const Kernel *kernel);
/* Whether a convolution is computed so: one of its operands has, or it sums over pieces of the images. */
bool conv_is_product(const Kernel *kernel);
WindowProduct window_product(Arena *arena, const Kernel *kernel);
/* Whether the weights of all taps follow each other along the depth, so that they are packed at once. */
bool window_weights_follow(const WindowProduct *window);

#endif
