/* The body of scatter_add: result[index[i]] += values[i]. A block has a row of the result, or a piece of one. It
 * goes through all indices in order, a part at a time; those that are its row's are listed, and then each
 * thread adds up its elements. */
  NNC_EXTENTS(INDICES = @INDICES@, ELEMENTS = @ELEMENTS@, PIECES = @PIECES@, EACH = @EACH@, THREADS = @THREADS@);
  NNC_BLOCK_MEMORY int32_t counts[THREADS / 32];
  NNC_BLOCK_MEMORY int64_t seen[THREADS];
  const @INDEX@ row = (@INDEX@)(NNC_BLOCK / PIECES), begin = (@INDEX@)(NNC_BLOCK % PIECES) * (EACH * THREADS);
  const int warp = NNC_THREAD / 32, lane = NNC_THREAD % 32;
  @TYPE@ sums[EACH];
  NNC_UNROLL for (int k = 0; k < EACH; k++) sums[k] = 0;
  for (@INDEX@ first = 0; first < INDICES; first += THREADS) {
    const @INDEX@ number = first + NNC_THREAD;
    const bool is_own = number < INDICES && (int64_t)@INDEX_AT@ == row;
    const uint32_t owners = nnc_ballot(is_own);
    if (lane == 0) counts[warp] = nnc_count_bits(owners);
    nnc_sync();
    int before = nnc_count_bits(owners & ((uint32_t)1 << lane) - 1), count = 0;
    for (int each = 0; each < THREADS / 32; each++) {
      before += each < warp ? counts[each] : 0;
      count += counts[each];
    }
    if (is_own) seen[before] = number;
    nnc_sync();
    for (int s = 0; s < count; s++)
      NNC_UNROLL for (int k = 0; k < EACH; k++) {
        const @INDEX@ e = begin + k * THREADS + NNC_THREAD;
        if (e < ELEMENTS) sums[k] += @LOAD@;
      }
    nnc_sync();
  }
  NNC_UNROLL for (int k = 0; k < EACH; k++) {
    const @INDEX@ e = begin + k * THREADS + NNC_THREAD, point = row * ELEMENTS + e;
    if (e < ELEMENTS) {
      @EPILOGUE@
    }
  }
