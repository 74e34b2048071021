/* Element types as one table; half precisions are widened by hand. */
#include "core/number.h"

#include <stdio.h>
#include <string.h>

#include "os/assert.h"

typedef struct DType {
  const char *name, *stored_name;
  int size;
  int is_float;
} DType;

static const DType dtypes[NNC_ALL_DTYPE_COUNT] = {
    [NNC_F64] = {"f64", "F64", 8, 1},    [NNC_F32] = {"f32", "F32", 4, 1},
    [NNC_BF16] = {"bf16", "BF16", 2, 1}, [NNC_F16] = {"f16", "F16", 2, 1},
    [NNC_I64] = {"i64", "I64", 8, 0},    [NNC_I32] = {"i32", "I32", 4, 0},
    [NNC_U8] = {"u8", "U8", 1, 0},       [NNC_BOOL] = {"bool", "BOOL", 1, 0},
    [NNC_I8] = {"i8", NULL, 1, 0},       [NNC_I16] = {"i16", NULL, 2, 0},
    [NNC_U16] = {"u16", NULL, 2, 0},     [NNC_U32] = {"u32", NULL, 4, 0},
};

int64_t nnc_dtype_size(int dtype) {
  NNC_ASSERT(dtype >= 0 && dtype < NNC_ALL_DTYPE_COUNT);
  return dtypes[dtype].size;
}
const char *nnc_dtype_name(int dtype) { return dtypes[dtype].name; }
const char *nnc_dtype_stored_name(int dtype) { return dtypes[dtype].stored_name; }
int nnc_dtype_is_float(int dtype) { return dtypes[dtype].is_float; }

int nnc_dtype_find_stored(const char *name) {
  for (int i = 0; i < NNC_DTYPE_COUNT; i++)
    if (strcmp(dtypes[i].stored_name, name) == 0) return i;
  return -1;
}

static double from_bf16(uint16_t bits) {
  uint32_t wide = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &wide, sizeof value);
  return value;
}

static double from_f16(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  double sign = bits >> 15 ? -1 : 1;
  if (exponent == 31) return fraction ? sign * __builtin_nan("") : sign * __builtin_inf();
  if (exponent == 0) return sign * fraction * 0x1p-24;
  double value = (1024 + fraction) * 0x1p-25; /* exponent 0 means 2^-15 * 2^-10 */
  return sign * value * (double)(1u << exponent);
}

double nnc_number_get(int dtype, const void *elements, int64_t index) {
  switch (dtype) {
  case NNC_F64: return ((const double *)elements)[index];
  case NNC_F32: return ((const float *)elements)[index];
  case NNC_BF16: return from_bf16(((const uint16_t *)elements)[index]);
  case NNC_F16: return from_f16(((const uint16_t *)elements)[index]);
  case NNC_I64: return (double)((const int64_t *)elements)[index];
  case NNC_I32: return ((const int32_t *)elements)[index];
  default: return ((const uint8_t *)elements)[index];
  }
}

int64_t nnc_tensor_elements(const nnc_tensor *tensor) {
  int64_t elements = 1;
  NNC_ASSERT(tensor->rank >= 0 && tensor->rank <= NNC_MAX_RANK);
  for (int i = 0; i < tensor->rank; i++) elements *= tensor->dim[i];
  return elements;
}

int64_t nnc_tensor_bytes(const nnc_tensor *tensor) {
  return nnc_tensor_elements(tensor) * nnc_dtype_size(tensor->dtype);
}

const char *nnc_tensor_type_text(char *buffer, int dtype, int rank, const int64_t *dim) {
  int at = snprintf(buffer, NNC_SHAPE_TEXT, "%s[", nnc_dtype_name(dtype));
  for (int i = 0; i < rank; i++)
    at += snprintf(buffer + at, (size_t)(NNC_SHAPE_TEXT - at), i ? ", %lld" : "%lld",
                   (long long)dim[i]);
  snprintf(buffer + at, (size_t)(NNC_SHAPE_TEXT - at), "]");
  return buffer;
}
