/* The body of a product, a tile of ROWS x COLUMNS of the result a block. Neighbouring threads copy elements
 * that are neighbours in memory; the copies' rows are one element longer, so that they spread over the
 * memory's banks. */
  NNC_EXTENTS(M = @M@, N = @N@, K = @K@, ROWS = @ROWS@, COLUMNS = @COLUMNS@, DEPTH = @DEPTH@);
  NNC_EXTENTS(MINE_ROWS = @THREAD_ROWS@, MINE_COLUMNS = @THREAD_COLUMNS@);
  NNC_EXTENTS(LONG_SUM = @LONG_SUM@); /* products that are added up one after the other */
  NNC_EXTENTS(ACROSS = COLUMNS / MINE_COLUMNS, THREADS = ROWS / MINE_ROWS * ACROSS);
  NNC_EXTENTS(DOWN_TILES = (M + ROWS - 1) / ROWS, ACROSS_TILES = (N + COLUMNS - 1) / COLUMNS);
  NNC_BLOCK_MEMORY @TYPE@ left_part[DEPTH][ROWS + 1], right_part[DEPTH][COLUMNS + 1];
  const @INDEX@ batch = (@INDEX@)(NNC_BLOCK / ((int64_t)DOWN_TILES * ACROSS_TILES));
  const @INDEX@ first_row = (@INDEX@)(NNC_BLOCK / ACROSS_TILES % DOWN_TILES) * ROWS;
  const @INDEX@ first_column = (@INDEX@)(NNC_BLOCK % ACROSS_TILES) * COLUMNS;
  const int down = NNC_THREAD / ACROSS, across = NNC_THREAD % ACROSS;
  @TYPE@ sums[MINE_ROWS][MINE_COLUMNS]@DECLARE_TOTALS@;
  NNC_UNROLL for (int r = 0; r < MINE_ROWS; r++)
    NNC_UNROLL for (int c = 0; c < MINE_COLUMNS; c++) {
      sums[r][c] = 0;
      @BEGIN_TOTALS@
    }
  for (@INDEX@ first = 0; first < K; first += DEPTH) {
    for (int i = NNC_THREAD; i < ROWS * DEPTH; i += THREADS) {
      const int r = @LEFT_PLACE@;
      const @INDEX@ outer = first_row + r, depth = first + k;
      @TYPE@ value = 0;
      if (outer < M && depth < K) {
        @LEFT@
      }
      left_part[k][r] = value;
    }
    for (int i = NNC_THREAD; i < COLUMNS * DEPTH; i += THREADS) {
      const int c = @RIGHT_PLACE@;
      const @INDEX@ outer = first_column + c, depth = first + k;
      @TYPE@ value = 0;
      if (outer < N && depth < K) {
        @RIGHT@
      }
      right_part[k][c] = value;
    }
    nnc_sync();
    NNC_UNROLL for (int k = 0; k < DEPTH; k++) {
      @TYPE@ a[MINE_ROWS], b[MINE_COLUMNS];
      NNC_UNROLL for (int r = 0; r < MINE_ROWS; r++) a[r] = left_part[k][down * MINE_ROWS + r];
      NNC_UNROLL for (int c = 0; c < MINE_COLUMNS; c++) b[c] = right_part[k][across + c * ACROSS];
      NNC_UNROLL for (int r = 0; r < MINE_ROWS; r++)
        NNC_UNROLL for (int c = 0; c < MINE_COLUMNS; c++) @ADD@;
    }
    nnc_sync();
    @ADD_TOTALS@
  }
  NNC_UNROLL for (int r = 0; r < MINE_ROWS; r++)
    NNC_UNROLL for (int c = 0; c < MINE_COLUMNS; c++) {
      const @INDEX@ row = first_row + down * MINE_ROWS + r, column = first_column + across + c * ACROSS;
      if (row < M && column < N) {
        sums[r][c] = @TOTAL@;
        @EPILOGUE@
      }
    }
