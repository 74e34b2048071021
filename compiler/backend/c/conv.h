/* What the files that write a convolution as C share: conv.c, conv_tables.c, conv_epilogue.c. */
#ifndef NNC_BACKEND_C_CONV_H
#define NNC_BACKEND_C_CONV_H

#include "backend/c/kernels.h"
#include "backend/c/tiles.h"

typedef struct ConvWriter {
  Arena *arena;
  KernelFunction *function;
  const Kernel *kernel;
  ConvGrid grid;
  DType sum;
  bool is_input, is_weight;
  bool is_small; /* by columns or patches */
  int absent;    /* leading axes that the kernel does not have */
} ConvWriter;

/* For each source phase: source element of raster place 0 along each axis, block beginning at 0. */
const char *conv_begin_table(const ConvWriter *writer);

/* Two tables: each tap's number and its offset in the channel's rasters; and of each output phase its first tap, the
 * number of its taps, and the shift of the position along each axis. */
void conv_tap_tables(const ConvWriter *writer, const char **taps, const char **phases);

/* The statements that store the result's elements, from a tile, from planes, or from sums of weights. */
const char *conv_epilogue(const ConvWriter *writer);

#endif
