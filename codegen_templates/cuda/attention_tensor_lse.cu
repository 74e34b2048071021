/* The logarithm of a row's sum, by one of its lanes. */
const @INDEX@ row = own_row + r * 16 + line + k * 8;
if (row < QUERIES && place == 0) {
  const float result =
      total[r][k] == 0 ? 0 : top[r][k] * @NATURAL@ + nnc_log_f32(total[r][k]);
  @EPILOGUE@
}
