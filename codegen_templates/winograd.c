/* A convolution of few taps, or its adjoint in the input, by Winograd's minimal filtering (nnc_winograd.h).
 *
 * A task takes some rows of tiles of an image, or several small images, and some channels of the result. Their places
 * are transformed, once for the tasks of a worker that follow each other; then a product for each of a tile's
 * transformed places with the transformed weights, which are kept or which each worker makes, goes through the register
 * tile, a panel of channels after the other, and what they give becomes the lines of the result. */
/* Channels [channel, channel + channels) of a line of the result: row[p * width + c]. */
NNC_INLINE void @NAME@_epilogue(const nnc_worker *worker, const int64_t image, const int64_t channel,
                                const int64_t channels, const int64_t line,
                                const float *restrict row, const int64_t width@EPILOGUE_PARAMETERS@)
{
  @EPILOGUE@
}

NNC_KERNEL void @NAME@(nnc_worker *worker@PARAMETERS@)
{
  NNC_EXTENTS(C = @C@ /* of the sum */, K = @K@ /* of the result */, X0 = @X0@, X1 = @X1@, P0 = @P0@, P1 = @P1@,
              TAPS_0 = @TAPS_0@, TAPS_1 = @TAPS_1@, SIZE_0 = @SIZE_0@, SIZE_1 = @SIZE_1@ /* results of a tile */,
              PRODUCTS = (TAPS_0 + SIZE_0 - 1) * (TAPS_1 + SIZE_1 - 1), TILE_ROWS = (P0 + SIZE_0 - 1) / SIZE_0,
              TILE_COLUMNS = (P1 + SIZE_1 - 1) / SIZE_1, ROWS = @ROWS@ /* of a task */, BLOCKS = @BLOCKS@,
              IMAGES = @IMAGES@, N = @N@, PARTS = @PARTS@ /* of the channels of the result */, TASKS = @TASKS@,
              OF_IMAGE = ROWS * TILE_COLUMNS /* tiles */, COUNT = IMAGES * OF_IMAGE,
              LAST = (TILE_ROWS - (BLOCKS - 1) * ROWS) * TILE_COLUMNS * (N - (N - 1) / IMAGES * IMAGES),@DEEP_EXTENTS@
              MR = @HEIGHT@, LANES = NNC_LANES_f32, PART = K / PARTS, VECTORS = PART / LANES,
              PANELS = (VECTORS + NNC_TILE_VECTORS - 1) / NNC_TILE_VECTORS,
              OWN = (VECTORS + PANELS - 1) / PANELS /* vectors of a panel */, WIDTH = OWN * LANES,
              ROW = C + 16 /* of a tile, no power of 2 */, ROWS_1 = COUNT % MR, ROWS_2 = LAST % MR,
              GROUPS = (COUNT + MR - 1) / MR /* of tiles */, VECTORS_1 = VECTORS - (PANELS - 1) * OWN);
  static nnc_tile_of_f32 *const products[3][3] =
      NNC_TILE_TABLE(f32, LAST < MR && COUNT < MR ? 0 : MR, ROWS_1, ROWS_2, OWN, VECTORS_1, 0);
  /* packed: [@PACKED_PARTS@PANELS][PRODUCTS][@SUM@][WIDTH], source: [PRODUCTS][@SEEN@][ROW],
   * sums: [PRODUCTS][COUNT][WIDTH], lines: [SIZE_0][SIZE_1 * TILE_COLUMNS][WIDTH] */
  @DECLARED_TILE@
  float *const packed = @PACKED_PLACE@;
  float *const source = @SOURCE_PLACE@;
  float *const sums = source + (int64_t)PRODUCTS * @SEEN@ * ROW;
  float *const lines = sums + (int64_t)PRODUCTS * COUNT * WIDTH;
  @PACKED_PART@
  @BLANK@
  int64_t held = -1; /* the block whose places are transformed */
  @KEYS@
  @FILL@
  NNC_TASKS(worker, TASKS, task) {
    const int64_t block = @BLOCK@, part = @PART@;
    @PACK@
    const int64_t image = block / BLOCKS * IMAGES, images = nnc_least(IMAGES, N - image);
    const int64_t first = block % BLOCKS * ROWS, rows = nnc_least(ROWS, TILE_ROWS - first);
    const int64_t count = images * rows * TILE_COLUMNS;
    for (int64_t i = 0; i < @PLANES@ && block != held; i++) {
      @SLICE@
      const nnc_winograd_tiles tiles = {
          @SOURCE@ + (@SOURCE_PLANE@) * ((int64_t)X0 * X1 * C), C, {@EXTENT@, X1}, {@LOW_0@, @LOW_1@}, first, rows,
          TILE_COLUMNS, C, source + i * (rows * TILE_COLUMNS * ROW), ROW, @SEEN@ * ROW};
      nnc_winograd_source@READER@(&tiles@TILE@);
      @FIND_BLANK@
    }
    @JOIN_BLANK@
    held = block;
    @NEXT@
    for (int64_t panel = 0; panel < PANELS; panel++) {
      const int64_t channel = part * PART + panel * WIDTH;
      const int64_t channels = nnc_least(WIDTH, PART - panel * WIDTH);
      const float *const weights = packed + @PACKED_AT@ * ((int64_t)PRODUCTS * @SUM@ * WIDTH);
      for (int64_t p = 0; p < PRODUCTS; p++)
        for (int64_t m = 0; m < count; m += MR) {
          const int64_t left = nnc_least(MR, count - m);
          @AHEAD@
          @FETCH@
          @EACH_TAP@
          products[left == ROWS_1 ? 1 : left == ROWS_2 ? 2 : 0][channels == WIDTH ? 0 : 1](
              C, source + (p * @SEEN@ + m@TAP_TILES@) * ROW, ROW, 1,
              weights + (p * (int64_t)@SUM@@TAP_CHANNELS@) * WIDTH, WIDTH, sums + (p * COUNT + m) * WIDTH, WIDTH,
              @BEGINS@, @AHEAD_POINTER@);
        }
      for (int64_t r = 0; r < images * rows; r++) {
        nnc_winograd_results@KIND@(&(nnc_winograd_sums){
            sums + r * TILE_COLUMNS * WIDTH, (int64_t)COUNT * WIDTH, WIDTH, TILE_COLUMNS, channels,
            lines, SIZE_1 * TILE_COLUMNS * WIDTH, WIDTH, @BLANK_ROW@}@TILE@);
        const int64_t begin = SIZE_0 * (first + r % rows);
        for (int64_t line = begin; line < nnc_least(begin + SIZE_0, P0); line++)
          @NAME@_epilogue(worker, image + r / rows, channel, channels, line,
                          lines + line % SIZE_0 * (SIZE_1 * TILE_COLUMNS * WIDTH), WIDTH@EPILOGUE_ARGUMENTS@);
      }
    }
    @STREAM_END@
  }
}
