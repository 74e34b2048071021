/* Fetches a part of a side element by element, to registers: words of EACH / 4 elements. */
uint32_t @SIDE@_words[@OUTER@ * DEPTH / EACH * 4 / THREADS];
if (next < PARTS)
  NNC_UNROLL for (int i = 0; i < @OUTER@ * DEPTH / EACH * 4 / THREADS; i++) {
    const int line = NNC_THREAD / (@CHUNKS@ * 4) + i * (THREADS / (@CHUNKS@ * 4));
    const int at = NNC_THREAD % (@CHUNKS@ * 4) * (EACH / 4);
    @SIDE@_words[i] = 0;
    NNC_UNROLL for (int e = 0; e < EACH / 4; e++) {
      const @INDEX@ outer = @FIRST_OUTER@ + @OUTER_PLACE@, depth = first + @DEPTH_PLACE@;
      @TYPE@ value = 0;
      if (outer < @OUTER_EXTENT@ && depth < K) {
        @ELEMENT@
      }
      @SIDE@_words[i] |= nnc_bits_of(value) << e * 16;
    }
  }
