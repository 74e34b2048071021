/* For kernels of CUDA what abi/nnc_math.h is for those of a CPU: functions of analysis under the
 * compiler's names. They are those of CUDA's library, whose greatest errors in units in the last place
 * (CUDA C++ Programming Guide, "Mathematical Functions") are for a float 1 to 2 (exp, expm1, log,
 * log1p, tanh, erf, sin, cos), 4 (tan) and 4 (pow), for a double at most 2. */
#ifndef NNC_MATH_H
#define NNC_MATH_H

#include "nnc_vector.h"

#define NNC_DEFINE_MATH(name, type, suffix)                                                        \
  NNC_INLINE type nnc_exp_##name(type x) { return exp##suffix(x); }                                \
  NNC_INLINE type nnc_expm1_##name(type x) { return expm1##suffix(x); }                            \
  NNC_INLINE type nnc_log_##name(type x) { return log##suffix(x); }                                \
  NNC_INLINE type nnc_log1p_##name(type x) { return log1p##suffix(x); }                            \
  NNC_INLINE type nnc_sin_##name(type x) { return sin##suffix(x); }                                \
  NNC_INLINE type nnc_cos_##name(type x) { return cos##suffix(x); }                                \
  NNC_INLINE type nnc_tan_##name(type x) { return tan##suffix(x); }                                \
  NNC_INLINE type nnc_tanh_##name(type x) { return tanh##suffix(x); }                              \
  NNC_INLINE type nnc_erf_##name(type x) { return erf##suffix(x); }                                \
  NNC_INLINE type nnc_pow_##name(type x, type y) { return pow##suffix(x, y); }                     \
  NNC_INLINE type nnc_sigmoid_##name(type x) { /* e^-|x| never overflows */                        \
    const type e = exp##suffix(-fabs##suffix(x)), above = x >= 0 ? (type)1 : e;                    \
    return x != x ? x : above / (1 + e);                                                           \
  }

NNC_DEFINE_MATH(f32, float, f)
NNC_DEFINE_MATH(f64, double, )

/* a b - p, exactly, where p is a b rounded. */
NNC_INLINE double nnc_product_rest(double a, double b, double p) { return fma(a, b, -p); }

#endif
