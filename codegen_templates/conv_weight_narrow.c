/* The gradient of a convolution of few channels in its weights (nnc_narrow.h), dy with its channels last.
 *
 * The weights are the rows of a matrix, those of a line of taps next to each other, by the channels of the
 * result. A task takes some of both. Over all images it goes block by block of the result's lines: the
 * lines of x that their taps see are copied once with their padding, then all tiles of the task add what
 * these positions give. */
/* Weights [first, end) of channels [channel, channel + KB): sums[(m - first) * KB + k]. */
NNC_INLINE void @NAME@_epilogue(const nnc_worker *worker, const int64_t piece, const int64_t channel,
                                const int64_t first, const int64_t end,
                                const @TYPE@ *restrict sums@EPILOGUE_PARAMETERS@)
{
  @EPILOGUE@
}

NNC_KERNEL void @NAME@(nnc_worker *worker@PARAMETERS@)
{
  NNC_EXTENTS(IMAGES = @IMAGES@ /* of a piece */, C = @C@, K = @K@, KB = @KB@ /* of a task */);
  NNC_EXTENTS(K_BLOCKS = K / KB, PARTS = @PARTS@ /* of the weights */, TASKS = @TASKS@);
  NNC_EXTENTS(X0 = @X0@, X1 = @X1@, X2 = @X2@, P0 = @P0@, P1 = @P1@, P2 = @P2@);
  NNC_EXTENTS(S0 = @S0@, S1 = @S1@, D0 = @D0@, D1 = @D1@, L0 = @LOW_0@, L1 = @LOW_1@, L2 = @LOW_2@, T0 = @T0@, T1 = @T1@);
  NNC_EXTENTS(PLACE = @PLACE@ /* elements to the next */, PLANES = C / PLACE);
  NNC_EXTENTS(LINES = @LINES@ /* of a block */, SEEN = (LINES - 1) * S1 + (T1 - 1) * D1 + 1);
  NNC_EXTENTS(LINE = @LINE@ /* of x with its padding */, LINE_OF_X = X2 * PLACE);
  NNC_EXTENTS(PLANE = @PLANE@, IMAGE = @IMAGE@ /* of x */, OF_Y = P2 * K /* a line */);
  /* Vectors of a task in panels, the last of which may have fewer. */
  NNC_EXTENTS(LANES = NNC_LANES_@T@, VECTORS = KB / LANES,
              PANELS = (VECTORS + NNC_TILE_VECTORS - 1) / NNC_TILE_VECTORS,
              OWN = (VECTORS + PANELS - 1) / PANELS, LAST = VECTORS - (PANELS - 1) * OWN);
  /* Tiles: a line of taps has CUTS of them, or a tile RUNS lines of a plane. */
  NNC_EXTENTS(RUN = @RUN@ /* weights of a line */, FITTING = NNC_NARROW_SUMS / OWN,
              MOST = @TILE_WEIGHTS@ < FITTING ? @TILE_WEIGHTS@ : FITTING,
              CUTS = (RUN + MOST - 1) / MOST, ROWS = (RUN + CUTS - 1) / CUTS,
              LAST_ROWS = RUN - (CUTS - 1) * ROWS, STACKED = MOST / ROWS,
              STACKS = (T1 + STACKED - 1) / STACKED,
              RUNS = CUTS > 1 ? 1 : (T1 + STACKS - 1) / STACKS,
              OF_PLANE = (T1 + RUNS - 1) / RUNS, LAST_RUNS = T1 - (OF_PLANE - 1) * RUNS,
              TILES = PLANES * T0 * OF_PLANE * CUTS);
  static const nnc_narrow_cut tiles = {CUTS, ROWS, RUNS, OF_PLANE, T1, RUN};
  static const nnc_window window = {{0}, {0}, {X0, X1, X2}, PLACE, 1, 0};
  @TYPE@ *const seen = (@TYPE@ *)worker->scratch; /* [T0][SEEN][PLANES][LINE] */
  @TYPE@ *const sums = (@TYPE@ *)(worker->scratch + @SEEN_BYTES@);
  @KEYS@
  NNC_TASKS(worker, TASKS, task) {
    const int64_t part = task % PARTS, channel = task / PARTS % K_BLOCKS * KB;
    const int64_t piece = task / ((int64_t)PARTS * K_BLOCKS);
    const int64_t begin = part * TILES / PARTS, end = (part + 1) * TILES / PARTS;
    const int64_t first = nnc_narrow_first(&tiles, begin), last = nnc_narrow_first(&tiles, end);
    memset(sums, 0, sizeof *sums * (last - first) * KB);
    for (int64_t image = piece * IMAGES; image < (piece + 1) * IMAGES; image++)
      for (int64_t p = 0, lines; p < (int64_t)P0 * P1; p += lines) {
        lines = nnc_least(LINES, P1 - p % P1);
        const int64_t own = (lines - 1) * S1 + (T1 - 1) * D1 + 1;
        for (int64_t t = 0; t < T0; t++)
          for (int64_t i = 0; i < own * PLANES; i++) {
            const int64_t x0 = p / P1 * S0 + t * D0 - L0, x1 = p % P1 * S1 + i / PLANES - L1;
            const @TYPE@ *const from = @SOURCE@ + image * IMAGE + i % PLANES * PLANE;
            @TYPE@ *const to = seen + (t * SEEN * PLANES + i) * LINE;
            if (nnc_within(x0, X0) && nnc_within(x1, X1))
              nnc_window_row_@T@(to, from + (x0 * X1 + x1) * LINE_OF_X, -L2, &window, LINE / PLACE, 0, LINE);
            else nnc_window_clear((char *)to, (int64_t)sizeof *to * LINE);
          }
        const @TYPE@ *const dy = @DY@ + (image * P0 * P1 + p) * OF_Y + channel;
        const nnc_narrow of = {lines, P2, D1 * PLANES * LINE, S1 * PLANES * LINE, @STEP@, K, KB};
        for (int64_t tile = begin; tile < end; tile++) {
          const int64_t cut = tile % CUTS, stack = tile / CUTS % OF_PLANE;
          const int64_t plane = tile / (CUTS * OF_PLANE), line = plane % T0 * SEEN + stack * RUNS * D1;
          const @TYPE@ *const a = seen + (line * PLANES + plane / T0) * LINE + cut * ROWS;
          const bool is_short = (LAST_ROWS < ROWS && cut == CUTS - 1) ||
                                (LAST_RUNS < RUNS && stack == OF_PLANE - 1);
          @TYPE@ *to = sums + (nnc_narrow_first(&tiles, tile) - first) * KB;
          for (int64_t panel = 0; panel < PANELS; panel++, to += OWN * LANES) {
            const @TYPE@ *const b = dy + panel * (OWN * LANES);
            if (panel == PANELS - 1 && LAST < OWN) {
              if (is_short) nnc_narrow_tile_@T@(LAST_RUNS, LAST_ROWS, LAST, &of, a, b, to);
              else nnc_narrow_tile_@T@(RUNS, ROWS, LAST, &of, a, b, to);
            } else if (is_short) nnc_narrow_tile_@T@(LAST_RUNS, LAST_ROWS, OWN, &of, a, b, to);
            else nnc_narrow_tile_@T@(RUNS, ROWS, OWN, &of, a, b, to);
          }
        }
      }
    @NAME@_epilogue(worker, piece, channel, first, last, sums@EPILOGUE_ARGUMENTS@);
  }
}
