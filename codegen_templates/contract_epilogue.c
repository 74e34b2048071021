/* Elements [m, m + rows) x [n, n + cols) of the product are tile[r * tile_row + c]. */
NNC_INLINE void @NAME@_epilogue(@WORKER@@BATCH_NUMBER@NNC_TILE_SUMS(@TYPE@)@EPILOGUE_PARAMETERS@)
{
  @EPILOGUE@
}

