/* A convolution by patches, with all extents known: for some images side by side, what each tap of each
 * channel sees is copied without gaps, and the weights are multiplied by that matrix (nnc_gemm.h), a block
 * of channels after the other.
 *
 * Where planes are small, rasters (conv.c) would be mostly padding, and weights read for a few vectors. A
 * task takes a block of the images' result channels, whose sums stay in the worker's block until the last
 * input channel. */
/* Result channels [channel, channel + channels) of an image. */
NNC_INLINE void @NAME@_epilogue(const nnc_worker *worker, const int64_t image, const int64_t channel,
                                const int64_t channels, const @TYPE@ *restrict planes@EPILOGUE_PARAMETERS@)
{
  @EPILOGUE@
}

NNC_KERNEL void @NAME@(nnc_worker *worker@PARAMETERS@)
{
  NNC_EXTENTS(IMAGES = @IMAGES@, STACK = @STACK@, GROUPS = @GROUPS@, ROWS = @ROWS@, CHANNELS = @CHANNELS@, TASKS = @TASKS@);
  NNC_EXTENTS(RB = @RB@, ROW_BLOCKS = @ROW_BLOCKS@, CB = @CB@, POSITIONS = @POSITIONS@, PADDED = @PADDED@);
  NNC_EXTENTS(L0 = @L0@, L1 = @L1@, L2 = @L2@, Y0 = @Y0@, Y1 = @Y1@, Y2 = @Y2@);
  NNC_EXTENTS(X0 = @X0@, X1 = @X1@, X2 = @X2@, S0 = @S0@, S1 = @S1@, S2 = @S2@);
  NNC_EXTENTS(SOURCE_PHASES = @SOURCE_PHASES@, TAPS = @TAPS@, LANES = NNC_LANES_@T@);
  NNC_EXTENTS(VECTORS = PADDED / LANES, MR = NNC_TILE_ROWS, ROWS_1 = RB % MR, ROWS_2 = ROWS % RB % MR);
  NNC_EXTENTS(WHOLE = (int)RB < (int)MR ? 0 : (int)MR);
  NNC_EXTENTS(PANELS = (VECTORS + NNC_TILE_VECTORS - 1) / NNC_TILE_VECTORS);
  NNC_EXTENTS(WIDE = (VECTORS + PANELS - 1) / PANELS, LAST = VECTORS - (PANELS - 1) * WIDE);
  static nnc_tile_of_@T@ *const tiles[3][3] =
      NNC_TILE_TABLE(@T@, WHOLE, ROWS_1, ROWS_2, PANELS == 1 ? 0 : WIDE, LAST, 0);
  @PHASES@
  static const nnc_tap taps[] = @TAP_TABLE@;
  @RASTER_OF@
  @TYPE@ *const patches = (@TYPE@ *)(worker->scratch + @SOURCE_BYTES@);
  @TYPE@ *const planes = (@TYPE@ *)(worker->scratch + @TILE_AT@);
  @KEYS@
  NNC_TASKS(worker, TASKS, task) {
    const int64_t first = task / ((int64_t)GROUPS * ROW_BLOCKS) * STACK, images = nnc_least(STACK, IMAGES - first);
    const int64_t group = task / ROW_BLOCKS % GROUPS;
    const int64_t row = task % ROW_BLOCKS * RB, rows = nnc_least(RB, ROWS - row);
    for (int64_t channel = 0; channel < CHANNELS; channel += CB) {
      const int64_t channels = nnc_least(CB, CHANNELS - channel);
      for (int64_t s = 0; s < images; s++)
        for (int64_t c = 0; c < channels; c++) {
          const @SOURCE_TYPE@ *const from =
              @SOURCE@ + (((first + s) * GROUPS + group) * CHANNELS + channel + c) * ((int64_t)X0 * X1 * X2);
          @RASTER@
          for (int64_t t = 0; t < TAPS; t++) {
            @TYPE@ *to = patches + (c * TAPS + t) * PADDED + s * POSITIONS;
            @CUT@
            if (s == images - 1) memset(to, 0, sizeof *to * (size_t)(PADDED - images * POSITIONS));
          }
        }
      for (int64_t m = 0; m < rows; m += MR) {
        const int shape = rows - m >= MR ? 0 : rows - m == ROWS_1 ? 1 : 2;
        const @TYPE@ *const a = @W@ + ((group * ROWS + row + m) * CHANNELS + channel) * TAPS;
        for (int64_t p = 0; p < PANELS; p++)
          tiles[shape][p == PANELS - 1](channels * TAPS, a, (int64_t)CHANNELS * TAPS, 1, patches + p * (WIDE * LANES),
                                        PADDED, planes + m * PADDED + p * (WIDE * LANES), PADDED,
                                        channel == 0, NULL);
      }
    }
    for (int64_t s = 0; s < images; s++)
      @NAME@_epilogue(worker, first + s, group * ROWS + row, rows, planes + s * POSITIONS@EPILOGUE_ARGUMENTS@);
  }
}
