/* wgmma, by "Asynchronous Warpgroup Level Matrix Instructions" of the PTX ISA. Each warp makes the
 * sums of its own 16 rows: at once with NNC_EMULATOR_COPIES=issue, else when it waits for the
 * group. Until then sums are NaN, and the sides are read no earlier: who fills them too early is
 * found. At the end of the block the warps of a group must have begun the same products. */
#include "groups.h"

#include "copies.h"
#include "execute.h"
#include "fault.h"
#include "tensor.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { LANES = 32, MOST_WARPS = 32, WARPS = 4, MOST_PRODUCTS = 256, MOST_SUMS = 16 };
enum { ROWS = 16, COLUMNS = 128, DEPTH_BYTES = 32, SUMS = 64, MOST_DEPTHS = 16 };

/* The sums of a warp that are under way. */
typedef struct Sums {
  float *at[LANES];
  float values[LANES][SUMS];
  int products; /* that are under way */
} Sums;

typedef struct Product {
  nnc_emulated_product what;
  int group, sums;
  const char *file;
  int line;
} Product;

typedef struct Warp {
  Product products[MOST_PRODUCTS]; /* from `first`, around the end */
  Sums sums[MOST_SUMS];
  int first, count, group, registers;
  bool is_fenced;
  uint64_t begun; /* a number of all products that were begun */
} Warp;

static Warp warps[MOST_WARPS];

static int own_number(void) { return execute_machine()->thread / LANES; }

void groups_begin_block(void) {
  for (int i = 0; i < MOST_WARPS; i++) {
    Warp *warp = &warps[i];
    warp->first = warp->count = warp->group = warp->registers = 0;
    warp->is_fenced = false, warp->begun = 0;
    for (int s = 0; s < MOST_SUMS; s++) warp->sums[s].products = 0;
  }
}

void groups_end_block(int threads) {
  int registers = 0;
  for (int i = 0; i < threads / LANES; i++) {
    const Warp *warp = &warps[i], *first = &warps[i / WARPS * WARPS];
    if (warp->count > 0) fault("warp %d has ended while products are under way", i);
    if (warp->begun != first->begun)
      fault("warps %d and %d of a group have begun different products", i / WARPS * WARPS, i);
    if (warp->registers != first->registers)
      fault("warps of a group have different numbers of registers");
    registers += warp->registers * LANES;
  }
  if (registers > 65536) fault("a block has taken %d registers", registers);
}

/* ---- registers ---- */

static void set_registers(void *const *arguments, int count) {
  (void)arguments;
  warps[own_number()].registers = count;
}

void groups_registers(int count, int is_more, const char *file, int line) {
  (void)is_more;
  if (count < 24 || count > 256 || count % 8)
    fault("a thread cannot have %d registers (%s:%d)", count, file, line);
  execute_together(set_registers, NULL, count, file, line);
}

/* ---- sides ---- */

typedef struct Matrix {
  uint32_t start, across, down; /* in bytes: to the next 64 by depths, to the next eight */
  int by_depths;
} Matrix;

static Matrix read_side(uint64_t side, int by_depths, const Product *product) {
  Matrix matrix = {(uint32_t)(side & 0x3fff) << 4, (uint32_t)(side >> 16 & 0x3fff) << 4,
                   (uint32_t)(side >> 32 & 0x3fff) << 4, by_depths};
  if (side >> 62 != 1 || (side >> 49 & 7) || (matrix.start & 0x380))
    fault("the emulator knows sides with the swizzle of 128 bytes, from multiples of 1024 (%s:%d)",
          product->file, product->line);
  return matrix;
}

/* The element of a row or column `outer` at `depth`, of `size` bytes. */
static uint32_t element(const Matrix *matrix, int outer, int depth, int size,
                        const Product *product) {
  int line = matrix->by_depths ? depth : outer, within = matrix->by_depths ? outer % 64 : depth;
  uint32_t at = matrix->start + (uint32_t)(line / 8) * matrix->down + (uint32_t)(line % 8) * 128 +
                (uint32_t)(within * size);
  if (matrix->by_depths) at += (uint32_t)(outer / 64) * matrix->across;
  at ^= (at >> 7 & 7) << 4;
  const char *from = execute_machine()->dynamic + at;
  uint32_t bits = 0;
  if (!function_owns(execute_function(), from, (size_t)size))
    fault("a product reads outside of the block's memory (%s:%d)", product->file, product->line);
  memcpy(&bits, from, (size_t)size);
  return bits;
}

/* ---- products ---- */

static int sum_lane(int row, int column) { return row % 8 * 4 + column % 8 / 2; }
static int sum_place(int row, int column) { return column / 8 * 4 + row / 8 * 2 + column % 2; }

