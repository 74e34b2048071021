/* Values of tensors in the types of an executable, and the files that its command `step` reads and
 * writes: what every program here needs that compares an executable with the interpreter. */
#ifndef NNC_TESTS_LIB_STORAGE_H
#define NNC_TESTS_LIB_STORAGE_H

#include <stdbool.h>

#include "nnc_model.h"
#include "ops/tensor.h"
#include "core/safetensors.h"
#include "support/vec.h"

/* Elements of a tensor as values of `dtype`, and back to doubles. */
void storage_from_values(const Tensor *tensor, DType dtype, void *into);
void storage_to_values(const void *from, DType dtype, int64_t count, double *values);

/* A file of tensors being gathered. */
typedef struct StorageWriter {
  Arena *arena;
  VEC(nnc_tensor *) tensors;
  VEC(const Tensor *) values; /* parallel; not copied */
  int64_t bytes;
} StorageWriter;

void storage_add(StorageWriter *writer, const char *name, DType dtype, const Tensor *value);
/* Panics when the file cannot be written. */
void storage_save(const StorageWriter *writer, const char *path);
/* `count` elements of the tensor `name`; panics when the file lacks it. */
double *storage_load(Arena *arena, nnc_safetensors *file, const char *name, Type type);

/* Panics when one of them cannot be read. */
bool storage_files_equal(const char *a, const char *b);

#endif
