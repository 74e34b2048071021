/* Rows added where their indices say: result[index[i]] += values[i]. A task owns a range of the result's
 * rows and goes through all indices in order, so that the sums do not depend on the workers. A row
 * outside of the result is dropped. */
NNC_KERNEL void @NAME@(nnc_worker *worker@PARAMETERS@)
{
  NNC_EXTENTS(INDICES = @INDICES@, ROWS = @ROWS@, ELEMENTS = @ELEMENTS@, CHUNK = @CHUNK@, TASKS = @TASKS@);
  @TYPE@ *const sums = (@TYPE@ *)worker->scratch;
  @KEYS@
  NNC_TASKS(worker, TASKS, task) {
    const int64_t first = task * CHUNK, rows = nnc_least(CHUNK, ROWS - first);
    memset(sums, 0, sizeof *sums * (size_t)(rows * ELEMENTS));
    for (int64_t i = 0; i < INDICES; i++) {
      const int64_t row = (int64_t)((uint64_t)@INDEX@[i] - (uint64_t)first);
      if (!nnc_within(row, rows)) continue;
      for (int64_t e = 0; e < ELEMENTS; e++)
        sums[row * ELEMENTS + e] += @LOAD@(@VALUES@[i * ELEMENTS + e]);
    }
    for (int64_t r = 0; r < rows; r++)
      for (int64_t e = 0; e < ELEMENTS; e++) {
        @EPILOGUE@
      }
  }
}
