/* A convolution of 3 x 3 taps, or its adjoint in the input, by Winograd's minimal filtering (nnc_winograd.h).
 *
 * A task takes some rows of tiles of an image, or several small images: their places are transformed, then 16
 * products with the transformed weights, which each worker makes once or which are kept, go through the register tile, a panel of
 * channels after the other, and what they give becomes two lines of the result for each row of tiles. */
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
              TILE_ROWS = (P0 + 1) / 2, TILE_COLUMNS = (P1 + 1) / 2, ROWS = @ROWS@ /* of a task */,
              BLOCKS = @BLOCKS@, IMAGES = @IMAGES@, N = @N@, TASKS = @TASKS@, OF_IMAGE = ROWS * TILE_COLUMNS /* tiles */,
              COUNT = IMAGES * OF_IMAGE, LAST = (TILE_ROWS - (BLOCKS - 1) * ROWS) * TILE_COLUMNS *
              (N - (N - 1) / IMAGES * IMAGES),
              MR = NNC_TILE_ROWS, LANES = NNC_LANES_f32, VECTORS = K / LANES,
              PANELS = (VECTORS + NNC_TILE_VECTORS - 1) / NNC_TILE_VECTORS,
              OWN = (VECTORS + PANELS - 1) / PANELS /* vectors of a panel */, WIDTH = OWN * LANES,
              ROW = C + 16 /* of a tile, no power of 2 */, ROWS_1 = COUNT % MR, ROWS_2 = LAST % MR,
              VECTORS_1 = VECTORS - (PANELS - 1) * OWN);
  static nnc_tile_of_f32 *const products[3][3] =
      NNC_TILE_TABLE(f32, LAST < MR && COUNT < MR ? 0 : MR, ROWS_1, ROWS_2, OWN, VECTORS_1, 0);
  float *const packed = @PACKED_PLACE@;                          /* [PANELS][16][C][WIDTH] */
  float *const source = @SOURCE_PLACE@; /* [16][COUNT][ROW] */
  float *const sums = source + (int64_t)16 * COUNT * ROW;        /* [16][COUNT][WIDTH] */
  float *const lines = sums + (int64_t)16 * COUNT * WIDTH;       /* [2][2 * TILE_COLUMNS][WIDTH] */
  @IS_PACKED@
  @KEYS@
  @FILL@
  NNC_TASKS(worker, TASKS, task) {
    @PACK@
    const int64_t image = task / BLOCKS * IMAGES, images = nnc_least(IMAGES, N - image);
    const int64_t first = task % BLOCKS * ROWS, rows = nnc_least(ROWS, TILE_ROWS - first);
    const int64_t count = images * rows * TILE_COLUMNS;
    for (int64_t i = 0; i < images; i++)
      nnc_winograd_source(&(nnc_winograd_tiles){@SOURCE@ + (image + i) * ((int64_t)X0 * X1 * C), C, {X0, X1},
                                                {@LOW_0@, @LOW_1@}, first, rows, TILE_COLUMNS, C,
                                                source + i * (OF_IMAGE * ROW), ROW, COUNT * ROW});
    for (int64_t panel = 0; panel < PANELS; panel++) {
      const int64_t channel = panel * WIDTH, channels = nnc_least(WIDTH, K - channel);
      for (int64_t p = 0; p < 16; p++)
        for (int64_t m = 0; m < count; m += MR) {
          const int64_t left = nnc_least(MR, count - m);
          products[left == ROWS_1 ? 1 : left == ROWS_2 ? 2 : 0][channels == WIDTH ? 0 : 1](
              C, source + (p * COUNT + m) * ROW, ROW, 1, packed + (panel * 16 + p) * ((int64_t)C * WIDTH), WIDTH,
              sums + (p * COUNT + m) * WIDTH, WIDTH, true, NULL);
        }
      for (int64_t r = 0; r < images * rows; r++) {
        for (int64_t k = 0; k < TILE_COLUMNS; k++)
          for (int64_t c = 0; c < channels; c += LANES) {
            nnc_vec_f32 y[2][2];
            nnc_winograd_result(sums + (r * TILE_COLUMNS + k) * WIDTH + c, (int64_t)COUNT * WIDTH, y);
            NNC_UNROLL for (int i = 0; i < 4; i++)
              nnc_store_f32(lines + ((i / 2 * TILE_COLUMNS + k) * 2 + i % 2) * WIDTH + c, y[i / 2][i % 2]);
          }
        const int64_t begin = 2 * (first + r % rows);
        for (int64_t line = begin; line < nnc_least(begin + 2, P0); line++)
          @NAME@_epilogue(worker, image + r / rows, channel, channels, line, lines + line % 2 * (2 * TILE_COLUMNS * WIDTH),
                          WIDTH@EPILOGUE_ARGUMENTS@);
      }
    }
  }
}
