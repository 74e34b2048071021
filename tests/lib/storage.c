/* Values and files of an executable: see storage.h. */
#include "lib/storage.h"

#include <stdio.h>

#include "support/panic.h"

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
    default: panic("no values of type %s", dtype_name(dtype));
    }
  }
}

void storage_add(StorageWriter *writer, const char *name, DType dtype, const Tensor *value) {
  nnc_tensor *tensor = ARENA_NEW(writer->arena, nnc_tensor);
  Shape shape = value->type.shape;
  *tensor = (nnc_tensor){
      .name = name, .dtype = (int)dtype, .rank = shape.rank, .offset = writer->bytes};
  for (int i = 0; i < shape.rank; i++) tensor->dim[i] = shape.dim[i];
  writer->bytes += (type_bytes(type_make(dtype, shape)) + 63) / 64 * 64;
  vec_push(writer->arena, &writer->tensors, tensor);
  vec_push(writer->arena, &writer->values, value);
}

void storage_save(const StorageWriter *writer, const char *path) {
  char *bytes = ARENA_ARRAY(writer->arena, char, writer->bytes + 64);
  for (int i = 0; i < writer->tensors.count; i++)
    storage_from_values(writer->values.items[i], (DType)writer->tensors.items[i]->dtype,
                        bytes + writer->tensors.items[i]->offset);
  if (!nnc_safetensors_write(path, NULL, writer->tensors.count,
                             (const nnc_tensor *const *)writer->tensors.items, bytes, 0, NULL))
    panic("cannot write %s", path);
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
