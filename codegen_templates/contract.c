/* A contraction with all extents known: C[m, n] = sum_k A[m, k] B[k, n], for each element of a batch.
 *
 * A task goes over its columns in panels as wide as the register tile (nnc_gemm.h).  A panel of B is read
 * in place where its rows are whole vectors in memory, else, or where that is faster, from a packed copy in
 * the worker's block, which following tasks with the same columns use again, or in memory that is kept. Tiles go through the epilogue one
 * by one, or a whole panel at a time where the result is contiguous along the tile's rows. */
NNC_KERNEL void @NAME@(nnc_worker *worker@PARAMETERS@)
{
  NNC_EXTENTS(M = @M@, N = @N@, K = @K@, MB = @MB@, NB = @NB@@KB@, M_BLOCKS = @M_BLOCKS@, N_BLOCKS = @N_BLOCKS@, TASKS = @TASKS@);
  @TILES@M, MB, M_BLOCKS, N, NB, N_BLOCKS);
  @GROUPS@
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
    NNC_BLOCK_OF(task);
    @LEFT@
    @RIGHT@
    @RESULT@
    @ONE_PIECE@
    @PIECES_BEGIN@
      @PIECES@
    @PIECES_END@
  }
  @TILES_END@
}
