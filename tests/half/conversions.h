/* Conversions of bf16 and f16 as four numbers, which tests/half/make.py has from NumPy and PyTorch.
 *
 * `widen`: all 65,536 patterns as the bits of an f32. `narrow`: for each pattern the f32 that it is, the
 * tie between it and the pattern after it, and both neighbours of each, to 16 bits: so every tie and
 * every border is met, those to the subnormal numbers and to infinity included. NaNs are counted as one
 * pattern each. The numbers are CRC-32 of the results in order, lowest byte first. */
#ifndef NNC_TESTS_HALF_CONVERSIONS_H
#define NNC_TESTS_HALF_CONVERSIONS_H

#include <stdint.h>
#include <string.h>

typedef struct HalfGolden {
  const char *name;
  int fraction_bits, exponent_bits;
  uint32_t widen, narrow;
} HalfGolden;

static const HalfGolden half_goldens[] = {
#include "goldens.inc"
};

typedef float HalfWiden(uint16_t x);
typedef uint16_t HalfNarrow(float x);

static uint32_t crc_add(uint32_t crc, uint32_t value, int bytes) {
  for (int i = 0; i < bytes; i++) {
    crc ^= value >> 8 * i & 0xFF;
    for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
  }
  return crc;
}

static uint32_t half_widen_crc(HalfWiden *widen) {
  uint32_t crc = 0xFFFFFFFFu;
  for (uint32_t x = 0; x < 65536; x++) {
    float value = widen((uint16_t)x);
    uint32_t bits = 0x7FC00000;
    if (value == value) memcpy(&bits, &value, sizeof bits);
    crc = crc_add(crc, bits, 4);
  }
  return ~crc;
}

/* By definition, without the functions under test: NaN and infinity as the next power of two. */
static double half_value(const HalfGolden *type, uint32_t magnitude) {
  int exponent = (int)(magnitude >> type->fraction_bits);
  double fraction = (double)(magnitude & ((1u << type->fraction_bits) - 1));
  double one = (double)(1u << type->fraction_bits);
  if (exponent > 0) fraction += one;
  else exponent = 1;
  double value = fraction / one;
  for (int bias = (1 << (type->exponent_bits - 1)) - 1; exponent < bias; exponent++) value /= 2;
  for (int bias = (1 << (type->exponent_bits - 1)) - 1; exponent > bias; exponent--) value *= 2;
  return value;
}

static uint32_t half_narrow_crc(const HalfGolden *type, HalfNarrow *narrow) {
  uint32_t crc = 0xFFFFFFFFu, infinity = ((1u << type->exponent_bits) - 1) << type->fraction_bits;
  for (uint32_t magnitude = 0; magnitude < infinity; magnitude++) {
    double here = half_value(type, magnitude), next = half_value(type, magnitude + 1);
    float points[2] = {(float)here, (float)((here + next) / 2)};
    for (int p = 0; p < 2; p++) {
      uint32_t bits;
      memcpy(&bits, &points[p], sizeof bits);
      for (int step = -1; step <= 1; step++)
        for (int sign = 0; sign < 2; sign++) {
          uint32_t moved = (bits + (uint32_t)(bits > 0 ? step : 0)) | (uint32_t)sign << 31;
          float x;
          memcpy(&x, &moved, sizeof x);
          crc = crc_add(crc, narrow(x), 2);
        }
    }
  }
  return ~crc;
}

#endif
