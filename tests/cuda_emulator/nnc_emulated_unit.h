/* The end of every unit of kernels: the table by which the emulator finds and calls them. The
 * stand-in for NVRTC appends
 *
 *   #include "nnc_emulated_unit.h"
 *   NNC_UNIT_BEGIN  NNC_UNIT_KERNEL(NAME, THREADS) ...  NNC_UNIT_END("sm_90")
 *
 * With NNC_EMULATED_RACES the kernels are compiled with -fsanitize=thread, but the functions
 * that this puts before each access are not ThreadSanitizer's: they are below, and tell the
 * emulator (races.c). */
#ifndef NNC_EMULATED_UNIT_H
#define NNC_EMULATED_UNIT_H

#include "nnc_emulated_machine.h"

template <int... I> struct nnc_indices {};
template <int N, int... I> struct nnc_count : nnc_count<N - 1, N - 1, I...> {};
template <int... I> struct nnc_count<0, I...> { typedef nnc_indices<I...> type; };

template <auto F> struct nnc_thunk;
template <class... A, void (*F)(A...)> struct nnc_thunk<F> {
  static constexpr int count = sizeof...(A);
  static constexpr int sizes[sizeof...(A) + 1] = {(int)sizeof(A)..., 0};
  template <int... I> NNC_UNTRACED static void spread(void **arguments, nnc_indices<I...>) {
    F(*(A *)arguments[I]...);
  }
  NNC_UNTRACED static void call(void **arguments) {
    spread(arguments, typename nnc_count<sizeof...(A)>::type());
  }
};

#define NNC_UNIT_BEGIN static const nnc_emulated_kernel nnc_the_kernels[] = {
#define NNC_UNIT_KERNEL(name, threads)                                                             \
  {#name, threads, nnc_thunk<&name>::count, nnc_thunk<&name>::sizes, nnc_thunk<&name>::call},
#define NNC_UNIT_END(architecture)                                                                 \
  { 0, 0, 0, 0, 0 }                                                                                \
  }                                                                                                \
  ;                                                                                                \
  extern "C" const nnc_emulated_unit nnc_the_unit;                                                 \
  const nnc_emulated_unit nnc_the_unit = {NNC_EMULATED_VERSION, architecture, nnc_the_kernels,     \
                                          &nnc_the_machine};

#ifdef NNC_EMULATED_RACES
#define NNC_HOOK                                                                                   \
  extern "C" __attribute__((noinline, visibility("hidden"), no_sanitize("thread"))) void
#define NNC_HOOKS(bytes)                                                                           \
  NNC_HOOK __tsan_read##bytes(void *at) { NNC_TOUCH(at, bytes, NNC_TOUCH_READ); }                  \
  NNC_HOOK __tsan_write##bytes(void *at) { NNC_TOUCH(at, bytes, NNC_TOUCH_WRITE); }                \
  NNC_HOOK __tsan_volatile_read##bytes(void *at) { NNC_TOUCH(at, bytes, NNC_TOUCH_VOLATILE); }     \
  NNC_HOOK __tsan_volatile_write##bytes(void *at) { NNC_TOUCH(at, bytes, NNC_TOUCH_VOLATILE); }    \
  NNC_HOOK __tsan_unaligned_read##bytes(void *at) { NNC_TOUCH(at, bytes, NNC_TOUCH_READ); }        \
  NNC_HOOK __tsan_unaligned_write##bytes(void *at) { NNC_TOUCH(at, bytes, NNC_TOUCH_WRITE); }
NNC_HOOKS(1)
NNC_HOOKS(2)
NNC_HOOKS(4)
NNC_HOOKS(8)
NNC_HOOKS(16)
NNC_HOOK __tsan_read_range(void *at, size_t bytes) { NNC_TOUCH(at, bytes, NNC_TOUCH_READ); }
NNC_HOOK __tsan_write_range(void *at, size_t bytes) { NNC_TOUCH(at, bytes, NNC_TOUCH_WRITE); }
NNC_HOOK __tsan_init() {}
NNC_HOOK __tsan_func_entry(void *) {}
NNC_HOOK __tsan_func_exit(void *) {}
extern "C" __attribute__((noinline, visibility("hidden"), no_sanitize("thread"))) void *
__tsan_memcpy(void *to, const void *from, size_t bytes) {
  NNC_TOUCH(from, bytes, NNC_TOUCH_READ);
  NNC_TOUCH(to, bytes, NNC_TOUCH_WRITE);
  return __builtin_memcpy(to, from, bytes);
}
extern "C" __attribute__((noinline, visibility("hidden"), no_sanitize("thread"))) void *
__tsan_memmove(void *to, const void *from, size_t bytes) {
  NNC_TOUCH(from, bytes, NNC_TOUCH_READ);
  NNC_TOUCH(to, bytes, NNC_TOUCH_WRITE);
  return __builtin_memmove(to, from, bytes);
}
extern "C" __attribute__((noinline, visibility("hidden"), no_sanitize("thread"))) void *
__tsan_memset(void *to, int value, size_t bytes) {
  NNC_TOUCH(to, bytes, NNC_TOUCH_WRITE);
  return __builtin_memset(to, value, bytes);
}
#endif

#endif
