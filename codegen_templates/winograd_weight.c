/* The gradient of a convolution of few taps in its weights by Winograd's minimal filtering (nnc_winograd.h).
 *
 * A task takes some channels of the result and some of the input: over all images, or a piece of them, it adds up the
 * products of the tiles' transformed places and gradients, then turns their sums into taps. While it multiplies, it
 * asks for what it transforms next. */
/* Rows [row, row + rows) of the weights by channels [channel, channel + channels):
 * sums[(tap * height + r) * width + c]. */
NNC_INLINE void @NAME@_epilogue(const nnc_worker *worker, const int64_t piece, const int64_t row,
                                const int64_t rows, const int64_t channel, const int64_t channels,
                                const float *restrict sums, const int64_t height, const int64_t width@EPILOGUE_PARAMETERS@)
{
  @EPILOGUE@
}

NNC_KERNEL void @NAME@(nnc_worker *worker@PARAMETERS@)
{
  NNC_EXTENTS(N = @OF_PIECE@ /* of a piece */, C = @C@, K = @K@, X0 = @X0@, X1 = @X1@, P0 = @P0@, P1 = @P1@, KB = @KB@, CB = @CB@ /* of a task */,
              K_BLOCKS = @K_BLOCKS@, C_BLOCKS = @C_BLOCKS@, TASKS = @TASKS@,
              TAPS_0 = @TAPS_0@, TAPS_1 = @TAPS_1@, SIZE_0 = @SIZE_0@, SIZE_1 = @SIZE_1@ /* results of a tile */,
              PRODUCTS = (TAPS_0 + SIZE_0 - 1) * (TAPS_1 + SIZE_1 - 1), TILE_ROWS = (P0 + SIZE_0 - 1) / SIZE_0,
              TILE_COLUMNS = (P1 + SIZE_1 - 1) / SIZE_1, ROWS = @ROWS@, IMAGES = @IMAGES@ /* at a time */,
              OF_IMAGE = ROWS * TILE_COLUMNS, COUNT = IMAGES * OF_IMAGE, LANES = NNC_LANES_f32, MR = NNC_TILE_ROWS,
              @DEEP_EXTENTS@C_ROW = CB + 16, K_ROW = KB + 16 /* of a tile, no power of 2 */,
              LAST_K = K - (K_BLOCKS - 1) * KB, LAST_C = C - (C_BLOCKS - 1) * CB,
              VECTORS = CB / LANES, PANELS = (VECTORS + NNC_TILE_VECTORS - 1) / NNC_TILE_VECTORS,
              OWN = (VECTORS + PANELS - 1) / PANELS /* vectors of a panel */, WIDTH = OWN * LANES,
              GROUPS = (KB + MR - 1) / MR /* of rows */, ROWS_1 = KB % MR, ROWS_2 = LAST_K % MR,
              VECTORS_1 = CB % WIDTH / LANES, VECTORS_2 = LAST_C % WIDTH / LANES);
  static nnc_tile_of_f32 *const products[3][3] =
      NNC_TILE_TABLE(f32, KB < MR ? 0 : MR, ROWS_1, ROWS_2, OWN, VECTORS_1, VECTORS_2);
  @DECLARED_TILE@
  float *const source = (float *)worker->scratch;          /* [PRODUCTS][COUNT][C_ROW] */
  float *const gradient = source + (int64_t)PRODUCTS * COUNT * C_ROW; /* [PRODUCTS][COUNT][K_ROW] */
  float *const sums = gradient + (int64_t)PRODUCTS * COUNT * K_ROW;   /* [PRODUCTS][KB][CB] */
  float *const taps = sums + (int64_t)PRODUCTS * KB * CB;             /* [TAPS_0 * TAPS_1][KB][CB] */
  @KEYS@
  if (N == 0) memset(sums, 0, sizeof *sums * PRODUCTS * KB * CB); /* no image fills them */
  NNC_TASKS(worker, TASKS, task) {
    const int64_t piece = task / (@TASKS_OF_PIECE@), end = (piece + 1) * N;
    @TAP@
    const int64_t row = task / C_BLOCKS % K_BLOCKS * KB, rows = nnc_least(KB, K - row);
    const int64_t channel = task % C_BLOCKS * CB, channels = nnc_least(CB, C - channel);
    for (int64_t image = piece * N; image < end; image += IMAGES)
      for (int64_t first = 0; first < TILE_ROWS; first += ROWS) {
        const int64_t own = nnc_least(ROWS, TILE_ROWS - first), images = nnc_least(IMAGES, end - image);
        for (int64_t i = 0; i < images; i++) {
          @SLICE@
          nnc_winograd_source@READER@(&(nnc_winograd_tiles){
              @SOURCE@ + (@SOURCE_PLANE@) * ((int64_t)X0 * X1 * C) + channel, C, {@EXTENT@, X1}, {@LOW_0@, @LOW_1@}, first, own,
              TILE_COLUMNS, channels, source + i * (OF_IMAGE * C_ROW), C_ROW, COUNT * C_ROW}@TILE@);
          nnc_winograd_gradient@READER@(&(nnc_winograd_tiles){
              @GRADIENT@ + (image + i) * ((int64_t)P0 * P1 * K) + row, K, {P0, P1}, {0, 0}, first, own,
              TILE_COLUMNS, rows, gradient + i * (OF_IMAGE * K_ROW), K_ROW, COUNT * K_ROW}@TILE@);
        }
        @NEXT@
        for (int64_t p = 0; p < PRODUCTS; p++)
          for (int64_t c = 0; c < channels; c += WIDTH) {
            const int64_t vectors = nnc_least(WIDTH, channels - c) / LANES;
            const int width = vectors == VECTORS_1 ? 1 : vectors == VECTORS_2 ? 2 : 0;
            for (int64_t m = 0; m < rows; m += MR) {
              const int64_t left = nnc_least(MR, rows - m);
              @FETCH@
              products[left == ROWS_1 ? 1 : left == ROWS_2 ? 2 : 0][width](
                  images * own * TILE_COLUMNS, gradient + p * (COUNT * K_ROW) + m, 1, K_ROW, source + p * (COUNT * C_ROW) + c,
                  C_ROW, sums + (p * KB + m) * CB + c, CB, image == piece * N && first == 0 ? NNC_BEGINS : NNC_JOINS, NULL);
            }
          }
      }
    nnc_winograd_taps@KIND@(&(nnc_winograd_sums){sums, KB * CB, CB, rows, channels, taps, 0, KB * CB, NULL}@TILE@);
    @NAME@_epilogue(worker, @PIECE@, row, rows, channel, channels, taps, KB, CB@EPILOGUE_ARGUMENTS@);
  }
}
