/* The matrix unit of x86 processors (AMX): eight registers of up to 16 rows of 64 bytes, and
 *
 *     c[m, n] += sum_k a[m, k] * b[k, n]        m, n < 16, k < 32
 *
 * for c of f32, a of bf16, and b of bf16 in pairs that follow each other along k, as nnc_gemm_bf16.h
 * packs them.  "Intel 64 and IA-32 Architectures Software Developer's Manual", volume 2: LDTILECFG,
 * TILELOADD, TDPBF16PS, TILESTORED.  Of an element the products of even k and those of odd k are summed
 * apart, then both sums are added to c; subnormal numbers count as 0.
 *
 * NNC_MATRIX_PLAIN, defined as 1, has the same computed in plain C, for tests.  NNC_MATRIX_MODEL names a header that has
 * the operations instead (bench/matrix_model.h).  NNC_NO_MATRIX leaves the unit alone: the system must permit its use
 * (runtime/os/matrix.h), and nnc defines it where that is refused. */
#ifndef NNC_MATRIX_H
#define NNC_MATRIX_H

#include "nnc_vector.h"

#if defined(NNC_MATRIX_PLAIN) || defined(NNC_MATRIX_MODEL)
#define NNC_MATRIX 1
#elif !defined(NNC_NO_MATRIX) && defined(__x86_64__) && defined(__AVX512BF16__) &&                 \
    (defined(__AMXBF16__) || defined(__AMX_BF16__))
#define NNC_MATRIX 1
#define NNC_MATRIX_UNIT 1
#endif

#ifdef NNC_MATRIX

enum { NNC_MATRIX_ROWS = 16, NNC_MATRIX_LANES = 16, NNC_MATRIX_BYTES = 64 };

/* 16 elements of an operand, and as 16 pairs or floats, a row of a register. */
typedef uint16_t nnc_halves __attribute__((vector_size(32)));
typedef uint32_t nnc_line __attribute__((vector_size(64)));

#ifdef NNC_MATRIX_UNIT

/* The rows of registers 0, 1, 4 and of 2, 3, 5; registers 6 and 7 have 16. */
typedef struct nnc_matrix {
  int low, high; /* 0: not set up */
} nnc_matrix;

/* Registers have these rows from now on, and hold 0. */
NNC_INLINE void nnc_matrix_configure(nnc_matrix *matrix, int low, int high) {
  struct {
    uint8_t palette, start_row, unused[14];
    uint16_t bytes[16];
    uint8_t rows[16];
  } setup NNC_ALIGNED = {.palette = 1};
  const uint8_t l = (uint8_t)low, h = (uint8_t)high;
  const uint8_t rows[8] = {l, l, h, h, l, h, NNC_MATRIX_ROWS, NNC_MATRIX_ROWS};
  for (int i = 0; i < 8; i++) {
    setup.bytes[i] = NNC_MATRIX_BYTES;
    setup.rows[i] = rows[i];
  }
  __asm__ volatile("ldtilecfg %0" : : "m"(setup));
  matrix->low = low;
  matrix->high = high;
}

/* No register is in use any more, so that the system need not keep them. */
NNC_INLINE void nnc_matrix_release(nnc_matrix *matrix) {
  if (matrix->low > 0) __asm__ volatile("tilerelease");
}

#define NNC_MATRIX_ZERO(matrix, to) __asm__ volatile("tilezero %tmm" #to)
#define NNC_MATRIX_LOAD(matrix, to, from, step)                                                    \
  __asm__ volatile("tileloadd (%0, %1, 1), %%tmm" #to                                              \
                   :                                                                               \
                   : "r"(from), "r"((int64_t)(step))                                               \
                   : "memory")
#define NNC_MATRIX_STORE(matrix, from, to, step)                                                   \
  __asm__ volatile("tilestored %%tmm" #from ", (%0, %1, 1)"                                        \
                   :                                                                               \
                   : "r"(to), "r"((int64_t)(step))                                                 \
                   : "memory")
