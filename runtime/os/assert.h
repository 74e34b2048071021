/* NNC_ASSERT: what the comments say always holds, checked in test builds (NNC_ASSERTS, which CMake's
 * option of that name defines). Mistakes of users and of the system are messages, never asserts. */
#ifndef NNC_ASSERT_H
#define NNC_ASSERT_H

#ifdef NNC_ASSERTS
#define NNC_ASSERT(condition)                                                                      \
  ((condition) ? (void)0 : nnc_assert_failed(#condition, __FILE__, __LINE__))
#else
#define NNC_ASSERT(condition) ((void)(0 && (condition))) /* compiled, not computed */
#endif

/* Says what did not hold, and where, and aborts. */
__attribute__((noreturn)) void nnc_assert_failed(const char *condition, const char *file, int line);

#endif
