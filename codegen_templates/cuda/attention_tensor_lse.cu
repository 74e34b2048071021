/* A row's greatest score and the logarithm of its sum, by a lane each. */
const @INDEX@ row = own_row + r * 16 + line + k * 8;
if (row < QUERIES && place < 4) {
  const @INDEX@ column = place / 2;
  const float number = column == 0 ? top[r][k] * @UNIT@ : nnc_log_f32(total[r][k]);
  const float result = total[r][k] == 0 ? 0 : number;
  @EPILOGUE@
}
