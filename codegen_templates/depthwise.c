/* A depthwise convolution with its channels last, or its adjoint in the input: each channel with taps of its
 * own. Vectors are of channels.
 *
 * A task takes some channels of some lines of an image, or of parts of long ones. What its windows see is
 * copied to a raster with zeros around it, so that a tap is at a fixed distance from its position. The
 * adjoint of a strided convolution has a phase for each residue of the place modulo the stride, with its own
 * taps. */
/* Positions [begin, end) of line (p0, p1) of a phase: tile[(p - begin) * CB + c] of channels
 * [channel, channel + channels). */
NNC_INLINE void @NAME@_epilogue(const nnc_worker *worker, const int64_t image, const int64_t channel,
                                const int64_t channels, const int64_t phase, const int64_t p0, const int64_t p1,
                                const int64_t begin, const int64_t end, const @TYPE@ *restrict tile@EPILOGUE_PARAMETERS@)
{
  @EPILOGUE@
}

NNC_KERNEL void @NAME@(nnc_worker *worker@PARAMETERS@)
{
  NNC_EXTENTS(CHANNELS = @CHANNELS@, CB = @CB@ /* of a task */, BLOCKS = @BLOCKS@, TASKS = @TASKS@);
  NNC_EXTENTS(LINES = @LINES@ /* of a task */, LINE_BLOCKS = @LINE_BLOCKS@, WIDTH = @WIDTH@ /* of its lines */,
              PARTS = @PARTS@, P0 = @P0@, P1 = @P1@, P2 = @P2@);
  NNC_EXTENTS(X0 = @X0@, X1 = @X1@, X2 = @X2@, S0 = @S0@, S1 = @S1@, S2 = @S2@, L0 = @L0@, L1 = @L1@, L2 = @L2@);
  NNC_EXTENTS(PHASES = @PHASES@, TAPS = @TAPS@, ALL_TAPS = @ALL_TAPS@, MOST = @MOST@, LANES = NNC_LANES_@T@);
  /* For each tap its distance in the raster and its number in the window; phase by phase. */
  static const int32_t offset[ALL_TAPS] = {@OFFSETS@}, weight[ALL_TAPS] = {@WEIGHTS@};
  static const int32_t first_tap[PHASES + 1] = {@FIRST_TAPS@};
  @TYPE@ *const raster = (@TYPE@ *)worker->scratch;
  @TYPE@ *const weights = raster + (int64_t)L0 * L1 * L2 * CB;
  @TYPE@ *const tile = weights + ALL_TAPS * CB;
  int64_t held = -1; /* the channel with which the weights begin */
  @KEYS@
  NNC_TASKS(worker, TASKS, task) {
    const int64_t image = task / ((int64_t)PARTS * LINE_BLOCKS * BLOCKS);
    const int64_t channel = task / ((int64_t)PARTS * LINE_BLOCKS) % BLOCKS * CB;
    const int64_t channels = nnc_least(CB, CHANNELS - channel);
    const int64_t first = task / PARTS % LINE_BLOCKS * LINES, lines = nnc_least(LINES, P1 - first);
    const int64_t begin = task % PARTS * WIDTH, end = nnc_least(begin + WIDTH, P2);
    for (int64_t t = 0; t < (held == channel ? 0 : ALL_TAPS); t++)
      for (int64_t c = 0; c < CB; c++)
        weights[t * CB + c] = c < channels ? @LOAD_W@(@W@[(channel + c) * TAPS + weight[t]]) : 0;
    held = channel;
    const @SOURCE_TYPE@ *const from = @SOURCE@ + image * ((int64_t)X0 * X1 * X2 * CHANNELS) + channel;
    @TYPE@ *to = raster;
    for (int64_t l = 0; l < (int64_t)L0 * L1; l++) {
      const int64_t x0 = l / L1 + @BEGIN_0@, x1 = l % L1 + first * S1 + @BEGIN_1@;
      const bool inside = nnc_within(x0, X0) && nnc_within(x1, X1);
      const int64_t left = begin * S2 + @BEGIN_2@;
      for (int64_t x2 = left; x2 < left + L2; x2++, to += CB)
        if (inside && nnc_within(x2, X2))
          NNC_ROLLED for (int64_t c = 0; c < channels; c++)
            to[c] = @LOAD_SOURCE@(from[((x0 * X1 + x1) * X2 + x2) * CHANNELS + c]);
        else
          NNC_ROLLED for (int64_t c = 0; c < channels; c++) to[c] = 0;
    }
    for (int64_t phase = 0; phase < PHASES; phase++)
      for (int64_t line = 0; line < P0 * lines; line++) {
        const int64_t p0 = line / lines, p1 = line % lines;
        for (int64_t c = 0; c < CB; c += LANES) {
          const @TYPE@ *seen = raster + (p0 * S0 * L1 + p1 * S1) * L2 * CB + c;
          const int64_t own = first_tap[phase], taps = PHASES == 1 ? TAPS : first_tap[phase + 1] - own;
          nnc_vec_@T@ w[MOST];
          NNC_UNROLL for (int64_t t = 0; t < MOST; t++)
            w[t] = t < taps ? nnc_load_@T@(weights + (own + t) * CB + c) : (nnc_vec_@T@){0};
          for (int64_t p = 0; p < end - begin; p++, seen += S2 * CB) {
            nnc_vec_@T@ sum = {0};
            NNC_UNROLL for (int64_t t = 0; t < MOST; t++)
              if (t < taps) sum += nnc_load_@T@(seen + offset[own + t] * CB) * w[t];
            nnc_store_@T@(tile + p * CB + c, sum);
          }
        }
        @NAME@_epilogue(worker, image, channel, channels, phase, p0, first + p1, begin, end, tile@EPILOGUE_ARGUMENTS@);
      }
  }
}
