/* Where an entry's accumulators lie: the few spans of the arena that are copied out after each run. */
#ifndef NNC_CUDA_NUMBERS_H
#define NNC_CUDA_NUMBERS_H

#include <stdbool.h>

#include "nnc_model.h"

typedef struct nnc_span {
  int64_t offset, bytes; /* in the arena */
  int64_t at;            /* in what is copied out */
} nnc_span;

typedef struct nnc_numbers {
  int count;
  nnc_span *spans;
  int64_t bytes; /* of all */
} nnc_numbers;

bool nnc_numbers_open(nnc_numbers *numbers, const nnc_entry *entry); /* false after a message */
void nnc_numbers_close(nnc_numbers *numbers);

/* Where the tensor's first element is in what is copied out; -1: it is not. */
int64_t nnc_numbers_find(const nnc_numbers *numbers, const nnc_tensor *tensor);

#endif
