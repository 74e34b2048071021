/* How often training reads each example of a set, where that is not once an epoch. */
#ifndef NNC_DATA_SAMPLING_H
#define NNC_DATA_SAMPLING_H

#include <stdint.h>

/* The loader knows `order` and `close` alone, so that the rest is linked where a program samples. */
typedef struct DataSampling {
  /* The epoch's examples; a function of its arguments. `scratch` has room for `count` numbers. */
  void (*order)(const struct DataSampling *sampling, uint64_t seed, uint64_t stream,
                uint32_t *scratch, uint32_t *order);
  void (*close)(struct DataSampling *sampling);
  int64_t count; /* of examples, and of draws in an epoch */
  /* Weights, which may be of groups that follow each other, or groups that are drawn equally often: */
  double *weights; /* of each example */
  double total;
  int64_t group_count;
  uint32_t *members; /* the examples by group */
  int64_t *starts;   /* [group_count + 1] */
} DataSampling;

DataSampling *data_sampling_open(int64_t count); /* NULL: no memory */

#endif
