/* A convolution, or its adjoint in the input, with all extents known: rows of the register tile are
 * result channels, its columns neighbouring positions of the raster (nnc_conv.h).
 *
 * A task copies the planes that its block of one image needs, with zeros around them, and goes over the
 * result channels of the group in strips. The adjoint of a strided convolution has an output phase for
 * each residue of the position modulo the stride, with its own taps. */
/* Result channels [channel, channel + rows) at a block's positions: tile[r * TILE_ROW + place],
 * and so on for each phase of the last axis; `row` is room for a row of all. */
NNC_INLINE void @NAME@_epilogue(const nnc_worker *worker, const int64_t image, const int64_t channel,
                                const int64_t rows, const int64_t first, const int64_t count,
                                const int32_t *shift, const @TYPE@ *restrict tile,
                                @TYPE@ *restrict row@EPILOGUE_PARAMETERS@)
{
  @EPILOGUE@
}

NNC_KERNEL void @NAME@(nnc_worker *worker@PARAMETERS@)
{
  NNC_EXTENTS(GROUPS = @GROUPS@, ROWS = @ROWS@, CHANNELS = @CHANNELS@, TASKS = @TASKS@);
  NNC_EXTENTS(CHUNK = @CHUNK@, CHUNKS = @CHUNKS@, BLOCK = @BLOCK@, BLOCKS = @BLOCKS@, POSITIONS = @POSITIONS@);
  NNC_EXTENTS(L0 = @L0@, L1 = @L1@, L2 = @L2@, PLANE = @PLANE@, TILE_ROW = @TILE_ROW@);
  NNC_EXTENTS(X0 = @X0@, X1 = @X1@, X2 = @X2@, S0 = @S0@, S1 = @S1@, S2 = @S2@);
  NNC_EXTENTS(SOURCE_PHASES = @SOURCE_PHASES@, OUTPUT_PHASES = @OUTPUT_PHASES@, ROW_PHASES = @ROW_PHASES@, TAPS = @TAPS@);
  NNC_EXTENTS(MR = NNC_TILE_ROWS, WHOLE = (int64_t)ROWS < (int64_t)NNC_TILE_ROWS ? 0 : NNC_TILE_ROWS, ODD = ROWS % MR,
         LANES = NNC_LANES_@T@, NR = NNC_TILE_VECTORS * LANES);
  static nnc_conv_tile_of_@T@ *const tiles[2][3] = {NNC_CONV_TILES(@T@, WHOLE),
                                                    NNC_CONV_TILES(@T@, ODD)};
  /* For each source phase where its raster begins along each axis. */
  static const int32_t begin[SOURCE_PHASES][3] = @BEGINS@;
  static const nnc_tap taps[] = @TAP_TABLE@;
  /* First tap, number of taps, shift of the position along each axis. */
  static const int32_t phases[OUTPUT_PHASES][5] = @PHASE_TABLE@;
  @TYPE@ *const source = (@TYPE@ *)worker->scratch;
  @PACKED@
  @TYPE@ *const tile = (@TYPE@ *)(worker->scratch + @TILE_AT@);
  @KEYS@
  memset(source + (int64_t)CHANNELS * PLANE, 0, @SOURCE_BYTES@ - sizeof *source * CHANNELS * PLANE);
  NNC_TASKS(worker, TASKS, task) {
    const int64_t image = task / ((int64_t)CHUNKS * BLOCKS), chunk = task / BLOCKS % CHUNKS;
    const int64_t first = task % BLOCKS * BLOCK, count = nnc_least(BLOCK, POSITIONS - first);
    const int64_t end = nnc_least((chunk + 1) * CHUNK, GROUPS);
    for (int64_t group = chunk * CHUNK; group < end; group++) {
      for (int64_t c = 0; c < CHANNELS; c++) {
        const @SOURCE_TYPE@ *const from = @SOURCE@ + ((image * GROUPS + group) * CHANNELS + c) * ((int64_t)X0 * X1 * X2);
        @TYPE@ *to = source + c * PLANE;
        @RASTERS@
      }
      const int64_t raster = @RASTER_LENGTH@;
      for (int64_t f = 0; f < OUTPUT_PHASES; f += ROW_PHASES)
        for (int64_t m = 0; m < ROWS; m += MR) {
          const int64_t rows = nnc_least(MR, ROWS - m);
          @WEIGHTS@
          for (int64_t phase = 0; phase < ROW_PHASES; phase++)
            for (int64_t p = 0; p < raster; p += NR)
              tiles[rows < MR][nnc_least((raster - p + LANES - 1) / LANES, NNC_TILE_VECTORS) - 1](
                  CHANNELS, taps + phases[f + phase][0], phases[f + phase][1], a, @A_ROW@, @A_CHANNEL@,
                  source + p, PLANE, tile + phase * (MR * TILE_ROW) + p, TILE_ROW);
          @NAME@_epilogue(worker, image, group * ROWS + m, rows, first, count, phases[f] + 2, tile,
              tile + ROW_PHASES * MR * TILE_ROW@EPILOGUE_ARGUMENTS@);
        }
    }
  }
}
