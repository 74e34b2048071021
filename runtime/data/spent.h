/* What rows take that are made when they are read, as pictures: kinds of work, and sums. */
#ifndef NNC_DATA_SPENT_H
#define NNC_DATA_SPENT_H

#include <stdint.h>

enum nnc_data_work {
  NNC_DATA_READING,
  NNC_DATA_DECODING,
  NNC_DATA_SCALING, /* cutting, scaling, mirroring */
  NNC_DATA_CONVERTING,
  NNC_DATA_WORKS
};

/* The processor time of all threads together; zeros where no rows are made. */
typedef struct nnc_data_spent {
  int threads;
  int64_t rows;
  int64_t cached; /* of them, what the cache had */
  double seconds[NNC_DATA_WORKS];
} nnc_data_spent;

#endif
