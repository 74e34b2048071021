/* The adjoint of a convolution in its weights, with all extents known: for a block of result and input
 * channels, sums of products of dy and x along the raster (nnc_conv.h), over all images in order.
 *
 * A task owns its weights, so nothing is joined between tasks; vector sums stay in the worker's block
 * until the last image, or are added up at once where all positions of the images are one sum
 * (IS_ONE_SUM). dy is copied with zeros where the raster is wider than the output; x may have rasters of
 * its own for each tap of the last axis (ConvGrid.shifted), which are not, and dy is then read in place
 * if it is whole vectors. Long rasters are summed in parts that the first-level cache holds. */
/* Weights [row, row + rows) x [channel, channel + channels) are @SUMS_ARE@
 * sums[r * COLUMNS + c * TAPS + t]. */
NNC_INLINE void @NAME@_epilogue(const nnc_worker *worker, const int64_t row, const int64_t rows,
                                const int64_t channel, const int64_t channels,
                                const @SUMS_TYPE@ *sums@EPILOGUE_PARAMETERS@)
{
  @EPILOGUE@
}

NNC_KERNEL void @NAME@(nnc_worker *worker@PARAMETERS@)
{
  NNC_EXTENTS(IMAGES = @IMAGES@, GROUPS = @GROUPS@, ROWS = @ROWS@, CHANNELS = @CHANNELS@, TASKS = @TASKS@);
  NNC_EXTENTS(RB = @RB@, CB = @CB@, ROW_BLOCKS = @ROW_BLOCKS@, CHANNEL_BLOCKS = @CHANNEL_BLOCKS@);
  NNC_EXTENTS(CHUNK = @CHUNK@, BLOCK = @BLOCK@, POSITIONS = @POSITIONS@);
  NNC_EXTENTS(L0 = @L0@, L1 = @L1@, L2 = @L2@, PLANE = @PLANE@, DY_ROW = @TILE_ROW@);
  NNC_EXTENTS(IS_ONE_SUM = @IS_ONE_SUM@, SPAN = @SPAN@ /* of the raster, summed at a time */);
  NNC_EXTENTS(X0 = @X0@, X1 = @X1@, X2 = @X2@, S0 = @S0@, S1 = @S1@, S2 = @S2@);
  NNC_EXTENTS(Y0 = @Y0@, Y1 = @Y1@, Y2 = @Y2@);
  NNC_EXTENTS(SOURCE_PHASES = @SOURCE_PHASES@, TAPS = @TAPS@, COLUMNS = CB * TAPS, LANES = NNC_LANES_@T@);
  static const int32_t begin[SOURCE_PHASES][3] = @BEGINS@;
  static const nnc_tap taps[] = @TAP_TABLE@;
  @TYPE@ *const source = (@TYPE@ *)worker->scratch;
  @DY_RASTERS@
  @SUMS_TYPE@ *const sums = (@SUMS_TYPE@ *)(worker->scratch + @TILE_AT@);
  @KEYS@
  memset(source + (int64_t)@FILLED@ * PLANE, 0, @SOURCE_BYTES@ - sizeof *source * @FILLED@ * PLANE);
  NNC_TASKS(worker, TASKS, task) {
    const int64_t row = task % ROW_BLOCKS * RB, rows = nnc_least(RB, ROWS - row);
    const int64_t channel = task / ROW_BLOCKS % CHANNEL_BLOCKS * CB;
    const int64_t channels = nnc_least(CB, CHANNELS - channel);
    const int64_t chunk = task / ((int64_t)ROW_BLOCKS * CHANNEL_BLOCKS), end = nnc_least((chunk + 1) * CHUNK, GROUPS);
    for (int64_t group = chunk * CHUNK; group < end; group++) {
      if (!IS_ONE_SUM) memset(sums, 0, sizeof *sums * RB * COLUMNS);
      for (int64_t image = 0; image < IMAGES; image++)
        for (int64_t first = 0; first < POSITIONS; first += BLOCK) {
          @COUNT@
          for (int64_t c = 0; c < channels; c++) {
            const @SOURCE_TYPE@ *const from =
                @SOURCE@ + ((image * GROUPS + group) * CHANNELS + channel + c) * ((int64_t)X0 * X1 * X2);
            @TYPE@ *to = source + c * PLANE;
            @RASTERS@
          }
          const int64_t raster = @RASTER_LENGTH@;
          const int64_t length = nnc_round_up(raster, LANES);
          @GIVEN@
          for (int64_t part = 0; part < length; part += SPAN)
            for (int64_t t = 0; t < channels * TAPS; t += NNC_DOT_TAPS) {
              const int64_t tap_count = nnc_least(NNC_DOT_TAPS, channels * TAPS - t);
              const @TYPE@ *x[NNC_DOT_TAPS] = {0};
              for (int64_t i = 0; i < tap_count; i++)
                x[i] = source + (t + i) / TAPS * PLANE + taps[(t + i) % TAPS].offset + part;
              for (int64_t r = 0; r < rows; r += NNC_DOT_ROWS)
                nnc_conv_dots_@T@(nnc_least(NNC_DOT_ROWS, rows - r), tap_count, nnc_least(SPAN, length - part),
                              given + r * DY_ROW + part, DY_ROW, x, @SUMS_TO@);
            }
        }
      @NAME@_epilogue(worker, group * ROWS + row, rows, channel, channels, sums@EPILOGUE_ARGUMENTS@);
    }
  }
}
