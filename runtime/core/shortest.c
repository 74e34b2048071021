/* Shortest decimals: see shortest.h.
 *
 * A decimal reads back as a float if it is nearer to it than half the distance to the next one. That is computed in double
 * for most floats, scaled so that nine digits are a whole number. Where it is too close to tell, and for all doubles,
 * the C library decides. */
#include "core/shortest.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_DIGITS = 6, MOST_DIGITS = 9 };
#define UNSURE 1e-5 /* of a scaled number; it is below 1e9, so its error is below 1e-6 */

/* digits[0].digits[1]... times ten to `exponent` */
typedef struct Decimal {
  uint32_t digits;
  int count, exponent;
} Decimal;

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

/* All of them are exact. */
static const double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                       1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                       1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static double scale(double value, int exponent) {
  return exponent < 0 ? value / powers_of_ten[-exponent] : value * powers_of_ten[exponent];
}

/* The shortest of a scaled number that reads back within this distance on both sides, and on one within a second one that
 * is not smaller; false where it is not sure. */
static bool find_digits(double scaled, double distance, double other, Decimal *decimal) {
  static const double shares[] = {1e-3, 1e-2, 1e-1, 1}; /* they need not be exact: the error is */
  for (int count = LEAST_DIGITS; count <= MOST_DIGITS; count++) {
    double unit = powers_of_ten[MOST_DIGITS - count];
    decimal->digits = (uint32_t)(int64_t)(scaled * shares[count - LEAST_DIGITS] + 0.5);
    decimal->count = count;
    double error = fabs((double)(int64_t)decimal->digits * unit - scaled);
    if (fabs(error - unit / 2) < UNSURE) return false;
    if (error < distance - UNSURE) return true;
    if (error < other + UNSURE) return false;
  }
  return false;
}

/* As %g with so many digits has it: without zeros at the end. */
static int put_decimal(char *text, bool is_negative, Decimal decimal) {
  char digits[MOST_DIGITS + 1], *at = text;
  if (decimal.digits >= powers_of_ten[decimal.count]) decimal.digits /= 10, decimal.exponent++;
  bool has_exponent = decimal.exponent < -4 || decimal.exponent >= decimal.count;
  int point = has_exponent ? 1 : decimal.exponent + 1; /* digits before it */
  for (int i = decimal.count; i-- > 0; decimal.digits /= 10)
    digits[i] = (char)('0' + decimal.digits % 10);
  while (decimal.count > 1 && digits[decimal.count - 1] == '0') decimal.count--;
  if (is_negative) *at++ = '-';
  if (point <= 0) {
    *at++ = '0', *at++ = '.';
    for (; point < 0; point++) *at++ = '0';
    point = -1; /* it is there */
  }
  for (int i = 0; i < decimal.count || i < point; i++) {
    if (i == point) *at++ = '.';
    *at++ = i < decimal.count ? digits[i] : '0';
  }
  if (has_exponent) { /* of two digits: these are floats */
    int size = abs(decimal.exponent);
    *at++ = 'e', *at++ = decimal.exponent < 0 ? '-' : '+';
    *at++ = (char)('0' + size / 10), *at++ = (char)('0' + size % 10);
  }
  *at = '\0';
  return (int)(at - text);
}

static float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/* 0: it is not sure. The number below a power of two is half as far as the one above. */
static int find_float(char *text, float value) {
  float size = fabsf(value);
  uint32_t bits, exponent_bits;
  memcpy(&bits, &size, sizeof bits);
  exponent_bits = bits >> 23;
  if (!(size >= 1e-13F && size < 1e9F)) return 0;
  Decimal decimal = {.exponent = (((int)exponent_bits - 127) * 1233) >> 12}; /* times log10(2) */
  if (scale(1, decimal.exponent + 1) <= size) decimal.exponent++;
  int power = MOST_DIGITS - 1 - decimal.exponent;
  double distance = scale(float_of((exponent_bits - 24) << 23), power);
  double below = (bits & 0x7fffff) == 0 ? distance / 2 : distance; /* of a power of two */
  return find_digits(scale(size, power), below, distance, &decimal)
             ? put_decimal(text, value < 0, decimal)
             : 0;
}

int nnc_shortest(char text[NNC_SHORTEST_TEXT], double value, bool is_double) {
  int length = is_double ? 0 : find_float(text, (float)value);
  return length > 0 ? length : find_exactly(text, value, is_double);
}
