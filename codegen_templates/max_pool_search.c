/* Compares a span of windows tap by tap: `best` and `where` (the maximum's tap) are vectors of them. */
nnc_span_@SUFFIX@ best = {0}, seen[2];
NNC_UNROLL for (int64_t t0 = 0; t0 < K0; t0++)
  NNC_UNROLL for (int64_t t1 = 0; t1 < K1; t1++) {
    const int64_t row = begin + (t0 * X1 + t1) * X2;
    @SEEN@
    NNC_UNROLL for (int t2 = 0; t2 < 2; t2++)
      nnc_span_take_@SUFFIX@(&best, &where, &seen[t2], (int)(t0 * K1 + t1) * 2 + t2);
  }
