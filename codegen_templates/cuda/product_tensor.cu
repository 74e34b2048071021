/* The body of a product on tensor cores: a tile of ROWS x COLUMNS of the result a block,
 * WARP_ROWS x WARP_COLUMNS of it a warp. There are SLICES such sets of warps, each with its
 * share of the depth. See nnc_cuda_tile.h. */
  NNC_EXTENTS(M = @M@, N = @N@, K = @K@, ROWS = @ROWS@, COLUMNS = @COLUMNS@, DEPTH = @DEPTH@);
  NNC_EXTENTS(WARP_ROWS = @WARP_ROWS@, WARP_COLUMNS = @WARP_COLUMNS@, EACH = @EACH@);
  NNC_EXTENTS(WARPS_ACROSS = COLUMNS / WARP_COLUMNS, WARPS = ROWS / WARP_ROWS * WARPS_ACROSS);
  NNC_EXTENTS(SLICES = @SLICES@, THREADS = SLICES * WARPS * 32);
  NNC_EXTENTS(STEPS = DEPTH / (2 * EACH), PARTS = (K + DEPTH - 1) / DEPTH, STAGES = @STAGES@);
  NNC_EXTENTS(DOWN_TILES = (M + ROWS - 1) / ROWS, ACROSS_TILES = (N + COLUMNS - 1) / COLUMNS);
  NNC_BLOCK_MEMORY nnc_chunk memory[STAGES][(ROWS + COLUMNS) * DEPTH / EACH];
  const nnc_tile_place tile = nnc_tile_of(NNC_BLOCK, DOWN_TILES, ACROSS_TILES);
  const @INDEX@ batch = (@INDEX@)tile.batch;
  const @INDEX@ first_row = (@INDEX@)tile.down * ROWS;
  const @INDEX@ first_column = (@INDEX@)tile.across * COLUMNS;
  const int warp = NNC_THREAD / 32 % WARPS, slice = NNC_THREAD / 32 / WARPS;
  const int down = warp / WARPS_ACROSS * WARP_ROWS, across = warp % WARPS_ACROSS * WARP_COLUMNS;
  float sums[WARP_ROWS / 16][WARP_COLUMNS / 8][4];
  NNC_UNROLL for (int r = 0; r < WARP_ROWS / 16; r++)
    NNC_UNROLL for (int c = 0; c < WARP_COLUMNS / 8; c++)
      NNC_UNROLL for (int i = 0; i < 4; i++) sums[r][c][i] = 0;

  /* Both sides go through STAGES pieces of the memory: part `next` of the depth is fetched while
   * `part` is multiplied. The first are fetched while there is nothing to multiply. */
  for (int part = 1 - STAGES; part < PARTS; part++) {
    const int next = part + STAGES - 1;
    const @INDEX@ first = (@INDEX@)next * DEPTH;
    nnc_chunk *const left = memory[next % STAGES], *const right = left + ROWS * DEPTH / EACH;
    if (part >= 0) {
      nnc_copy_wait<STAGES - 2>();
      nnc_sync(); /* and the part before has been multiplied by all */
    }
    @LEFT_FETCH@
    @RIGHT_FETCH@
    nnc_copy_group();
    if (part >= 0) {
      const nnc_chunk *const rows = memory[part % STAGES];
      const nnc_chunk *const columns = rows + ROWS * DEPTH / EACH;
      NNC_UNROLL for (int step = 0; step < STEPS / SLICES; step++) {
        const int k = step * SLICES + slice;
        uint32_t a[WARP_ROWS / 16][4], b[WARP_COLUMNS / 16][4];
        NNC_UNROLL for (int r = 0; r < WARP_ROWS / 16; r++) {
          nnc_left_@LEFT_LAYOUT@(a[r], rows, down + r * 16, k * @LEFT_STEP@, @LEFT_CHUNKS@);
          @LEFT_ROUND@
        }
        NNC_UNROLL for (int c = 0; c < WARP_COLUMNS / 16; c++) {
          nnc_right_@RIGHT_LAYOUT@(b[c], columns, across + c * 16, k * @RIGHT_STEP@,
                                   @RIGHT_CHUNKS@);
          @RIGHT_ROUND@
        }
        NNC_UNROLL for (int r = 0; r < WARP_ROWS / 16; r++)
          NNC_UNROLL for (int c = 0; c < WARP_COLUMNS / 8; c++)
            nnc_mma_@MMA@(sums[r][c], a[r], &b[c / 2][c % 2 * 2]);
      }
    }
    @LEFT_KEEP@
    @RIGHT_KEEP@
  }

  /* The sums change lanes, 16 rows at a time, so that neighbouring lanes store neighbours; those of
   * the slices are added up. */
  NNC_EXTENTS(PITCH = WARP_COLUMNS + 8, PAGE = 16 * PITCH);
  float *const pages = (float *)memory + warp * PAGE, *const page = pages + slice * WARPS * PAGE;
  nnc_sync();
  NNC_UNROLL for (int r = 0; r < WARP_ROWS / 16; r++) {
    NNC_UNROLL for (int c = 0; c < WARP_COLUMNS / 8; c++)
      nnc_write_sums(page + c * 8, PITCH, sums[r][c]);
    @PAGE_BARRIER@
    for (int i = slice * 32 + NNC_THREAD % 32; i < 16 * WARP_COLUMNS; i += 32 * SLICES) {
      const @INDEX@ row = first_row + down + r * 16 + i / WARP_COLUMNS;
      const @INDEX@ column = first_column + across + i % WARP_COLUMNS;
      if (row < M && column < N) {
        const int place = i / WARP_COLUMNS * PITCH + i % WARP_COLUMNS;
        float sum = pages[place];
        @ADD_SLICES@
        @EPILOGUE@
      }
    }
    @PAGE_BARRIER@
  }
