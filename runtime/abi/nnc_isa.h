/* What the generated code may ask of the processor: the extensions that the C compiler was allowed to
 * use, as words separated by blanks. The runtime knows them by the same names (level.c). */
#ifndef NNC_ISA_H
#define NNC_ISA_H

#ifdef __SSE3__
#define NNC_HAS_SSE3 "sse3 "
#else
#define NNC_HAS_SSE3
#endif
#ifdef __SSSE3__
#define NNC_HAS_SSSE3 "ssse3 "
#else
#define NNC_HAS_SSSE3
#endif
#ifdef __SSE4_1__
#define NNC_HAS_SSE41 "sse4.1 "
#else
#define NNC_HAS_SSE41
#endif
#ifdef __SSE4_2__
#define NNC_HAS_SSE42 "sse4.2 popcnt "
#else
#define NNC_HAS_SSE42
#endif
#ifdef __AVX__
#define NNC_HAS_AVX "avx "
#else
#define NNC_HAS_AVX
#endif
#ifdef __AVX2__
#define NNC_HAS_AVX2 "avx2 "
#else
#define NNC_HAS_AVX2
#endif
#ifdef __FMA__
#define NNC_HAS_FMA "fma "
#else
#define NNC_HAS_FMA
#endif
#ifdef __F16C__
#define NNC_HAS_F16C "f16c "
#else
#define NNC_HAS_F16C
#endif
#ifdef __BMI__
#define NNC_HAS_BMI "bmi "
#else
#define NNC_HAS_BMI
#endif
#ifdef __BMI2__
#define NNC_HAS_BMI2 "bmi2 "
#else
#define NNC_HAS_BMI2
#endif
#ifdef __LZCNT__
#define NNC_HAS_LZCNT "lzcnt "
#else
#define NNC_HAS_LZCNT
#endif
#ifdef __MOVBE__
#define NNC_HAS_MOVBE "movbe "
#else
#define NNC_HAS_MOVBE
#endif
#ifdef __AVX512F__
#define NNC_HAS_AVX512F "avx512f "
#else
#define NNC_HAS_AVX512F
#endif
#ifdef __AVX512BW__
#define NNC_HAS_AVX512BW "avx512bw "
#else
#define NNC_HAS_AVX512BW
#endif
#ifdef __AVX512CD__
#define NNC_HAS_AVX512CD "avx512cd "
#else
#define NNC_HAS_AVX512CD
#endif
#ifdef __AVX512DQ__
#define NNC_HAS_AVX512DQ "avx512dq "
#else
#define NNC_HAS_AVX512DQ
#endif
#ifdef __AVX512VL__
#define NNC_HAS_AVX512VL "avx512vl "
#else
#define NNC_HAS_AVX512VL
#endif
#ifdef __AVX512VBMI__
#define NNC_HAS_AVX512VBMI "avx512vbmi "
#else
#define NNC_HAS_AVX512VBMI
#endif
#ifdef __AVX512VNNI__
#define NNC_HAS_AVX512VNNI "avx512vnni "
#else
#define NNC_HAS_AVX512VNNI
#endif

#ifdef __AVX512VBMI2__
#define NNC_HAS_AVX512VBMI2 "avx512vbmi2 "
#else
#define NNC_HAS_AVX512VBMI2
#endif

#define NNC_EXTENSIONS                                                                             \
  NNC_HAS_SSE3 NNC_HAS_SSSE3 NNC_HAS_SSE41 NNC_HAS_SSE42 NNC_HAS_AVX NNC_HAS_AVX2 NNC_HAS_FMA      \
      NNC_HAS_F16C NNC_HAS_BMI NNC_HAS_BMI2 NNC_HAS_LZCNT NNC_HAS_MOVBE NNC_HAS_AVX512F            \
          NNC_HAS_AVX512BW NNC_HAS_AVX512CD NNC_HAS_AVX512DQ NNC_HAS_AVX512VL NNC_HAS_AVX512VBMI   \
              NNC_HAS_AVX512VNNI NNC_HAS_AVX512VBMI2 ""

/* In a program for several levels each has its own names: kernel_v3. */
#define NNC_OF_LEVEL(name) NNC_JOIN_LEVEL(name, NNC_LEVEL)
#define NNC_JOIN_LEVEL(name, level) NNC_JOIN_NAMES(name, level)
#define NNC_JOIN_NAMES(name, level) name##_##level
#define NNC_LEVEL_NAME NNC_LEVEL_TEXT(NNC_LEVEL)
#define NNC_LEVEL_TEXT(level) "x86-64-" NNC_TEXT_OF(level)
#define NNC_TEXT_OF(word) #word

#endif
