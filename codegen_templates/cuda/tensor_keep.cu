/* What was gathered goes to the block's memory. */
if (next < PARTS)
  NNC_UNROLL for (int i = 0; i < @OUTER@ * DEPTH / EACH * 4 / THREADS; i++) {
    const int line = NNC_THREAD / (@CHUNKS@ * 4) + i * (THREADS / (@CHUNKS@ * 4));
    const int at = NNC_THREAD % (@CHUNKS@ * 4);
    @SIDE@[@PLACE@(line, at / 4, @CHUNKS@)].words[at % 4] = @SIDE@_words[i];
  }
