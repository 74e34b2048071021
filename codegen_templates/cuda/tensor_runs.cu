/* Fetches a part of a side that lies as chunks in places of their own, by copies that go on by
 * themselves; what lies in no place is zero. */
if (next < PARTS)
  NNC_UNROLL for (int i = 0; i < @OUTER@ * DEPTH / EACH / THREADS; i++) {
    const int place = NNC_THREAD + i * THREADS, line = place / @CHUNKS@, at = place % @CHUNKS@;
    const @INDEX@ outer = @FIRST_OUTER@ + @OUTER_PLACE@, depth = first + @DEPTH_PLACE@;
    const @TYPE@ *from = @OPERAND@;
    int bytes = 0;
    if (outer < @OUTER_EXTENT@ && depth < K) {
      @ELEMENT@
    }
    nnc_copy_begin(&@SIDE@[@PLACE@(line, at, @CHUNKS@)], from, bytes);
  }
