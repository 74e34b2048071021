/* The body of argsort for rows that fit the block's memory: a block sorts a row by comparisons between elements
 * that are a power of two apart (Batcher 1968, "Sorting networks and their applications": bitonic
 * sorting). An element's number is the lower half of what is compared, so equal elements keep their
 * order. */
  NNC_EXTENTS(ELEMENTS = @ELEMENTS@, WIDTH = @WIDTH@, THREADS = @THREADS@);
  NNC_BLOCK_MEMORY uint64_t items[WIDTH];
  const @INDEX@ row = (@INDEX@)NNC_BLOCK;
  for (int i = NNC_THREAD; i < WIDTH; i += THREADS) {
    const @INDEX@ number = row * ELEMENTS + i;
    items[i] = UINT64_MAX;
    if (i < ELEMENTS) items[i] = (uint64_t)@KEY@ << 32 | (uint64_t)i;
  }
  for (int size = 2; size <= WIDTH; size *= 2)
    for (int step = size / 2; step > 0; step /= 2) {
      nnc_sync();
      for (int i = NNC_THREAD; i < WIDTH / 2; i += THREADS) {
        const int a = 2 * i - (i & (step - 1)), b = a + step;
        const uint64_t x = items[a], other = items[b];
        if ((x > other) == ((a & size) == 0)) {
          items[a] = other;
          items[b] = x;
        }
      }
    }
  nnc_sync();
  for (int i = NNC_THREAD; i < ELEMENTS; i += THREADS) {
    const int32_t own = (int32_t)items[i];
    const @INDEX@ point = row * ELEMENTS + i;
    @EPILOGUE@
  }
