/* Attention forward: y of each query, beside it the greatest of its scores and the logarithm of the sum
 * of exponentials above it (Dao et al. 2022, "FlashAttention").
 *
 * A task has some queries of a head and goes through the keys in blocks. Of each block it makes the
 * scores, a row for each query; what was summed before is scaled to the row's new greatest score. */
NNC_KERNEL void @NAME@(nnc_worker *worker@PARAMETERS@)
{
  NNC_EXTENTS(HEADS = @HEADS@, QUERIES = @QUERIES@, KEYS = @KEY_COUNT@, DEPTH = @DEPTH@, VALUES = @VALUES@,
         DEPTH_ROW = @DEPTH_ROW@, VALUE_ROW = @VALUE_ROW@, ROWS = @ROWS@, BLOCK = @BLOCK@, LINE = @LINE@,
         CHUNK = @CHUNK@, CHUNKS = @CHUNKS@, TASKS = @TASKS@);
  @TYPE@ *const queries = (@TYPE@ *)worker->scratch, *const sums = queries + (CHUNK + 8) * DEPTH_ROW;
  @TYPE@ *const turned = sums + (CHUNK + 8) * VALUE_ROW, *const scores = turned + DEPTH * LINE;
  @TYPE@ *const tops = scores + (ROWS + 8) * LINE, *const totals = tops + CHUNK;
  @TYPE@ *const packed = totals + CHUNK;
  @KEYS@
  NNC_TASKS(worker, TASKS, task) {
    const int64_t batch = task / CHUNKS / HEADS, head = task / CHUNKS % HEADS;
    const int64_t q_first = task % CHUNKS * CHUNK, q_count = nnc_least(CHUNK, QUERIES - q_first);
    const int64_t k_end = @KEYS_END@;
    @PACK_QUERIES@
    for (int64_t r = 0; r < q_count; r++) tops[r] = -INFINITY, totals[r] = 0;
    for (int64_t k_first = 0; k_first < k_end; k_first += BLOCK) {
      const int64_t keys = nnc_least(BLOCK, KEYS - k_first);
      @TURN_KEYS@
      @PACK_VALUES@
      for (int64_t q = 0; q < q_count; q += ROWS) {
        const int64_t rows = nnc_least(ROWS, q_count - q), seen = @SEEN@;
        if (seen + rows <= 1) continue;
        nnc_attention_product_@T@(NNC_PART_COLUMNS, seen, rows, keys, DEPTH, queries + q * DEPTH_ROW,
                                  DEPTH_ROW, 1, turned, LINE, scores, LINE, true);
        for (int64_t r = 0; r < rows; r++) {
          @TYPE@ *const line = scores + r * LINE, *const row = sums + (q + r) * VALUE_ROW;
          const int64_t count = nnc_greatest(nnc_least(seen + r, keys), 0);
          const int64_t tile_end = nnc_least(r / NNC_TILE_ROWS * NNC_TILE_ROWS + NNC_TILE_ROWS, rows);
          const int64_t width = nnc_attention_width(seen, tile_end - 1, keys);
          @MASK@
          const @TYPE@ top = nnc_attention_top_@T@(line, count, width, @FACTOR@), before = tops[q + r];
          const @TYPE@ now = top > before ? top : before, base = now == -INFINITY ? 0 : now;
          const @TYPE@ factor = before == -INFINITY ? 0 : nnc_exp_@T@(before - base);
          totals[q + r] = totals[q + r] * factor + nnc_attention_weights_@T@(line, width, base);
          tops[q + r] = now;
          if (k_first > 0 && factor != 1)
            for (int64_t c = 0; c < VALUE_ROW; c++) row[c] *= factor;
        }
        nnc_attention_product_@T@(NNC_PART_DEPTH, seen, rows, VALUES, keys, scores, LINE, 1, @VALUE_ROWS@,
                                  sums + q * VALUE_ROW, VALUE_ROW, k_first == 0);
      }
    }
    for (int64_t r = 0; r < q_count; r++) {
      @TYPE@ *const line = scores, *const row = sums + r * VALUE_ROW;
      for (int64_t c = 0; c < VALUES; c++) line[c] = totals[r] == 0 ? 0 : row[c] / totals[r];
      line[VALUES] = tops[r] == -INFINITY ? 0 : tops[r];
      line[VALUES + 1] = totals[r] == 0 ? 0 : nnc_log_@T@(totals[r]);
      @NAME@_epilogue(worker, batch, head, q_first + r, VALUES + 2, line@EPILOGUE_ARGUMENTS@);
    }
  }
}
