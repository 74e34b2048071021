/* Attention backward: the adjoints of a head's queries, keys and values (Dao et al. 2022, "FlashAttention").
 *
 * A task has a head. It goes through the keys in blocks, whose adjoints it sums over blocks of queries; what
 * the queries receive is summed over the blocks of keys. Weights are made again from the scores and the
 * numbers that the forward part kept of each query. */
NNC_KERNEL void @NAME@(nnc_worker *worker@PARAMETERS@)
{
  NNC_EXTENTS(HEADS = @HEADS@, QUERIES = @QUERIES@, KEYS = @KEY_COUNT@, DEPTH = @DEPTH@, VALUES = @VALUES@,
         DEPTH_ROW = @DEPTH_ROW@, VALUE_ROW = @VALUE_ROW@, ROWS = @ROWS@, BLOCK = @BLOCK@, LINE = @LINE@,
         TASKS = @TASKS@);
  @TYPE@ *const queries = (@TYPE@ *)worker->scratch, *const adjoints = queries + (QUERIES + 8) * DEPTH_ROW;
  @TYPE@ *const query_sums = adjoints + (QUERIES + 8) * VALUE_ROW;
  @TYPE@ *const tops = query_sums + (QUERIES + 8) * DEPTH_ROW, *const logs = tops + QUERIES;
  @TYPE@ *const deltas = logs + QUERIES, *const turned_keys = deltas + QUERIES;
  @TYPE@ *const turned_values = turned_keys + DEPTH * LINE;
  @TYPE@ *const scores = turned_values + VALUES * LINE, *const received = scores + (ROWS + 8) * LINE;
  @TYPE@ *const key_sums = received + (ROWS + 8) * LINE, *const value_sums = key_sums + (BLOCK + 8) * DEPTH_ROW;
  @TYPE@ *const both = value_sums + (BLOCK + 8) * VALUE_ROW, *const packed = both + DEPTH_ROW + VALUE_ROW;
  @KEYS@
  NNC_TASKS(worker, TASKS, task) {
    const int64_t batch = task / HEADS, head = task % HEADS;
    @PACK_QUERIES@
    @PACK_ADJOINTS@
    for (int64_t q = 0; q < QUERIES; q++) {
      @LOAD_ROW@
      deltas[q] = nnc_attention_dot_@T@(both, adjoints + q * VALUE_ROW, VALUES);
    }
    if (KEYS == 0) memset(query_sums, 0, sizeof *query_sums * QUERIES * DEPTH_ROW);
    for (int64_t k_first = 0; k_first < KEYS; k_first += BLOCK) {
      const int64_t keys = nnc_least(BLOCK, KEYS - k_first);
      bool is_new = true; /* the sums of the block's keys */
      @TURN_BOTH@
      for (int64_t q = 0; q < QUERIES; q += ROWS) {
        const int64_t rows = nnc_least(ROWS, QUERIES - q), seen = @SEEN@;
        if (seen + rows <= 1) continue;
        nnc_attention_product_@T@(NNC_PART_COLUMNS, seen, rows, keys, DEPTH, queries + q * DEPTH_ROW,
                                  DEPTH_ROW, 1, turned_keys, LINE, scores, LINE, true);
        nnc_attention_product_@T@(NNC_PART_COLUMNS, seen, rows, keys, VALUES, adjoints + q * VALUE_ROW,
                                  VALUE_ROW, 1, turned_values, LINE, received, LINE, true);
        for (int64_t r = 0; r < rows; r++) {
          @TYPE@ *const line = scores + r * LINE;
          const int64_t count = nnc_greatest(nnc_least(seen + r, keys), 0);
          const int64_t tile_end = nnc_least(r / NNC_TILE_ROWS * NNC_TILE_ROWS + NNC_TILE_ROWS, rows);
          const int64_t width = nnc_attention_width(seen, tile_end - 1, keys);
          @MASK@
          nnc_attention_adjoints_@T@(line, received + r * LINE, count, width, @FACTOR@, tops[q + r],
                                     logs[q + r], deltas[q + r]);
        }
        nnc_attention_product_@T@(NNC_PART_BEHIND, seen, keys, DEPTH, rows, received, 1, LINE,
                                  queries + q * DEPTH_ROW, DEPTH_ROW, key_sums, DEPTH_ROW, is_new);
        nnc_attention_product_@T@(NNC_PART_BEHIND, seen, keys, VALUES, rows, scores, 1, LINE,
                                  adjoints + q * VALUE_ROW, VALUE_ROW, value_sums, VALUE_ROW, is_new);
        nnc_attention_product_@T@(NNC_PART_DEPTH, seen, rows, DEPTH, keys, received, LINE, 1, @KEY_ROWS@,
                                  query_sums + q * DEPTH_ROW, DEPTH_ROW, k_first == 0);
        is_new = false;
      }
      if (is_new) memset(key_sums, 0, sizeof *key_sums * (BLOCK + 8) * (DEPTH_ROW + VALUE_ROW));
      for (int64_t r = 0; r < keys; r++) {
        for (int64_t c = 0; c < DEPTH; c++) both[c] = key_sums[r * DEPTH_ROW + c] * @SCALE@;
        for (int64_t c = 0; c < VALUES; c++) both[DEPTH + c] = value_sums[r * VALUE_ROW + c];
        @NAME@_epilogue(worker, batch, head, QUERIES * DEPTH + (k_first + r) * (DEPTH + VALUES),
                        DEPTH + VALUES, both@EPILOGUE_ARGUMENTS@);
      }
    }
    for (int64_t r = 0; r < QUERIES; r++) {
      for (int64_t c = 0; c < DEPTH; c++) both[c] = query_sums[r * DEPTH_ROW + c] * @SCALE@;
      @NAME@_epilogue(worker, batch, head, r * DEPTH, DEPTH, both@EPILOGUE_ARGUMENTS@);
    }
  }
}
