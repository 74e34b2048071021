/* Deterministic damage to text, for the tests of readers. */
#ifndef NNC_TESTS_UNIT_MUTATE_H
#define NNC_TESTS_UNIT_MUTATE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Deterministic noise (Knuth's MMIX generator). */
static inline uint32_t noise(uint64_t *seed) {
  *seed = *seed * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*seed >> 33);
}

/* Bytes changed, deleted, doubled or moved, or digits made large, at a few places. */
static inline size_t mutate(char *text, size_t length, size_t capacity, uint64_t *seed) {
  static const char letters[] = "0123456789-%[](){}\"\\,=:@/.e\nax";
  int edits = 1 + (int)(noise(seed) % 4);
  for (int i = 0; i < edits && length > 40; i++) {
    size_t at = noise(seed) % length, span = 1 + noise(seed) % 24;
    if (span > length - at) span = length - at;
    switch (noise(seed) % 5) {
    case 0: text[at] = letters[noise(seed) % (sizeof letters - 1)]; break;
    case 1: text[at] = (char)noise(seed); break;
    case 2:
      memmove(text + at, text + at + span, length - at - span);
      length -= span;
      break;
    case 3:
      if (length + span > capacity) break;
      memmove(text + at + span, text + at, length - at);
      length += span;
      break;
    case 4: memset(text + at, '9', span); break;
    }
  }
  return length;
}

/* A number of the text becomes one that is likely to overflow something, or to fit elsewhere. */
static inline size_t mutate_number(char *text, size_t length, size_t capacity, uint64_t *seed) {
  static const char *const numbers[] = {"0",
                                        "1",
                                        "2",
                                        "3",
                                        "4",
                                        "5",
                                        "7",
                                        "-1",
                                        "-2",
                                        "1073741824",
                                        "2147483647",
                                        "2147483648",
                                        "4294967297",
                                        "-4294967296",
                                        "1099511627776",
                                        "1099511627775",
                                        "-1099511627776",
                                        "4611686018427387904",
                                        "9223372036854775807",
                                        "-9223372036854775808"};
  size_t at = noise(seed) % length;
  while (at < length && !(text[at] >= '0' && text[at] <= '9')) at++;
  size_t end = at;
  while (end < length && text[end] >= '0' && text[end] <= '9') end++;
  const char *number = numbers[noise(seed) % (sizeof numbers / sizeof *numbers)];
  size_t size = strlen(number);
  if (end == at || length - (end - at) + size > capacity) return length;
  memmove(text + at + size, text + end, length - end);
  memcpy(text + at, number, size);
  return length - (end - at) + size;
}

#endif
