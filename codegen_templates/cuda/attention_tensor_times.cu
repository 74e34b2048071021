/* Products become scores, of the same bits in all kernels. */
NNC_UNROLL for (int r = 0; r < GROUPS; r++)
  NNC_UNROLL for (int c = 0; c < COLUMNS / 8; c++)
    NNC_UNROLL for (int i = 0; i < 4; i++) scores[r][c][i] = nnc_times_f32(scores[r][c][i], @SCALE@);
