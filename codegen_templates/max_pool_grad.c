/* The adjoint of max pooling: dy of each window is added at the window's first maximum (NaN is greater
 * than all). A task takes whole planes; a plane's sums are collected in the result, or in the worker's
 * block for an epilogue.
 *
 * Windows along the last axis are compared tap by tap, all at once: `best` and `where` (the maximum's
 * distance from the window's begin) are vectors of them. Only the adding goes one by one. */
NNC_KERNEL void @NAME@(nnc_worker *worker@PARAMETERS@)
{
  NNC_EXTENTS(PLANES = @PLANES@, CHUNK = @CHUNK@, TASKS = @TASKS@);
  NNC_EXTENTS(X0 = @X0@, X1 = @X1@, X2 = @X2@, Y0 = @Y0@, Y1 = @Y1@, Y2 = @Y2@, K0 = @K0@, K1 = @K1@, K2 = @K2@);
  NNC_EXTENTS(S0 = @S0@, S1 = @S1@, S2 = @S2@, D0 = @D0@, D1 = @D1@, D2 = @D2@, P0 = @P0@, P1 = @P1@, P2 = @P2@);
  NNC_EXTENTS(SPAN = @SPAN@); /* windows at a time */
  @BLOCK@
  @KEYS@
  NNC_TASKS(worker, TASKS, task) {
    const int64_t end = nnc_least((task + 1) * CHUNK, PLANES);
    for (int64_t plane = task * CHUNK; plane < end; plane++) {
      @PLANE@
      memset(sums, 0, sizeof *sums * ((int64_t)X0 * X1 * X2));
      for (int64_t window = 0; window < (int64_t)Y0 * Y1; window++) {
        const int64_t y0 = window / Y1, y1 = window % Y1;
        for (int64_t first = 0; first < Y2; first += SPAN) {
          const int64_t count = nnc_least(SPAN, Y2 - first);
          const int64_t begin = ((y0 * S0 - P0) * X1 + y1 * S1 - P1) * X2 + first * S2 - P2;
          @TYPE@ best[SPAN];
          @PLACE@ where[SPAN];
          for (int64_t i = 0; i < count; i++) best[i] = 0, where[i] = -1;
          @UNROLL@ for (int64_t t0 = 0; t0 < K0; t0++)
            @UNROLL@ for (int64_t t1 = 0; t1 < K1; t1++) {
              @LEAVE@
              @UNROLL@ for (int64_t t2 = 0; t2 < K2; t2++) {
                const int64_t distance = (t0 * D0 * X1 + t1 * D1) * X2 + t2 * D2;
                const @X_TYPE@ *const from = @X@ + plane * ((int64_t)X0 * X1 * X2) + begin + distance;
                for (int64_t i = @FROM@; i < @TO@; i++) {
                  const @TYPE@ value = @LOAD_X@(from[i * S2]);
                  const bool better =
                      (where[i] < 0) | (value > best[i]) | ((value != value) & (best[i] == best[i]));
                  best[i] = better ? value : best[i];
                  where[i] = better ? (@PLACE@)distance : where[i];
                }
              }
            }
          const @DY_TYPE@ *const given = @DY@ + (plane * ((int64_t)Y0 * Y1) + window) * Y2 + first;
          for (int64_t i = 0; i < count; i++) sums[begin + i * S2 + where[i]] += @LOAD_DY@(given[i]);
        }
      }
      @EPILOGUE@
    }
  }
}
