/* The same of a convolution of few channels, whose positions see runs of a line that overlap: lines are copied with their
 * padding, and tiles read each position's runs there. */
@PACK_B@
for (int64_t first = m_first, end; first < m_end; first = end) {
  end = nnc_least(m_end, first - first % @POSITIONS@ + @POSITIONS@); /* of a line of positions */
  for (int64_t t = 0; t < RUNS; t++)
    nnc_window_line_@T@(packed_a + t * A_LINE, &window, &met[t], left, first, (nnc_round_up(end - first, MR) - 1) * @STRIDE@ + met[t].span);
  NNC_EACH_PANEL {
    @PANEL@
    for (int64_t m = first, rows = nnc_least(MR, end - m); m < end; m += MR, rows = nnc_least(MR, end - m)) {
      nnc_seen_tile_@T@(MR, NNC_VECTORS_OF(NNC_WHOLE_COLUMNS), RUNS, RUN, A_STEP, packed_a + (m - first) * A_STEP, A_LINE, panel, NR, sums, NR);
      @TILE_DONE@
    }
  }
}
@STREAM_END@
