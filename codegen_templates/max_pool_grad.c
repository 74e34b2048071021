/* The adjoint of max pooling: dy of each window is added at the window's first maximum (NaN is greater
 * than all). A task takes whole planes; a plane's sums are collected in the worker's block. */
NNC_KERNEL void @NAME@(nnc_worker *worker@PARAMETERS@)
{
  enum { PLANES = @PLANES@, CHUNK = @CHUNK@, TASKS = @TASKS@ };
  enum { X0 = @X0@, X1 = @X1@, X2 = @X2@, Y0 = @Y0@, Y1 = @Y1@, Y2 = @Y2@, K0 = @K0@, K1 = @K1@, K2 = @K2@ };
  enum { S0 = @S0@, S1 = @S1@, S2 = @S2@, D0 = @D0@, D1 = @D1@, D2 = @D2@, P0 = @P0@, P1 = @P1@, P2 = @P2@ };
  @TYPE@ *const sums = (@TYPE@ *)worker->scratch;
  @KEYS@
  NNC_TASKS(worker, TASKS, task) {
    const int64_t end = nnc_least((task + 1) * CHUNK, PLANES);
    for (int64_t plane = task * CHUNK; plane < end; plane++) {
      memset(sums, 0, sizeof *sums * (X0 * X1 * X2));
      for (int64_t y0 = 0; y0 < Y0; y0++)
        for (int64_t y1 = 0; y1 < Y1; y1++)
          for (int64_t y2 = 0; y2 < Y2; y2++) {
            @TYPE@ best = 0;
            int64_t place = -1;
            for (int64_t t0 = 0; t0 < K0; t0++)
              for (int64_t t1 = 0; t1 < K1; t1++)
                for (int64_t t2 = 0; t2 < K2; t2++) {
                  const int64_t x0 = y0 * S0 - P0 + t0 * D0, x1 = y1 * S1 - P1 + t1 * D1;
                  const int64_t x2 = y2 * S2 - P2 + t2 * D2, at = (x0 * X1 + x1) * X2 + x2;
                  if (!@INSIDE@) continue;
                  const @TYPE@ value = @LOAD_X@(@X@[plane * (X0 * X1 * X2) + at]);
                  const bool better = (place < 0) | (value > best) | ((value != value) & (best == best));
                  best = better ? value : best;
                  place = better ? at : place;
                }
            if (place >= 0) sums[place] += @LOAD_DY@(@DY@[plane * (Y0 * Y1 * Y2) + (y0 * Y1 + y1) * Y2 + y2]);
          }
      @EPILOGUE@
    }
  }
}
