/* Sums of the warp's rows. */
float @SUMS@[GROUPS][@EIGHTS@][4];
NNC_UNROLL for (int r = 0; r < GROUPS; r++)
  NNC_UNROLL for (int c = 0; c < @EIGHTS@; c++)
    NNC_UNROLL for (int i = 0; i < 4; i++) @SUMS@[r][c][i] = 0;
