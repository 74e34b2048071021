/* Rows added where their indices say, into a result of many more rows: result[index[i]] += values[i]. A row
 * that no index names keeps its value (`keeps`), so it is neither read nor written. A task owns a range of
 * rows; the places in `values` that name a row are a list in their order, so that sums do not
 * depend on the workers. A row outside of the result is dropped. */
NNC_KERNEL void @NAME@(nnc_worker *worker@PARAMETERS@)
{
  NNC_EXTENTS(INDICES = @INDICES@, ROWS = @ROWS@, ELEMENTS = @ELEMENTS@, CHUNK = @CHUNK@, TASKS = @TASKS@);
  @TYPE@ *const sums = (@TYPE@ *)worker->scratch;
  int32_t *const heads = (int32_t *)(sums + ELEMENTS), *const nexts = heads + CHUNK;
  const int keeps = @KEEPS@;
  @KEYS@
  NNC_TASKS(worker, TASKS, task) {
    const int64_t first = task * CHUNK, rows = nnc_least(CHUNK, ROWS - first);
    memset(heads, 0xff, sizeof *heads * (size_t)rows); /* -1: no place */
    for (int64_t i = INDICES - 1; i >= 0; i--) {
      const int64_t row = (int64_t)((uint64_t)@INDEX@[i] - (uint64_t)first);
      if (!nnc_within(row, rows)) continue;
      nexts[i] = heads[row];
      heads[row] = (int32_t)i;
    }
    for (int64_t r = 0; r < rows; r++) {
      if (keeps && heads[r] < 0) continue;
      memset(sums, 0, sizeof *sums * (size_t)ELEMENTS);
      for (int64_t i = heads[r]; i >= 0; i = nexts[i])
        for (int64_t e = 0; e < ELEMENTS; e++) sums[e] += @LOAD@(@VALUES@[i * ELEMENTS + e]);
      for (int64_t e = 0; e < ELEMENTS; e++) {
        @EPILOGUE@
      }
    }
  }
}
