/* The products of this thread's rows and columns, four elements of the depth at a time. */
@TYPE@ @RESULT@[MINE_ROWS][MINE_COLUMNS];
NNC_UNROLL for (int r = 0; r < MINE_ROWS; r++)
  NNC_UNROLL for (int c = 0; c < MINE_COLUMNS; c++) @RESULT@[r][c] = 0;
for (int d = 0; d < @WIDTH@; d += 4) {
  @TYPE@ a[MINE_ROWS][4], b[MINE_COLUMNS][4];
  NNC_UNROLL for (int r = 0; r < MINE_ROWS; r++)
    NNC_UNROLL for (int k = 0; k < 4; k++) a[r][k] = @ROW_PART@[down * MINE_ROWS + r][d + k];
  NNC_UNROLL for (int c = 0; c < MINE_COLUMNS; c++)
    NNC_UNROLL for (int k = 0; k < 4; k++) b[c][k] = @COLUMN_PART@[across + c * ACROSS][d + k];
  NNC_UNROLL for (int k = 0; k < 4; k++)
    NNC_UNROLL for (int r = 0; r < MINE_ROWS; r++)
      NNC_UNROLL for (int c = 0; c < MINE_COLUMNS; c++) @RESULT@[r][c] += a[r][k] * b[c][k];
}
