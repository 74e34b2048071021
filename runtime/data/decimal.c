/* Decimal numbers from text, independent of the locale.
 *
 * Most numbers in tables are short: a mantissa below 2^53 and a power of ten up to 10^22 are both
 * exact doubles, so one multiplication or division rounds correctly (Clinger, "How to read
 * floating point numbers accurately", 1990).  The others go to strtod, which in the "C" locale
 * that every program has unless it asks for another reads just this syntax. */
#include "data/decimal.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "os/assert.h"

enum { LONGEST = 1024 };

static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool parse_slowly(const char *text, int64_t length, double *number) {
  char copy[LONGEST + 1];
  if (length > LONGEST) return false;
  memcpy(copy, text, (size_t)length);
  copy[length] = 0;
  *number = strtod(copy, NULL);
  return true;
}

bool data_parse_number(const char *text, int64_t length, double *number) {
  const char *at = text, *end = text + length;
  bool is_negative = at < end && *at == '-';
  if (at < end && (*at == '-' || *at == '+')) at++;
  uint64_t mantissa = 0;
  int digits = 0, scale = 0, exponent = 0;
  bool is_exact = true, seen_point = false;
  for (; at < end && (is_digit(*at) || (*at == '.' && !seen_point)); at++) {
    if (*at == '.') {
      seen_point = true;
      continue;
    }
    digits++;
    if (mantissa > (uint64_t)1 << 53) is_exact = false;
    if (is_exact) mantissa = mantissa * 10 + (uint64_t)(*at - '0');
    if (seen_point) scale--;
    if (digits > LONGEST) return false;
  }
  if (digits == 0) return false;
  if (at < end && (*at == 'e' || *at == 'E')) {
    at++;
    int sign = at < end && *at == '-' ? -1 : 1;
    if (at < end && (*at == '-' || *at == '+')) at++;
    if (at == end) return false;
    for (; at < end && is_digit(*at); at++)
      if (exponent < 100000) exponent = exponent * 10 + (*at - '0');
    exponent *= sign;
  }
  if (at != end) return false;
  int power = scale + exponent;
  if (!is_exact || mantissa > (uint64_t)1 << 53 || power < -22 || power > 22)
    return parse_slowly(text, length, number);
  NNC_ASSERT(power >= -22 && power <= 22);
  double value = (double)mantissa;
  value = power < 0 ? value / powers[-power] : value * powers[power];
  *number = is_negative ? -value : value;
  return true;
}
