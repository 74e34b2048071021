/* The body of a product of few rows or columns and a long depth: one element of the result a block. */
  NNC_EXTENTS(M = @M@, N = @N@, K = @K@, THREADS = @THREADS@, r = 0, c = 0);
  NNC_BLOCK_MEMORY @WIDE@ memory[THREADS / 32];
  const @INDEX@ point = (@INDEX@)NNC_BLOCK;
  const @INDEX@ column = point % N, row = point / N % M, batch = point / ((int64_t)N * M);
  @WIDE@ sums[1][1] = {{0}};
  for (@INDEX@ depth = NNC_THREAD; depth < K; depth += THREADS) {
    @ADD_ELEMENT@
  }
  const @WIDE@ sum = nnc_block_sum_@WIDE_NAME@(sums[r][c], memory, THREADS / 32);
  if (NNC_THREAD == 0) {
    @EPILOGUE@
  }
