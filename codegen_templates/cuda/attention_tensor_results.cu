/* The sums of 16 rows change lanes, so that neighbouring lanes store neighbours. */
NNC_UNROLL for (int r = 0; r < GROUPS; r++)
  NNC_UNROLL for (int k = 0; k < @WIDTH@; k += @SPAN@) {
    float *const page = (float *)memory + warp * 16 * (@SPAN@ + 8);
    NNC_UNROLL for (int c = 0; c < @SPAN@ / 8; c++)
      nnc_write_sums(page + c * 8, @SPAN@ + 8, @SUMS@[r][k / 8 + c]);
    nnc_sync_warp();
    for (int i = NNC_THREAD % 32; i < 16 * @SPAN@; i += 32) {
      const @INDEX@ row = own_row + r * 16 + i / @SPAN@;
      const int depth = k + i % @SPAN@;
      if (row < @END@ && depth < @DEPTH@) {
        const @INDEX@ column = @FIRST@ + depth;
        const float result = page[i / @SPAN@ * (@SPAN@ + 8) + i % @SPAN@]@SCALED@;
        @EPILOGUE@
      }
    }
    nnc_sync_warp();
  }
