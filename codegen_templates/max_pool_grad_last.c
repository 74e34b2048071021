/* The adjoint of max pooling where channels lie last: dy of each window is added at the window's first
 * maximum (NaN is greater than all). A task takes some channels of an image, whose sums are collected in
 * the worker's block, channels last.
 *
 * Channels are compared tap by tap, all at once: `best` and `where` (the maximum's place) are vectors of
 * them; so is what is added to each place of the window. */
NNC_KERNEL void @NAME@(nnc_worker *worker@PARAMETERS@)
{
  NNC_EXTENTS(CHANNELS = @CHANNELS@, CB = @CB@ /* of a task */, BLOCKS = @BLOCKS@, TASKS = @TASKS@);
  NNC_EXTENTS(X0 = @X0@, X1 = @X1@, X2 = @X2@, Y0 = @Y0@, Y1 = @Y1@, Y2 = @Y2@, K0 = @K0@, K1 = @K1@, K2 = @K2@);
  NNC_EXTENTS(S0 = @S0@, S1 = @S1@, S2 = @S2@, D0 = @D0@, D1 = @D1@, D2 = @D2@, P0 = @P0@, P1 = @P1@, P2 = @P2@);
  NNC_EXTENTS(X_PLACE = @X_PLACE@, X_CHANNEL = @X_CHANNEL@, DY_PLACE = @DY_PLACE@, DY_CHANNEL = @DY_CHANNEL@);
  @TYPE@ *const sums = (@TYPE@ *)worker->scratch;
  @KEYS@
  NNC_TASKS(worker, TASKS, task) {
    const int64_t image = task / BLOCKS, channel = task % BLOCKS * CB;
    const int64_t channels = @COUNT@;
    const @X_TYPE@ *const left = @X@ + image * ((int64_t)CHANNELS * X0 * X1 * X2) + channel * X_CHANNEL;
    const @DY_TYPE@ *const right = @DY@ + image * ((int64_t)CHANNELS * Y0 * Y1 * Y2) + channel * DY_CHANNEL;
    memset(sums, 0, sizeof *sums * ((int64_t)X0 * X1 * X2) * CB);
    for (int64_t window = 0; window < (int64_t)Y0 * Y1 * Y2; window++) {
      const int64_t y0 = window / ((int64_t)Y1 * Y2), y1 = window / Y2 % Y1, y2 = window % Y2;
      @TYPE@ best[CB] NNC_ALIGNED;
      @PLACE@ where[CB] NNC_ALIGNED;
      NNC_ROLLED for (int64_t c = 0; c < channels; c++) best[c] = 0, where[c] = -1;
      for (int adds = 0; adds < 2; adds++)
        for (int64_t t0 = 0; t0 < K0; t0++)
          for (int64_t t1 = 0; t1 < K1; t1++)
            for (int64_t t2 = 0; t2 < K2; t2++) {
              const int64_t x0 = y0 * S0 - P0 + t0 * D0, x1 = y1 * S1 - P1 + t1 * D1, x2 = y2 * S2 - P2 + t2 * D2;
              if (!nnc_within(x0, X0) || !nnc_within(x1, X1) || !nnc_within(x2, X2)) continue;
              const int64_t place = (x0 * X1 + x1) * X2 + x2;
              if (!adds) {
                const @X_TYPE@ *const from = left + place * X_PLACE;
                NNC_ROLLED for (int64_t c = 0; c < channels; c++) {
                  const @TYPE@ value = @LOAD_X@(from[c * X_CHANNEL]);
                  const bool better =
                      (where[c] < 0) | (value > best[c]) | ((value != value) & (best[c] == best[c]));
                  best[c] = better ? value : best[c];
                  where[c] = better ? (@PLACE@)place : where[c];
                }
              } else {
                const @DY_TYPE@ *const given = right + window * DY_PLACE;
                @TYPE@ *const to = sums + place * CB;
                NNC_ROLLED for (int64_t c = 0; c < channels; c++)
                  to[c] += where[c] == (@PLACE@)place ? @LOAD_DY@(given[c * DY_CHANNEL]) : 0;
              }
            }
    }
    @EPILOGUE@
  }
}
