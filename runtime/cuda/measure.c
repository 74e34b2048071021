/* The bounds of core/speed.h for an NVIDIA GPU: multiply-add by the numbers that the driver tells, memory by
 * copying.
 *
 * Cores of a multiprocessor: CUDA C++ Programming Guide, "Arithmetic Instructions", results a clock cycle
 * of 32-bit floating-point multiply-add. */
#include "cuda/measure.h"

#include <stdio.h>

#include "core/speed.h"
#include "cuda/failure.h"
#include "os/memory.h"

enum { MOST_BYTES = 256 << 20, LEAST_BYTES = 1 << 20, REPEATS = 8 };

static int cores_of(const nnc_gpu *gpu) {
  int capability = 10 * gpu->major + gpu->minor;
  return capability < 80 || capability == 80 ? 64 : 128;
}

static bool find_flops(const nnc_gpu *gpu, nnc_speed *speed) {
  int clock;
  if (!nnc_cuda_worked(nnc_cuda.device_attribute(&clock, CU_CLOCK_RATE, gpu->device),
                       "ask the device for its clock"))
    return false;
  speed->flops = 2.0 * cores_of(gpu) * gpu->multiprocessors * clock * 1e3;
  snprintf(speed->flops_of, sizeof speed->flops_of,
           "multiply-add in f32, %d multiprocessors of %d cores at %d MHz", gpu->multiprocessors,
           cores_of(gpu), clock / 1000);
  return true;
}

/* Milliseconds of the fastest copy; negative after a message. */
static float time_copies(const nnc_gpu *gpu, CuAddress from, CuAddress to, size_t bytes) {
  const char *doing = "measure the device's memory";
  CuEvent begin = nnc_gpu_event(CU_EVENT_TIMED), end = nnc_gpu_event(CU_EVENT_TIMED);
  float best = -1;
  bool good = begin && end;
  for (int i = 0; good && i < REPEATS; i++) {
    float taken = 0;
    good = nnc_cuda_worked(nnc_cuda.event_record(begin, gpu->stream), doing) &&
           nnc_cuda_worked(nnc_cuda.copy_within(to, from, bytes, gpu->stream), doing) &&
           nnc_cuda_worked(nnc_cuda.event_record(end, gpu->stream), doing) &&
           nnc_cuda_worked(nnc_cuda.stream_wait(gpu->stream), doing) &&
           nnc_cuda_worked(nnc_cuda.event_elapsed(&taken, begin, end), doing);
    if (taken > 0 && (best < 0 || taken < best)) best = taken;
  }
  if (begin) (void)nnc_cuda.event_destroy(begin);
  if (end) (void)nnc_cuda.event_destroy(end);
  return good ? best : -1;
}

/* Each byte is read and written. */
static bool find_bandwidth(const nnc_gpu *gpu, nnc_speed *speed) {
  size_t free = 0, total, bytes;
  char text[NNC_FORMAT_BYTES];
  CuAddress from = 0, to = 0;
  float taken = -1;
  (void)nnc_cuda.memory_info(&free, &total); /* else little is taken */
  bytes = free / 4 < MOST_BYTES ? free / 4 / LEAST_BYTES * LEAST_BYTES : MOST_BYTES;
  if (bytes < LEAST_BYTES) bytes = LEAST_BYTES;
  if (nnc_gpu_take(gpu, &from, (int64_t)bytes, "the measurement of memory") &&
      nnc_gpu_take(gpu, &to, (int64_t)bytes, "the measurement of memory"))
    taken = time_copies(gpu, from, to, bytes);
  if (from) (void)nnc_cuda.memory_free(from);
  if (to) (void)nnc_cuda.memory_free(to);
  if (taken < 0) return false;
  speed->read_bytes = (int64_t)bytes;
  speed->bandwidth = 2 * (double)bytes / ((double)taken * 1e-3);
  snprintf(speed->bandwidth_of, sizeof speed->bandwidth_of, "copying %s within its memory",
           nnc_format_bytes(text, (double)bytes));
  return true;
}

bool nnc_speed_measure(nnc_device *device, const nnc_model *model, int threads, nnc_speed *speed) {
  const nnc_gpu *gpu = nnc_cuda_gpu_of(device);
  (void)model;
  (void)threads;
  *speed = (nnc_speed){0};
  return find_flops(gpu, speed) && find_bandwidth(gpu, speed);
}
