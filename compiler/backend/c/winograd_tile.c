/* Which convolutions gain by Winograd's minimal filtering, and by which tiles: see winograd_tile.h. */
#include "backend/c/winograd_tile.h"

#include "backend/c/taps.h"
#include "backend/c/window.h"
#include "backend/c/winograd.h"
#include "support/integers.h"

void winograd_axes(const ConvSlots *slots, const int64_t *extents, int64_t absent, int64_t to[2]) {
  const int64_t *first = extents + (slots->spatial > 2);
  to[0] = first[0];
  to[1] = slots->spatial > 1 ? first[1] : absent;
}

int64_t winograd_slices(const ConvSlots *slots, const int64_t *extents, int64_t absent) {
  return slots->spatial > 2 ? extents[0] : absent;
}

int64_t winograd_planes(const ConvSlots *slots) {
  return slots->n * winograd_slices(slots, slots->out, 1);
}

static WinogradTile tile_of(const ConvSlots *slots, bool is_large) {
  WinogradTile tile = {.products = 1};
  winograd_axes(slots, slots->kernel, 1, tile.taps);
  for (int i = 0; i < 2; i++) {
    tile.size[i] = tile.taps[i] == 1 ? 1 : tile.taps[i] == 3 && is_large ? 4 : 2;
    tile.products *= tile.taps[i] + tile.size[i] - 1;
  }
  return tile;
}

int64_t winograd_tiles(const WinogradTile *tile, const int64_t results[2]) {
  return divide_up(results[0], tile->size[0]) * divide_up(results[1], tile->size[1]);
}

/* The products of f32 that planes need, for a channel of the sum and one of the result: directly, where numbers of bf16 are
 * multiplied in pairs ... */
static int64_t direct_products(const ConvSlots *slots, const int64_t results[2], DType dtype) {
  int64_t taps[2];
  winograd_axes(slots, slots->kernel, 1, taps);
  int64_t all = winograd_planes(slots) * taps[0] * taps[1] * results[0] * results[1];
  return dtype == DTYPE_BF16 ? all / 2 : all;
}

/* ... and by tiles, with those that transforming them takes as long as. */
static int64_t tile_products(const ConvSlots *slots, const WinogradTile *tile,
                             const int64_t results[2]) {
  enum { TRANSFORMING = 2 };
  return winograd_planes(slots) * (tile->products + TRANSFORMING) * winograd_tiles(tile, results);
}

/* What transforming the weights costs in products: many are transformed from and to memory. */
static int64_t cost_of_weights(const ConvSlots *slots, const WinogradTile *tile) {
  enum { NUMBER = 15, FEW_WEIGHTS = 256 * 256, FEW = 180, MANY = 700, OF_PLANE = 16 };
  int64_t numbers = tile->taps[0] * tile->taps[1] + tile->products;
  int64_t more = slots->c * slots->k <= FEW_WEIGHTS ? FEW : MANY;
  return NUMBER * numbers + more * least(tile->products, OF_PLANE) / OF_PLANE;
}

WinogradTile winograd_tile(const ConvSlots *slots, const int64_t results[2]) {
  WinogradTile small = tile_of(slots, false), large = tile_of(slots, true);
  int64_t few = large.products * winograd_tiles(&large, results),
          many = small.products * winograd_tiles(&small, results);
  return 5 * few <= 4 * many ? large : small;
}

/* The tile that needs the fewest products where each launch transforms the weights, and how many with these. */
static WinogradTile best_tile(const ConvSlots *slots, const int64_t results[2], int64_t *products) {
  WinogradTile small = tile_of(slots, false), large = winograd_tile(slots, results);
  int64_t by_small = tile_products(slots, &small, results) + cost_of_weights(slots, &small);
  int64_t by_large = tile_products(slots, &large, results) + cost_of_weights(slots, &large);
  *products = least(by_small, by_large);
  return by_large < by_small ? large : small;
}

static bool saves_products(const ConvSlots *slots, DType dtype) {
  int64_t results[2], products;
  winograd_axes(slots, slots->out, 1, results);
  best_tile(slots, results, &products);
  return products < direct_products(slots, results, dtype);
}

/* Whether fewer products are left where each tap is summed apart. */
static bool has_fewer_by_taps(const Kernel *kernel) {
  const ConvSlots *slots = &kernel->conv;
  bool is_wide = kernel->operands[0].dtype == DTYPE_F32;
  if (!is_wide || slots->spatial > 2 || kernel->is_serial) return false;
  int64_t results[2], products, by_taps = taps_products(slots, kernel->kind == KERNEL_CONV_INPUT);
  winograd_axes(slots, slots->out, 1, results);
  best_tile(slots, results, &products);
  return by_taps > 0 && by_taps < products;
}

