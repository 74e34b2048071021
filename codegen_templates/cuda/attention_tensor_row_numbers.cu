/* The numbers of the warp's queries. */
float top[GROUPS][2], lse[GROUPS][2], delta[GROUPS][2];
NNC_UNROLL for (int r = 0; r < GROUPS; r++)
  NNC_UNROLL for (int k = 0; k < 2; k++) {
    const @INDEX@ row = own_row + r * 16 + line + k * 8;
    top[r][k] = row < QUERIES ? @TOP@ * @INVERSE_UNIT@ : 0;
    lse[r][k] = row < QUERIES ? @LSE@ * @LOG2_E@ : 0;
    delta[r][k] = row < QUERIES ? @DELTA@ : 0;
  }
