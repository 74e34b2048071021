/* The body of the adjoint of max pooling: a thread adds up dy of the windows whose first greatest element is
 * its own (NaN is greater than all). */
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
        @INDEX@ best = -1;
        @TYPE@ better = 0;
        for (int t0 = 0; t0 < K0; t0++)
          for (int t1 = 0; t1 < K1; t1++)
            for (int t2 = 0; t2 < K2; t2++) {
              const @INDEX@ z0 = y0 * S0 - P0 + t0 * D0, z1 = y1 * S1 - P1 + t1 * D1;
              const @INDEX@ z2 = y2 * S2 - P2 + t2 * D2;
              if (!nnc_within(z0, (@INDEX@)X0) || !nnc_within(z1, (@INDEX@)X1)) continue;
              if (!nnc_within(z2, (@INDEX@)X2)) continue;
              const @INDEX@ seen = (z0 * X1 + z1) * X2 + z2;
              const @TYPE@ value = @LOAD_X@;
              if (best >= 0 && !nnc_is_more_@COMPARED@(value, better)) continue;
              best = seen;
              better = value;
            }
        if (best == place) sum += @LOAD_DY@;
      }
  @EPILOGUE@
