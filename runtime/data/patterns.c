/* Names with a range in braces; numbers have as many digits as the first. */
#include "data/patterns.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_DIGITS = 9 };

/* The number at *at, which moves behind it; -1: there is none. */
static int64_t take_number(const char **at, int *digits) {
  int64_t number = 0;
  for (*digits = 0; isdigit((unsigned char)**at); ++*at, ++*digits)
    if (*digits < MOST_DIGITS) number = number * 10 + **at - '0';
  return *digits > 0 && *digits <= MOST_DIGITS ? number : -1;
}

int data_pattern_open(const DataContext *context, const char *text, DataPattern *pattern) {
  const char *brace = strchr(text, '{');
  *pattern = (DataPattern){.text = text, .count = 1};
  if (!brace) return 0;
  const char *at = brace + 1;
  int digits;
  pattern->before = (int)(brace - text);
  pattern->first = take_number(&at, &pattern->digits);
  bool has_dots = strncmp(at, "..", 2) == 0;
  if (has_dots) at += 2;
  int64_t last = take_number(&at, &digits);
  pattern->after = (int)(at + 1 - text);
  pattern->count = last - pattern->first + 1;
  if (pattern->first >= 0 && has_dots && *at == '}' && !strchr(at, '{') && pattern->count >= 1)
    return 0;
  return data_fail_call(context,
                        "\"%s\": braces hold the first and the last number of a range, as "
                        "{000..127}",
                        text);
}

char *data_pattern_name(const DataPattern *pattern, int64_t index) {
  const char *text = pattern->text;
  size_t size = strlen(text) + 2 * MOST_DIGITS + 1;
  char *name = malloc(size);
  if (!name) return NULL;
  if (pattern->after == 0) snprintf(name, size, "%s", text);
  else
    snprintf(name, size, "%.*s%0*lld%s", pattern->before, text, pattern->digits,
             (long long)(pattern->first + index), text + pattern->after);
  return name;
}
