/* Conversions between number types.
 *
 * What could lose something is converted once, in place, when a data set is opened: blocks of values
 * become doubles and then the target type, and a value that does not survive the way is reported.
 * Floats may be rounded to shorter floats; nothing else may change.  What widens exactly is left as it
 * is in memory and converted batch by batch: widen.c. */
#include "core/convert.h"
#include "core/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "os/assert.h"
#include "os/buffer.h"

enum { BLOCK = NNC_BUFFER(1024, 2) };

bool nnc_multiply(int64_t a, int64_t b, int64_t *product) {
  return !__builtin_mul_overflow(a, b, product);
}

/* f16 and bf16 are handled through their bits. */
static float f16_to_float(uint16_t half) {
  uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31,
           mantissa = half & 1023;
  if (exponent == 0) return (sign ? -1.0f : 1.0f) * (float)mantissa * 0x1p-24f;
  uint32_t bits = sign | (exponent == 31 ? 255 : exponent + 112) << 23 | mantissa << 13;
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

static float bf16_to_float(uint16_t half) {
  uint32_t bits = (uint32_t)half << 16;
  float value;
  memcpy(&value, &bits, 4);
  return value;
}

/* The double rounded once, half to even, to `precision` bits with least exponent `least` (of a
 * unit in the last place of a subnormal); 0 and infinities pass. */
static double round_to(double value, int precision, int least) {
  if (value == 0 || !isfinite(value)) return value;
  int exponent;
  frexp(value, &exponent);
  int unit = exponent - precision;
  if (unit < least) unit = least;
  return ldexp(nearbyint(ldexp(value, -unit)), unit);
}

static uint16_t float_to_bf16(double value) {
  float rounded = isnan(value) ? NAN : (float)round_to(value, 8, -133);
  uint32_t bits;
  memcpy(&bits, &rounded, 4);
  return (uint16_t)(bits >> 16);
}

static uint16_t float_to_f16(double value) {
  uint16_t sign = signbit(value) ? 0x8000 : 0;
  if (isnan(value)) return sign | 0x7e00;
  double rounded = fabs(round_to(value, 11, -24));
  if (rounded > 65504) return sign | 0x7c00;
  if (rounded < 0x1p-14) return sign | (uint16_t)(rounded * 0x1p24);
  int exponent;
  double fraction = frexp(rounded, &exponent); /* in [0.5, 1) */
  return sign | (uint16_t)((exponent + 14) << 10) | (uint16_t)(fraction * 2048 - 1024);
}

/* Load: values to doubles; the index of the first that a double does not hold, or -1. */
#define LOAD(name, type, expression)                                                               \
  static int64_t load_##name(const void *source, int64_t count, double *doubles) {                 \
    const type *values = source;                                                                   \
    for (int64_t i = 0; i < count; i++) doubles[i] = expression;                                   \
    return -1;                                                                                     \
  }
LOAD(f64, double, values[i])
LOAD(f32, float, (double)values[i])
LOAD(bf16, uint16_t, (double)bf16_to_float(values[i]))
LOAD(f16, uint16_t, (double)f16_to_float(values[i]))
LOAD(i32, int32_t, values[i])
LOAD(u8, uint8_t, values[i])
LOAD(bool, uint8_t, values[i] != 0)
LOAD(i8, int8_t, values[i])
LOAD(i16, int16_t, values[i])
LOAD(u16, uint16_t, values[i])
LOAD(u32, uint32_t, values[i])

static int64_t load_i64(const void *source, int64_t count, double *doubles) {
  const int64_t *values = source;
  int64_t bad = -1;
  for (int64_t i = count - 1; i >= 0; i--) {
    doubles[i] = (double)values[i];
    if (doubles[i] >= 0x1p63 || (int64_t)doubles[i] != values[i]) bad = i;
  }
  return bad;
}

/* Store: doubles to values; the index of the first that does not survive, or -1. */
#define STORE_INTEGER(name, type, least, past)                                                     \
  static int64_t store_##name(const double *doubles, int64_t count, void *target) {                \
    type *values = target;                                                                         \
    for (int64_t i = 0; i < count; i++) {                                                          \
      if (!(doubles[i] >= (least) && doubles[i] < (past))) return i;                               \
      values[i] = (type)doubles[i];                                                                \
      if ((double)values[i] != doubles[i]) return i;                                               \
    }                                                                                              \
    return -1;                                                                                     \
  }
STORE_INTEGER(i64, int64_t, -0x1p53, 0x1p53) /* beyond, the double may itself be rounded */
STORE_INTEGER(i32, int32_t, -0x1p31, 0x1p31)
STORE_INTEGER(u8, uint8_t, 0, 256)
STORE_INTEGER(bool, uint8_t, 0, 2)

