/* Functions of analysis for generated kernels. */
#ifndef NNC_MATH_H
#define NNC_MATH_H

#include "nnc_vector.h"

#define NNC_DEFINE_MATH(name, type, suffix)                                                        \
  NNC_INLINE type nnc_exp_##name(type x) { return __builtin_exp##suffix(x); }                      \
  NNC_INLINE type nnc_expm1_##name(type x) { return __builtin_expm1##suffix(x); }                  \
  NNC_INLINE type nnc_log_##name(type x) { return __builtin_log##suffix(x); }                      \
  NNC_INLINE type nnc_log1p_##name(type x) { return __builtin_log1p##suffix(x); }                  \
  NNC_INLINE type nnc_sin_##name(type x) { return __builtin_sin##suffix(x); }                      \
  NNC_INLINE type nnc_cos_##name(type x) { return __builtin_cos##suffix(x); }                      \
  NNC_INLINE type nnc_tan_##name(type x) { return __builtin_tan##suffix(x); }                      \
  NNC_INLINE type nnc_tanh_##name(type x) { return __builtin_tanh##suffix(x); }                    \
  NNC_INLINE type nnc_erf_##name(type x) { return __builtin_erf##suffix(x); }                      \
  NNC_INLINE type nnc_pow_##name(type x, type y) { return __builtin_pow##suffix(x, y); }           \
  NNC_INLINE type nnc_sigmoid_##name(type x) {                                                     \
    type e = nnc_exp_##name(-__builtin_fabs##suffix(x));                                           \
    return x >= 0 ? 1 / (1 + e) : e / (1 + e);                                                     \
  }

NNC_DEFINE_MATH(f32, float, f)
NNC_DEFINE_MATH(f64, double, )

#endif
