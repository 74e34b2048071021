/* The bounds of core/speed.h for an NVIDIA GPU: multiply-add by the numbers that the driver tells, memory by
 * copying.
 *
 * Multiply-adds of a multiprocessor in a clock cycle: by threads, CUDA C++ Programming Guide, "Arithmetic
 * Instructions"; by tensor cores, NVIDIA's white papers of the A100, Ada, H100 and Blackwell architectures
 * (GeForce cards have half of that in 16 bits). */
#include "cuda/measure.h"

#include <stdio.h>

#include "core/speed.h"
#include "cuda/failure.h"
#include "os/memory.h"

enum { MOST_BYTES = 256 << 20, LEAST_BYTES = 1 << 20, REPEATS = 8 };

/* Multiply-adds of a multiprocessor in a clock cycle. */
typedef struct Rates {
  int capability; /* and those above it, up to the next row */
  int plain;      /* in f32, by threads */
  int half, tf32; /* by tensor cores, of dense matrices, with sums in f32 */
} Rates;

static const Rates rates[] = {{80, 64, 1024, 512},    {86, 128, 512, 256},    {90, 128, 2048, 1024},
                              {100, 128, 4096, 2048}, {110, 128, 4096, 2048}, {120, 128, 512, 256}};

static const Rates *rates_of(const nnc_gpu *gpu) {
  const Rates *found = rates;
  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
    if (rates[i].capability <= 10 * gpu->major + gpu->minor) found = &rates[i];
  return found;
}

static bool find_flops(const nnc_gpu *gpu, nnc_speed *speed) {
  const Rates *each = rates_of(gpu);
  int clock;
  if (!nnc_cuda_worked(nnc_cuda.device_attribute(&clock, CU_CLOCK_RATE, gpu->device),
                       "ask the device for its clock"))
    return false;
  double of_one = 2.0 * gpu->multiprocessors * clock * 1e3;
  speed->flops[NNC_UNIT_PLAIN] = of_one * each->plain;
  speed->flops[NNC_UNIT_HALF] = of_one * each->half;
  speed->flops[NNC_UNIT_TF32] = of_one * each->tf32;
  snprintf(speed->flops_of, sizeof speed->flops_of,
           "multiply-add in f32, %d multiprocessors of %d cores at %d MHz; products of 16 bits "
           "%.1f, of tf32 %.1f TFLOP/s",
           gpu->multiprocessors, each->plain, clock / 1000, speed->flops[NNC_UNIT_HALF] * 1e-12,
           speed->flops[NNC_UNIT_TF32] * 1e-12);
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
