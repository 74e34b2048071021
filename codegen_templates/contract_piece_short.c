/* What a task of a contraction does whose depth is so short that sums of whole tiles go to the epilogue in registers. */
@PACK_A@
@PACK_B@
NNC_EACH_PANEL {
  @PANEL@
  NNC_EACH_TILE {
    @AHEAD@
    @FETCH@
    if (rows == MR && cols == NR) {
      @TYPE@ whole[MR * NR] NNC_ALIGNED; /* in registers */
      nnc_tile_@PACKED@(MR, NR / LANES, @DEPTH@, @A@, @A_ROW@, @A_K@, panel, @PANEL_ROW@, whole, NR, true, @AHEAD_POINTER@);
      @WHOLE_DONE@
    } else {
      @MULTIPLY@(@DEPTH@, @A@, @A_ROW@, @A_K@, panel, @PANEL_ROW@, sums, @TILE_ROW@, true, @AHEAD_POINTER@);
      @TILE_DONE@
    }
  }
}
@STREAM_END@
