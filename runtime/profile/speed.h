/* What this machine can do at best, measured with the code of nnc_limits.h in some 0.3 seconds. */
#ifndef NNC_SPEED_H
#define NNC_SPEED_H

#include <stdbool.h>

#include "nnc_model.h"

typedef struct nnc_speed {
  double flops;       /* a second, all workers together */
  double bandwidth;   /* bytes a second, read by all workers */
  int64_t read_bytes; /* memory over which it was measured */
} nnc_speed;

/* False after a message. */
bool nnc_speed_measure(const nnc_model *model, int threads, nnc_speed *speed);

#endif
