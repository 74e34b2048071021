/* The adjoint of max pooling where channels lie last: dy of each window is added at the window's first
 * maximum (NaN is greater than all). A task takes some channels of bands of images, whose sums are collected in
 * the worker's block, channels last: a band has the windows of one place along the first axis, if no other one
 * adds to theirs, else all.
 *
 * Small windows that see no padding are compared at once for a vector of channels. Of others, channels are compared
 * tap by tap, all of them: `best` and `where` (the maximum's place) are vectors of them; so is what is added to each
 * place of the window. */
NNC_KERNEL void @NAME@(nnc_worker *worker@PARAMETERS@)
{
  NNC_EXTENTS(CHANNELS = @CHANNELS@, CB = @CB@ /* of a task */, BLOCKS = @BLOCKS@, IMAGES = @IMAGES@, BANDS = @BANDS@ /* of an image */,
              PARTS = @PARTS@ /* of a task: channels of a band */, TASKS = @TASKS@);
  NNC_EXTENTS(X0 = @X0@, X1 = @X1@, X2 = @X2@, Y0 = @Y0@, Y1 = @Y1@, Y2 = @Y2@, K0 = @K0@, K1 = @K1@, K2 = @K2@);
  NNC_EXTENTS(S0 = @S0@, S1 = @S1@, S2 = @S2@, D0 = @D0@, D1 = @D1@, D2 = @D2@, P0 = @P0@, P1 = @P1@, P2 = @P2@);
  NNC_EXTENTS(X_PLACE = @X_PLACE@, X_CHANNEL = @X_CHANNEL@, DY_PLACE = @DY_PLACE@, DY_CHANNEL = @DY_CHANNEL@);
  /* Places of the band along the first axis, and of the image for each of them. */
  NNC_EXTENTS(X = X@FIRST@, BELOW = (int64_t)X0 * X1 * X2 / X,
              WINDOWS = (int64_t)Y0 * Y1 * Y2 / BANDS, TAPS = K0 * K1 * K2);
  @TYPE@ *const sums = (@TYPE@ *)worker->scratch;
  @KEYS@
  NNC_TASKS(worker, TASKS, task)
  for (int64_t part = task * PARTS; part < nnc_least((task + 1) * PARTS, (int64_t)IMAGES * BANDS * BLOCKS); part++) {
    const int64_t image = part / BLOCKS / BANDS, band = part / BLOCKS % BANDS, channel = part % BLOCKS * CB;
    const int64_t begin = band == 0 ? 0 : band * S@FIRST@ - P@FIRST@;
    const int64_t end = band == BANDS - 1 ? X : (band + 1) * S@FIRST@ - P@FIRST@;
    const int64_t channels = @COUNT@;
    const @X_TYPE@ *const left = @X@ + image * ((int64_t)CHANNELS * X0 * X1 * X2) + channel * X_CHANNEL;
    const @DY_TYPE@ *const right = @DY@ + image * ((int64_t)CHANNELS * Y0 * Y1 * Y2) + channel * DY_CHANNEL;
    memset(sums, 0, sizeof *sums * (size_t)(end - begin) * BELOW * CB);
    for (int64_t window = band * WINDOWS; window < (band + 1) * WINDOWS; window++) {
      const int64_t y0 = window / ((int64_t)Y1 * Y2), y1 = window / Y2 % Y1, y2 = window % Y2;
      const int64_t b0 = y0 * S0 - P0, b1 = y1 * S1 - P1, b2 = y2 * S2 - P2; /* where it begins */
      if (TAPS <= 9 && nnc_within(b0, X0 - (K0 - 1) * D0) && nnc_within(b1, X1 - (K1 - 1) * D1) &&
          nnc_within(b2, X2 - (K2 - 1) * D2)) {
        const int64_t place = (b0 * X1 + b1) * X2 + b2;
        const @X_TYPE@ *const from = left + place * X_PLACE;
        const @DY_TYPE@ *const given = right + window * DY_PLACE;
        @TYPE@ *const to = sums + (place - begin * BELOW) * CB;
        NNC_ROLLED for (int64_t c = 0; c < channels; c++) {
          @TYPE@ best = @LOAD_X@(from[c * X_CHANNEL]);
          @TAP@ where = 0;
          NNC_UNROLL for (int t = 1; t < TAPS; t++) {
            const int64_t offset = (t / (K1 * K2) * D0 * X1 + t / K2 % K1 * D1) * X2 + t % K2 * D2;
            const @TYPE@ value = @LOAD_X@(from[offset * X_PLACE + c * X_CHANNEL]);
            const bool better = (value > best) | ((value != value) & (best == best));
            best = better ? value : best;
            where = better ? (@TAP@)t : where;
          }
          const @TYPE@ dy = @LOAD_DY@(given[c * DY_CHANNEL]);
          NNC_UNROLL for (int t = 0; t < TAPS; t++) {
            const int64_t offset = (t / (K1 * K2) * D0 * X1 + t / K2 % K1 * D1) * X2 + t % K2 * D2;
            to[offset * CB + c] += where == t ? dy : 0;
          }
        }
        continue;
      }
      @TYPE@ best[CB] NNC_ALIGNED;
      @PLACE@ where[CB] NNC_ALIGNED;
      NNC_ROLLED for (int64_t c = 0; c < channels; c++) best[c] = 0, where[c] = -1;
      for (int adds = 0; adds < 2; adds++)
        for (int64_t t0 = 0; t0 < K0; t0++)
          for (int64_t t1 = 0; t1 < K1; t1++)
            for (int64_t t2 = 0; t2 < K2; t2++) {
              const int64_t x0 = b0 + t0 * D0, x1 = b1 + t1 * D1, x2 = b2 + t2 * D2;
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
                @TYPE@ *const to = sums + (place - begin * BELOW) * CB;
                NNC_ROLLED for (int64_t c = 0; c < channels; c++)
                  to[c] += where[c] == (@PLACE@)place ? @LOAD_DY@(given[c * DY_CHANNEL]) : 0;
              }
            }
    }
    @EPILOGUE@
  }
}
