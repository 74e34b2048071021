/* Element types: sizes, names, and reading and writing one element as a double. */
#ifndef NNC_NUMBER_H
#define NNC_NUMBER_H

#include "nnc_model.h"

enum { NNC_DTYPE_COUNT = NNC_BOOL + 1 };

int64_t nnc_dtype_size(int dtype);
const char *nnc_dtype_name(int dtype);        /* "f32" */
const char *nnc_dtype_stored_name(int dtype); /* in safetensors: "F32" */
int nnc_dtype_find_stored(const char *name);  /* -1 when it is none of ours */
int nnc_dtype_is_float(int dtype);

double nnc_number_get(int dtype, const void *elements, int64_t index);

int64_t nnc_tensor_elements(const nnc_tensor *tensor);
int64_t nnc_tensor_bytes(const nnc_tensor *tensor);

/* "f32[784, 1000]" into a buffer of NNC_SHAPE_TEXT, which is returned. */
const char *nnc_tensor_type_text(char *buffer, int dtype, int rank, const int64_t *dim);
enum { NNC_SHAPE_TEXT = 32 + NNC_MAX_RANK * 22 };

#endif
