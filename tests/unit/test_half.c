/* Conversions of bf16 and f16: the runtime's and the interpreter's against NumPy's and PyTorch's
 * (tests/half/conversions.h), NaNs, and doubles that lie beside a tie. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "../half/conversions.h"
#include "ops/number.h"
#include "nnc_half.h"

static float widen_bf16(uint16_t x) { return nnc_from_bf16(x); }
static uint16_t narrow_bf16(float x) { return nnc_to_bf16(x); }
static float widen_f16(uint16_t x) { return nnc_from_f16(x); }
static uint16_t narrow_f16(float x) { return nnc_to_f16(x); }
static uint16_t reference_bf16(float x) {
  return nnc_to_bf16((float)number_round((double)x, DTYPE_BF16));
}
static uint16_t reference_f16(float x) {
  return nnc_to_f16((float)number_round((double)x, DTYPE_F16));
}

static void test_goldens(void **state) {
  (void)state;
  const HalfGolden *bf16 = &half_goldens[0], *f16 = &half_goldens[1];
  assert_int_equal(half_widen_crc(widen_bf16), bf16->widen);
  assert_int_equal(half_narrow_crc(bf16, narrow_bf16), bf16->narrow);
  assert_int_equal(half_narrow_crc(bf16, reference_bf16), bf16->narrow);
  assert_int_equal(half_widen_crc(widen_f16), f16->widen);
  assert_int_equal(half_narrow_crc(f16, narrow_f16), f16->narrow);
  assert_int_equal(half_narrow_crc(f16, reference_f16), f16->narrow);
}

/* Every NaN stays one, quiet. */
static void test_nans(void **state) {
  (void)state;
  for (uint32_t fraction = 1; fraction < 0x800000; fraction += 77)
    for (uint32_t sign = 0; sign < 2; sign++) {
      float nan = nnc_bits_f32(sign << 31 | 0x7F800000 | fraction);
      uint32_t half = sign << 15 | 0x7E00 | fraction >> 13;
      assert_int_equal(nnc_to_f16(nan), half);
      assert_int_equal(nnc_to_bf16(nan), sign << 15 | 0x7FC0 | fraction >> 16);
    }
  for (uint32_t x = 0x7C01; x < 0x8000; x++)
    assert_int_equal(nnc_f32_bits(nnc_from_f16((uint16_t)x)), 0x7FC00000 | (x & 0x3FF) << 13);
  assert_true(isnan(number_round(NAN, DTYPE_F16)) && isnan(number_round(NAN, DTYPE_BF16)));
}

/* A double that f32 would round to a tie goes to the side that it lies on. */
static void test_doubles(void **state) {
  (void)state;
  static const struct {
    double x;
    uint16_t bf16, f16;
  } cases[] = {
      {1 + 0x1p-8 + 0x1p-40, 0x3F81, 0x3C04},
      {1 + 0x1p-8 - 0x1p-40, 0x3F80, 0x3C04},
      {1 + 0x1p-11 + 0x1p-40, 0x3F80, 0x3C01},
      {1 + 0x1p-11 - 0x1p-40, 0x3F80, 0x3C00},
      {65520 - 0x1p-30, 0x4780, 0x7BFF},
      {65520, 0x4780, 0x7C00},
      {-65520 - 0x1p-30, 0xC780, 0xFC00},
      {0x1p-25 + 0x1p-60, 0x3300, 0x0001},
      {0x1p-25, 0x3300, 0x0000},
      {-0x1p-25, 0xB300, 0x8000},
      {0x1p-134 + 0x1p-170, 0x0001, 0x0000},
      {0x1p-134, 0x0000, 0x0000},
      {1e300, 0x7F80, 0x7C00},
      {-INFINITY, 0xFF80, 0xFC00},
      {0x1.FEFFFFFFFp127, 0x7F7F, 0x7C00},
      {0x1.FFp127, 0x7F80, 0x7C00},
      {16777217 + 32768, 0x4B80, 0x7C00},
      {257, 0x4380, 0x5C04},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    double x = cases[i].x, by_bf16 = (double)nnc_from_bf16(cases[i].bf16);
    assert_int_equal(nnc_to_bf16(nnc_odd_f32(x)), cases[i].bf16);
    assert_int_equal(nnc_to_f16(nnc_odd_f32(x)), cases[i].f16);
    assert_true(number_round(x, DTYPE_BF16) == by_bf16);
    assert_true(number_round(x, DTYPE_F16) == (double)nnc_from_f16(cases[i].f16));
  }
  assert_true(isnan(nnc_odd_f32(NAN)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_goldens),
      cmocka_unit_test(test_nans),
      cmocka_unit_test(test_doubles),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
