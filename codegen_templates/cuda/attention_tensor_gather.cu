/* The same element by element, where 16 bytes of a row do not lie together. */
for (int at = NNC_THREAD; at < @COUNT@ * @CHUNKS@; at += THREADS) {
  const int own = at / @CHUNKS@, chunk = at % @CHUNKS@;
  const @INDEX@ row = @FROM@ + own;
  nnc_chunk value = {{0, 0, 0, 0}};
  if (row < @END@)
    NNC_UNROLL for (int i = 0; i < EACH; i++) {
      const @INDEX@ depth = chunk * EACH + i;
      if (true@DEPTH_IS_INSIDE@)
        value.words[i * 4 / EACH] |= nnc_bits_of(@ELEMENT@) << i % (EACH / 4) * 16;
    }
  @PART@[nnc_place(own, chunk, @PITCH@)] = value;
}
