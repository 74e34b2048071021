/* The results of this thread's rows. */
NNC_UNROLL for (int r = 0; r < MINE_ROWS; r++)
  NNC_UNROLL for (int c = 0; c < @EACH@; c++) {
    const @INDEX@ row = first_row + down * MINE_ROWS + r;
    const int place = (c / @GROUP@ * ACROSS + across) * @GROUP@ + c % @GROUP@;
    if (row < @END@ && place < @DEPTH@) {
      const @INDEX@ column = @FIRST@ + place;
      const @TYPE@ result = @RESULT@;
      @EPILOGUE@
    }
  }
