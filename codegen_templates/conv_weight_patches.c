/* The adjoint of a convolution in its weights from patches, with all extents known: for a block of result
 * and input channels, sums of products of dy and of what each tap sees (nnc_conv.h), over all images.
 *
 * Both are copied without gaps, several images one after the other, zeros up to a whole vector after
 * each: where planes are small, rasters (conv_weight.c) would be mostly padding and sums too short. A
 * task owns its weights, so nothing is joined between tasks; where all images are copied before the sums
 * begin (IS_ONE_SUM), their lanes are added up at once. */
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
  NNC_EXTENTS(L0 = @L0@, L1 = @L1@, L2 = @L2@, PLANE = @PLANE@, POSITIONS = @POSITIONS@, PADDED = @PADDED@);
  NNC_EXTENTS(X0 = @X0@, X1 = @X1@, X2 = @X2@, S0 = @S0@, S1 = @S1@, S2 = @S2@);
  NNC_EXTENTS(Y0 = @Y0@, Y1 = @Y1@, Y2 = @Y2@, STACK = @STACK@, LENGTH = STACK * PADDED);
  NNC_EXTENTS(SOURCE_PHASES = @SOURCE_PHASES@, TAPS = @TAPS@, COLUMNS = CB * TAPS, IS_ONE_SUM = @IS_ONE_SUM@);
  @PHASES@
  static const nnc_tap taps[] = @TAP_TABLE@;
  @RASTER_OF@
  @TYPE@ *const given = (@TYPE@ *)(worker->scratch + @SOURCE_BYTES@), *const patches = given + RB * LENGTH;
  @SUMS_TYPE@ *const sums = (@SUMS_TYPE@ *)(worker->scratch + @TILE_AT@);
  @KEYS@
  NNC_TASKS(worker, TASKS, task) {
    const int64_t row = task % ROW_BLOCKS * RB, rows = nnc_least(RB, ROWS - row);
    const int64_t channel = task / ROW_BLOCKS % CHANNEL_BLOCKS * CB;
    const int64_t channels = nnc_least(CB, CHANNELS - channel);
    const int64_t group = task / ((int64_t)ROW_BLOCKS * CHANNEL_BLOCKS);
    if (!IS_ONE_SUM) memset(sums, 0, sizeof *sums * RB * COLUMNS);
    for (int64_t image = 0; image < IMAGES; image++) {
      const int64_t slot = image % STACK;
      for (int64_t r = 0; r < rows; r++)
        nnc_spread_@T@_@DY_T@(given + r * LENGTH + slot * PADDED, PADDED,
                       @DY@ + ((image * GROUPS + group) * ROWS + row + r) * POSITIONS, 1, 0, POSITIONS);
      for (int64_t c = 0; c < channels; c++) {
        const @SOURCE_TYPE@ *const from =
            @SOURCE@ + ((image * GROUPS + group) * CHANNELS + channel + c) * ((int64_t)X0 * X1 * X2);
        @RASTER@
        for (int64_t t = 0; t < TAPS; t++) {
          @TYPE@ *to = patches + (c * TAPS + t) * LENGTH + slot * PADDED;
          for (int64_t line = 0; line < (int64_t)Y0 * Y1; line++, to += Y2)
            memcpy(to, seen + taps[t].offset + (line / Y1 * L1 + line % Y1) * L2, sizeof *to * Y2);
          for (int64_t i = POSITIONS; i < PADDED; i++) *to++ = 0;
        }
      }
      if (slot < STACK - 1 && image < IMAGES - 1) continue;
      for (int64_t t = 0; t < channels * TAPS; t += NNC_DOT_TAPS) {
        const int64_t tap_count = nnc_least(NNC_DOT_TAPS, channels * TAPS - t);
        const @TYPE@ *x[NNC_DOT_TAPS] = {0};
        for (int64_t i = 0; i < tap_count; i++) x[i] = patches + (t + i) * LENGTH;
        for (int64_t r = 0; r < rows; r += NNC_DOT_ROWS)
          nnc_conv_dots_@T@(nnc_least(NNC_DOT_ROWS, rows - r), tap_count, (slot + 1) * PADDED,
                        given + r * LENGTH, LENGTH, x, @SUMS_TO@);
      }
    }
    @NAME@_epilogue(worker, group * ROWS + row, rows, channel, channels, sums@EPILOGUE_ARGUMENTS@);
  }
}
