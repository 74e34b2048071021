/* Products of nnc_matrix.h for tiles of all sizes, as the bits of their results: run.sh compares those of the
 * processor's unit with those of plain C.  Prints "none" where the compiler has no unit to use. */
#include "nnc_gemm_bf16.h"

#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef NNC_MATRIX
enum { STEPS = 5, ROW = STEPS * 16 + 16, TILE_ROW = 48 };

static uint32_t a[32 * ROW], b[STEPS * 16 * 32];
static float tile[32 * TILE_ROW];

/* Pairs of bf16 between 2^-8 and 2^8 with either sign: no sum is subnormal unless it is 0. */
static uint32_t draw(uint64_t *state) {
  uint32_t pair = 0;
  for (int half = 0; half < 2; half++) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    const uint32_t bits = (uint32_t)(*state >> 40);
    pair = pair << 16 | (bits & 0x807Fu) | (119 + (bits >> 8 & 15)) << 7;
  }
  return pair;
}

int main(void) {
  uint64_t state = 1;
#ifdef NNC_MATRIX_UNIT
  if (syscall(SYS_arch_prctl, 0x1023, 18) != 0) {
    puts("none");
    return 0;
  }
#endif
  for (int rows = 1; rows <= 32; rows++)
    for (int vectors = 1; vectors <= 2; vectors++)
      for (int steps = 1; steps <= STEPS; steps++)
        for (int first = 0; first < 2; first++) {
          nnc_matrix matrix = {.low = 0};
          for (int i = 0; i < 32 * ROW; i++) a[i] = draw(&state);
          for (int i = 0; i < STEPS * 16 * 32; i++) b[i] = draw(&state);
          for (int i = 0; i < 32 * TILE_ROW; i++) tile[i] = (float)i;
          nnc_matrix_product(&matrix, rows, vectors,
                             &(nnc_matrix_operands){steps, a, ROW, b, 32, tile, TILE_ROW, first});
          nnc_matrix_release(&matrix);
          uint64_t sum = 0;
          for (int i = 0; i < 32 * TILE_ROW; i++) {
            uint32_t bits;
            memcpy(&bits, &tile[i], sizeof bits);
            sum = (sum ^ bits) * 1099511628211u;
          }
          printf("%d %d %d %d %016llx\n", rows, vectors, steps, first, (unsigned long long)sum);
        }
}
#else
int main(void) { puts("none"); }
#endif
