/* Marks from events: timeline.h.
 *
 * The device tells durations alone. The last event is taken to have passed just when the host learnt of
 * it, so what the device waited before its first kernel is before the first mark. */
#include "cuda/timeline.h"

#include <stdlib.h>

#include "cuda/failure.h"
#include "os/clock.h"
#include "os/exit.h"
#include "os/message.h"

struct nnc_moment {
  CuEvent event; /* NULL until it is needed */
  enum nnc_moment_kind kind;
  int number, count;
};

void nnc_timeline_begin(nnc_timeline *timeline, const nnc_gpu *gpu) {
  timeline->gpu = gpu;
  timeline->count = 0;
  timeline->begin = nnc_nanoseconds_now();
}

void nnc_timeline_close(nnc_timeline *timeline) {
  for (int i = 0; i < timeline->capacity; i++)
    if (timeline->moments[i].event) (void)nnc_cuda.event_destroy(timeline->moments[i].event);
  free(timeline->moments);
  *timeline = (nnc_timeline){0};
}

static void grow(nnc_timeline *timeline) {
  int capacity = timeline->capacity * 2 + 64;
  nnc_moment *moments = realloc(timeline->moments, (size_t)capacity * sizeof *moments);
  if (!moments) {
    nnc_error("cannot allocate %d marks", capacity);
    exit(NNC_EXIT_FAILURE);
  }
  for (int i = timeline->capacity; i < capacity; i++) moments[i] = (nnc_moment){0};
  timeline->moments = moments;
  timeline->capacity = capacity;
}

void nnc_timeline_note(nnc_timeline *timeline, enum nnc_moment_kind kind, int number, int count) {
  if (timeline->count == timeline->capacity) grow(timeline);
  nnc_moment *moment = &timeline->moments[timeline->count++];
  moment->kind = kind;
  moment->number = number;
  moment->count = count;
  if (kind == NNC_MOMENT_LAPS_END) return; /* no time of its own */
  if (!moment->event)
    nnc_cuda_must(nnc_cuda.event_create(&moment->event, CU_EVENT_TIMED), "create an event");
  nnc_cuda_must(nnc_cuda.event_record(moment->event, timeline->gpu->stream), "note a time");
}

/* As the functions of core/mark.c do. */
static void set_marks(const nnc_moment *moment, int64_t now, int64_t *lap, int64_t *marks) {
  int64_t *mark = marks + moment->number;
  switch (moment->kind) {
  case NNC_MOMENT_MARK: *mark = now; return;
  case NNC_MOMENT_LAPS_BEGIN:
    *lap = *mark = now;
    for (int i = 1; i <= moment->count; i++) mark[i] = 0;
    return;
  case NNC_MOMENT_LAP:
    *mark += now - *lap;
    *lap = now;
    return;
  case NNC_MOMENT_LAPS_END:
    for (int i = 1; i <= moment->count; i++) mark[i] += mark[i - 1];
    return;
  }
}

/* Nanoseconds from the first event to this one. */
static int64_t elapsed(const nnc_timeline *timeline, const nnc_moment *moment) {
  float milliseconds = 0;
  if (moment == timeline->moments) return 0;
  nnc_cuda_must(nnc_cuda.event_elapsed(&milliseconds, timeline->moments[0].event, moment->event),
                "read a time");
  return milliseconds > 0 ? (int64_t)((double)milliseconds * 1e6 + 0.5) : 0;
}

void nnc_timeline_finish(nnc_timeline *timeline, int64_t *marks) {
  int64_t lap = 0, last = 0, now = 0;
  nnc_cuda_must(nnc_cuda.stream_wait(timeline->gpu->stream), "wait for the run's end");
  int64_t end = nnc_nanoseconds_now();
  for (int i = timeline->count - 1; i >= 0 && last == 0; i--)
    if (timeline->moments[i].kind != NNC_MOMENT_LAPS_END)
      last = elapsed(timeline, &timeline->moments[i]);
  int64_t start = end - last > timeline->begin ? end - last : timeline->begin;
  for (int i = 0; i < timeline->count; i++) {
    const nnc_moment *moment = &timeline->moments[i];
    if (moment->kind != NNC_MOMENT_LAPS_END) {
      int64_t time = start + elapsed(timeline, moment);
      now = time > now ? time : now;
    }
    set_marks(moment, now, &lap, marks);
  }
}
