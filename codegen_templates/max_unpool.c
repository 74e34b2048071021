/* The adjoint of max pooling by places: dy of each window is added at the element of the window whose number its place
 * is. A task takes whole planes; a plane's sums are collected in the result, or in the worker's block for an epilogue. */
NNC_KERNEL void @NAME@(nnc_worker *worker@PARAMETERS@)
{
  NNC_EXTENTS(PLANES = @PLANES@, CHUNK = @CHUNK@, TASKS = @TASKS@);
  NNC_EXTENTS(X0 = @X0@, X1 = @X1@, X2 = @X2@, Y0 = @Y0@, Y1 = @Y1@, Y2 = @Y2@);
  NNC_EXTENTS(S0 = @S0@, S1 = @S1@, S2 = @S2@, P0 = @P0@, P1 = @P1@, P2 = @P2@);
  static const @DISTANCE@ distance[] = {@DISTANCES@}; /* by number: from the begin of the window */
  @BLOCK@
  @KEYS@
  NNC_TASKS(worker, TASKS, task) {
    const int64_t end = nnc_least((task + 1) * CHUNK, PLANES);
    for (int64_t plane = task * CHUNK; plane < end; plane++) {
      @PLANE@
      memset(sums, 0, sizeof *sums * ((int64_t)X0 * X1 * X2));
      for (int64_t window = 0; window < (int64_t)Y0 * Y1; window++) {
        const int64_t begin = ((window / Y1 * S0 - P0) * X1 + window % Y1 * S1 - P1) * X2 - P2;
        const int64_t row = (plane * ((int64_t)Y0 * Y1) + window) * Y2;
        for (int64_t i = 0; i < Y2; i++)
          sums[begin + i * S2 + distance[@PLACES@[row + i]]] += @LOAD_DY@(@DY@[row + i]);
      }
      @EPILOGUE@
    }
  }
}