static void multiply(int number, const Product *product, float (*values)[SUMS]) {
  static float left[ROWS][MOST_DEPTHS], right[COLUMNS][MOST_DEPTHS];
  const nnc_emulated_product *what = &product->what;
  int size = what->type == NNC_MMA_TF32 ? 4 : 2, depths = DEPTH_BYTES / size;
  Matrix a = read_side(what->left, what->left_by_depths, product);
  Matrix b = read_side(what->right, what->right_by_depths, product);
  for (int depth = 0; depth < depths; depth++) {
    for (int row = 0; row < ROWS; row++)
      left[row][depth] = tensor_number(
          what->type, element(&a, number % WARPS * ROWS + row, depth, size, product), 0);
    for (int column = 0; column < COLUMNS; column++)
      right[column][depth] =
          tensor_number(what->type, element(&b, column, depth, size, product), 0);
  }
  for (int row = 0; row < ROWS; row++)
    for (int column = 0; column < COLUMNS; column++) {
      float *sum = &values[sum_lane(row, column)][sum_place(row, column)];
      if (!what->adds) *sum = 0;
      for (int depth = 0; depth < depths; depth++) *sum += left[row][depth] * right[column][depth];
    }
}

static void finish_first(int number) {
  Warp *warp = &warps[number];
  const Product *product = &warp->products[warp->first];
  Sums *sums = &warp->sums[product->sums];
  multiply(number, product, sums->values);
  warp->first = (warp->first + 1) % MOST_PRODUCTS, warp->count--;
  if (--sums->products > 0) return;
  for (int lane = 0; lane < LANES; lane++)
    memcpy(sums->at[lane], sums->values[lane], sizeof sums->values[lane]);
}

/* The sums of these lanes; from now on, what is in their place is no number. */
static int take_sums(Warp *warp, const nnc_emulated_product *const *lanes) {
  int unused = -1;
  for (int i = 0; i < MOST_SUMS; i++) {
    if (warp->sums[i].products > 0 && warp->sums[i].at[0] == lanes[0]->sums) return i;
    if (warp->sums[i].products == 0) unused = i;
  }
  if (unused < 0) fault("%d sums are under way", MOST_SUMS);
  Sums *sums = &warp->sums[unused];
  for (int lane = 0; lane < LANES; lane++) {
    sums->at[lane] = lanes[lane]->sums;
    memcpy(sums->values[lane], lanes[lane]->sums, sizeof sums->values[lane]);
    memset(lanes[lane]->sums, 0xff, sizeof sums->values[lane]);
  }
  return unused;
}

static const char *begun_file;

static void begin_all(void *const *arguments, int line) {
  const nnc_emulated_product *const *lanes = (const nnc_emulated_product *const *)arguments;
  int number = own_number();
  Warp *warp = &warps[number];
  if (!warp->is_fenced) fault("products without a fence (%s:%d)", begun_file, line);
  if (warp->count == MOST_PRODUCTS) fault("%d products are under way", MOST_PRODUCTS);
  for (int lane = 1; lane < LANES; lane++)
    if (lanes[lane]->left != lanes[0]->left || lanes[lane]->right != lanes[0]->right ||
        lanes[lane]->adds != lanes[0]->adds)
      fault("lanes of a warp have different products (%s:%d)", begun_file, line);
  Product product = {*lanes[0], warp->group, take_sums(warp, lanes), begun_file, line};
  warp->sums[product.sums].products++;
  warp->products[(warp->first + warp->count++) % MOST_PRODUCTS] = product;
  warp->begun = (warp->begun ^ product.what.left ^ product.what.right << 7) * 0x100000001b3u + 1;
  if (copies_at_once()) finish_first(number);
}

void groups_multiply(const nnc_emulated_product *product, const char *file, int line) {
  begun_file = file;
  execute_together(begin_all, (void *)(uintptr_t)product, line, file, line);
}

/* ---- groups ---- */

static void fence(void *const *arguments, int word) {
  (void)arguments, (void)word;
  warps[own_number()].is_fenced = true;
}

static void close_group(void *const *arguments, int word) {
  (void)arguments, (void)word;
  warps[own_number()].group++;
}

static void wait_groups(void *const *arguments, int left) {
  int number = own_number();
  Warp *warp = &warps[number];
  (void)arguments;
  while (warp->count > 0 && warp->products[warp->first].group < warp->group - left)
    finish_first(number);
  warp->is_fenced = false;
}

void groups_do(int what, int left, const char *file, int line) {
  static Together *const actions[] = {fence, close_group, wait_groups};
  execute_together(actions[what], NULL, left, file, line);
}
