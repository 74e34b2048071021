/* Shortest decimals of floats against the C library's: the first of %.6g to %.9g that reads back. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/core/shortest.h"

static float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static void check_float(float value) {
  char text[NNC_SHORTEST_TEXT], wanted[64];
  if (!isfinite(value)) return;
  for (int digits = 6;; digits++) {
    snprintf(wanted, sizeof wanted, "%.*g", digits, value);
    if (digits == 9 || strtof(wanted, NULL) == value) break;
  }
  int length = nnc_shortest(text, value, false);
  assert_string_equal(text, wanted);
  assert_int_equal(length, strlen(wanted));
}

/* Beside each power of two the distances to the neighbours differ. */
static void powers_of_two(void **state) {
  (void)state;
  for (uint32_t exponent = 0; exponent < 255; exponent++)
    for (int near = -20; near <= 20; near++) {
      float value = float_of(((exponent << 23) + (uint32_t)near) & 0x7fffffff);
      check_float(value);
      check_float(-value);
    }
}

/* Short decimals and those beside them, where another digit begins and where %g has an exponent. */
static void short_decimals(void **state) {
  (void)state;
  char text[32];
  for (int power = -46; power < 39; power++)
    for (int digits = 1; digits < 1000; digits += digits < 20 ? 1 : 83) {
      snprintf(text, sizeof text, "%de%d", digits, power);
      uint32_t bits = bits_of(strtof(text, NULL));
      for (uint32_t near = 0; near < 7; near++) check_float(float_of(bits + near - 3));
    }
  check_float(FLT_MAX);
  check_float(FLT_MIN);
  check_float(0.0F);
  check_float(-0.0F);
}

static void whole_numbers(void **state) {
  (void)state;
  for (int number = 0; number < 20000; number++) check_float((float)number);
  for (uint32_t number = 999990; number < 1000010; number++) check_float((float)number);
  for (uint32_t number = 16777200; number < 16777232; number++) check_float((float)number);
  for (uint32_t number = 999999900; number < 1000000100; number += 10) check_float((float)number);
}

/* Of all sizes, and as many between 1e-5 and 10, as probabilities are. */
static void random_floats(void **state) {
  (void)state;
  uint64_t random = 88172645463325252U;
  for (int i = 0; i < 300000; i++) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    check_float(float_of((uint32_t)(random >> 20)));
    check_float(float_of(0x37000000U + (uint32_t)(random % 0xa000000)));
  }
}

static void doubles(void **state) {
  (void)state;
  static const double values[] = {0.1, 1.0 / 3, 2.0 / 3, 1e22, 1e-300, 123456789.125, -0.5, 0};
  char text[NNC_SHORTEST_TEXT], wanted[64];
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    for (int digits = 15; digits <= 17; digits++) {
      snprintf(wanted, sizeof wanted, "%.*g", digits, values[i]);
      if (strtod(wanted, NULL) == values[i]) break;
    }
    assert_int_equal(nnc_shortest(text, values[i], true), strlen(wanted));
    assert_string_equal(text, wanted);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(powers_of_two), cmocka_unit_test(short_decimals),
      cmocka_unit_test(whole_numbers), cmocka_unit_test(random_floats),
      cmocka_unit_test(doubles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