/* Whether the gradient in the weights gains: its sums are over all tiles, and are transformed once. */
static bool sums_many_tiles(const ConvSlots *slots, DType dtype) {
  enum { NUMBER = 12 /* products */ };
  int64_t results[2];
  winograd_axes(slots, slots->out, 1, results);
  WinogradTile tile = winograd_tile(slots, results);
  int64_t numbers = tile.taps[0] * tile.taps[1] + tile.products;
  int64_t saved = direct_products(slots, results, dtype) - tile_products(slots, &tile, results);
  return saved >= NUMBER * numbers;
}

/* Whether it gains where they are kept: one picture then reads of each as much as of a tap. Those of bf16 are not kept. */
static bool gains_if_kept(const ConvSlots *slots, DType dtype) {
  enum { LEAST_TILES = 16, MOST_WEIGHTS = 512 * 512 };
  int64_t results[2];
  winograd_axes(slots, slots->out, 1, results);
  WinogradTile tile = tile_of(slots, false);
  return dtype == DTYPE_F32 && slots->c * slots->k <= MOST_WEIGHTS && slots->n == 1 &&
         slots->spatial < 3 && winograd_tiles(&tile, results) >= LEAST_TILES;
}

/* Three or five taps along an axis, or one; any number of slices. */
static bool has_such_taps(const ConvSlots *slots) {
  if (slots->groups != 1) return false;
  int64_t taps[2];
  winograd_axes(slots, slots->kernel, 1, taps);
  for (int i = 0; i < slots->spatial; i++)
    if (slots->stride[i] != 1 || (slots->kernel[i] > 1 && slots->dilation[i] != 1)) return false;
  for (int i = 0; i < 2; i++)
    if (taps[i] != 1 && taps[i] != 3 && taps[i] != 5) return false;
  return taps[0] * taps[1] > 1;
}

/* Sums are of f32. */
static bool multiplies(DType dtype) { return dtype == DTYPE_F32 || dtype == DTYPE_BF16; }

bool winograd_gains(const ConvSlots *slots, DType dtype, bool is_weight) {
  enum { LEAST_OF_IMAGE = 4 /* tiles */ };
  if (!multiplies(dtype) || !has_such_taps(slots)) return false;
  int64_t channels[] = {slots->c, slots->k};
  for (int i = 0; i < 2; i++)
    if (channels[i] == 0 || channels[i] % WINOGRAD_VECTOR != 0) return false;
  WinogradTile tile = tile_of(slots, false);
  int64_t results[2];
  winograd_axes(slots, slots->out, 1, results);
  return winograd_tiles(&tile, results) >= LEAST_OF_IMAGE &&
         (is_weight ? sums_many_tiles(slots, dtype)
                    : saves_products(slots, dtype) || gains_if_kept(slots, dtype));
}

WinogradTile winograd_tile_of(const Kernel *kernel, const int64_t results[2]) {
  enum { FEW_WEIGHTS = 128 * 128, LEAST_TILES = 16 };
  const ConvSlots *slots = &kernel->conv;
  WinogradTile large = winograd_tile(slots, results);
  if (kernel->kind == KERNEL_CONV_WEIGHT) return large;
  bool may_be_kept = slots->n == 1 && slots->c * slots->k <= FEW_WEIGHTS;
  if (may_be_kept && winograd_tiles(&large, results) >= LEAST_TILES) return large;
  return best_tile(slots, results, &(int64_t){0});
}

bool kernel_gains_by_winograd(const Kernel *kernel) {
  const ConvSlots *slots = &kernel->conv;
  bool is_weight = kernel->kind == KERNEL_CONV_WEIGHT;
  if (!slots->may_be_winograd || kernel->is_x3 || !conv_has_last(kernel, 0)) return false;
  DType dtype = kernel->operands[0].dtype;
  if (!multiplies(dtype) || kernel->operands[1].dtype != dtype ||
      kernel_sum_type(kernel) != DTYPE_F32)
    return false;
  /* A block of a task loop, of few examples, makes the weights, or their sums, each time. */
  bool saves = saves_products(slots, dtype);
  if (kernel->is_serial && !saves) return false;
  if (!is_weight && !kernel->keeps_weights && gains_if_kept(slots, dtype) && !saves) return false;
  return is_weight ? conv_has_last(kernel, 1) : !has_fewer_by_taps(kernel);
}

/* The other variants compute it directly. */
bool kernel_is_winograd(const Kernel *kernel) {
  return kernel->variant == 0 && kernel_gains_by_winograd(kernel);
}
