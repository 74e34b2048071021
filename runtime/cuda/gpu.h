/* The GPU that the program runs on: found, opened, its memory taken. */
#ifndef NNC_CUDA_GPU_H
#define NNC_CUDA_GPU_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/driver.h"

typedef struct nnc_gpu {
  int number; /* as --device names it */
  CuDevice device;
  char name[128];
  int major, minor; /* the compute capability */
  int multiprocessors;
  size_t memory;   /* bytes */
  int64_t planned; /* bytes of it that the program takes in all */
  CuContext context;
  CuStream stream;      /* in which everything runs, one after the other */
  CuStream copy_stream; /* in which inputs arrive meanwhile */
} nnc_gpu;

/* Finds device `number` (negative: the first) without opening it; false with a message of NNC_MESSAGE
 * bytes. */
bool nnc_gpu_find(nnc_gpu *gpu, int number, char *message);

/* Opens the device that was found, for this thread; false after a message. */
bool nnc_gpu_open(nnc_gpu *gpu);
void nnc_gpu_close(nnc_gpu *gpu);

/* "device 0 (NVIDIA H200)" in a buffer of NNC_GPU_TEXT bytes, which is returned. */
const char *nnc_gpu_text(char *text, const nnc_gpu *gpu);
enum { NNC_GPU_TEXT = 192 };

/* An event that tells when what was put into a stream has run; NULL after a message. */
CuEvent nnc_gpu_event(unsigned flags);

/* Parts of what is taken at once begin at multiples of so many bytes. */
enum { NNC_GPU_ALIGNMENT = 256 };
static inline int64_t nnc_gpu_rounded(int64_t bytes) {
  return (bytes + NNC_GPU_ALIGNMENT - 1) / NNC_GPU_ALIGNMENT * NNC_GPU_ALIGNMENT;
}

/* Memory of the device, not zeroed; false after a message that tells what is free. `purpose`: as in
 * "cannot take 4.00 MB for PURPOSE". */
bool nnc_gpu_take(const nnc_gpu *gpu, CuAddress *address, int64_t bytes, const char *purpose);

/* Memory of the host that the device copies from and to by itself; NULL after a message. `purpose`: as
 * in "cannot take 4.00 MB of the host's memory for PURPOSE". */
void *nnc_gpu_take_pinned(int64_t bytes, const char *purpose);

#endif
