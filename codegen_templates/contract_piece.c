/* What a task of a contraction does for a piece of the depth. */
@PACK_A@
@PACK_B@
NNC_EACH_PANEL {
  @PANEL@
  NNC_EACH_TILE {
    @TILE@
    @AHEAD@
    @FETCH@
    @MULTIPLY@(@DEPTH@, @A@, @A_ROW@, @A_K@, panel, @PANEL_ROW@, @TILE_NAME@, @TILE_ROW@, @IS_FIRST@, @AHEAD_POINTER@);
    @TILE_DONE@
  }
  @PANEL_DONE@
}
@STREAM_END@
