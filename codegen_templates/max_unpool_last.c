/* The adjoint of max pooling by places, where channels lie last: each element gets the sum of dy over the windows
 * whose place is its number in them, in the order of the windows. A task takes some lines of images, whose sums are
 * collected in the worker's block line by line, some channels at a time. */
NNC_KERNEL void @NAME@(nnc_worker *worker@PARAMETERS@)
{
  NNC_EXTENTS(IMAGES = @IMAGES@, CHANNELS = @CHANNELS@, CB = @CB@, LINES = @LINES@ /* of a task */, TASKS = @TASKS@);
  NNC_EXTENTS(X0 = @X0@, X1 = @X1@, X2 = @X2@, Y0 = @Y0@, Y1 = @Y1@, Y2 = @Y2@, K0 = @K0@, K1 = @K1@, K2 = @K2@);
  NNC_EXTENTS(S0 = @S0@, S1 = @S1@, S2 = @S2@, D0 = @D0@, D1 = @D1@, D2 = @D2@, P0 = @P0@, P1 = @P1@, P2 = @P2@);
  NNC_EXTENTS(PLACES_PLACE = @PLACES_PLACE@, PLACES_CHANNEL = @PLACES_CHANNEL@);
  NNC_EXTENTS(DY_PLACE = @DY_PLACE@, DY_CHANNEL = @DY_CHANNEL@);
  @TYPE@ *const sums = (@TYPE@ *)worker->scratch;
  @KEYS@
  NNC_TASKS(worker, TASKS, task) {
    const int64_t rows = nnc_least((task + 1) * LINES, (int64_t)IMAGES * X0 * X1);
    for (int64_t row = task * LINES; row < rows; row++) {
      const int64_t image = row / ((int64_t)X0 * X1), line = row % ((int64_t)X0 * X1);
      const int64_t x0 = line / X1 + P0, x1 = line % X1 + P1;
      const int64_t begin_0 = nnc_greatest(x0 - (K0 - 1) * D0 + S0 - 1, 0) / S0, end_0 = nnc_least(x0 / S0, Y0 - 1);
      const int64_t begin_1 = nnc_greatest(x1 - (K1 - 1) * D1 + S1 - 1, 0) / S1, end_1 = nnc_least(x1 / S1, Y1 - 1);
      for (int64_t channel = 0; channel < CHANNELS; channel += CB) {
        const int64_t channels = @COUNT@, plane = image * ((int64_t)CHANNELS * Y0 * Y1 * Y2);
        const uint8_t *const left = @PLACES@ + plane + channel * PLACES_CHANNEL;
        const @DY_TYPE@ *const right = @DY@ + plane + channel * DY_CHANNEL;
        @TYPE@ *to = sums;
        for (int64_t x2 = P2; x2 < X2 + P2; x2++, to += CB) {
          const int64_t begin_2 = nnc_greatest(x2 - (K2 - 1) * D2 + S2 - 1, 0) / S2, end_2 = nnc_least(x2 / S2, Y2 - 1);
          NNC_ROLLED for (int64_t c = 0; c < channels; c++) to[c] = 0;
          for (int64_t y0 = begin_0; y0 <= end_0; y0++)
            for (int64_t y1 = begin_1; y1 <= end_1; y1++)
              for (int64_t y2 = begin_2; y2 <= end_2; y2++) {
                const int64_t v0 = x0 - y0 * S0, v1 = x1 - y1 * S1, v2 = x2 - y2 * S2;
                if (v0 % D0 != 0 || v1 % D1 != 0 || v2 % D2 != 0) continue;
                const uint8_t tap = (uint8_t)((v0 / D0 * K1 + v1 / D1) * K2 + v2 / D2);
                const int64_t window = (y0 * Y1 + y1) * Y2 + y2;
                const uint8_t *const place = left + window * PLACES_PLACE;
                const @DY_TYPE@ *const given = right + window * DY_PLACE;
                NNC_ROLLED for (int64_t c = 0; c < channels; c++)
                  to[c] += place[c * PLACES_CHANNEL] == tap ? @LOAD_DY@(given[c * DY_CHANNEL]) : 0;
              }
        }
        @EPILOGUE@
      }
    }
  }
}
