/* The sums of the lanes of a row come together. */
NNC_UNROLL for (int r = 0; r < GROUPS; r++)
  NNC_UNROLL for (int k = 0; k < 2; k++) {
    NNC_UNROLL for (int mask = 2; mask > 0; mask /= 2)
      total[r][k] += nnc_shuffle_xor_f32(total[r][k], mask);
    @FINISH_ROW@
  }
