/* Where the model's memory lies and where its entries run: here, memory of this process and a pool of
 * workers.
 *
 * Nothing else holds a pointer into that memory. It is read and written by tensors, in elements of the
 * tensor's type, dense and row-major, whatever the layout in which the device keeps them; so another
 * device, a packed layout or memory that is spread over machines is another implementation of this
 * header. Nothing is read or written while an entry runs. */
#ifndef NNC_DEVICE_H
#define NNC_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "nnc_model.h"

typedef struct nnc_device nnc_device;

/* Takes the model's memory, zeroed, and starts the workers. NULL after a message. */
nnc_device *nnc_device_open(const nnc_model *model, int workers);
void nnc_device_close(nnc_device *device); /* NULL is fine */

/* What the kernels of one run are told. */
typedef struct nnc_run {
  const double *scalars; /* the host's; they stay until the run ends */
  uint64_t seed;
  int64_t step;    /* 0 outside of training */
  int64_t example; /* the batch's first */
} nnc_run;

/* Runs an entry to its end. */
void nnc_device_run(nnc_device *device, const nnc_entry *entry, const nnc_run *run);

/* Elements [from, from + count) of a tensor. */
void nnc_device_read(const nnc_device *device, const nnc_tensor *tensor, int64_t from,
                     int64_t count, void *to);
void nnc_device_write(nnc_device *device, const nnc_tensor *tensor, int64_t from, int64_t count,
                      const void *values);

/* Element 0 as a double. */
double nnc_device_number(const nnc_device *device, const nnc_tensor *tensor);

/* Writing a tensor without a copy in between: the host fills the memory that begin_write gives, of
 * all its elements, and from end_write on they are the tensor's. What is not filled is undefined. */
void *nnc_device_begin_write(nnc_device *device, const nnc_tensor *tensor);
void nnc_device_end_write(nnc_device *device, const nnc_tensor *tensor);

/* For `profile`: from now on each run notes its times, those of worker w in marks[w * stride] and
 * the elements after it. NULL: it notes none. */
void nnc_device_mark(nnc_device *device, int64_t *marks, int64_t stride);

#endif
