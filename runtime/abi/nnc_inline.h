/* NNC_INLINE: small functions that kernels call. They become part of the kernels, but without optimization they stay
 * functions: there a compiler translates each call anew, which took it twice as long. */
#ifndef NNC_INLINE_H
#define NNC_INLINE_H

#ifdef __OPTIMIZE__
#define NNC_INLINE static inline __attribute__((always_inline, unused))
#else
#define NNC_INLINE static inline __attribute__((unused))
#endif

#endif
