/* The geometry of a window sliding over spatial axes, shared by convolution and pooling.
 *
 * Along each axis output position o and tap t meet the input at o * stride - low + t * dilation;
 * what falls outside the input is padding. */
#ifndef NNC_OPS_WINDOW_H
#define NNC_OPS_WINDOW_H

#include "ops/infer.h"

struct Target; /* target/target.h */

typedef struct Window {
  int rank; /* spatial axes */
  int64_t in[MAX_RANK], out[MAX_RANK], kernel[MAX_RANK];
  int64_t stride[MAX_RANK], low[MAX_RANK], high[MAX_RANK], dilation[MAX_RANK];
} Window;

/* What slides over what. */
typedef struct Sliding {
  int rank;
  const int64_t *in, *kernel;
  int64_t least_padding; /* the least low and high allowed */
} Sliding;

/* Reads the attributes for a window and computes `out`. False with *reason when it does not fit. */
bool window_infer(Inference *in, Sliding sliding, Window *window);
/* The same of a node known to be sound. */
Window window_read(const Node *node, int rank, const int64_t *in, const int64_t *kernel);
/* The shapes of the three tensors, whichever of them a node computes. */
typedef struct ConvShapes {
  Shape x, w, y;
} ConvShapes;
/* False: it is neither a convolution nor one of its gradients. */
bool conv_shapes(const Node *node, ConvShapes *found);
/* A convolution, its gradient in the input, and in the weights. */
enum { CONV_DIRECTIONS = 3 };
int conv_direction(const Node *node);
/* What a convolution sees and what it makes; of a gradient in weights both things that it sees. */
typedef struct ConvSides {
  const Node *side[2];
} ConvSides;
ConvSides conv_sides(const Node *node);
/* Whether the target keeps what this convolution reads and writes with its channels last. */
bool conv_keeps_channels_last(const struct Target *target, const Node *node);
/* Whether it is better so than with one side last and the other not. */
bool conv_follows_channels_last(const struct Target *target, const Node *node);
/* False when some window lies in the padding entirely: *axis and *position say where. */
bool window_touches_input(const Window *window, int *axis, int64_t *position);

enum {
  MOST_PLACES = 255
}; /* of a window whose maximum max_place tells; another number is no place */
/* Elements of the window of a pooling. */
int64_t window_tap_count(const Node *node);

/* For each tap, in row-major order, the stretches of output positions that it serves: output
 * out + i meets input in + i * step, for i below length, both flat over the spatial axes. */
typedef struct WindowRun {
  int64_t out, in, length;
} WindowRun;

typedef struct WindowTap {
  int run_count;
  WindowRun *runs;
} WindowTap;

typedef struct WindowTaps {
  int64_t count;
  WindowTap *taps;
  int64_t step;              /* stride of the last axis */
  int64_t in_size, out_size; /* elements of one plane */
} WindowTaps;

WindowTaps window_taps(Arena *arena, const Window *window);

#endif