#define NNC_MATRIX_MULTIPLY(matrix, c, a, b)                                                       \
  __asm__ volatile("tdpbf16ps %tmm" #b ", %tmm" #a ", %tmm" #c)

#elif defined(NNC_MATRIX_MODEL)
#include NNC_MATRIX_MODEL
#else

typedef struct nnc_matrix {
  int low, high;
  uint32_t value[8][NNC_MATRIX_ROWS][NNC_MATRIX_LANES];
} nnc_matrix;

NNC_INLINE int nnc_matrix_rows(const nnc_matrix *matrix, int of) {
  return of >= 6 ? NNC_MATRIX_ROWS : of == 2 || of == 3 || of == 5 ? matrix->high : matrix->low;
}

NNC_SHARED void nnc_matrix_configure(nnc_matrix *matrix, int low, int high) {
  memset(matrix, 0, sizeof *matrix);
  matrix->low = low;
  matrix->high = high;
}

NNC_INLINE void nnc_matrix_release(nnc_matrix *matrix) { (void)matrix; }

NNC_SHARED void nnc_matrix_zero(nnc_matrix *matrix, int to) {
  memset(matrix->value[to], 0, sizeof matrix->value[to]);
}

NNC_SHARED void nnc_matrix_load(nnc_matrix *matrix, int to, const void *from, int64_t step) {
  for (int r = 0; r < nnc_matrix_rows(matrix, to); r++)
    memcpy(matrix->value[to][r], (const char *)from + r * step, NNC_MATRIX_BYTES);
}

NNC_SHARED void nnc_matrix_store(nnc_matrix *matrix, int from, void *to, int64_t step) {
  for (int r = 0; r < nnc_matrix_rows(matrix, from); r++)
    memcpy((char *)to + r * step, matrix->value[from][r], NNC_MATRIX_BYTES);
}

/* The float whose upper 16 bits these are. */
NNC_INLINE float nnc_matrix_float(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

NNC_SHARED void nnc_matrix_multiply(nnc_matrix *matrix, int c, int a, int b) {
  for (int m = 0; m < nnc_matrix_rows(matrix, c); m++)
    for (int n = 0; n < NNC_MATRIX_LANES; n++) {
      float even = 0, odd = 0;
      for (int k = 0; k < NNC_MATRIX_ROWS; k++) {
        const uint32_t x = matrix->value[a][m][k], y = matrix->value[b][k][n];
        even = __builtin_fmaf(nnc_matrix_float(x << 16), nnc_matrix_float(y << 16), even);
        odd = __builtin_fmaf(nnc_matrix_float(x & 0xFFFF0000u), nnc_matrix_float(y & 0xFFFF0000u),
                             odd);
      }
      const float sum = nnc_matrix_float(matrix->value[c][m][n]) + (even + odd);
      memcpy(&matrix->value[c][m][n], &sum, sizeof sum);
    }
}

#define NNC_MATRIX_ZERO(matrix, to) nnc_matrix_zero(matrix, to)
#define NNC_MATRIX_LOAD(matrix, to, from, step) nnc_matrix_load(matrix, to, from, step)
#define NNC_MATRIX_STORE(matrix, from, to, step) nnc_matrix_store(matrix, from, to, step)
#define NNC_MATRIX_MULTIPLY(matrix, c, a, b) nnc_matrix_multiply(matrix, c, a, b)

#endif

/* ---- a tile of 32 rows and columns at most ----
 *
 *     tile[r, c] (+)= sum_k a[r, k] * b[k, c]     r < rows, c < 16 * vectors, k < 16 * steps
 *
 * with pairs for elements of a and b. */
typedef struct nnc_matrix_operands {
  int64_t steps;
  const void *a;
  int64_t a_row; /* pairs from a row to the next */
  const void *b;
  int64_t b_row;
  float *tile;
  int64_t tile_row;
  bool first; /* the tile need not be read */
} nnc_matrix_operands;

/* Registers 0 to 3 as the sums of a tile: from its memory, or 0; and back. */
NNC_INLINE void nnc_matrix_begin(nnc_matrix *matrix, const bool tall, const bool wide,
                                 const nnc_matrix_operands *of) {
  const int64_t tile_step = of->tile_row * 4;
  const float *const tile = of->tile, *const below = tile + NNC_MATRIX_ROWS * of->tile_row;
  (void)matrix; /* whose registers the processor may have */
  NNC_MATRIX_ZERO(matrix, 0);
  if (wide) NNC_MATRIX_ZERO(matrix, 1);
  if (tall) NNC_MATRIX_ZERO(matrix, 2);
  if (tall && wide) NNC_MATRIX_ZERO(matrix, 3);
  if (!of->first) {
    NNC_MATRIX_LOAD(matrix, 0, tile, tile_step);
    if (wide) NNC_MATRIX_LOAD(matrix, 1, tile + NNC_MATRIX_LANES, tile_step);
    if (tall) NNC_MATRIX_LOAD(matrix, 2, below, tile_step);
    if (tall && wide) NNC_MATRIX_LOAD(matrix, 3, below + NNC_MATRIX_LANES, tile_step);
  }
}

NNC_INLINE void nnc_matrix_end(nnc_matrix *matrix, const bool tall, const bool wide,
                               const nnc_matrix_operands *of) {
  const int64_t tile_step = of->tile_row * 4;
  float *const tile = of->tile, *const below = tile + NNC_MATRIX_ROWS * of->tile_row;
  (void)matrix;
  NNC_MATRIX_STORE(matrix, 0, tile, tile_step);
  if (wide) NNC_MATRIX_STORE(matrix, 1, tile + NNC_MATRIX_LANES, tile_step);
  if (tall) NNC_MATRIX_STORE(matrix, 2, below, tile_step);
  if (tall && wide) NNC_MATRIX_STORE(matrix, 3, below + NNC_MATRIX_LANES, tile_step);
}

NNC_INLINE void nnc_matrix_tile(nnc_matrix *matrix, const bool tall, const bool wide,
                                const nnc_matrix_operands *of) {
  const int64_t a_step = of->a_row * 4, b_step = of->b_row * 4;
  const char *a = of->a, *b = of->b;
  nnc_matrix_begin(matrix, tall, wide, of);
  NNC_ROLLED for (int64_t i = 0; i < of->steps; i++) {
    NNC_MATRIX_LOAD(matrix, 4, a, a_step);
    NNC_MATRIX_LOAD(matrix, 6, b, b_step);
    NNC_MATRIX_MULTIPLY(matrix, 0, 4, 6);
    if (wide) NNC_MATRIX_LOAD(matrix, 7, b + NNC_MATRIX_BYTES, b_step);
    if (wide) NNC_MATRIX_MULTIPLY(matrix, 1, 4, 7);
    if (tall) NNC_MATRIX_LOAD(matrix, 5, a + NNC_MATRIX_ROWS * a_step, a_step);
    if (tall) NNC_MATRIX_MULTIPLY(matrix, 2, 5, 6);
    if (tall && wide) NNC_MATRIX_MULTIPLY(matrix, 3, 5, 7);
    a += NNC_MATRIX_BYTES;
    b += NNC_MATRIX_ROWS * b_step;
  }
  nnc_matrix_end(matrix, tall, wide, of);
}

/* Sets registers up for tiles of so many rows. */
NNC_INLINE void nnc_matrix_fit(nnc_matrix *matrix, int64_t rows) {
  const int low = (int)nnc_least(rows, NNC_MATRIX_ROWS);
  const int high = rows > NNC_MATRIX_ROWS ? (int)rows - NNC_MATRIX_ROWS : NNC_MATRIX_ROWS;
  if (matrix->low != low || matrix->high != high) nnc_matrix_configure(matrix, low, high);
}

NNC_SHARED void nnc_matrix_product(nnc_matrix *matrix, int64_t rows, int64_t vectors,
                                   const nnc_matrix_operands *of) {
  nnc_matrix_fit(matrix, rows);
  const bool wide = vectors > 1;
  if (rows > NNC_MATRIX_ROWS && wide) nnc_matrix_tile(matrix, true, true, of);
  else if (rows > NNC_MATRIX_ROWS) nnc_matrix_tile(matrix, true, false, of);
  else if (wide) nnc_matrix_tile(matrix, false, true, of);
  else nnc_matrix_tile(matrix, false, false, of);
}

#endif
#endif
