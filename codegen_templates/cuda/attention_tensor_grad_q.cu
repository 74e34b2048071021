/* What the scores of a part of the keys receive, and with it the sums of the gradient of the queries. */
@SCORES@
@SCALES@
@MASKS@
@RECEIVED@
NNC_UNROLL for (int r = 0; r < GROUPS; r++)
  NNC_UNROLL for (int c = 0; c < COLUMNS / 8; c++)
    NNC_UNROLL for (int i = 0; i < 4; i++)
      scores[r][c][i] = nnc_exp2((scores[r][c][i] - top[r][i / 2]) * @FACTOR@ - lse[r][i / 2]) *
                        (received[r][c][i] - delta[r][i / 2]);
@ADD_KEYS@
