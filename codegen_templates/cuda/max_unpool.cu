/* The body of the adjoint of max pooling by places: a thread adds up dy of the windows whose place is the number that
 * its own element has in them. */
  NNC_EXTENTS(X0 = @X0@, X1 = @X1@, X2 = @X2@, Y0 = @Y0@, Y1 = @Y1@, Y2 = @Y2@);
  NNC_EXTENTS(K0 = @K0@, K1 = @K1@, K2 = @K2@);
  NNC_EXTENTS(S0 = @S0@, S1 = @S1@, S2 = @S2@, D0 = @D0@, D1 = @D1@, D2 = @D2@);
  const @INDEX@ P0 = @P0@, P1 = @P1@, P2 = @P2@, PLANE = (@INDEX@)X0 * X1 * X2;
  const @INDEX@ C = @C@, nth = (@INDEX@)NNC_POINT(@THREADS@);
  if (nth >= @POINTS@) return;
  const @INDEX@ point = @POINT@;
  const @INDEX@ place = point % PLANE, plane = point / PLANE;
  const @INDEX@ x0 = place / ((@INDEX@)X1 * X2), x1 = place / X2 % X1, x2 = place % X2;
  @TYPE@ sum = 0;
  for (int u0 = 0; u0 < K0; u0++)
    for (int u1 = 0; u1 < K1; u1++)
      for (int u2 = 0; u2 < K2; u2++) {
        const @INDEX@ v0 = x0 + P0 - u0 * D0, v1 = x1 + P1 - u1 * D1, v2 = x2 + P2 - u2 * D2;
        const @INDEX@ y0 = v0 / S0, y1 = v1 / S1, y2 = v2 / S2;
        if (y0 * S0 != v0 || y1 * S1 != v1 || y2 * S2 != v2) continue;
        if (!nnc_within(y0, (@INDEX@)Y0) || !nnc_within(y1, (@INDEX@)Y1)) continue;
        if (!nnc_within(y2, (@INDEX@)Y2)) continue;
        if (@PLACE@ == (u0 * K1 + u1) * K2 + u2) sum += @LOAD_DY@;
      }
  @EPILOGUE@
