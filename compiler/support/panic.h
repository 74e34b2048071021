/* Bugs of ours, never a user's mistake. */
#ifndef NNC_SUPPORT_PANIC_H
#define NNC_SUPPORT_PANIC_H

/* Prints "nnc: internal error: ..." with the current context and aborts. */
_Noreturn void panic(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What is being done, e.g. "pass simplify": named by panic().  NULL clears it. Returns what was. */
const char *panic_set_context(const char *context);

#define CHECK(condition)                                                                           \
  ((condition) ? (void)0 : panic("%s:%d: %s does not hold", __FILE__, __LINE__, #condition))

#endif
