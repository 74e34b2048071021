/* The sums of a row times a number. */
const float by = @BY@;
NNC_UNROLL for (int c = 0; c < @V_EIGHTHS@; c++)
  NNC_UNROLL for (int i = 0; i < 2; i++) sums[r][c][k * 2 + i] *= by;
