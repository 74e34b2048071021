/* A depthwise convolution with its channels last, or its adjoint in the input: each channel with taps of its
 * own. Vectors are of channels.
 *
 * A task takes some channels of some lines of an image, or of parts of long ones. The places that some
 * neighbouring positions see are found first, with zeros for those outside; then registers hold the sums of
 * these positions for a vector of channels, and each place is loaded once for all taps that meet it. The
 * adjoint of a strided convolution has a phase for each residue of the place modulo the stride, with its own
 * taps. Taps are in rows, which differ in the last axis alone. */
/* Positions [begin, end) of line (p0, p1) of a phase: tile[(p - begin) * CB + c] of channels
 * [channel, channel + channels). */
NNC_INLINE void @NAME@_epilogue(const nnc_worker *worker, const int64_t image, const int64_t channel,
                                const int64_t channels, const int64_t phase, const int64_t p0, const int64_t p1,
                                const int64_t begin, const int64_t end, const @TYPE@ *restrict tile@EPILOGUE_PARAMETERS@)
{
  @EPILOGUE@
}

/* The sums over `rows` rows of taps, `taps` in each, for each position a row of `to`: see[r][..]
 * are the places that they meet. */
NNC_INLINE void @NAME@_sums(const int64_t rows, const int64_t taps, const @TYPE@ *const see[][@SEEN@],
                            const @TYPE@ *const *weights, const int64_t channels, @TYPE@ *restrict to,
                            const int64_t to_row)
{
  NNC_EXTENTS(CB = @CB@, AT_ONCE = @AT_ONCE@, MOST = @MOST@, LANES = NNC_LANES_@T@);
  for (int64_t i = 0; i < channels; i += LANES) {
    const int64_t c = nnc_least(i, channels - LANES); /* the last vector may meet channels twice */
    nnc_vec_@T@ sum[AT_ONCE], w[MOST] = {{0}};
    NNC_UNROLL for (int q = 0; q < AT_ONCE; q++) sum[q] = (nnc_vec_@T@){0};
    NNC_ROLLED for (int64_t r = 0; r < rows; r++) {
      NNC_UNROLL for (int t = 0; t < MOST; t++)
        if (t < taps) w[t] = nnc_load_@T@(weights[r] + t * CB + c);
      NNC_UNROLL for (int t = 0; t < MOST; t++) NNC_UNROLL for (int q = 0; q < AT_ONCE; q++)
        if (t < taps) sum[q] += nnc_load_@T@(see[r][q * @SEEN_Q@ + t * @SEEN_T@] + c) * w[t];
    }
    NNC_UNROLL for (int q = 0; q < AT_ONCE; q++) nnc_store_@T@(to + q * to_row + c, sum[q]);
  }
}

NNC_KERNEL void @NAME@(nnc_worker *worker@PARAMETERS@)
{
  NNC_EXTENTS(CHANNELS = @CHANNELS@, CB = @CB@ /* of a task */, BLOCKS = @BLOCKS@, TASKS = @TASKS@);
  NNC_EXTENTS(LINES = @LINES@ /* of a task */, LINE_BLOCKS = @LINE_BLOCKS@, WIDTH = @WIDTH@ /* of its lines */,
              PARTS = @PARTS@, P0 = @P0@, P1 = @P1@, P2 = @P2@, AT_ONCE = @AT_ONCE@, SEEN = @SEEN@);
  NNC_EXTENTS(X0 = @X0@, X1 = @X1@, X2 = @X2@, S0 = @S0@, S1 = @S1@, S2 = @S2@, TAPS = @TAPS@, MOST = @MOST@ /* of a row */,
              PHASES = @PHASES@, ROWS = @ROWS@, MOST_ROWS = @MOST_ROWS@ /* of a phase */);
  /* Phase by phase the places of rows of taps along the first two axes; of each their numbers in
   * the window, or -1. Of each phase the first row, and the place of the first tap along the last
   * axis. */
  static const int32_t row_at[ROWS][2] = {@ROW_PLACES@}, tap_of[ROWS * MOST] = {@TAP_NUMBERS@};
  static const int32_t first_row[PHASES + 1] = {@FIRST_ROWS@}, first_at[PHASES] = {@FIRST_PLACES@};
  static const @TYPE@ zeros[CB] NNC_ALIGNED = {0};
  /* weights: [@WEIGHT_BLOCKS@ROWS][MOST][CB], tile: [AT_ONCE][CB] */
  @WEIGHTS@
  @KEYS@
  @FILL@
  @FEED_BEGIN@
  NNC_TASKS(worker, TASKS, task) {
    const int64_t image = task / ((int64_t)PARTS * LINE_BLOCKS * BLOCKS);
    const int64_t channel = task / ((int64_t)PARTS * LINE_BLOCKS) % BLOCKS * CB;
    const int64_t channels = nnc_least(CB, CHANNELS - channel);
    const int64_t first = task / PARTS % LINE_BLOCKS * LINES, lines = nnc_least(LINES, P1 - first);
    const int64_t begin = task % PARTS * WIDTH, end = nnc_least(begin + WIDTH, P2);
    @TASK_WEIGHTS@
    @BEGIN_TASK@
    for (int64_t line = 0; line < P0 * lines; line++)
      for (int64_t phase = 0; phase < PHASES; phase++) { /* those of a line while it is near */
        const int64_t p0 = line / lines, p1 = first + line % lines;
        const @TYPE@ *from[MOST_ROWS] = {0}, *row_weights[MOST_ROWS], *see[MOST_ROWS][SEEN];
        int64_t rows = 0; /* that meet lines inside */
        @FEED_LINES@
        for (int64_t r = first_row[phase]; r < first_row[phase + 1]; r++) {
          const int64_t x0 = p0 * S0 + row_at[r][0], x1 = p1 * S1 + row_at[r][1];
          if (!nnc_within(x0, X0) || !nnc_within(x1, X1)) continue;
          @LINE@
          row_weights[rows] = weights + r * MOST * CB;
          from[rows++] = line_of_x;
        }
        for (int64_t p = begin; p < end; p += AT_ONCE) {
          const int64_t left = p * S2 + first_at[phase];
          @FETCH@
          for (int64_t r = 0; r < rows; r++)
            for (int64_t s = 0; s < SEEN; s++) {
              const int64_t x2 = left + @SEEN_PLACE@;
              see[r][s] = nnc_within(x2, X2) ? from[r] + @PLACE@ : zeros;
            }
          @TO@
          @SUMS@
          if (to == tile)
            @NAME@_epilogue(worker, image, channel, channels, phase, p0, p1, p, nnc_least(p + AT_ONCE, end), tile@EPILOGUE_ARGUMENTS@);
        }
      }
    @STREAM_END@
  }
}
