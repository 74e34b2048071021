/* The body of a product by warpgroups (nnc_cuda_wgmma.h). Blocks stay, and take one tile of
 * ROWS x COLUMNS after the other. One warpgroup begins to copy boxes of both sides, as far ahead as
 * STAGES of them; the other two multiply: each a half of every tile's rows (TURNS = 1), or every
 * second tile (TURNS = 2), so that one multiplies while the other stores. Then they take turns at
 * multiplying: who waited for a stage that is to be filled twice would take the first for the
 * second. */
  NNC_EXTENTS(M = @M@, N = @N@, K = @K@, ROWS = @ROWS@, COLUMNS = @COLUMNS@, DEPTH = @DEPTH@);
  NNC_EXTENTS(TURNS = @TURNS@, STAGES = @STAGES@, PARTS = (K + DEPTH - 1) / DEPTH, BOX = 64 * 128);
  NNC_EXTENTS(DOWN_TILES = (M + ROWS - 1) / ROWS, ACROSS_TILES = (N + COLUMNS - 1) / COLUMNS);
  NNC_EXTENTS(LEFT_BYTES = ROWS * 128, STAGE = LEFT_BYTES + COLUMNS * 128, STEPS = 128 / 32);
  NNC_EXTENTS(OWN_ROWS = ROWS / 2 * TURNS, PITCH = 32 + 8, PAGE = 16 * PITCH);
  NNC_EXTENTS(PIECES_ACROSS = COLUMNS / 32);
  const int64_t tiles = (int64_t)@BATCHES@ * DOWN_TILES * ACROSS_TILES;
  NNC_DYNAMIC_MEMORY(memory);
  float *const pages = (float *)(memory + STAGES * STAGE);
  nnc_barrier *const full = (nnc_barrier *)(pages + 8 * PAGE), *const empty = full + STAGES;
  nnc_barrier *const turns = empty + STAGES;
  if (NNC_THREAD == 0) {
    for (int i = 0; i < STAGES; i++) {
      nnc_barrier_begin(&full[i], 1);
      nnc_barrier_begin(&empty[i], 4 * (2 / TURNS)); /* warps */
    }
    for (int i = 0; i < 2; i++) nnc_barrier_begin(&turns[i], 4);
    nnc_barriers_begun();
  }
  nnc_sync();
  const int group = NNC_THREAD / 128;
  if (group == 2) {
    nnc_registers_give<40>();
    uint32_t at = 0;
    for (int64_t number = NNC_BLOCK; NNC_THREAD % 128 == 0 && number < tiles;
         number += NNC_BLOCKS) {
      const nnc_tile_place tile = nnc_tile_of(number, DOWN_TILES, ACROSS_TILES);
      const int32_t batch = (int32_t)tile.batch;
      const int32_t first_row = tile.down * ROWS, first_column = tile.across * COLUMNS;
      for (int32_t depth = 0; depth < K; depth += DEPTH, at++) {
        nnc_barrier *const arrived = &full[at % STAGES];
        unsigned char *const left = memory + at % STAGES * STAGE, *const right = left + LEFT_BYTES;
        nnc_barrier_wait(&empty[at % STAGES], ~(at / STAGES) & 1);
        nnc_barrier_expect(arrived, STAGE);
        @LEFT_BOXES@
        @RIGHT_BOXES@
      }
    }
  } else {
    nnc_registers_take<232>();
    const int own = TURNS == 1 ? 0 : group, down = TURNS == 1 ? group * OWN_ROWS : 0;
    const int warp = NNC_THREAD / 32, lane = NNC_THREAD % 32;
    float *const page = pages + warp * PAGE;
    uint32_t at = own * PARTS, turn = 1 + own;
    for (int64_t number = NNC_BLOCK + own * NNC_BLOCKS; number < tiles;
         number += TURNS * NNC_BLOCKS) {
      const nnc_tile_place tile = nnc_tile_of(number, DOWN_TILES, ACROSS_TILES);
      const @INDEX@ batch = (@INDEX@)tile.batch;
      const @INDEX@ first_row = (@INDEX@)tile.down * ROWS + down;
      const @INDEX@ first_column = (@INDEX@)tile.across * COLUMNS;
      float sums[OWN_ROWS / 64][COLUMNS / 128][64];
      if (TURNS == 2) nnc_barrier_wait(&turns[own], turn++ & 1);
      for (int part = 0; part < PARTS; part++, at++) {
        const unsigned char *const stage = memory + at % STAGES * STAGE;
        const uint64_t left = nnc_wgmma_side(stage + down * 128);
        const uint64_t right = nnc_wgmma_side(stage + LEFT_BYTES);
        nnc_barrier_wait(&full[at % STAGES], at / STAGES & 1);
        nnc_wgmma_fence();
        NNC_UNROLL for (int step = 0; step < STEPS; step++)
          NNC_UNROLL for (int r = 0; r < OWN_ROWS / 64; r++)
            NNC_UNROLL for (int c = 0; c < COLUMNS / 128; c++)
              nnc_wgmma_@MMA@<@LEFT_BY_DEPTHS@, @RIGHT_BY_DEPTHS@>(
                  sums[r][c], nnc_wgmma_on(left, r * BOX + step * @LEFT_STEP@),
                  nnc_wgmma_on(right, c * 2 * BOX + step * @RIGHT_STEP@), part > 0 || step > 0);
        nnc_wgmma_group();
        nnc_wgmma_wait<1>();
        if (part > 0 && lane == 0) nnc_barrier_arrive(&empty[(at - 1) % STAGES]);
      }
      if (TURNS == 2 && lane == 0) nnc_barrier_arrive(&turns[1 - own]);
      nnc_wgmma_wait<0>();
      if (lane == 0) nnc_barrier_arrive(&empty[(at - 1) % STAGES]);
      at += (TURNS - 1) * PARTS; /* the other group's */

      /* The sums change lanes, 16 x 32 at a time, so that neighbouring lanes store neighbours. */
      NNC_UNROLL_BY(1) for (int piece = 0; piece < OWN_ROWS / 64 * PIECES_ACROSS; piece++) {
        const int r = piece / PIECES_ACROSS, c = piece % PIECES_ACROSS;
        NNC_UNROLL for (int i = 0; i < OWN_ROWS / 64 * PIECES_ACROSS; i++)
          if (i == piece)
            NNC_UNROLL for (int k = 0; k < 4; k++)
              nnc_write_sums(page + k * 8, PITCH,
                             &sums[i / PIECES_ACROSS][i % PIECES_ACROSS / 4][(i % 4 * 4 + k) * 4]);
        nnc_sync_warp();
        const @INDEX@ column = first_column + c * 32 + lane;
        NNC_UNROLL_BY(@ROWS_AHEAD@) for (int i = 0; i < 16; i++) {
          const @INDEX@ row = first_row + r * 64 + warp % 4 * 16 + i;
          if ((M % ROWS == 0 || row < M) && (N % COLUMNS == 0 || column < N)) {
            const float sum = page[i * PITCH + lane];
            @EPILOGUE@
          }
        }
        nnc_sync_warp();
      }
    }
  }
