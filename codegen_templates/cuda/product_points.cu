/* The body of a product of few rows or columns: one element of the result a thread. */
  NNC_EXTENTS(M = @M@, N = @N@, K = @K@, r = 0, c = 0);
  const @INDEX@ point = (@INDEX@)NNC_POINT(@THREADS@);
  if (point >= @POINTS@) return;
  const @INDEX@ column = point % N, row = point / N % M, batch = point / ((int64_t)N * M);
  @TYPE@ sums[1][1] = {{0}};
  for (@INDEX@ depth = 0; depth < K; depth++) {
    @ADD_ELEMENT@
  }
  const @TYPE@ sum = sums[r][c];
  @EPILOGUE@
