/* The target of the C back end: a CPU with vectors, some cores and two levels of cache each. All that
 * the compiler knows of it besides how kernels are cut (tiles.h) and written. */
#include "backend/c/depthwise.h"
#include "backend/c/kernels.h"
#include "backend/c/tiles.h"
#include "backend/c/window.h"
#include "backend/c/winograd.h"

#include "support/integers.h"

/* ---- weight gradients as products ----
 *
 * The template of conv_weight goes through the images one by one, with vectors along the positions of
 * a plane: sums are short and vectors half empty where planes are small. The costs are in the time of a
 * vector multiply-add. */

enum {
  LANES = 16,      /* of a vector, to count costs in */
  SUM_COST = 10,   /* a sum: loading, storing, adding up its lanes */
  COPY_COST = 5,   /* an element of x copied for a panel of the product, by short runs ... */
  RUN_COST = 2,    /* ... and by long ones, where there is one tap */
  ROW_BLOCK = 240, /* rows of a task of a contraction, which copies for itself where a sum is ... */
  LONG_SUM = 1024  /* ... longer than this (tiles.c) */
};

static double vectors(int64_t elements) { return (double)divide_up(elements, LANES); }

/* Vectors of a plane of the output with the gaps that the window's reach puts between its rows. */
static double raster_vectors(const ConvSlots *slots) {
  int last = slots->spatial - 1;
  int64_t reach = (slots->kernel[last] - 1) * slots->dilation[last];
  int64_t row = slots->out[last] + reach / slots->stride[last];
  return vectors(extent_product(slots->out, last) * row);
}

static bool conv_weight_is_product(const ConvSlots *slots) {
  int64_t positions = extent_product(slots->out, slots->spatial);
  int64_t taps = extent_product(slots->kernel, slots->spatial);
  double images = (double)slots->n, rows = (double)slots->k, depth = images * (double)positions;
  double raster = raster_vectors(slots), plane = vectors(positions);
  double sums = images * (plane < raster ? plane : raster) + SUM_COST;
  double times = depth > LONG_SUM ? (double)divide_up(slots->k, ROW_BLOCK) : 1;
  double copies = times * depth * (taps == 1 ? RUN_COST : COPY_COST) / rows;
  return 1.15 * (1.05 * depth / LANES + 1 + copies) < sums;
}

/* Vectors are of channels then: of the result, or of both where each has its own. A group's own channels
 * should fill one, or the few of a picture become many. */
static bool keeps_channels_last(const ConvSlots *slots) {
  enum { PICTURE = 4, HALF = LANES / 2 };
  int64_t c = slots->c / slots->groups, k = slots->k / slots->groups;
  if (c == 1 && k == 1) return slots->groups >= LANES;
  if (k % HALF != 0 || k < LANES) return false;
  return (c % HALF == 0 && c >= LANES) || (c <= PICTURE && k >= 2 * LANES);
}

/* The vectors of one side are read and written for a few channels of the other, instead of scattered. */
static bool follows_channels_last(const ConvSlots *slots) {
  enum { HALF = LANES / 2 };
  bool has_vectors = (slots->c % HALF == 0 && slots->c >= 2 * LANES) ||
                     (slots->k % HALF == 0 && slots->k >= 2 * LANES);
  return slots->groups == 1 && has_vectors;
}

/* A product of all taps has the results of some vectors, and is read once more for each tap. */
static bool are_few_channels(int64_t few, int64_t others, int64_t taps) {
  enum { HALF = LANES / 2, MOST_VECTORS = 4 };
  return few < HALF && others % HALF == 0 && others >= 2 * LANES && taps > 1 &&
         few * taps <= MOST_VECTORS * LANES;
}

/* Whether it is a product whose columns are what windows see of channels that lie last (window.h). Those of odd numbers
 * lie so beside convolutions of single channels, where their own windows are of one place as a rule. */
static bool cuts_convolution(const ConvSlots *slots) {
  bool is_of_places = extent_product(slots->kernel, slots->spatial) == 1 && slots->groups == 1;
  bool has_vectors = least(slots->c, slots->k) >= LANES;
  return keeps_channels_last(slots) || (is_of_places && has_vectors);
}

static bool takes_pieces(const Kernel *kernel) {
  return kernel_is_depthwise(kernel) ||
         (kernel->kind == KERNEL_CONV_WEIGHT && conv_has_some_last(kernel));
}

