/* For `profile`: the marks of a run on the device, as events in the stream between the kernels. */
#ifndef NNC_CUDA_TIMELINE_H
#define NNC_CUDA_TIMELINE_H

#include <stdint.h>

#include "cuda/gpu.h"

typedef struct nnc_moment nnc_moment;

typedef struct nnc_timeline {
  const nnc_gpu *gpu;
  int count, capacity;
  nnc_moment *moments; /* of the run, in order; their events are used again by the next */
  int64_t begin;       /* when the host began it, as nnc_nanoseconds_now has it */
} nnc_timeline;

enum nnc_moment_kind {
  NNC_MOMENT_MARK,       /* as nnc_mark: `number` */
  NNC_MOMENT_LAPS_BEGIN, /* as nnc_laps_begin: `number` is the first, `count` */
  NNC_MOMENT_LAP,        /* as nnc_lap: `number` */
  NNC_MOMENT_LAPS_END    /* as nnc_laps_end: `number` is the first, `count` */
};

void nnc_timeline_begin(nnc_timeline *timeline, const nnc_gpu *gpu);
void nnc_timeline_close(nnc_timeline *timeline);

/* Ends the program after a message where it fails. */
void nnc_timeline_note(nnc_timeline *timeline, enum nnc_moment_kind kind, int number, int count);

/* Waits for the run and sets the marks in nanoseconds, on the clock of nnc_nanoseconds_now. */
void nnc_timeline_finish(nnc_timeline *timeline, int64_t *marks);

#endif
