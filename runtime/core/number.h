/* Element types: sizes, names, and reading and writing one element as a double. */
#ifndef NNC_NUMBER_H
#define NNC_NUMBER_H

#include <math.h>

#include "nnc_model.h"

enum { NNC_DTYPE_COUNT = NNC_BOOL + 1 };

/* Number types of files that no tensor has; they continue enum nnc_dtype. */
enum { NNC_I8 = NNC_DTYPE_COUNT, NNC_I16, NNC_U16, NNC_U32, NNC_ALL_DTYPE_COUNT };

int64_t nnc_dtype_size(int dtype);
const char *nnc_dtype_name(int dtype);        /* "f32" */
const char *nnc_dtype_stored_name(int dtype); /* in safetensors: "F32"; of a tensor's type */
int nnc_dtype_find_stored(const char *name);  /* -1 when no tensor has it */
int nnc_dtype_is_float(int dtype);

double nnc_number_get(int dtype, const void *elements, int64_t index);

/* As it is printed: NaN has no sign, which printf would show. */
static inline double nnc_number_told(double value) { return isnan(value) ? NAN : value; }

int64_t nnc_tensor_elements(const nnc_tensor *tensor);
int64_t nnc_tensor_bytes(const nnc_tensor *tensor);

/* "f32[784, 1000]" into a buffer of NNC_SHAPE_TEXT, which is returned. */
const char *nnc_tensor_type_text(char *buffer, int dtype, int rank, const int64_t *dim);
enum { NNC_SHAPE_TEXT = 32 + NNC_MAX_RANK * 22 };

#endif
