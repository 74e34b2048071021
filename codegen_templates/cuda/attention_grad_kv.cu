/* The body of attention_grad_kv. A block has a tile of ROWS keys of a head, with their values, and goes through
 * the queries, COLUMNS at a time; their weights are computed again by the log of each query's sum. */
  @EXTENTS@
  NNC_BLOCK_MEMORY NNC_ALIGN(16) @TYPE@ row_part[ROWS][@Q_WIDTH@ + PADDING];
  NNC_BLOCK_MEMORY NNC_ALIGN(16) @TYPE@ value_part[ROWS][@V_WIDTH@ + PADDING];
  NNC_BLOCK_MEMORY NNC_ALIGN(16) @TYPE@ column_part[COLUMNS][@Q_WIDTH@ + PADDING];
  NNC_BLOCK_MEMORY NNC_ALIGN(16) @TYPE@ adjoint_part[COLUMNS][@V_WIDTH@ + PADDING];
  NNC_BLOCK_MEMORY NNC_ALIGN(16) @TYPE@ weights[ROWS][COLUMNS + PADDING];
  NNC_BLOCK_MEMORY @TYPE@ top[COLUMNS], lse[COLUMNS], delta[COLUMNS];
  @TYPE@ sums[MINE_ROWS][@Q_EACH@], value_sums[MINE_ROWS][@V_EACH@];
  NNC_UNROLL for (int r = 0; r < MINE_ROWS; r++) {
    NNC_UNROLL for (int c = 0; c < @Q_EACH@; c++) sums[r][c] = 0;
    NNC_UNROLL for (int c = 0; c < @V_EACH@; c++) value_sums[r][c] = 0;
  }
  @LOAD_K@
  @LOAD_V@
  for (@INDEX@ first = @FIRST_QUERY@; first < QUERIES; first += COLUMNS) {
    nnc_sync();
    @LOAD_Q@
    @LOAD_DY@
    for (int i = NNC_THREAD; i < COLUMNS; i += THREADS) {
      const @INDEX@ row = first + i;
      top[i] = lse[i] = delta[i] = 0;
      if (row < QUERIES) {
        top[i] = @TOP@;
        lse[i] = @LSE@;
        delta[i] = @DELTA@;
      }
    }
    nnc_sync();
    @SCORES@
    @RECEIVED@
    NNC_UNROLL for (int r = 0; r < MINE_ROWS; r++)
      NNC_UNROLL for (int c = 0; c < MINE_COLUMNS; c++) {
        const int own = across + c * ACROSS;
        const @INDEX@ key = first_row + down * MINE_ROWS + r, query = first + own;
        @SCORE@
        const @TYPE@ weight = nnc_exp_@TYPE_NAME@(score - top[own] - lse[own]);
        weights[down * MINE_ROWS + r][own] = weight;
        scores[r][c] = weight * (received[r][c] - delta[own]);
      }
    nnc_sync_warp();
    @ADD_ADJOINTS@
    nnc_sync_warp();
    NNC_UNROLL for (int r = 0; r < MINE_ROWS; r++)
      NNC_UNROLL for (int c = 0; c < MINE_COLUMNS; c++)
        weights[down * MINE_ROWS + r][across + c * ACROSS] = scores[r][c];
    nnc_sync_warp();
    @ADD_QUERIES@
  }
  @RESULTS@
  @VALUE_RESULTS@
