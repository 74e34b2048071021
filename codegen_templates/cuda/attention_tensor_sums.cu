/* Adds the rows of a part, weighted by `scores`, which go from one product to the next in registers. */
NNC_UNROLL for (int k = 0; k < COLUMNS / DEPTH; k++) {
  uint32_t a[GROUPS][4];
  NNC_UNROLL for (int r = 0; r < GROUPS; r++)
    nnc_left_of_sums_@MMA@(a[r], &scores[r][k * (DEPTH / 8)]);
  NNC_UNROLL for (int c = 0; c < @WIDTH@ / 16; c++) {
    uint32_t b[4];
    nnc_right_by_@LAYOUT@(b, @PART@, c * 16, k * DEPTH, @PITCH@);
    @ROUND@
    NNC_UNROLL for (int r = 0; r < GROUPS; r++)
      NNC_UNROLL for (int i = 0; i < 2; i++)
        nnc_mma_@MMA@(@SUMS@[r][c * 2 + i], a[r], &b[i * 2]);
  }
}
