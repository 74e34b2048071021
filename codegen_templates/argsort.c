/* The order of each row's elements, the least first (a complemented key: the greatest), NaN as the
 * greatest, equal elements in their order. */
NNC_KERNEL void @NAME@(nnc_worker *worker@PARAMETERS@)
{
  NNC_EXTENTS(ROWS = @ROWS@, ELEMENTS = @ELEMENTS@, CHUNK = @CHUNK@, TASKS = @TASKS@);
  uint@BITS@_t *const sort_keys = (uint@BITS@_t *)worker->scratch;
  uint@BITS@_t *const spare_keys = sort_keys + ELEMENTS;
  int32_t *const places = (int32_t *)(spare_keys + ELEMENTS);
  int32_t *const spare_places = places + ELEMENTS;
  @KEYS@
  NNC_TASKS(worker, TASKS, task) {
    const int64_t first = task * CHUNK, rows = nnc_least(CHUNK, ROWS - first);
    for (int64_t r = 0; r < rows; r++) {
      for (int64_t i = 0; i < ELEMENTS; i++)
        sort_keys[i] = @SIGN@@KEY@(@LOAD@(@X@[(first + r) * ELEMENTS + i]));
      const int32_t *const sorted =
          nnc_argsort_@BITS@(ELEMENTS, sort_keys, spare_keys, places, spare_places);
      for (int64_t e = 0; e < ELEMENTS; e++) {
        @EPILOGUE@
      }
    }
  }
}
