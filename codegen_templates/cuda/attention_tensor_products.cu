/* The products of the warp's rows with those of a part. */
float @RESULT@[GROUPS][COLUMNS / 8][4];
NNC_UNROLL for (int r = 0; r < GROUPS; r++)
  NNC_UNROLL for (int c = 0; c < COLUMNS / 8; c++)
    NNC_UNROLL for (int i = 0; i < 4; i++) @RESULT@[r][c][i] = 0;
NNC_UNROLL for (int k = 0; k < @STEPS@; k++) {
  @TAKE@
  NNC_UNROLL for (int c = 0; c < COLUMNS / 16; c++) {
    uint32_t b[4];
    nnc_right_by_rows(b, @PART@, c * 16, k * 2, @PITCH@);
    @ROUND@
    NNC_UNROLL for (int r = 0; r < GROUPS; r++)
      NNC_UNROLL for (int i = 0; i < 2; i++)
        nnc_mma_@MMA@(@RESULT@[r][c * 2 + i], @LEFT@, &b[i * 2]);
  }
}
