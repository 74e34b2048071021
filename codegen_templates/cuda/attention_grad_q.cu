/* The body of attention_grad_q. A block has a tile of ROWS queries of a head and goes through the keys, COLUMNS at
 * a time: from the values what the weights receive, then from the keys the weights again, by the log of each
 * query's sum, and the sums. */
  @EXTENTS@
  NNC_BLOCK_MEMORY NNC_ALIGN(16) @TYPE@ row_part[ROWS][@Q_WIDTH@ + PADDING];
  NNC_BLOCK_MEMORY NNC_ALIGN(16) @TYPE@ adjoint_part[ROWS][@V_WIDTH@ + PADDING];
  NNC_BLOCK_MEMORY NNC_ALIGN(16) @TYPE@ column_part[COLUMNS][@WIDEST@ + PADDING];
  NNC_BLOCK_MEMORY NNC_ALIGN(16) @TYPE@ weights[ROWS][COLUMNS + PADDING];
  @TYPE@ top[MINE_ROWS], lse[MINE_ROWS], delta[MINE_ROWS], sums[MINE_ROWS][@Q_EACH@];
  NNC_UNROLL for (int r = 0; r < MINE_ROWS; r++) {
    const @INDEX@ row = first_row + down * MINE_ROWS + r;
    top[r] = lse[r] = delta[r] = 0;
    if (row < QUERIES) {
      top[r] = @TOP@;
      lse[r] = @LSE@;
      delta[r] = @DELTA@;
    }
    NNC_UNROLL for (int c = 0; c < @Q_EACH@; c++) sums[r][c] = 0;
  }
  @LOAD_Q@
  @LOAD_DY@
  for (@INDEX@ first = 0; first < @LAST_KEY@; first += COLUMNS) {
    nnc_sync();
    @LOAD_V@
    nnc_sync();
    @RECEIVED@
    nnc_sync();
    @LOAD_K@
    nnc_sync();
    @SCORES@
    NNC_UNROLL for (int r = 0; r < MINE_ROWS; r++)
      NNC_UNROLL for (int c = 0; c < MINE_COLUMNS; c++) {
        const @INDEX@ query = first_row + down * MINE_ROWS + r, key = first + across + c * ACROSS;
        @SCORE@
        weights[down * MINE_ROWS + r][across + c * ACROSS] =
            nnc_exp_@TYPE_NAME@(score - top[r] - lse[r]) * (received[r][c] - delta[r]);
      }
    nnc_sync_warp();
    @ADD_KEYS@
  }
  @RESULTS@
