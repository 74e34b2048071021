/* The adjoint of a convolution in its input by columns, with all extents known: for some images side by
 * side, the product of the transposed weights and dy has a row for each input channel and tap, over the
 * output's positions (nnc_gemm.h); each row is added at the places that its tap has read (nnc_conv.h).
 *
 * It does no work for padding, and pays where the planes are small beside the window. A task takes a
 * block of the images' input channels, whose planes are collected in the worker's block. */
/* Input channels [channel, channel + channels) of an image. */
NNC_INLINE void @NAME@_epilogue(const nnc_worker *worker, const int64_t image, const int64_t channel,
                                const int64_t channels, const @TYPE@ *restrict planes@EPILOGUE_PARAMETERS@)
{
  @EPILOGUE@
}

NNC_KERNEL void @NAME@(nnc_worker *worker@PARAMETERS@)
{
  NNC_EXTENTS(IMAGES = @IMAGES@, STACK = @STACK@, GROUPS = @GROUPS@, ROWS = @ROWS@, CHANNELS = @CHANNELS@, TASKS = @TASKS@);
  NNC_EXTENTS(RB = @RB@, ROW_BLOCKS = @ROW_BLOCKS@, POSITIONS = @POSITIONS@, PADDED = @PADDED@);
  NNC_EXTENTS(X0 = @X0@, X1 = @X1@, X2 = @X2@, Y0 = @Y0@, Y1 = @Y1@, Y2 = @Y2@, K1 = @K1@, K2 = @K2@);
  NNC_EXTENTS(S0 = @S0@, S1 = @S1@, S2 = @S2@, D0 = @D0@, D1 = @D1@, D2 = @D2@, P0 = @P0@, P1 = @P1@, P2 = @P2@);
  NNC_EXTENTS(TAPS = @TAPS@, LANES = NNC_LANES_@T@, VECTORS = PADDED / LANES);
  NNC_EXTENTS(PANELS = (VECTORS + (int)NNC_TILE_VECTORS - 1) / (int)NNC_TILE_VECTORS);
  NNC_EXTENTS(WIDE = (VECTORS + PANELS - 1) / PANELS, LAST = VECTORS - (PANELS - 1) * WIDE);
  NNC_EXTENTS(MR = (int)NNC_TILE_ROWS < @LEAST_ROWS@ ? (int)NNC_TILE_ROWS : @LEAST_ROWS@);
  @TYPE@ *const given = (@TYPE@ *)worker->scratch;
  @TYPE@ *const planes = (@TYPE@ *)(worker->scratch + @SOURCE_BYTES@);
  @TYPE@ *const tile = (@TYPE@ *)(worker->scratch + @TILE_AT@);
  @KEYS@
  NNC_TASKS(worker, TASKS, task) {
    const int64_t first = task / ((int64_t)GROUPS * ROW_BLOCKS) * STACK, images = nnc_least(STACK, IMAGES - first);
    const int64_t group = task / ROW_BLOCKS % GROUPS;
    const int64_t channel = task % ROW_BLOCKS * RB, channels = nnc_least(RB, ROWS - channel);
    for (int64_t s = 0; s < images; s++)
      for (int64_t k = 0; k < CHANNELS; k++)
        nnc_spread_@T@_@SOURCE_T@(given + k * PADDED + s * POSITIONS,
                           s < images - 1 ? POSITIONS : PADDED - s * POSITIONS,
                           @SOURCE@ + (((first + s) * GROUPS + group) * CHANNELS + k) * POSITIONS, 1, 0, POSITIONS);
    memset(planes, 0, sizeof *planes * ((int64_t)X0 * X1 * X2) * RB * (size_t)images);
    const @TYPE@ *const weights = @W@ + (group * CHANNELS * ROWS + channel) * TAPS;
    /* The last tile of rows overlaps the one before, whose rows are not added twice. */
    for (int64_t done = 0; done < channels * TAPS; done += MR) {
      const int64_t m = nnc_least(done, channels * TAPS - MR);
      for (int64_t p = 0; p < PANELS; p++)
        (p < PANELS - 1 ? NNC_TILE(@T@, MR, WIDE) : NNC_TILE(@T@, MR, LAST))(
            CHANNELS, weights + m, 1, (int64_t)ROWS * TAPS, given + p * (WIDE * LANES), PADDED,
            tile + p * (WIDE * LANES), PADDED, true, NULL);
      for (int64_t row = done, s = 0; row < m + MR; s = (s + 1) % images, row += s == 0) {
        const int64_t t0 = row % TAPS / ((int64_t)K1 * K2), t1 = row % TAPS / K2 % K1, t2 = row % K2;
        const @TYPE@ *restrict from = tile + (row - m) * PADDED + s * POSITIONS;
        @TYPE@ *restrict plane = planes + (s * RB + row / TAPS) * ((int64_t)X0 * X1 * X2);
        for (int64_t line = 0; line < (int64_t)Y0 * Y1; line++) {
          const int64_t x0 = line / Y1 * S0 - P0 + t0 * D0, x1 = line % Y1 * S1 - P1 + t1 * D1;
          if (!@INSIDE@) continue;
          @TYPE@ *const to = plane + (x0 * X1 + x1) * X2 - P2 + t2 * D2;
          @ADD@
        }
      }
    }
    for (int64_t s = 0; s < images; s++)
      @NAME@_epilogue(worker, first + s, group * ROWS + channel, channels,
                      planes + s * RB * ((int64_t)X0 * X1 * X2)@EPILOGUE_ARGUMENTS@);
  }
}
