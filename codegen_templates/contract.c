/* A contraction with all extents known: C[m, n] = sum_k A[m, k] B[k, n], for each element of a batch.
 *
 * A task goes over its columns in panels as wide as the register tile (nnc_gemm.h).  A panel of B is read
 * in place where its rows are whole vectors in memory, else, or where that is faster, from a packed copy in
 * the worker's block, which following tasks with the same columns use again, or in memory that is kept. Tiles go through the epilogue one
 * by one, or a whole panel at a time where the result is contiguous along the tile's rows. */
NNC_KERNEL void @NAME@(nnc_worker *worker@PARAMETERS@)
{
  NNC_EXTENTS(M = @M@, N = @N@, K = @K@, MB = @MB@, NB = @NB@, KB = @KB@,
         M_BLOCKS = @M_BLOCKS@, N_BLOCKS = @N_BLOCKS@, TASKS = @TASKS@,
         MR = @HEIGHT@, TILES = (MB + MR - 1) / MR, LANES = NNC_LANES_@P@, NR = NNC_TILE_VECTORS@OF@ * LANES,
         TILE_ROW = @TILE_ROW@,
         A_GROUP = @A_GROUP@, B_GROUP = @KB_PACKED@ * NR + 16, /* packed groups, no power of 2 apart */
         ROWS_1 = MB % MR, ROWS_2 = (M - (M_BLOCKS - (int64_t)1) * MB) % MR, /* of the last tiles of blocks */
         VECTORS_1 = @REST@(NB, NR, LANES),
         VECTORS_2 = @REST@(N - (N_BLOCKS - (int64_t)1) * NB, NR, LANES));
  @TILES@MB < MR ? 0 : MR, ROWS_1, ROWS_2, NB < NR ? 0 : NNC_TILE_VECTORS@OF@, VECTORS_1, VECTORS_2);
  @PACKED_A@
  @PACKED_B@
  @SUMS@
  @WINDOWS@
  @KEYS@
  @PACKED@
  @FILL@
  NNC_TASKS(worker, TASKS, task) {
    @BATCH@
    @WINDOW_DEPTH@
    const int64_t m_first = task % M_BLOCKS * MB, m_end = nnc_least(m_first + MB, M);
    const int64_t n_first = task / M_BLOCKS % N_BLOCKS * NB, n_end = nnc_least(n_first + NB, N);
    const @A_TYPE@ *const left = @LEFT@;
    @RIGHT@
    @RESULT@
    for (int64_t k = 0; k == 0 || k < @WHOLE@; k += KB) {
      const int64_t depth = nnc_least(KB, @WHOLE@ - k);
      const bool is_first = k == 0@IS_LAST@;
      @PACK_A@
      @PACK_B@
      for (int64_t n = n_first, cols; n < n_end; n += cols) {
        cols = @COLUMNS@;
        const int64_t vectors = (cols + LANES - 1) / LANES;
        const int width = vectors == VECTORS_1 ? 1 : vectors == VECTORS_2 ? 2 : 0;
        @PANEL@
        for (int64_t m = m_first; m < m_end; m += MR) {
          const int64_t rows = nnc_least(MR, m_end - m);
          const @PACKED_TYPE@ *const a = @A@;
          @TYPE@ *const tile = @TILE@;
          @AHEAD@
          @MULTIPLY@
              @DEPTH@, a, @A_ROW@, @A_K@, panel, panel_row, tile, TILE_ROW, is_first, @AHEAD_POINTER@);
          @TILE_DONE@
        }
        @PANEL_DONE@
      }
    }
  }
  @TILES_END@
}
