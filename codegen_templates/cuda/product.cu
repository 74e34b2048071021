/* The body of a product, a tile of ROWS x COLUMNS of the result a block. The parts of both sides that are
 * next are read into registers while the sums of those in the block's memory are made. Neighbouring
 * threads read elements that are neighbours in memory. A thread's rows and columns come in groups of
 * GROUP, which are loaded together; the memory's rows are longer by 16 bytes, so that they spread over
 * its banks. */
  NNC_EXTENTS(M = @M@, N = @N@, K = @K@, ROWS = @ROWS@, COLUMNS = @COLUMNS@, DEPTH = @DEPTH@);
  NNC_EXTENTS(MINE_ROWS = @THREAD_ROWS@, MINE_COLUMNS = @THREAD_COLUMNS@, GROUP = @GROUP@);
  NNC_EXTENTS(DOWN = ROWS / MINE_ROWS, ACROSS = COLUMNS / MINE_COLUMNS, THREADS = DOWN * ACROSS);
  NNC_EXTENTS(DOWN_TILES = (M + ROWS - 1) / ROWS, ACROSS_TILES = (N + COLUMNS - 1) / COLUMNS);
  NNC_EXTENTS(LEFT_EACH = ROWS * DEPTH / THREADS, RIGHT_EACH = COLUMNS * DEPTH / THREADS);
  NNC_EXTENTS(PADDING = 16 / sizeof(@TYPE@)@LONG_SUM@);
  NNC_BLOCK_MEMORY NNC_ALIGN(16) @TYPE@ left_part[DEPTH][ROWS + PADDING];
  NNC_BLOCK_MEMORY NNC_ALIGN(16) @TYPE@ right_part[DEPTH][COLUMNS + PADDING];
  const @INDEX@ batch = (@INDEX@)(NNC_BLOCK / ((int64_t)DOWN_TILES * ACROSS_TILES));
  const @INDEX@ first_row = (@INDEX@)(NNC_BLOCK / ACROSS_TILES % DOWN_TILES) * ROWS;
  const @INDEX@ first_column = (@INDEX@)(NNC_BLOCK % ACROSS_TILES) * COLUMNS;
  const int down = NNC_THREAD / ACROSS, across = NNC_THREAD % ACROSS;
  @TYPE@ left_next[LEFT_EACH], right_next[RIGHT_EACH];
  @TYPE@ sums[MINE_ROWS][MINE_COLUMNS]@DECLARE_TOTALS@;
  NNC_UNROLL for (int r = 0; r < MINE_ROWS; r++)
    NNC_UNROLL for (int c = 0; c < MINE_COLUMNS; c++) {
      sums[r][c] = 0;
      @BEGIN_TOTALS@
    }
  for (@INDEX@ first = -DEPTH; first < K; first += DEPTH) {
    if (first + DEPTH < K) {
      NNC_UNROLL for (int n = 0; n < LEFT_EACH; n++) {
        const int i = NNC_THREAD + n * THREADS, @LEFT_PLACE@;
        const @INDEX@ outer = first_row + r, depth = first + DEPTH + k;
        @TYPE@ value = 0;
        if (outer < M && depth < K) {
          @LEFT@
        }
        left_next[n] = value;
      }
      NNC_UNROLL for (int n = 0; n < RIGHT_EACH; n++) {
        const int i = NNC_THREAD + n * THREADS, @RIGHT_PLACE@;
        const @INDEX@ outer = first_column + c, depth = first + DEPTH + k;
        @TYPE@ value = 0;
        if (outer < N && depth < K) {
          @RIGHT@
        }
        right_next[n] = value;
      }
    }
    if (first >= 0) {
      NNC_UNROLL for (int k = 0; k < DEPTH; k++) {
        @TYPE@ a[MINE_ROWS], b[MINE_COLUMNS];
        NNC_UNROLL for (int r = 0; r < MINE_ROWS; r++)
          a[r] = left_part[k][(r / GROUP * DOWN + down) * GROUP + r % GROUP];
        NNC_UNROLL for (int c = 0; c < MINE_COLUMNS; c++)
          b[c] = right_part[k][(c / GROUP * ACROSS + across) * GROUP + c % GROUP];
        NNC_UNROLL for (int r = 0; r < MINE_ROWS; r++)
          NNC_UNROLL for (int c = 0; c < MINE_COLUMNS; c++) @ADD@;
      }
      @ADD_TOTALS@
    }
    nnc_sync();
    NNC_UNROLL for (int n = 0; n < LEFT_EACH; n++) {
      const int i = NNC_THREAD + n * THREADS, @LEFT_PLACE@;
      left_part[k][r] = left_next[n];
    }
    NNC_UNROLL for (int n = 0; n < RIGHT_EACH; n++) {
      const int i = NNC_THREAD + n * THREADS, @RIGHT_PLACE@;
      right_part[k][c] = right_next[n];
    }
    nnc_sync();
  }
  NNC_UNROLL for (int r = 0; r < MINE_ROWS; r++)
    NNC_UNROLL for (int c = 0; c < MINE_COLUMNS; c++) {
      const @INDEX@ row = first_row + (r / GROUP * DOWN + down) * GROUP + r % GROUP;
      const @INDEX@ column = first_column + (c / GROUP * ACROSS + across) * GROUP + c % GROUP;
      if (row < M && column < N) {
        @TAKE_TOTALS@
        const @TYPE@ sum = sums[r][c];
        @EPILOGUE@
      }
    }
