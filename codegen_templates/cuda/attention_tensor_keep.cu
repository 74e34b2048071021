/* The warp's own rows of an operand as fragments, which stay in registers. */
uint32_t @KEPT@[GROUPS][@STEPS@][4];
NNC_UNROLL for (int r = 0; r < GROUPS; r++)
  NNC_UNROLL for (int k = 0; k < @STEPS@; k++) {
    nnc_left_by_rows(@KEPT@[r][k], @PART@, (warp * GROUPS + r) * 16, k * 2, @PITCH@);
    @ROUND@
  }
