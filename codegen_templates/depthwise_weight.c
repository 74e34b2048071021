/* The adjoint of a depthwise convolution in its weights, with all channels last. Vectors are of channels.
 *
 * A task takes some channels of all images, or of one piece of them. The places that some neighbouring
 * positions see are found first, with zeros for those outside; then each product of a place and a gradient
 * goes to the sum of its tap in a register. Sums over a part of a line are added up apart, so that no sum is
 * long. Taps are in rows, which differ in the last axis alone. */
/* Weights [channel, channel + channels) of a piece: sums[tap * CB + c], where c + again stands
 * for c after the last whole vector. */
NNC_INLINE void @NAME@_epilogue(const nnc_worker *worker, const int64_t piece, const int64_t channel,
                                const int64_t channels, const @TYPE@ *restrict sums@EPILOGUE_PARAMETERS@)
{
  NNC_EXTENTS(CB = @CB@, LANES = NNC_LANES_@T@);
  const int64_t whole = channels / LANES * LANES, again = (LANES - channels % LANES) % LANES;
  @EPILOGUE@
}

/* Adds products of the places and the gradients of some neighbouring positions to the sums of
 * `rows` rows of taps. */
NNC_INLINE void @NAME@_add(const int64_t positions, const int64_t rows, const @TYPE@ *const see[][@SEEN@],
                           const @TYPE@ *const *given, @TYPE@ *const *sums, const int64_t channels)
{
  NNC_EXTENTS(CB = @CB@, AT_ONCE = @AT_ONCE@, MOST = @MOST@, LANES = NNC_LANES_@T@);
  for (int64_t i = 0; i < channels; i += LANES) {
    const int64_t c = nnc_least(i, channels - LANES); /* the last vector may meet channels again */
    nnc_vec_@T@ y[AT_ONCE], sum[MOST];
    NNC_UNROLL for (int q = 0; q < AT_ONCE; q++)
      if (q < positions) y[q] = nnc_load_@T@(given[q] + c);
    NNC_ROLLED for (int64_t r = 0; r < rows; r++) {
      NNC_UNROLL for (int t = 0; t < MOST; t++) sum[t] = nnc_load_@T@(sums[r] + t * CB + i);
      NNC_UNROLL for (int q = 0; q < AT_ONCE; q++) NNC_UNROLL for (int t = 0; t < MOST; t++)
        if (q < positions) sum[t] += nnc_load_@T@(see[r][q * @SEEN_Q@ + t * @SEEN_T@] + c) * y[q];
      NNC_UNROLL for (int t = 0; t < MOST; t++) nnc_store_@T@(sums[r] + t * CB + i, sum[t]);
    }
  }
}

NNC_KERNEL void @NAME@(nnc_worker *worker@PARAMETERS@)
{
  NNC_EXTENTS(IMAGES = @IMAGES@ /* of a piece */, CHANNELS = @CHANNELS@, CB = @CB@ /* of a task */, BLOCKS = @BLOCKS@,
              TASKS = @TASKS@, WIDTH = @WIDTH@ /* of a part of a line */, AT_ONCE = @AT_ONCE@, SEEN = @SEEN@);
  NNC_EXTENTS(P0 = @P0@, P1 = @P1@, P2 = @P2@, X0 = @X0@, X1 = @X1@, X2 = @X2@, S0 = @S0@, S1 = @S1@, S2 = @S2@,
              LINES = IMAGES * P0 * P1, TOGETHER = @TOGETHER@ /* lines */, MOST = @MOST@ /* taps of a row */,
              ROWS = @ROWS@, TAPS = ROWS * MOST);
  static const int32_t row_at[ROWS][2] = {@ROW_PLACES@}; /* places along the first two axes */
  static const @TYPE@ zeros[CB] NNC_ALIGNED = {0};
  @TYPE@ *const sums = (@TYPE@ *)worker->scratch; /* [TAPS][CB], the last vector of channels in lanes of its own */
  @TYPE@ *const part = sums + TAPS * CB;          /* the same, of some positions */
  @KEYS@
  NNC_TASKS(worker, TASKS, task) {
    const int64_t piece = task / BLOCKS, channel = task % BLOCKS * CB;
    const int64_t channels = nnc_least(CB, CHANNELS - channel);
    memset(sums, 0, sizeof *sums * (2 * TAPS * CB));
    @BEGIN_TASK@
    for (int64_t line = 0; line < LINES; line++) {
      const int64_t image = piece * IMAGES + line / (P0 * P1), p0 = line / P1 % P0, p1 = line % P1;
      for (int64_t begin = 0; begin < P2; begin += WIDTH) {
        const int64_t end = nnc_least(begin + WIDTH, P2);
        const @TYPE@ *from[ROWS], *see[ROWS][SEEN], *given[AT_ONCE];
        @TYPE@ *row_sums[ROWS];
        int64_t rows = 0; /* that meet lines inside */
        for (int64_t r = 0; r < ROWS; r++) {
          const int64_t x0 = p0 * S0 + row_at[r][0], x1 = p1 * S1 + row_at[r][1];
          if (!nnc_within(x0, X0) || !nnc_within(x1, X1)) continue;
          @LINE@
          row_sums[rows] = part + r * MOST * CB;
          from[rows++] = line_of_x;
        }
        @GIVEN_LINE@
        for (int64_t p = begin; p < end;) {
          const int64_t left = p * S2 + @FIRST_PLACE@, positions = p + AT_ONCE <= end ? AT_ONCE : 1;
          @FETCH@
          for (int64_t r = 0; r < rows; r++)
            for (int64_t s = 0; s < SEEN; s++) {
              const int64_t x2 = left + @SEEN_PLACE@;
              see[r][s] = nnc_within(x2, X2) ? from[r] + @PLACE@ : zeros;
            }
          for (int64_t q = 0; q < positions; q++) given[q] = line_of_y + @GIVEN_PLACE@;
          if (positions == AT_ONCE) @NAME@_add(AT_ONCE, rows, see, given, row_sums, channels);
          else @NAME@_add(1, rows, see, given, row_sums, channels);
          p += positions;
        }
        if ((line + 1) % TOGETHER > 0 && line + 1 < LINES) continue;
        for (int64_t i = 0; i < TAPS * CB; i++) sums[i] += part[i];
        memset(part, 0, sizeof *part * (TAPS * CB));
      }
    }
    @NAME@_epilogue(worker, piece, channel, channels, sums@EPILOGUE_ARGUMENTS@);
  }
}
