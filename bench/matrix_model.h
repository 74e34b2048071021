/* What takes about the time of a matrix unit (nnc_matrix.h) on a processor with AVX-512 that has none: loads and stores of
 * the same lines, and 32 multiply-adds, which take 16 clocks, for a product. It computes nothing: the numbers of an
 * executable are wrong, and only its time means something, as a guess of what is left beside the products.
 *
 *     nnc net.net -D train.precision=bf16 --cflags='-DNNC_MATRIX_MODEL=<PATH/bench/matrix_model.h>' -o net
 *     ./net bench */
#ifndef NNC_MATRIX_MODEL_H
#define NNC_MATRIX_MODEL_H

typedef struct nnc_matrix {
  int low, high;
} nnc_matrix;

NNC_INLINE void nnc_matrix_configure(nnc_matrix *matrix, int low, int high) {
  __asm__ volatile("mfence" ::: "memory"); /* some fifty clocks */
  matrix->low = low;
  matrix->high = high;
}

NNC_INLINE void nnc_matrix_release(nnc_matrix *matrix) { (void)matrix; }

NNC_INLINE int nnc_matrix_rows(const nnc_matrix *matrix, int of) {
  return of >= 6 ? NNC_MATRIX_ROWS : of == 2 || of == 3 || of == 5 ? matrix->high : matrix->low;
}

NNC_INLINE void nnc_matrix_load(const void *from, int64_t step, int rows) {
  const char *line = from;
  for (int r = 0; r < rows; r++, line += step)
    __asm__ volatile("vmovups (%0), %%zmm31" ::"r"(line) : "xmm31", "memory");
}

NNC_INLINE void nnc_matrix_store(void *to, int64_t step, int rows) {
  char *line = to;
  __asm__ volatile("vpxord %%zmm31, %%zmm31, %%zmm31" ::: "xmm31");
  for (int r = 0; r < rows; r++, line += step)
    __asm__ volatile("vmovups %%zmm31, (%0)" ::"r"(line) : "xmm31", "memory");
}

#define NNC_MATRIX_ADD(sum) "vfmadd231ps %%zmm30, %%zmm30, %%zmm" #sum "\n\t"
#define NNC_MATRIX_ADDS                                                                            \
  NNC_MATRIX_ADD(22)                                                                               \
  NNC_MATRIX_ADD(23)                                                                               \
  NNC_MATRIX_ADD(24)                                                                               \
  NNC_MATRIX_ADD(25)                                                                               \
  NNC_MATRIX_ADD(26) NNC_MATRIX_ADD(27) NNC_MATRIX_ADD(28) NNC_MATRIX_ADD(29)

NNC_INLINE void nnc_matrix_multiply(void) {
  __asm__ volatile(NNC_MATRIX_ADDS NNC_MATRIX_ADDS NNC_MATRIX_ADDS NNC_MATRIX_ADDS ::
                       : "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", "xmm28", "xmm29",
                         "xmm30");
}

#define NNC_MATRIX_ZERO(matrix, to) ((void)(matrix))
#define NNC_MATRIX_LOAD(matrix, to, from, step)                                                    \
  nnc_matrix_load(from, step, nnc_matrix_rows(matrix, to))
#define NNC_MATRIX_STORE(matrix, from, to, step)                                                   \
  nnc_matrix_store(to, step, nnc_matrix_rows(matrix, from))
#define NNC_MATRIX_MULTIPLY(matrix, c, a, b) nnc_matrix_multiply()

#endif
