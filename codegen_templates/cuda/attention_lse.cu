/* The body of attention_lse: attention.cu without the values. */
  @EXTENTS@
  NNC_BLOCK_MEMORY NNC_ALIGN(16) @TYPE@ row_part[ROWS][@Q_WIDTH@ + PADDING];
  NNC_BLOCK_MEMORY NNC_ALIGN(16) @TYPE@ column_part[COLUMNS][@Q_WIDTH@ + PADDING];
  @TYPE@ top[MINE_ROWS], total[MINE_ROWS];
  NNC_UNROLL for (int r = 0; r < MINE_ROWS; r++) {
    top[r] = @NOTHING@;
    total[r] = 0;
  }
  @LOAD_Q@
  for (@INDEX@ first = 0; first < @LAST_KEY@; first += COLUMNS) {
    nnc_sync();
    @LOAD_K@
    nnc_sync();
    @SCORES@
    @SOFTMAX@
  }
  NNC_UNROLL for (int r = 0; r < MINE_ROWS; r++) {
    NNC_UNROLL for (int mask = ACROSS / 2; mask > 0; mask /= 2)
      total[r] += nnc_shuffle_xor_@TYPE_NAME@(total[r], mask);
    const @INDEX@ row = first_row + down * MINE_ROWS + r;
    if (row < QUERIES && across < 2) {
      const @INDEX@ column = across;
      const @TYPE@ number = across == 0 ? top[r] : nnc_log_@TYPE_NAME@(total[r]);
      const @TYPE@ result = total[r] == 0 ? 0 : number;
      @EPILOGUE@
    }
  }
