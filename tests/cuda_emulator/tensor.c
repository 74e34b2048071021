/* ldmatrix and mma.sync, by the layouts of fragments in the PTX ISA ("Warp Level Matrix Load
 * Instruction", "Matrix Fragments for mma.m16n8k16", "mma.m16n8k8"). The lane that comes last
 * computes for all. Products are added up in f32, one after the other; the order and the rounding
 * of a real tensor core are not documented. */
#include "tensor.h"

#include "execute.h"
#include "fault.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { LANES = 32, ROWS = 16, COLUMNS = 8, DEPTHS = 16 };

/* ---- ldmatrix ---- */

typedef struct Load {
  uint32_t *to;
  const char *row;
} Load;

/* Of 16 bits, in the row that a lane has brought. */
static uint16_t element(Load *const *lanes, int matrix, int row, int column) {
  uint16_t bits;
  memcpy(&bits, lanes[matrix * 8 + row]->row + 2 * column, sizeof bits);
  return bits;
}

static void load_all(void *const *arguments, int is_turned) {
  Load *const *lanes = (Load *const *)arguments;
  for (int lane = 0; lane < LANES; lane++) {
    int outer = lane / 4, inner = lane % 4 * 2;
    for (int matrix = 0; matrix < 4; matrix++) {
      uint32_t low =
          is_turned ? element(lanes, matrix, inner, outer) : element(lanes, matrix, outer, inner);
      uint32_t high = is_turned ? element(lanes, matrix, inner + 1, outer)
                                : element(lanes, matrix, outer, inner + 1);
      lanes[lane]->to[matrix] = high << 16 | low;
    }
  }
}

void tensor_load_matrices(uint32_t *to, const void *row, int is_turned, const char *file,
                          int line) {
  Load load = {to, row};
  if ((uintptr_t)row % 16)
    fault("a row of a matrix at %p is not at a multiple of 16 (%s:%d)", row, file, line);
  if (!function_owns(execute_function(), row, 16))
    fault("a row of a matrix is not in memory of the block (%s:%d)", file, line);
  execute_together(load_all, &load, is_turned, file, line);
}

/* ---- mma.sync ---- */

typedef struct Product {
  float *sums;
  const uint32_t *left, *right;
} Product;

static float from_f16(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  float size = exponent == 31  ? (fraction ? NAN : INFINITY)
               : exponent == 0 ? ldexpf((float)fraction, -24)
                               : ldexpf((float)(fraction + 1024), exponent - 25);
  return bits & 0x8000 ? -size : size;
}

static float from_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

float tensor_number(int type, uint32_t bits, int part) {
  if (type == NNC_MMA_TF32) return from_bits(bits & ~0x1FFFu);
  uint16_t half = (uint16_t)(part ? bits >> 16 : bits);
  return type == NNC_MMA_BF16 ? from_bits((uint32_t)half << 16) : from_f16(half);
}

/* Of 16 bits a register holds two depths, of tf32 one. */
static void read_fragments(int type, Product *const *lanes, float left[ROWS][DEPTHS],
                           float right[DEPTHS][COLUMNS]) {
  int each = type == NNC_MMA_TF32 ? 1 : 2;
  for (int lane = 0; lane < LANES; lane++) {
    int g = lane / 4, t = lane % 4;
    for (int part = 0; part < each; part++) {
      int depth = t * each + part, other = depth + 4 * each;
      const uint32_t *a = lanes[lane]->left, *b = lanes[lane]->right;
      left[g][depth] = tensor_number(type, a[0], part);
      left[g + 8][depth] = tensor_number(type, a[1], part);
      left[g][other] = tensor_number(type, a[2], part);
      left[g + 8][other] = tensor_number(type, a[3], part);
      right[depth][g] = tensor_number(type, b[0], part);
      right[other][g] = tensor_number(type, b[1], part);
    }
  }
}

static void multiply_all(void *const *arguments, int type) {
  Product *const *lanes = (Product *const *)arguments;
  float left[ROWS][DEPTHS], right[DEPTHS][COLUMNS], sums[ROWS][COLUMNS];
  read_fragments(type, lanes, left, right);
  for (int row = 0; row < ROWS; row++)
    for (int column = 0; column < COLUMNS; column++)
      sums[row][column] = lanes[row % 8 * 4 + column / 2]->sums[row / 8 * 2 + column % 2];
  for (int row = 0; row < ROWS; row++)
    for (int depth = 0; depth < (type == NNC_MMA_TF32 ? 8 : 16); depth++)
      for (int column = 0; column < COLUMNS; column++)
        sums[row][column] += left[row][depth] * right[depth][column];
  for (int row = 0; row < ROWS; row++)
    for (int column = 0; column < COLUMNS; column++)
      lanes[row % 8 * 4 + column / 2]->sums[row / 8 * 2 + column % 2] = sums[row][column];
}

void tensor_mma(int type, float *sums, const uint32_t *left, const uint32_t *right,
                const char *file, int line) {
  Product product = {sums, left, right};
  execute_together(multiply_all, &product, type, file, line);
}
