/* The numbers of the next part's queries, on their way to the block's memory. */
float greatest[OWN], own_lse[OWN], own_delta[OWN];
NNC_UNROLL for (int i = 0; i < OWN; i++) {
  const int own = NNC_THREAD + i * THREADS;
  const @INDEX@ row = next + own;
  const bool is_inside = own < COLUMNS && row < QUERIES && part + 1 < parts;
  greatest[i] = is_inside ? @TOP@ * @INVERSE_UNIT@ : 0;
  own_lse[i] = is_inside ? @LSE@ * @LOG2_E@ : 0;
  own_delta[i] = is_inside ? @DELTA@ : 0;
}
