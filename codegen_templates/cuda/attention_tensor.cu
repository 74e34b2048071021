/* The body of the kernels of attention that use the tensor cores, as Dao (FlashAttention-2, 2023) arranges them. A
 * block has ROWS rows of a head: queries, or keys where the gradients of keys and values are made; each of its WARPS
 * has GROUPS times 16 of them. It goes through the other side, COLUMNS rows at a time, of which the next are fetched
 * while those that have arrived are multiplied. */
  @EXTENTS@
  NNC_BLOCK_MEMORY nnc_chunk memory[MEMORY];
  @MEMORIES@
  const int warp = NNC_THREAD / 32, line = NNC_THREAD % 32 / 4, place = NNC_THREAD % 4 * 2;
  const @INDEX@ batch = (@INDEX@)(NNC_BLOCK / TILES / HEADS);
  const @INDEX@ head = (@INDEX@)(NNC_BLOCK / TILES % HEADS);
  const @INDEX@ first_row = (@INDEX@)(@TILE@) * ROWS;
  const @INDEX@ own_row = first_row + warp * GROUPS * 16;
  @ALL_PARTS@
  @DECLARATIONS@
  @ROWS_FETCH@
  @ROWS_KEEP@
  for (int part = first_part - 1; part < parts; part++) {
    const @INDEX@ first = (@INDEX@)part * COLUMNS, next = first + COLUMNS;
    if (part >= first_part) {
      nnc_copy_wait<0>();
      nnc_sync(); /* and the part before has been multiplied by all */
    }
    @BEGIN_NUMBERS@
    if (part + 1 < parts) {
      nnc_chunk *const column_part = memory + FIXED + (part + 1) % 2 * STAGE;
      @FETCH@
    }
    nnc_copy_group();
    if (part >= first_part@IS_CONCERNED@) {
      const nnc_chunk *const column_part = memory + FIXED + part % 2 * STAGE;
      @COMPUTE@
    }
    @KEEP_NUMBERS@
  }
  @FINISH@
