/* Adds to sums of this thread's rows the weighted rows of a part. */
for (int j = 0; j < COLUMNS; j += 4) {
  @TYPE@ a[MINE_ROWS][4];
  NNC_UNROLL for (int r = 0; r < MINE_ROWS; r++)
    NNC_UNROLL for (int k = 0; k < 4; k++) a[r][k] = weights[down * MINE_ROWS + r][j + k];
  NNC_UNROLL for (int k = 0; k < 4; k++) {
    @TYPE@ b[@EACH@];
    NNC_UNROLL for (int c = 0; c < @EACH@; c++)
      b[c] = @PART@[j + k][(c / @GROUP@ * ACROSS + across) * @GROUP@ + c % @GROUP@];
    NNC_UNROLL for (int r = 0; r < MINE_ROWS; r++)
      NNC_UNROLL for (int c = 0; c < @EACH@; c++) @SUMS@[r][c] += a[r][k] * b[c];
  }
}
