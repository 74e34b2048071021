/* Where the model's memory lies and where its entries run: here, memory of this process and a pool of
 * workers.
 *
 * Nothing else holds a pointer into that memory. It is read and written by tensors, in elements of the
 * tensor's type, dense and row-major, whatever the layout in which the device keeps them; so another
 * device, a packed layout or memory that is spread over machines is another implementation of this
 * header (runtime/cuda). Nothing is read or written while an entry runs. */
#ifndef NNC_DEVICE_H
#define NNC_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "nnc_model.h"

typedef struct nnc_device nnc_device;

/* Whether a machine may have several such devices, of which --device names one. */
bool nnc_device_has_number(void);

/* What device `number` is (negative: the first), or why it cannot be used, in NNC_MESSAGE bytes. False:
 * there is nothing to say, it is the machine's processors. */
bool nnc_device_describe(const nnc_model *model, int number, char *text);
/* Its name alone, "NVIDIA H200", in NNC_MESSAGE bytes. False: the program computes on the machine's
 * processors, or the device cannot be used. */
bool nnc_device_name(const nnc_model *model, int number, char *name);
/* What the kernels are compiled for: architecture `index`, as "sm_90a"; NULL after the last. What is
 * compiled for processors is in the model's levels. */
const char *nnc_device_architecture(int index);

/* Takes the model's memory, zeroed, and starts the workers; `number` as above. NULL after a message. */
nnc_device *nnc_device_open(const nnc_model *model, int workers, int number);
void nnc_device_close(nnc_device *device); /* NULL is fine */

/* What the kernels of one run are told. */
typedef struct nnc_run {
  const double *scalars; /* the host's; read before nnc_device_run returns */
  uint64_t seed;
  int64_t step;    /* 0 outside of training */
  int64_t example; /* the batch's first */
  /* Of data that the device keeps: the examples whose rows are the inputs, as many as the entry's batch
   * has; read as the scalars. NULL: the inputs were written. */
  const uint32_t *examples;
} nnc_run;

/* The rows of an input, as the host holds them: those of example e begin at value
 * `step` times (order[e], or e) of `values`. */
typedef struct nnc_rows {
  const char *input; /* its name */
  int dtype;         /* of the values; the input's, or one that widens to it (core/convert.h) */
  bool is_batched;   /* else they are the whole input, whatever the examples */
  int64_t width;     /* values in a row */
  int64_t step;      /* from a row to the next: less than `width` where they overlap */
  const char *values;
  /* where the memory begins that they lie in, perhaps with those of other inputs */
  const char *held;
  int64_t held_bytes;
  const uint32_t *order; /* NULL: none */
  int64_t order_count;
} nnc_rows;

/* Lets the device copy all rows into its own memory, so that runs of training are told examples and no
 * inputs are written. It may then take the runs of several steps together, of at most `group` (0: as many
 * as it chooses). False: it does not, for want of memory, or since it has the host's. */
bool nnc_device_keep(nnc_device *device, int count, const nnc_rows *rows, int64_t group);
int64_t nnc_device_kept_bytes(const nnc_device *device);

/* Those that run entries and note times: of a device that is no processor of this machine one. */
int nnc_device_workers(const nnc_device *device);

/* Runs an entry, in order with all else that is done here: the device may be at work when this returns,
 * but nothing shows of that, except in time. The entry stays where it is as long as the device. */
void nnc_device_run(nnc_device *device, const nnc_entry *entry, const nnc_run *run);

/* Until all runs have ended. */
void nnc_device_wait(const nnc_device *device);

/* Elements [from, from + count) of a tensor. */
void nnc_device_read(const nnc_device *device, const nnc_tensor *tensor, int64_t from,
                     int64_t count, void *to);
void nnc_device_write(nnc_device *device, const nnc_tensor *tensor, int64_t from, int64_t count,
                      const void *values);

/* Element 0 as a double. */
double nnc_device_number(const nnc_device *device, const nnc_tensor *tensor);

/* The number of the last run, from 1, where runs may be under way; 0: the last has ended. */
int64_t nnc_device_under_way(const nnc_device *device);
/* Element 0 of an accumulator as run number `run` left it, which is one of the last
 * NNC_DEVICE_KEEPS, or of the last nnc_device_behind() + 1: waits for that run alone, and those that the device
 * takes together with it. Where no run is under way it is what the tensor holds. */
double nnc_device_left(const nnc_device *device, int64_t run, const nnc_tensor *tensor);
enum { NNC_DEVICE_KEEPS = 3 };
/* How many runs back the host looks at numbers without holding up the device: 0 where none is under way. */
int64_t nnc_device_behind(const nnc_device *device);

/* Writing a tensor without a copy in between: the host fills the memory that begin_write gives, of
 * all its elements, and from end_write on they are the tensor's. What is not filled is undefined. */
void *nnc_device_begin_write(nnc_device *device, const nnc_tensor *tensor);
void nnc_device_end_write(nnc_device *device, const nnc_tensor *tensor);

/* For `profile`: from now on each run notes its times, those of worker w in marks[w * stride] and
 * the elements after it. NULL: it notes none. */
void nnc_device_mark(nnc_device *device, int64_t *marks, int64_t stride);

/* What looks at the steps of runs: told when an entry begins, and when `number` of its steps are done. */
typedef struct nnc_onlooker nnc_onlooker;
struct nnc_onlooker {
  void (*begin)(nnc_onlooker *onlooker, const nnc_entry *entry);
  void (*look)(nnc_onlooker *onlooker, int number);
};

/* From now on runs go step by step, and the onlooker may read memory as it lies there, of the arena or of the worker's
 * block. NULL: no more. */
void nnc_device_watch(nnc_device *device, nnc_onlooker *onlooker);
void nnc_device_peek(const nnc_device *device, bool is_in_block, int64_t offset, int64_t bytes,
                     void *to);

#endif
