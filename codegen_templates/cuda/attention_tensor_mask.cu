/* Scores of what is not seen become -inf, where a part has such or a mask says more. */
@IF_NEEDED@
  NNC_UNROLL for (int r = 0; r < GROUPS; r++)
    NNC_UNROLL for (int c = 0; c < COLUMNS / 8; c++)
      NNC_UNROLL for (int i = 0; i < 4; i++) {
        const @INDEX@ @ROW_NAME@ = own_row + r * 16 + line + i / 2 * 8;
        const @INDEX@ @COLUMN_NAME@ = first + c * 8 + place + i % 2;
        const bool is_seen = query < QUERIES && key < KEYS@CAUSAL@;
        float score = scores[r][c][i];
        @MASK@
        scores[r][c][i] = is_seen ? score : @NOTHING@;
      }
