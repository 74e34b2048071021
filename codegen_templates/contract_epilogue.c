/* Elements [m, m + rows) x [n, n + cols) of the product are tile[r * TILE_ROW + c]. */
NNC_INLINE void @NAME@_epilogue(const nnc_worker *worker, const int64_t batch, const int64_t m,
                                const int64_t rows, const int64_t n, const int64_t cols,
                                const @TYPE@ *restrict tile, const int64_t tile_row@EPILOGUE_PARAMETERS@)
{
  @EPILOGUE@
}