/* Floats are rounded, but a finite value must stay finite. */
#define STORE_FLOAT(name, type, expression, is_finite)                                             \
  static int64_t store_##name(const double *doubles, int64_t count, void *target) {                \
    type *values = target;                                                                         \
    int64_t bad = -1;                                                                              \
    for (int64_t i = count - 1; i >= 0; i--) {                                                     \
      values[i] = expression;                                                                      \
      if (!(is_finite) && isfinite(doubles[i])) bad = i;                                           \
    }                                                                                              \
    return bad;                                                                                    \
  }
STORE_FLOAT(f64, double, doubles[i], true)
STORE_FLOAT(f32, float, (float)doubles[i], isfinite(values[i]))
STORE_FLOAT(bf16, uint16_t, float_to_bf16(doubles[i]), (values[i] & 0x7f80) != 0x7f80)
STORE_FLOAT(f16, uint16_t, float_to_f16(doubles[i]), (values[i] & 0x7c00) != 0x7c00)

static const struct {
  int64_t (*load)(const void *source, int64_t count, double *doubles);
  int64_t (*store)(const double *doubles, int64_t count, void *target); /* NULL: no input has it */
} ways[NNC_ALL_DTYPE_COUNT] = {
    [NNC_F64] = {load_f64, store_f64},    [NNC_F32] = {load_f32, store_f32},
    [NNC_BF16] = {load_bf16, store_bf16}, [NNC_F16] = {load_f16, store_f16},
    [NNC_I64] = {load_i64, store_i64},    [NNC_I32] = {load_i32, store_i32},
    [NNC_U8] = {load_u8, store_u8},       [NNC_BOOL] = {load_bool, store_bool},
    [NNC_I8] = {load_i8, NULL},           [NNC_I16] = {load_i16, NULL},
    [NNC_U16] = {load_u16, NULL},         [NNC_U32] = {load_u32, NULL},
};

bool nnc_store_double(double number, int to, void *value) {
  NNC_ASSERT(ways[to].store);
  return ways[to].store(&number, 1, value) < 0;
}

/* Of `count` values in all. */
typedef struct Way {
  int from, to;
  int64_t count;
} Way;

/* The block from value `first` on; false when one of them is bad. */
static bool convert_block(char *values, const Way *way, int64_t first, nnc_conversion *conversion) {
  double doubles[BLOCK];
  int64_t count = way->count - first < BLOCK ? way->count - first : BLOCK;
  const char *source = values + first * nnc_dtype_size(way->from);
  char *target = values + first * nnc_dtype_size(way->to);
  NNC_ASSERT(first >= 0 && count > 0);
  int64_t bad = ways[way->from].load(source, count, doubles);
  if (bad < 0) bad = ways[way->to].store(doubles, count, target);
  if (bad < 0) return true;
  *conversion = (nnc_conversion){first + bad, doubles[bad]};
  return false;
}

/* A type that does not grow is converted from the front, a growing one from the end, so that
 * values are read before their place is written. */
int nnc_convert(char **values, int from, int to, int64_t count, nnc_conversion *conversion) {
  *conversion = (nnc_conversion){-1, 0};
  if (from == to) return 0;
  Way way = {from, to, count};
  NNC_ASSERT(count >= 0 && ways[to].store);
  int64_t old_size = nnc_dtype_size(from), new_size = nnc_dtype_size(to);
  if (new_size > old_size) {
    int64_t bytes;
    if (!nnc_multiply(count, new_size, &bytes)) return -1;
    char *grown = realloc(*values, (size_t)bytes + 1);
    if (!grown) return -1;
    *values = grown;
  }
  int64_t blocks = (count + BLOCK - 1) / BLOCK;
  for (int64_t k = 0; k < blocks; k++) {
    int64_t block = new_size > old_size ? blocks - 1 - k : k;
    if (!convert_block(*values, &way, block * BLOCK, conversion)) return -1;
  }
  if (new_size < old_size) {
    char *shrunk = realloc(*values, (size_t)(count * new_size) + 1);
    if (shrunk) *values = shrunk;
  }
  return 0;
}

void nnc_swap_bytes(void *values, int size, int64_t count) {
  if (size == 2) {
    uint16_t *words = values;
    for (int64_t i = 0; i < count; i++) words[i] = __builtin_bswap16(words[i]);
  } else if (size == 4) {
    uint32_t *words = values;
    for (int64_t i = 0; i < count; i++) words[i] = __builtin_bswap32(words[i]);
  } else if (size == 8) {
    uint64_t *words = values;
    for (int64_t i = 0; i < count; i++) words[i] = __builtin_bswap64(words[i]);
  }
}

void nnc_load_doubles(int dtype, const void *values, int64_t count, double *doubles) {
  ways[dtype].load(values, count, doubles);
}
