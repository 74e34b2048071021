/* What the machine can do: the peak of f32 fused multiply-adds and the bandwidth of memory.
 *
 *     cc -O2 -march=native -pthread bench/limits.c -o limits && ./limits [THREADS [ROUNDS]]
 *
 * Prints one JSON object: the best of ROUNDS rounds, GFLOP/s (a multiply-add counts two) and GB/s
 * of reading, of writing, of an update in place and of a scaled copy with ordinary stores (of both
 * the read and the written bytes count, what a store reads first does not). */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if defined __AVX512F__
enum { LANES = 16, CHAINS = 24 };
#else
enum { LANES = 8, CHAINS = 12 };
#endif
typedef float vec __attribute__((vector_size(LANES * 4)));

enum { FMA_STEPS = 2000000, MEMORY_BYTES = 256 << 20 };

typedef enum Job { JOB_FMA, JOB_READ, JOB_WRITE, JOB_UPDATE, JOB_COPY, JOB_COUNT } Job;

static pthread_barrier_t barrier;
static volatile float sink;

typedef struct Worker {
  int index, rounds;
  float *memory;
  double best[JOB_COUNT]; /* seconds, worker 0 only */
} Worker;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void fma_peak(void) {
  vec sum[CHAINS] = {{0}}, x = (vec){0} + 1.000001f, y = (vec){0} + 0.999999f;
  for (int i = 0; i < FMA_STEPS; i++)
#pragma GCC unroll 32
    for (int c = 0; c < CHAINS; c++) {
      sum[c] = sum[c] * x + y;
      __asm__ volatile("" : "+v"(sum[c]));
    }
  float total = 0;
  for (int c = 0; c < CHAINS; c++) total += sum[c][0];
  sink = total;
}

static void touch(float *memory, Job job) {
  vec *block = (vec *)memory, sum[4] = {{0}};
  size_t count = MEMORY_BYTES / sizeof(vec);
  if (job == JOB_READ) {
    for (size_t i = 0; i < count; i += 4)
      for (int k = 0; k < 4; k++) sum[k] += block[i + k];
    sink = sum[0][0] + sum[1][0] + sum[2][0] + sum[3][0];
  }
  if (job == JOB_WRITE) memset(memory, 1, MEMORY_BYTES);
  if (job == JOB_UPDATE)
    for (size_t i = 0; i < count; i++) block[i] = block[i] * 0.5f + 1;
  if (job == JOB_COPY)
    for (size_t i = 0; i < count / 2; i++) block[count / 2 + i] = block[i] * 0.5f + 1;
}

static void *run(void *argument) {
  Worker *worker = argument;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(worker->index, &set);
  sched_setaffinity(0, sizeof set, &set); /* best effort: an unpinned run is only less steady */
  memset(worker->memory, 0, MEMORY_BYTES);
  for (int round = 0; round < worker->rounds; round++)
    for (Job job = 0; job < JOB_COUNT; job++) {
      pthread_barrier_wait(&barrier);
      double start = now();
      if (job == JOB_FMA) fma_peak();
      else touch(worker->memory, job);
      pthread_barrier_wait(&barrier);
      double seconds = now() - start;
      if (round == 0 || seconds < worker->best[job]) worker->best[job] = seconds;
    }
  return NULL;
}

int main(int argc, char **argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 2, rounds = argc > 2 ? atoi(argv[2]) : 5;
  if (threads < 1 || threads > 256 || rounds < 1) {
    fprintf(stderr, "usage: limits [THREADS [ROUNDS]]\n");
    return 2;
  }
  Worker *workers = calloc((size_t)threads, sizeof *workers);
  pthread_t *handles = calloc((size_t)threads, sizeof *handles);
  if (!workers || !handles || pthread_barrier_init(&barrier, NULL, (unsigned)threads)) return 1;
  for (int i = 0; i < threads; i++) {
    workers[i] =
        (Worker){.index = i, .rounds = rounds, .memory = aligned_alloc(1 << 21, MEMORY_BYTES)};
    if (!workers[i].memory) return 1;
    if (i > 0 && pthread_create(&handles[i], NULL, run, &workers[i])) return 1;
  }
  run(&workers[0]);
  for (int i = 1; i < threads; i++) pthread_join(handles[i], NULL);
  const double *best = workers[0].best;
  double flops = 2.0 * LANES * CHAINS * FMA_STEPS * threads, bytes = (double)MEMORY_BYTES * threads;
  printf("{\"threads\": %d, \"fma_gflops\": %.1f, \"read_gbs\": %.1f, \"write_gbs\": %.1f, ",
         threads, flops / best[JOB_FMA] * 1e-9, bytes / best[JOB_READ] * 1e-9,
         bytes / best[JOB_WRITE] * 1e-9);
  printf("\"update_gbs\": %.1f, \"copy_gbs\": %.1f}\n", 2 * bytes / best[JOB_UPDATE] * 1e-9,
         bytes / best[JOB_COPY] * 1e-9);
  return 0;
}
