/* A convolution of small planes, or its adjoint in the input, tap by tap. Under a tap some places of the result see places
 * of the source, the others zeros around it, which a sum over all taps would multiply, too.
 *
 * A task makes some channels of the results of some images. Rows are places with the images of each beside each other; a run
 * is a number of rows that follow each other in the source and in the result. */
/* Channels [channel, channel + channels) of all places from an image on: sums[(place * IMAGES + image) * PART + c]. */
NNC_INLINE void @NAME@_epilogue(const nnc_worker *worker, const int64_t first, const int64_t channel, const int64_t channels,
                                const @TYPE@ *restrict sums@EPILOGUE_PARAMETERS@)
{
  @EPILOGUE@
}

NNC_KERNEL void @NAME@(nnc_worker *worker@PARAMETERS@)
{
  NNC_EXTENTS(IMAGES = @IMAGES@ /* of a task */, PLACES = @PLACES@ /* of the source */, RESULTS = @RESULTS@ /* places of the result */,
              C = @C@ /* of the sum */, K = @K@ /* of the result */, TAPS = @TAPS@, RUNS = @RUNS@,
              PART = @PART@ /* channels of a task */, PARTS = @PARTS@, TASKS = @TASKS@, LAST = K - (PARTS - 1) * PART,
              MR = NNC_TILE_ROWS, LANES = NNC_LANES_@T@, VECTORS = PART / LANES,
              PANELS = (VECTORS + NNC_TILE_VECTORS - 1) / NNC_TILE_VECTORS,
              OWN = (VECTORS + PANELS - 1) / PANELS /* vectors of a panel */, WIDTH = OWN * LANES,
              VECTORS_1 = (VECTORS - 1) % OWN + 1, VECTORS_2 = (LAST / LANES - 1) % OWN + 1,
              OF_TAP = PANELS * C * WIDTH /* weights */, ROW = C + 16 /* no power of 2 */);
  /* The tap, the first row of the source and that of the result, the number of rows, its kind. */
  static const int32_t runs[RUNS][5] = {@RUN_LIST@};
  static nnc_tile_of_@T@ *const products[][3] = {@PRODUCTS@}; /* of MR rows, and of what each kind of runs has left */
  @TYPE@ *const rows = (@TYPE@ *)worker->scratch;             /* [PLACES][IMAGES][ROW] */
  @TYPE@ *const sums = rows + (int64_t)PLACES * IMAGES * ROW; /* [RESULTS][IMAGES][PART] */
  @PACKED@
  int64_t held = -1; /* the first image whose rows are copied */
  @KEYS@
  @FILL@
  NNC_TASKS(worker, TASKS, task) {
    const int64_t first = task / PARTS * IMAGES, part = task % PARTS;
    const int64_t channel = part * PART, channels = nnc_least(PART, K - channel);
    for (int64_t row = 0; row < PLACES * IMAGES && first != held; row++)
      memcpy(rows + row * ROW, @SOURCE@ + ((first + row % IMAGES) * PLACES + row / IMAGES) * C, sizeof *rows * C);
    held = first;
    memset(sums, 0, sizeof *sums * RESULTS * IMAGES * PART);
    for (int64_t r = 0; r < RUNS; r++) {
      const int64_t tap = runs[r][0], from = runs[r][1], to = runs[r][2], count = runs[r][3];
      @PACK@
      const @TYPE@ *panel = @WEIGHTS_OF_TAP@;
      for (int64_t c = 0; c < channels; c += WIDTH, panel += (int64_t)C * WIDTH) {
        const int wide = channels - c >= WIDTH ? 0 : channels == PART ? 1 : 2;
        for (int64_t m = 0; m < count; m += MR)
          products[count - m < MR ? runs[r][4] : 0][wide](
              C, rows + (from + m) * ROW, ROW, 1, panel, WIDTH, sums + (to + m) * PART + c, PART, NNC_JOINS, NULL);
      }
    }
    @NAME@_epilogue(worker, first, channel, channels, sums@EPILOGUE_ARGUMENTS@);
    @STREAM_END@
  }
}
