/* Takes the scores of a part of the keys into the greatest score and the sum of each row,
 * whose weights are powers of two. A row is shared by four neighbouring lanes; each adds up its own columns. */
@SCORES@
@SCALES@
@MASKS@
NNC_UNROLL for (int r = 0; r < GROUPS; r++)
  NNC_UNROLL for (int k = 0; k < 2; k++) {
    float greatest = top[r][k];
    NNC_UNROLL for (int c = 0; c < COLUMNS / 8; c++)
      NNC_UNROLL for (int i = 0; i < 2; i++)
        greatest = nnc_greater(greatest, scores[r][c][k * 2 + i]);
    NNC_UNROLL for (int mask = 2; mask > 0; mask /= 2)
      greatest = nnc_greater(greatest, nnc_shuffle_xor_f32(greatest, mask));
    const float base = greatest == @NOTHING@ ? 0 : greatest;
    const float factor = nnc_exp2((top[r][k] - base) * @FACTOR@);
    top[r][k] = greatest;
    total[r][k] *= factor;
    NNC_UNROLL for (int c = 0; c < COLUMNS / 8; c++)
      NNC_UNROLL for (int i = 0; i < 2; i++) {
        const float weight = nnc_exp2((scores[r][c][k * 2 + i] - base) * @FACTOR@);
        scores[r][c][k * 2 + i] = weight;
        total[r][k] += weight;
      }
    @RESCALE@
  }
@ADD_VALUES@
