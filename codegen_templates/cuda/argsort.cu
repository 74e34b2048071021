/* The body of argsort: the thread of an element counts how many others of its row go before it, and writes the
 * element's number there. */
  NNC_EXTENTS(ELEMENTS = @ELEMENTS@);
  const @INDEX@ number = (@INDEX@)NNC_POINT(@THREADS@);
  if (number >= @POINTS@) return;
  const @INDEX@ own = number % ELEMENTS;
  const @COMPARED@ value = @OWN@;
  @INDEX@ before = 0;
  for (@INDEX@ i = 0; i < ELEMENTS; i++) {
    const @COMPARED@ other = @OTHER@;
    before += i != own && nnc_goes_before_@COMPARED_NAME@(other, i, value, own, @IS_DESCENDING@);
  }
  const @INDEX@ point = number - own + before;
  @EPILOGUE@
