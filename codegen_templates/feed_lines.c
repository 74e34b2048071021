/* A pointwise convolution that feeds another: its weights, and a line of its results. */
/* Packs the weights, which are kept. */
NNC_INLINE void @NAME@_fill(const @TYPE@ *restrict @WEIGHTS@, @TYPE@ *restrict kept)
{
  NNC_EXTENTS(M = @M@, N = @N@, K = @K@);
  @TILES@M, M, 1, N, N, 1);
  @GROUPS@
  for (int64_t n_first = 0; n_first < N; n_first += NR) {
    const int64_t n_end = nnc_least(n_first + NR, N);
    @TYPE@ *const panels = kept + n_first / NR * B_GROUP;
    @PACK@
  }
}

/* The M rows of the product from `row` on: a line of what the other convolution reads. */
NNC_INLINE void @NAME@_line(const int64_t row, const @TYPE@ *restrict kept, @TYPE@ *restrict sums@EPILOGUE_PARAMETERS@)
{
  NNC_EXTENTS(M = @M@, N = @N@, K = @K@, MB = M, NB = N, M_BLOCKS = 1, N_BLOCKS = 1);
  @TILES@M, MB, M_BLOCKS, N, NB, N_BLOCKS);
  @GROUPS@
  const int64_t m_first = row, m_end = row + M, n_first = 0, n_end = N;
  @EPILOGUE@
}
