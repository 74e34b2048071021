/* The elements `line` of what attention makes of a head, from `place` on: a query's row, or of an adjoint. */
NNC_INLINE void @NAME@_epilogue(const nnc_worker *worker, const int64_t batch, const int64_t head,
                                const int64_t place, const int64_t count,
                                const @TYPE@ *restrict line@EPILOGUE_PARAMETERS@)
{
  for (int64_t c = 0; c < count; c++) {
    @EPILOGUE@
  }
}

