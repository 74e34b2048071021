/* Polynomials and other constants of nnc_math.h; written by tools/fit_math.py, do not edit. */
#ifndef NNC_MATH_COEFFICIENTS_H
#define NNC_MATH_COEFFICIENTS_H

/* 2^x, |x| <= 1 / 2; error 2.5e-9 */
#define NNC_EXP2_SHORT(x)                                                                          \
  (NNC_FMA(                                                                                        \
      NNC_FMA(NNC_FMA(NNC_FMA(NNC_FMA(NNC_FMA(0.0001546144469856913, x, 0.0013400428177615838), x, \
                                      0.009618056678524637),                                       \
                              x, 0.05550327226670302),                                             \
                      x, 0.24022650922288757),                                                     \
              x, 0.6931472067028326),                                                              \
      x, 1.0))

/* (2^x - 1) / x, |x| <= 1 / 2; error 2.7e-10 */
#define NNC_EXP2M1_SHORT(x)                                                                        \
  (NNC_FMA(                                                                                        \
      NNC_FMA(NNC_FMA(NNC_FMA(NNC_FMA(NNC_FMA(1.5297323760701075e-05, x, 0.0001546144469856913),   \
                                      x, 0.001333350238616277),                                    \
                              x, 0.009618056678524637),                                            \
                      x, 0.055504108839096185),                                                    \
              x, 0.24022650922288757),                                                             \
      x, 0.6931471805599453))

/* (e^x - 1 - x) / x^2, |x| <= log(2) / 2, for f64; error 4.9e-18 */
#define NNC_EXPM1_LONG(x)                                                                          \
  (NNC_FMA(                                                                                        \
      NNC_FMA(                                                                                     \
          NNC_FMA(                                                                                 \
              NNC_FMA(NNC_FMA(NNC_FMA(NNC_FMA(NNC_FMA(NNC_FMA(NNC_FMA(2.0914679376583935e-09, x,   \
                                                                      2.510520637395701e-08),      \
                                                              x, 2.7557273661348637e-07),          \
                                                      x, 2.7557255425746435e-06),                  \
                                              x, 2.4801587325533363e-05),                          \
                                      x, 0.00019841269874800493),                                  \
                              x, 0.0013888888888883752),                                           \
                      x, 0.008333333333326141),                                                    \
              x, 0.04166666666666667),                                                             \
          x, 0.1666666666666667),                                                                  \
      x, 0.5))

/* (2 atanh(s) / s - 2) / x, x = s^2; error 1.7e-9 */
#define NNC_LOG_SHORT(x)                                                                           \
  (NNC_FMA(NNC_FMA(NNC_FMA(0.23330581938241893, x, 0.2855081659971155), x, 0.40000121876972), x,   \
           0.6666666655445165))

/* the same for powers of floats; error 1.1e-11 */
#define NNC_LOG_POWER(x)                                                                           \
  (NNC_FMA(NNC_FMA(NNC_FMA(NNC_FMA(0.19362776836747533, x, 0.22191394493175057), x,                \
                           0.2857175463573276),                                                    \
                   x, 0.39999998796848674),                                                        \
           x, 0.6666666666737545))

/* the same for f64; error 5.6e-17 */
#define NNC_LOG_LONG(x)                                                                            \
  (NNC_FMA(NNC_FMA(NNC_FMA(NNC_FMA(NNC_FMA(NNC_FMA(NNC_FMA(0.13086767009948175, x,                 \
                                                           0.13268759668560612),                   \
                                                   x, 0.15386240205813478),                        \
                                           x, 0.18181795630884753),                                \
                                   x, 0.2222222239180047),                                         \
                           x, 0.2857142857080323),                                                 \
                   x, 0.4000000000000088),                                                         \
           x, 0.6666666666666666))

/* (e^x - 1 - x) / x^2, |x| <= log(2) / 2, in float; of e^x; error 3.7e-9 */
#define NNC_EXPM1_F32(x)                                                                           \
  (NNC_FMAF(NNC_FMAF(NNC_FMAF(NNC_FMAF(0x1.684fe40000000p-10f, x, 0x1.123bf00000000p-7f), x,       \
                              0x1.555b9a0000000p-5f),                                              \
                     x, 0x1.55548e0000000p-3f),                                                    \
            x, 0x1.fffff80000000p-2f))

/* (log(1 + x) - x + x^2 / 2) / x^3, sqrt(1 / 2) <= 1 + x <= sqrt(2), in float; of log(1 + x); error 6.9e-9 */
#define NNC_LOG1P_F32(x)                                                                           \
  (NNC_FMAF(NNC_FMAF(NNC_FMAF(NNC_FMAF(NNC_FMAF(NNC_FMAF(NNC_FMAF(-0x1.2d36360000000p-4f, x,       \
                                                                  0x1.025bea0000000p-3f),          \
                                                         x, -0x1.0e68260000000p-3f),               \
                                                x, 0x1.2364380000000p-3f),                         \
                                       x, -0x1.5467900000000p-3f),                                 \
                              x, 0x1.9998600000000p-3f),                                           \
                     x, -0x1.00023c0000000p-2f),                                                   \
            x, 0x1.5555640000000p-2f))