/* ---- attention ----
 *
 * Its kernels make the scores a second time in the backward part, seven products where written out there are
 * five. They gain where causal order lets them leave out half of each, and where scores would fill the caches
 * or much memory. */

static bool attention_gains(const AttentionUse *use) {
  enum { SOME = 128, LONG = 512 };
  if (use->splits_products) return false;
  return use->keys >= LONG || (use->is_causal && least(use->queries, use->keys) >= SOME);
}

/* A matrix unit multiplies numbers of 16 bits, and is no part of these kernels. */
static bool attention_has_units(DType dtype, int64_t depth, int64_t value_depth) {
  (void)depth;
  (void)value_depth;
  return !dtype_is_half(dtype);
}

/* Less stays in the second-level cache until it is read. */
enum { FED_BYTES = 512 << 10 };

const Target target_c = {
    .name = "c",
    .back_end = &back_end_c,
    .kernels =
        {
#define KERNEL(identifier, name) [KERNEL_##identifier] = &c_kernel_##name,
#define SOME_KERNEL(identifier, name)
#include "kernel/kernels.def"
            [KERNEL_ATTENTION_ROWS] = &c_kernel_attention_rows,
            [KERNEL_ATTENTION_GRADS] = &c_kernel_attention_grads,
        },
    .alignment = 64,
    .loops = {.least_blocks = 16, /* enough for the usual numbers of workers */
              .good_blocks = 32,
              .most_blocks = 64,
              .scan_rows = 16,
              .cache_bytes = 384 << 10, /* of a second-level cache of 512 KiB */
              .panel_bytes = 16 << 10,
              .small_weights = 32 << 10,
              .few_weights = 8},
    .reductions = {.large = 32768,
                   .few_columns = 48,
                   .few_rows = 16,
                   .huge = 4 << 20,
                   .many_columns = 8192,
                   .few_channels = 1024,
                   .least_pieces = 4,
                   .most_pieces = 64,
                   .twice_bytes = 512 << 10},
    .depth = {.least_depth = 512,
              .most_pieces = 16, /* of so many the results are few beside the operands */
              .worth = .97,
              .time = contract_pieces_clocks,
              .cuts_convolution = cuts_convolution,
              .winograd_pieces = winograd_pieces},
    .fusion = {.most_operands = 40,
               .most_stages = 16,
               .cheap_repeats = 8,
               .free_operations = 12,
               .few_rows = 16,
               .large_rows = 16384,
               .small_kernel = 16384},
    /* 200 GFLOP/s, 25 GB/s, 2 us a barrier; from 20 us on tasks move */
    .costs = {.byte = 8, .barrier = 400000, .shared = 4000000},
    .blocks_move = true,
    .computes_again = true,
    .parts_turned_rows = true,
    .conv_weight_is_product = conv_weight_is_product,
    .streams = streams_operand,
    .least_product_rows = 8, /* for a tile of registers */
    .keeps_channels_last = keeps_channels_last,
    .follows_channels_last = follows_channels_last,
    .are_few_channels = are_few_channels,
    .takes_pieces = takes_pieces,
    .conv_gains_by_winograd = winograd_gains,
    .is_winograd = kernel_is_winograd,
    .kept_bytes = weights_kept_bytes,
    .least_kept_bytes = LEAST_KEPT_BYTES,
    .least_lines_bytes = FAR_MATRIX_BYTES,
    .least_line = LEAST_AXPY_COLUMNS,
    .packs_weights = weights_are_packed,
    .can_feed = kernel_can_feed_lines,
    .least_fed_bytes = FED_BYTES,
    .attention_has_units = attention_has_units,
    .attention_gains = attention_gains,
    .most_plane_channels = 1,
    .least_turned_channels = LANES,
    .channels_together = 1,
};

/* A matrix unit multiplies numbers of bf16 many times as fast as f32, as which the filtering multiplies them. */
static bool winograd_gains_of_f32(const ConvSlots *slots, DType dtype, bool is_weight) {
  return dtype == DTYPE_F32 && winograd_gains(slots, dtype, is_weight);
}

const Target *target_c_of(bool is_direct, bool has_few_registers, bool has_matrix_unit) {
  static Target own;
  own = target_c;
  if (has_matrix_unit) own.conv_gains_by_winograd = winograd_gains_of_f32;
  if (is_direct) own.conv_gains_by_winograd = NULL;
  own.has_few_registers = has_few_registers;
  return &own;
}
