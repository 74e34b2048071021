/* Begins to copy rows of an operand, from FROM on, to the block's memory; zeros beyond its end. */
NNC_UNROLL for (int i = 0; i < (@COUNT@ * @CHUNKS@ + THREADS - 1) / THREADS; i++) {
  @PLACES@
  const @INDEX@ row = @FROM@ + own, depth = chunk * EACH;
  const bool is_inside = row < @END@@DEPTH_IS_INSIDE@;
  @IF_NEEDED@
    nnc_copy_begin(&@PART@[nnc_place(own, chunk, @PITCH@)],
                   is_inside ? &@ELEMENT@
                             : @OPERAND@,
                   is_inside ? 16 : 0);
}
