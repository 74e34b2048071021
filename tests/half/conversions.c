/* The conversions of nnc_half.h as the C compiler makes them for a machine: see conversions.h. The arrays
 * between keep the loops as they are in kernels. */
#include <stdbool.h>
#include <stdio.h>

#include "conversions.h"
#include "nnc_half.h"

enum { COUNT = 65536 };
static uint16_t patterns[COUNT];
static float wide[2][COUNT];

static void widen_all(void) {
  for (int i = 0; i < COUNT; i++) patterns[i] = (uint16_t)i;
  for (int i = 0; i < COUNT; i++) wide[0][i] = nnc_from_bf16(patterns[i]);
  for (int i = 0; i < COUNT; i++) wide[1][i] = nnc_from_f16(patterns[i]);
}

static float wide_bf16(uint16_t x) { return wide[0][x]; }
static float wide_f16(uint16_t x) { return wide[1][x]; }
static uint16_t narrow_bf16(float x) { return nnc_to_bf16(x); }
static uint16_t narrow_f16(float x) { return nnc_to_f16(x); }

/* What is an f16 has its bits, NaNs and infinities included. */
static int count_wrong_bits(void) {
  static uint16_t bits[COUNT];
  int wrong = 0;
  for (int i = 0; i < COUNT; i++) bits[i] = nnc_f16_bits(wide[1][i]);
  for (int i = 0; i < COUNT; i++) wrong += bits[i] != nnc_to_f16(wide[1][i]);
  for (int i = 0; i < COUNT; i++) bits[i] = nnc_bf16_bits(wide[0][i]);
  for (int i = 0; i < COUNT; i++) wrong += bits[i] != patterns[i];
  if (wrong > 0) printf("%d are stored as other than they are\n", wrong);
  return wrong;
}

/* Rounding to bf16 as an f32 is converting there and back, of all that is a number; what is none stays none. Every 61st
 * pattern, and all around ties of some exponents. */
static int count_wrong_rounds(void) {
  static float values[COUNT], rounded[COUNT];
  int wrong = 0;
  for (uint64_t first = 0; first < 1ull << 32; first += 61ull * COUNT) {
    for (uint32_t i = 0; i < COUNT; i++)
      values[i] = nnc_bits_f32(first == 0 ? 0x3F7F8000 + i : (uint32_t)first + 61 * i);
    for (int i = 0; i < COUNT; i++) rounded[i] = nnc_round_bf16(values[i]);
    for (int i = 0; i < COUNT; i++) {
      float expected = nnc_from_bf16(nnc_to_bf16(values[i]));
      bool is_same = values[i] != values[i] ? rounded[i] != rounded[i]
                                            : nnc_f32_bits(rounded[i]) == nnc_f32_bits(expected);
      wrong += !is_same;
    }
  }
  if (wrong > 0) printf("bf16: %d are rounded to other than conversion gives\n", wrong);
  return wrong;
}

int main(void) {
  static HalfWiden *const widen[] = {wide_bf16, wide_f16};
  static HalfNarrow *const narrow[] = {narrow_bf16, narrow_f16};
  int wrong = 0;
  widen_all();
  for (int i = 0; i < 2; i++) {
    const HalfGolden *golden = &half_goldens[i];
    uint32_t widened = half_widen_crc(widen[i]), narrowed = half_narrow_crc(golden, narrow[i]);
    if (widened == golden->widen && narrowed == golden->narrow) continue;
    printf("%s: widen %08X, should be %08X; narrow %08X, should be %08X\n", golden->name, widened,
           golden->widen, narrowed, golden->narrow);
    wrong++;
  }
  return wrong + (count_wrong_bits() > 0) + (count_wrong_rounds() > 0);
}
