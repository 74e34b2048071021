/* Patterns of parameters' paths: groups of a program and `export --only` match alike, so the compiler and the runtime
 * share this. */
#ifndef NNC_PATTERN_H
#define NNC_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

/* '*' stands for any characters, dots included, '?' for one. Only the last '*' is ever tried again,
 * so the work is at most the product of the lengths. */
static inline bool nnc_pattern_matches(const char *pattern, const char *path) {
  const char *star = NULL, *retry = NULL;
  while (*path) {
    if (*pattern == '*') {
      star = ++pattern;
      retry = path;
    } else if (*pattern == '?' || *pattern == *path) {
      pattern++;
      path++;
    } else if (star) {
      pattern = star;
      path = ++retry;
    } else {
      return false;
    }
  }
  while (*pattern == '*') pattern++;
  return !*pattern;
}

#endif
