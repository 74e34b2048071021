/* The fragments of the warp's own rows, where they stay in the block's memory. */
uint32_t a[GROUPS][4];
NNC_UNROLL for (int r = 0; r < GROUPS; r++) {
  nnc_left_by_rows(a[r], @PART@, (warp * GROUPS + r) * 16, k * 2, @PITCH@);
  @ROUND@
}
