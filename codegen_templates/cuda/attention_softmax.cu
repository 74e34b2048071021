/* Takes the scores of a part of the keys into the greatest score and the sum of each row. The lanes of a
 * row are sixteen neighbours; each adds up its own columns. */
NNC_UNROLL for (int r = 0; r < MINE_ROWS; r++) {
  const @INDEX@ query = first_row + down * MINE_ROWS + r;
  @TYPE@ greatest = top[r];
  NNC_UNROLL for (int c = 0; c < MINE_COLUMNS; c++) {
    const @INDEX@ key = first + across + c * ACROSS;
    @SCORE@
    scores[r][c] = score;
    greatest = nnc_max_@TYPE_NAME@(greatest, score);
  }
  NNC_UNROLL for (int mask = ACROSS / 2; mask > 0; mask /= 2)
    greatest = nnc_max_@TYPE_NAME@(greatest, nnc_shuffle_xor_@TYPE_NAME@(greatest, mask));
  const @TYPE@ base = greatest == @NOTHING@ ? 0 : greatest;
  const @TYPE@ factor = nnc_exp_@TYPE_NAME@(top[r] - base);
  top[r] = greatest;
  total[r] *= factor;
  NNC_UNROLL for (int c = 0; c < MINE_COLUMNS; c++) {
    const @TYPE@ weight = nnc_exp_@TYPE_NAME@(scores[r][c] - base);
    total[r] += weight;
    @STORE_WEIGHT@
  }
  @RESCALE@
}
