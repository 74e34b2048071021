/* Rows of an operand, from `from` on, to the block's memory; zeros beyond its end. */
for (int i = NNC_THREAD; i < @ROWS@ * @WIDTH@; i += THREADS) {
  const int own = i / @WIDTH@, d = i % @WIDTH@;
  const @INDEX@ row = @FROM@ + own;
  @TYPE@ value = 0;
  if (row < @END@ && d < @DEPTH@) value = @LOAD@;
  @PART@[own][d] = value;
}
