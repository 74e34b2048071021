/* Fetches a part of a side by copies that go on by themselves. ALONG: what a row of the part is
 * along. */
if (next < PARTS)
  NNC_UNROLL for (int i = 0; i < @OUTER@ * DEPTH / EACH / THREADS; i++) {
    const int place = NNC_THREAD + i * THREADS, line = place / @CHUNKS@, at = place % @CHUNKS@;
    const @INDEX@ outer = @FIRST_OUTER@ + @OUTER_PLACE@, depth = first + @DEPTH_PLACE@;
    const int bytes = @ACROSS_IS_INSIDE@ ? nnc_chunk_bytes(@ALONG_LEFT@, 16 / EACH) : 0;
    nnc_copy_begin(&@SIDE@[@PLACE@(line, at, @CHUNKS@)],
                   bytes > 0 ? &@ELEMENT@ : @OPERAND@, bytes);
  }
