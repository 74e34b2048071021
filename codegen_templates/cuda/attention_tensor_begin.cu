/* The greatest score of each row so far, and the sum of its weights. */
float top[GROUPS][2], total[GROUPS][2];
NNC_UNROLL for (int r = 0; r < GROUPS; r++)
  NNC_UNROLL for (int k = 0; k < 2; k++) {
    top[r][k] = @NOTHING@;
    total[r][k] = 0;
  }