/* near: (tanh(s) / s - 1) / x, x = s^2, |s| <= 5 / 8, in float; of tanh(s) / s; far: NNC_EXPM1_F32; errors 4.5e-9, 3.7e-9 */
#define NNC_TANH_OR_EXPM1_F32(x)                                                                   \
  (NNC_FMAF(                                                                                       \
      NNC_FMAF(NNC_FMAF(NNC_FMAF(NNC_CHOSEN(-0x1.75a9900000000p-8f, 0x1.684fe40000000p-10f), x,    \
                                 NNC_CHOSEN(0x1.5217440000000p-6f, 0x1.123bf00000000p-7f)),        \
                        x, NNC_CHOSEN(-0x1.b8395e0000000p-5f, 0x1.555b9a0000000p-5f)),             \
               x, NNC_CHOSEN(0x1.1107080000000p-3f, 0x1.55548e0000000p-3f)),                       \
      x, NNC_CHOSEN(-0x1.5555320000000p-2f, 0x1.fffff80000000p-2f)))

/* near: erf(s) / s - 1, x = s^2, |s| <= 1, in float; of erf(s) / s; far: log2(erfc(x)), 1 <= x <= 4, in float; of 1; errors 1.5e-9, 1.1e-9 */
#define NNC_ERF_OR_LOG2_ERFC_F32(x)                                                                \
  (NNC_FMAF(                                                                                       \
      NNC_FMAF(                                                                                    \
          NNC_FMAF(                                                                                \
              NNC_FMAF(                                                                            \
                  NNC_FMAF(NNC_FMAF(NNC_CHOSEN(0x1.48edee0000000p-14f, 0x1.1a35a60000000p-12f), x, \
                                    NNC_CHOSEN(-0x1.a3c95c0000000p-11f, -0x1.16d13e0000000p-8f)),  \
                           x, NNC_CHOSEN(0x1.53ff920000000p-8f, 0x1.0223160000000p-5f)),           \
                  x, NNC_CHOSEN(-0x1.b7f8580000000p-6f, -0x1.30a8320000000p-3f)),                  \
              x, NNC_CHOSEN(0x1.ce2cf00000000p-4f, -0x1.d75eca0000000p-1f)),                       \
          x, NNC_CHOSEN(-0x1.81273e0000000p-2f, -0x1.a044860000000p+0f)),                          \
      x, NNC_CHOSEN(0x1.06eba80000000p-3f, -0x1.02a7f60000000p-11f)))

/* (2^x - 1) / x, |x| <= 1 / 2, in float; of 6 times 2^x; error 1.6e-8 */
#define NNC_EXP2M1_F32(x)                                                                          \
  (NNC_FMAF(NNC_FMAF(NNC_FMAF(NNC_FMAF(0x1.5f0dcc0000000p-10f, x, 0x1.3cf04c0000000p-7f), x,       \
                              0x1.c6af720000000p-5f),                                              \
                     x, 0x1.ebf9a80000000p-3f),                                                    \
            x, 0x1.62e4300000000p-1f))

/* ((2 atanh(s) / s - 2) / x - 2 / 3) / x, x = s^2, for f64; error 6.5e-17 */
#define NNC_LOG_TAIL(x)                                                                            \
  (NNC_FMA(NNC_FMA(NNC_FMA(NNC_FMA(NNC_FMA(NNC_FMA(NNC_FMA(0.11723178623876518, x,                 \
                                                           0.11706236339491206),                   \
                                                   x, 0.1333480469384731),                         \
                                           x, 0.1538459496251843),                                 \
                                   x, 0.18181818335392802),                                        \
                           x, 0.22222222221655885),                                                \
                   x, 0.28571428571429364),                                                        \
           x, 0.4))

/* erf(s) / s - 1 for f64, x = s^2, |s| <= 1; absolute; error 1.5e-17 */
#define NNC_ERF_LONG(x)                                                                            \
  (NNC_FMA(                                                                                        \
      NNC_FMA(                                                                                     \
          NNC_FMA(                                                                                 \
              NNC_FMA(                                                                             \
                  NNC_FMA(                                                                         \
                      NNC_FMA(NNC_FMA(NNC_FMA(NNC_FMA(NNC_FMA(NNC_FMA(-7.798543850549947e-10, x,   \
                                                                      1.3721520406351094e-08),     \
                                                              x, -1.6208829856810202e-07),         \
                                                      x, 1.6447471190594618e-06),                  \
                                              x, -1.4924740785377576e-05),                         \
                                      x, 0.00012055295112667001),                                  \
                              x, -0.0008548325982543225),                                          \
                      x, 0.005223977607269946),                                                    \
                  x, -0.026866170643256995),                                                       \
              x, 0.1128379167094513),                                                              \
          x, -0.37612638903183543),                                                                \
      x, 0.12837916709551256))

