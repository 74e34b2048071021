/* Values and files of an executable: see storage.h. */
#include "lib/storage.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/number.h"
#include "ops/number.h"
#include "support/panic.h"

/* ---- 16 bits, without the code of the runtime that is under test ---- */

/* Exponent and fraction of the bits: bf16 8 and 7, f16 5 and 10. */
static uint16_t half_bits(double value, DType dtype) {
  int fraction = dtype == DTYPE_BF16 ? 7 : 10, bias = dtype == DTYPE_BF16 ? 127 : 15, exponent;
  int all_ones = (2 * bias + 1) << fraction;
  uint16_t sign = signbit(value) ? 0x8000 : 0;
  double x = fabs(number_round(value, dtype));
  if (isnan(x)) return (uint16_t)(all_ones | 1);
  if (isinf(x)) return (uint16_t)(sign | all_ones);
  if (x < ldexp(1, 1 - bias)) return (uint16_t)(sign | (int)ldexp(x, bias - 1 + fraction));
  double mantissa = frexp(x, &exponent); /* in [1/2, 1) */
  return (uint16_t)(sign | (exponent - 1 + bias) << fraction |
                    (int)ldexp(2 * mantissa - 1, fraction));
}

static double half_value(uint16_t bits, DType dtype) {
  int fraction = dtype == DTYPE_BF16 ? 7 : 10, bias = dtype == DTYPE_BF16 ? 127 : 15;
  int exponent = (bits & 0x7FFF) >> fraction, rest = bits & ((1 << fraction) - 1);
  double x = exponent == 0 ? ldexp(rest, 1 - bias - fraction)
                           : ldexp(rest + (1 << fraction), exponent - bias - fraction);
  if (exponent == 2 * bias + 1) x = rest ? NAN : INFINITY;
  return bits & 0x8000 ? -x : x;
}

/* ---- all types ---- */

void storage_from_values(const Tensor *tensor, DType dtype, void *into) {
  for (int64_t i = 0; i < shape_elements(tensor->type.shape); i++) {
    double value = tensor->data[i];
    switch (dtype) {
    case DTYPE_F64: ((double *)into)[i] = value; break;
    case DTYPE_F32: ((float *)into)[i] = (float)value; break;
    case DTYPE_I64: ((int64_t *)into)[i] = (int64_t)value; break;
    case DTYPE_I32: ((int32_t *)into)[i] = (int32_t)value; break;
    case DTYPE_U8:
    case DTYPE_BOOL: ((uint8_t *)into)[i] = (uint8_t)value; break;
    case DTYPE_BF16:
    case DTYPE_F16: ((uint16_t *)into)[i] = half_bits(value, dtype); break;
    default: panic("no values of type %s", dtype_name(dtype));
    }
  }
}

void storage_to_values(const void *from, DType dtype, int64_t count, double *values) {
  for (int64_t i = 0; i < count; i++) {
    switch (dtype) {
    case DTYPE_F64: values[i] = ((const double *)from)[i]; break;
    case DTYPE_F32: values[i] = ((const float *)from)[i]; break;
    case DTYPE_I64: values[i] = (double)((const int64_t *)from)[i]; break;
    case DTYPE_I32: values[i] = ((const int32_t *)from)[i]; break;
    case DTYPE_U8:
    case DTYPE_BOOL: values[i] = ((const uint8_t *)from)[i]; break;
    case DTYPE_BF16:
    case DTYPE_F16: values[i] = half_value(((const uint16_t *)from)[i], dtype); break;
    default: panic("no values of type %s", dtype_name(dtype));
    }
  }
}

void storage_add(StorageWriter *writer, const char *name, DType dtype, const Tensor *value) {
  nnc_tensor *tensor = ARENA_NEW(writer->arena, nnc_tensor);
  Shape shape = value->type.shape;
  *tensor =
      (nnc_tensor){.name = name, .dtype = (int)dtype, .rank = shape.rank, .offset = writer->bytes};
  for (int i = 0; i < shape.rank; i++) tensor->dim[i] = shape.dim[i];
  writer->bytes += (type_bytes(type_make(dtype, shape)) + 63) / 64 * 64;
  vec_push(writer->arena, &writer->tensors, tensor);
  vec_push(writer->arena, &writer->values, value);
}

static void read_tensor(const void *source, const nnc_tensor *tensor, int64_t from, int64_t count,
                        void *to) {
  int64_t size = nnc_dtype_size(tensor->dtype);
  memcpy(to, (const char *)source + tensor->offset + from * size, (size_t)(count * size));
}

void storage_save(const StorageWriter *writer, const char *path) {
  char *bytes = ARENA_ARRAY(writer->arena, char, writer->bytes + 64);
  for (int i = 0; i < writer->tensors.count; i++)
    storage_from_values(writer->values.items[i], (DType)writer->tensors.items[i]->dtype,
                        bytes + writer->tensors.items[i]->offset);
  nnc_safetensors_content content = {.count = writer->tensors.count,
                                     .tensors = (const nnc_tensor *const *)writer->tensors.items,
                                     .read = read_tensor,
                                     .source = bytes};
  if (!nnc_safetensors_write(path, NULL, &content)) panic("cannot write %s", path);
}

double *storage_load(Arena *arena, nnc_safetensors *file, const char *name, Type type) {
  const nnc_stored *stored = nnc_safetensors_find(file, name);
  if (!stored) panic("the result lacks %s", name);
  int64_t count = shape_elements(type.shape), bytes = type_bytes(type);
  if ((int64_t)(stored->end - stored->begin) != bytes)
    panic("%s has %lld bytes in the result", name, (long long)(stored->end - stored->begin));
  char *raw = ARENA_ARRAY(arena, char, bytes + 8);
  double *values = ARENA_ARRAY(arena, double, count + 1);
  if (!nnc_safetensors_read(file, stored, raw)) panic("cannot read %s of the result", name);
  storage_to_values(raw, type.dtype, count, values);
  return values;
}

bool storage_files_equal(const char *a, const char *b) {
  FILE *one = fopen(a, "rb"), *two = fopen(b, "rb");
  if (!one || !two) panic("cannot read %s", one ? b : a);
  int c, d;
  do {
    c = getc(one);
    d = getc(two);
  } while (c == d && c != EOF);
  fclose(one);
  fclose(two);
  return c == d;
}
