/* What a device can do at best; this machine's processors are measured with the code of nnc_limits.h in
 * some 0.3 seconds. */
#ifndef NNC_SPEED_H
#define NNC_SPEED_H

#include <stdbool.h>

#include "core/device.h"

typedef struct nnc_speed {
  double flops[NNC_UNIT_COUNT];         /* a second, all workers together, by what multiplies */
  double bandwidth;                     /* bytes a second, read by all workers */
  int64_t read_bytes;                   /* memory over which it was measured */
  char flops_of[192], bandwidth_of[96]; /* what does so much: "multiply-add in f32 for x86-64" */
} nnc_speed;

/* False after a message. */
bool nnc_speed_measure(nnc_device *device, const nnc_model *model, int threads, nnc_speed *speed);

#endif
