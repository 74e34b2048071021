/* Shortest decimals: see shortest.h.
 *
 * A decimal reads back as a float if it is nearer to it than half the distance to the next one. That is computed in
 * double, scaled so that nine digits are a whole number. Where it is too close to tell, for subnormal floats and for all
 * doubles the C library decides. Digits are made eight at a time, in the bytes of one integer. */
#include "core/shortest.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_DIGITS = 6, MOST_DIGITS = 9 };
/* Of a scaled number; it is below 1e9 and rounded twice, so its error is below 1e-6. */
#define UNSURE 1e-5

/* digits / 10^8, times ten to `exponent`: nine digits, of which the first `count` tell the number. */
typedef struct Decimal {
  int64_t digits;
  int count, exponent;
} Decimal;
static const int64_t units[] = {1, 10, 100,
                                1000}; /* of the last of these, by how many others there are */

/* ---- by the C library ------------------------------------------------------------------------ */

static bool reads_back(const char *text, double value, bool is_double) {
  return is_double ? strtod(text, NULL) == value : strtof(text, NULL) == (float)value;
}

/* Where some number of digits reads back, so do more. */
static int find_exactly(char *text, double value, bool is_double) {
  for (int digits = is_double ? 15 : LEAST_DIGITS;; digits++) {
    int length = snprintf(text, NNC_SHORTEST_TEXT, "%.*g", digits, value);
    if (digits == (is_double ? 17 : MOST_DIGITS) || reads_back(text, value, is_double))
      return length;
  }
}

/* ---- floats ---------------------------------------------------------------------------------- */

/* The first 22 are exact, the others as near as a double is. */
static const double powers_of_ten[] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22, 1e23, 1e24, 1e25, 1e26, 1e27, 1e28, 1e29, 1e30, 1e31,
    1e32, 1e33, 1e34, 1e35, 1e36, 1e37, 1e38, 1e39, 1e40, 1e41, 1e42, 1e43, 1e44, 1e45, 1e46};

static double scale(double value, int power) {
  return power < 0 ? value / powers_of_ten[-power] : value * powers_of_ten[power];
}

/* The shortest of a scaled number that reads back within this distance on both sides, and on one within a second one that
 * is not smaller; false where it is not sure. Nine digits always read back, and where some do, so do more. */
static bool find_digits(double scaled, double distance, double other, Decimal *decimal) {
  static const double shares[] = {1e-3, 1e-2, 1e-1, 1}; /* they need not be exact: the error is */
  for (int count = MOST_DIGITS; count >= LEAST_DIGITS; count--) {
    int64_t unit = units[MOST_DIGITS - count];
    int64_t digits = (int64_t)(scaled * shares[count - LEAST_DIGITS] + 0.5) * unit;
    double error = fabs((double)digits - scaled);
    if (error > other + UNSURE) break;
    if (error > distance - UNSURE || fabs(error - (double)unit / 2) < UNSURE) return false;
    decimal->digits = digits;
    decimal->count = count;
  }
  return true;
}

/* Of a number below 10^8, a byte each, the first in the least: halves of four digits, then pairs, then digits side by side. */
static uint64_t eight_digits(uint32_t number) {
  uint64_t halves = number / 10000 | (uint64_t)(number % 10000) << 32;
  uint64_t hundreds = (halves * 10486 >> 20) & 0x7f0000007f;
  uint64_t pairs = hundreds | (halves - 100 * hundreds) << 16;
  uint64_t tens = (pairs * 103 >> 10) & 0xf000f000f000f;
  return tens | (pairs - 10 * tens) << 8;
}

/* Of two digits: these are floats. */
static char *put_exponent(char *at, int exponent) {
  int size = abs(exponent);
  *at++ = 'e', *at++ = exponent < 0 ? '-' : '+';
  *at++ = (char)('0' + size / 10), *at++ = (char)('0' + size % 10);
  return at;
}

/* As %g with so many digits has it: without zeros at the end. More is written than counts: there is room. */
static int put_decimal(char *text, bool is_negative, Decimal decimal) {
  if (decimal.digits >= 1000000000) decimal.digits /= 10, decimal.exponent++;
  char digits[16] = {(char)('0' + decimal.digits / 100000000)}, *at = text;
  uint64_t rest = eight_digits((uint32_t)(decimal.digits % 100000000));
  int length = rest ? MOST_DIGITS - __builtin_clzll(rest) / 8 : 1; /* without zeros at the end */
  rest += 0x3030303030303030;
  memcpy(digits + 1, &rest, sizeof rest);
  int whole = decimal.exponent + 1; /* digits before the point */
  if (is_negative) *at++ = '-';
  if (decimal.exponent < -4 || decimal.exponent >= decimal.count) {
    *at++ = digits[0];
    at[0] = '.';
    memcpy(at + 1, digits + 1, sizeof rest);
    at = put_exponent(length > 1 ? at + length : at, decimal.exponent);
  } else if (whole <= 0) {
    memcpy(at, "0.0000", 6);
    memcpy(at + 2 - whole, digits, sizeof digits);
    at += 2 - whole + length;
  } else {
    memcpy(at, digits, sizeof digits);
    at[whole] = '.';
    memcpy(at + whole + 1, digits + whole, 8);
    at += length > whole ? length + 1 : whole;
  }
  *at = '\0';
  return (int)(at - text);
}

/* 2^(exponent - 127): `exponent` as a float has it. */
static double power_of_two(int exponent) {
  uint64_t bits = (uint64_t)(exponent + 1023 - 127) << 52;
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* 0: it is not sure. The number below a power of two is half as far as the one above. */
static int find_float(char *text, float value) {
  double size = fabs((double)value);
  float positive = (float)size;
  uint32_t bits;
  memcpy(&bits, &positive, sizeof bits);
  int exponent = (int)(bits >> 23);
  if (size == 0) return put_decimal(text, signbit(value), (Decimal){0, LEAST_DIGITS, 0});
  if (exponent == 0) return 0;                                     /* what is subnormal */
  Decimal decimal = {.exponent = ((exponent - 127) * 1233) >> 12}; /* times log10(2) */
  int power = MOST_DIGITS - 1 - decimal.exponent;
  double scaled = scale(size, power);
  if (scaled >= powers_of_ten[MOST_DIGITS]) {
    scaled = scale(size, --power);
    decimal.exponent++;
  }
  double distance = scale(power_of_two(exponent - 24), power);
  double below = (bits & 0x7fffff) == 0 ? distance / 2 : distance; /* of a power of two */
  return find_digits(scaled, below, distance, &decimal) ? put_decimal(text, value < 0, decimal) : 0;
}

int nnc_shortest(char text[NNC_SHORTEST_TEXT], double value, bool is_double) {
  int length = is_double ? 0 : find_float(text, (float)value);
  return length > 0 ? length : find_exactly(text, value, is_double);
}
