/* NumPy's format, for other files than the source `npy`. */
#ifndef NNC_DATA_NPY_H
#define NNC_DATA_NPY_H

#include "data/file.h"

/* The array of a file in its own number type, allocated in field->values; 1 when its
 * shape, which field then has, is not the tensor's. */
int data_npy_read(const DataContext *context, DataFile *file, DataField *field,
                  const nnc_tensor *tensor);

/* The array of a source's field, held against its input. */
int data_npy_load(const DataContext *context, DataFile *file, DataField *field);

#endif
