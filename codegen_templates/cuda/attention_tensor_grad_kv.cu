/* The weights of a part of the queries, by rows of keys, and what their scores receive: the sums of the
 * gradients of values and keys. */
@SCORES@
@SCALES@
@MASKS@
NNC_UNROLL for (int r = 0; r < GROUPS; r++)
  NNC_UNROLL for (int c = 0; c < COLUMNS / 8; c++)
    NNC_UNROLL for (int i = 0; i < 4; i++)
      scores[r][c][i] = nnc_exp2((scores[r][c][i] - top[part % 2][c * 8 + place + i % 2]) * @FACTOR@
                                 - lse[part % 2][c * 8 + place + i % 2]);
@ADD_ADJOINTS@
@RECEIVED@
NNC_UNROLL for (int r = 0; r < GROUPS; r++)
  NNC_UNROLL for (int c = 0; c < COLUMNS / 8; c++)
    NNC_UNROLL for (int i = 0; i < 4; i++)
      scores[r][c][i] *= received[r][c][i] - delta[part % 2][c * 8 + place + i % 2];
@ADD_QUERIES@
