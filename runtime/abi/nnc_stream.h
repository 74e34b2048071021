/* Stores past the caches, for results so large that nothing of them would be left there when they are
 * read: an ordinary store reads the line that it writes to.
 *
 * Such stores are ordered by nnc_stream_end alone, which ends the work of a task. */
#ifndef NNC_STREAM_H
#define NNC_STREAM_H

#include "nnc_block.h"
#include "nnc_vector.h"

/* A register's worth to an address that is a multiple of its size. */
#if defined(__clang__)
typedef int64_t nnc_stream_part __attribute__((vector_size(NNC_VECTOR_BYTES), may_alias));
#define NNC_STREAM_PART(to, value) __builtin_nontemporal_store(value, to)
#elif defined(__AVX512F__)
typedef long long nnc_stream_part __attribute__((vector_size(64), may_alias));
#define NNC_STREAM_PART(to, value) __builtin_ia32_movntdq512(to, value)
#elif defined(__AVX__)
typedef long long nnc_stream_part __attribute__((vector_size(32), may_alias));
#define NNC_STREAM_PART(to, value) __builtin_ia32_movntdq256(to, value)
#elif defined(__SSE2__)
typedef long long nnc_stream_part __attribute__((vector_size(16), may_alias));
#define NNC_STREAM_PART(to, value) __builtin_ia32_movntdq(to, value)
#else
typedef long long nnc_stream_part __attribute__((vector_size(16), may_alias));
#define NNC_STREAM_PART(to, value) (*(to) = (value))
#endif

NNC_INLINE void nnc_stream(void *restrict to, const void *restrict from, int64_t bytes) {
  char *target = to;
  const char *source = from;
  int64_t head = nnc_least((int64_t)(-(uintptr_t)to % 64), bytes);
  int64_t end =
      head + (bytes - head) / 64 * 64; /* lines that are written in parts stay in the cache */
  if (head > 0) memcpy(target, source, (size_t)head);
  for (int64_t at = head; at < end; at += NNC_VECTOR_BYTES) {
    nnc_stream_part value;
    memcpy(&value, source + at, sizeof value);
    NNC_STREAM_PART((nnc_stream_part *)(void *)(target + at), value);
  }
  if (end < bytes) memcpy(target + end, source + end, (size_t)(bytes - end));
}

/* The same of so many bytes that whoever calls it knows when it is compiled: whole lines, in a row. */
NNC_INLINE void nnc_stream_lines(void *restrict to, const void *restrict from, int64_t bytes) {
  if ((uintptr_t)to % 64 != 0 || bytes % 64 != 0) {
    nnc_stream(to, from, bytes);
    return;
  }
  for (int64_t at = 0; at < bytes; at += NNC_VECTOR_BYTES) {
    nnc_stream_part value;
    memcpy(&value, (const char *)from + at, sizeof value);
    NNC_STREAM_PART((nnc_stream_part *)(void *)((char *)to + at), value);
  }
}

/* A row of a tile: past the caches where it is whole lines. */
NNC_INLINE void nnc_stream_row(void *restrict to, const void *restrict from, int64_t bytes) {
  if ((uintptr_t)to % 64 == 0 && bytes % 64 == 0) nnc_stream_lines(to, from, bytes);
  else memcpy(to, from, (size_t)bytes);
}

NNC_INLINE void nnc_stream_end(void) {
#if defined(__SSE2__)
  __builtin_ia32_sfence();
#endif
}

#endif
