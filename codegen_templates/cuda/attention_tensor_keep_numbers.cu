/* They arrive. */
NNC_UNROLL for (int i = 0; i < OWN; i++) {
  const int own = NNC_THREAD + i * THREADS;
  if (own < COLUMNS) {
    top[(part + 1) % 2][own] = greatest[i];
    lse[(part + 1) % 2][own] = own_lse[i];
    delta[(part + 1) % 2][own] = own_delta[i];
  }
}
