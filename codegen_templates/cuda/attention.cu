/* The body of attention (Dao et al. 2022). A block has a tile of ROWS queries of a head and goes through the
 * keys, COLUMNS at a time: their scores, in registers, change what is the greatest so far, by which the sums
 * are scaled. Tiles that see most keys come first. */
  @EXTENTS@
  NNC_BLOCK_MEMORY NNC_ALIGN(16) @TYPE@ row_part[ROWS][@Q_WIDTH@ + PADDING];
  NNC_BLOCK_MEMORY NNC_ALIGN(16) @TYPE@ column_part[COLUMNS][@WIDEST@ + PADDING];
  NNC_BLOCK_MEMORY NNC_ALIGN(16) @TYPE@ weights[ROWS][COLUMNS + PADDING];
  @TYPE@ top[MINE_ROWS], total[MINE_ROWS], sums[MINE_ROWS][@V_EACH@];
  NNC_UNROLL for (int r = 0; r < MINE_ROWS; r++) {
    top[r] = @NOTHING@;
    total[r] = 0;
    NNC_UNROLL for (int c = 0; c < @V_EACH@; c++) sums[r][c] = 0;
  }
  @LOAD_Q@
  for (@INDEX@ first = 0; first < @LAST_KEY@; first += COLUMNS) {
    nnc_sync();
    @LOAD_K@
    nnc_sync();
    @SCORES@
    @SOFTMAX@
    nnc_sync();
    @LOAD_V@
    nnc_sync();
    @ADD_VALUES@
  }
  NNC_UNROLL for (int r = 0; r < MINE_ROWS; r++) {
    NNC_UNROLL for (int mask = ACROSS / 2; mask > 0; mask /= 2)
      total[r] += nnc_shuffle_xor_@TYPE_NAME@(total[r], mask);
    total[r] = total[r] == 0 ? 1 : total[r];
  }
  @RESULTS@
