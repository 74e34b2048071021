/* Cases whose values are far from 1: magnitudes from 1e-30 to 1e30, zeros, infinities and NaNs.
 *
 * The reference rounds every node's value to its type, f32 too, so that it becomes infinite or 0
 * where an executable's does. What lies near the ends of a type's range is a stray: there the order
 * of operations decides, and no recipe may make one. Sums must stay within the range before terms
 * cancel. Each element is compared by itself, since the greatest would hide the others; rounding is
 * imitated (numeric.c) in more runs, and a case in which it turns an infinity, a NaN or a
 * comparison over is left out.
 *
 * Where rounding is imitated nothing is rounded to f32, but for what leaves its range: an error of
 * half a unit would be rounded away again by the next node, that of a number near 1 mostly. */
#include <math.h>

#include "fuzz.h"

/* Exponents of 2 between which a finite value is no stray, and beyond which it surely is infinite
 * or 0. Subnormal numbers are strays: executables may take them for 0. */
typedef struct Range {
  int zero, least, most, infinite;
} Range;

static Range range_of(DType dtype) {
  if (dtype == DTYPE_F64) return (Range){-2000, -960, 1000, 2000};
  return (Range){-160, -100, 126, 132};
}

static bool is_stray(double x, Range range) {
  double size = fabs(x);
  if (size == 0 || !isfinite(size)) return false;
  if (size < ldexp(1, range.least)) return size >= ldexp(1, range.zero);
  return size > ldexp(1, range.most) && size < ldexp(1, range.infinite);
}

bool far_round(Tensor *value, bool keeps_digits) {
  DType dtype = value->type.dtype;
  if (!dtype_is_float(dtype)) return true;
  Range range = range_of(dtype);
  bool is_good = true;
  for (int64_t i = 0; i < shape_elements(value->type.shape); i++) {
    double *x = &value->data[i];
    is_good = is_good && !is_stray(*x, range);
    if (dtype != DTYPE_F32) continue;
    float rounded = (float)*x;
    if (!keeps_digits || rounded == 0 || isinf(rounded)) *x = rounded;
  }
  return is_good;
}

double far_sum_limit(DType dtype) { return ldexp(1, range_of(dtype).most); }

bool far_product_fits(const Tensor *factors) {
  double logs = 0;
  for (int64_t i = 0; i < shape_elements(factors->type.shape); i++) {
    double size = fabs(factors->data[i]);
    if (size > 0 && isfinite(size)) logs += fabs(log2(size));
  }
  Range range = range_of(factors->type.dtype);
  return logs < -range.least;
}

double far_element(FarScale scale, uint64_t bits) {
  static const double specials[] = {0, INFINITY, -INFINITY, NAN};
  if (scale.has_specials && bits % 8 == 0) return specials[bits / 8 % 4];
  double share = (double)(bits >> 11) * 0x1p-53, sign = bits / 32 % 2 == 0 ? 1 : -1;
  double size = pow(10, scale.least + (scale.most - scale.least) * share);
  return sign * (float)(size * (1 + (double)(bits / 64 % 1024) / 2048));
}