/* erfc(s) e^(s^2) for f64, x = (s - 2) / (s + 2), 1 <= s <= 6; times e^-(s^2), absolute; error 3.3e-18 */
#define NNC_ERFC_LONG(x)                                                                           \
  (NNC_FMA(                                                                                        \
      NNC_FMA(                                                                                     \
          NNC_FMA(                                                                                 \
              NNC_FMA(                                                                             \
                  NNC_FMA(                                                                         \
                      NNC_FMA(                                                                     \
                          NNC_FMA(                                                                 \
                              NNC_FMA(NNC_FMA(NNC_FMA(NNC_FMA(NNC_FMA(-1.2654548712935404e-05, x,  \
                                                                      -2.662225791386146e-05),     \
                                                              x, 2.7620748614635044e-05),          \
                                                      x, 0.0001742894944016065),                   \
                                              x, 4.3536700199434754e-05),                          \
                                      x, -0.000981976436379377),                                   \
                              x, -0.0008471426068158058),                                          \
                          x, 0.006997461782528629),                                                \
                      x, 0.0037328923985390358),                                                   \
                  x, -0.07897858101638289),                                                        \
              x, 0.24165819424247034),                                                             \
          x, -0.4271858474139569),                                                                 \
      x, 0.25539567631050575))

/* (sin(s) / s - 1) / x, x = s^2, |s| <= pi / 4; error 1.7e-10 */
#define NNC_SIN_SHORT(x)                                                                           \
  (NNC_FMA(NNC_FMA(NNC_FMA(2.724962008007533e-06, x, -0.00019840084376422702), x,                  \
                   0.008333331870341349),                                                          \
           x, -0.16666666663844049))

/* (cos(s) - 1 + x / 2) / x^2, x = s^2, |s| <= pi / 4; error 5.7e-11 */
#define NNC_COS_SHORT(x)                                                                           \
  (NNC_FMA(NNC_FMA(NNC_FMA(-2.730070403808665e-07, x, 2.480059840835012e-05), x,                   \
                   -0.0013888887668370663),                                                        \
           x, 0.041666666664311826))

/* (sin(s) / s - 1) / x, x = s^2, |s| <= pi / 2; error 1.9e-10 */
#define NNC_SIN_HALF_TURN(x)                                                                       \
  (NNC_FMA(NNC_FMA(NNC_FMA(NNC_FMA(-2.4079236990903226e-08, x, 2.7536422355454945e-06), x,         \
                           -0.00019841086016215184),                                               \
                   x, 0.008333332766508383),                                                       \
           x, -0.16666666663867363))

/* (sin(s) / s - 1) / x for f64, x = s^2, |s| <= pi / 4; error 2.0e-16 */
#define NNC_SIN_LONG(x)                                                                            \
  (NNC_FMA(NNC_FMA(NNC_FMA(NNC_FMA(NNC_FMA(1.5917988979397435e-10, x, -2.5051129896450185e-08), x, \
                                   2.7557316093198404e-06),                                        \
                           x, -0.00019841269836740532),                                            \
                   x, 0.008333333333330936),                                                       \
           x, -0.16666666666666666))

/* (cos(s) - 1 + x / 2) / x^2 for f64, x = s^2, |s| <= pi / 4; error 5.6e-17 */
#define NNC_COS_LONG(x)                                                                            \
  (NNC_FMA(NNC_FMA(NNC_FMA(NNC_FMA(NNC_FMA(-1.138254464534925e-11, x, 2.087614504941318e-09), x,   \
                                   -2.755731726587808e-07),                                        \
                           x, 2.48015872987544e-05),                                               \
                   x, -0.0013888888888887389),                                                     \
           x, 0.041666666666666664))

/* X(least |x|, 2^-k, 2^k (2 / pi) mod 4 in three parts), for each range of floats */
#define NNC_FAR_TURNS(X)                                                                           \
  X(0x1p20, 0x1p3, 0x1.45f3060000000p-4, 0x1.b939104000000p-29, 0x1.4a7f09d5f47d5p-57)             \
  X(0x1p42, 0x1p-19, 0x1.b727220000000p-4, 0x1.529fc20000000p-33, 0x1.d5f47d4d37703p-59)           \
  X(0x1p64, 0x1p-41, 0x1.1054a7c000000p-1, 0x1.84eafa3000000p-28, 0x1.d4d377036d8a5p-57)           \
  X(0x1p86, 0x1p-63, 0x1.fc2757c000000p-1, 0x1.1f534dc000000p-29, 0x1.c0db6295993c4p-57)           \
  X(0x1p108, 0x1p-85, 0x1.7d1f534000000p+1, 0x1.bb81b6c000000p-28, 0x1.4acc9e21c8210p-58)

#endif
