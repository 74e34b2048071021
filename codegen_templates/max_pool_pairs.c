/* The adjoint of max pooling whose windows lie side by side, two wide: each element of x that a window has gets the
 * window's dy where it is its first maximum (NaN is greater than all), else 0. The maximum's tap is `where` of a span of
 * windows: it is searched in x, or a place that was noted down. A task takes whole planes; a plane's result is collected
 * where it belongs, or in the worker's block for an epilogue.
 *
 * The last span of a row may repeat windows: their elements get the same values again. */
NNC_KERNEL void @NAME@(nnc_worker *worker@PARAMETERS@)
{
  NNC_EXTENTS(PLANES = @PLANES@, CHUNK = @CHUNK@, TASKS = @TASKS@);
  NNC_EXTENTS(X0 = @X0@, X1 = @X1@, X2 = @X2@, Y0 = @Y0@, Y1 = @Y1@, Y2 = @Y2@, K0 = @K0@, K1 = @K1@);
  @BLOCK@
  @KEYS@
  NNC_TASKS(worker, TASKS, task) {
    const int64_t end = nnc_least((task + 1) * CHUNK, PLANES);
    for (int64_t plane = task * CHUNK; plane < end; plane++) {
      @PLANE@
      @LEFT@
      @CLEAR@
      for (int64_t window = 0; window < (int64_t)Y0 * Y1; window++) {
        const int64_t flat = (plane * ((int64_t)Y0 * Y1) + window) * Y2;
        const @DY_TYPE@ *const right = @DY@ + flat;
        for (int64_t first = 0; first < Y2; first = nnc_next_span(first, @LANES@, Y2)) {
          const int64_t begin = (window / Y1 * K0 * X1 + window % Y1 * K1) * X2 + first * 2;
          nnc_span_@SUFFIX@ both[2], given;
          nnc_span_bits_@SUFFIX@ where = {0};
          @WHERE@
          @GIVEN@
          NNC_UNROLL for (int64_t t0 = 0; t0 < K0; t0++)
            NNC_UNROLL for (int64_t t1 = 0; t1 < K1; t1++) {
              NNC_UNROLL for (int t2 = 0; t2 < 2; t2++)
                nnc_span_give_@SUFFIX@(&both[t2], &where, &given, (int)(t0 * K1 + t1) * 2 + t2);
              nnc_span_join_@SUFFIX@(sums + begin + (t0 * X1 + t1) * X2, both);
            }
        }
      }
      @EPILOGUE@
    }
  }
}
