/* What the machine can do: the peak of f32 fused multiply-adds and the bandwidth of memory.
 *
 *     cc -O2 -march=native -pthread bench/limits.c -o limits
 *     ./limits [THREADS [ROUNDS [fma|memory]]]
 *
 * Prints one JSON object: the best of ROUNDS rounds, GFLOP/s (a multiply-add counts two) and GB/s
 * of reading, of writing, of an update in place and of a scaled copy with ordinary stores (of both
 * the read and the written bytes count, what a store reads first does not). With a third word only
 * the one or the other. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
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

/* For some processors clang cuts vectors in two that the processor could take whole. */
#if defined __clang__ && defined __AVX512F__
#define WHOLE_VECTORS __attribute__((min_vector_width(512)))
#else
#define WHOLE_VECTORS
#endif

enum { FMA_STEPS = 100000, FMA_REPEATS = 20, MEMORY_BYTES = 256 << 20 };

typedef enum Job { JOB_FMA, JOB_READ, JOB_WRITE, JOB_UPDATE, JOB_COPY, JOB_COUNT } Job;

static pthread_barrier_t barrier;
static volatile float sink;

typedef struct Worker {
  int index, rounds;
  Job first, end; /* of the jobs that are measured */
  float *memory;
  double best[JOB_COUNT]; /* seconds, worker 0 only */
} Worker;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Every lane of the sums counts in the end, so no compiler can leave one out. */
WHOLE_VECTORS static void fma_peak(void) {
  vec sum[CHAINS], x = (vec){0} + 1.000001f, y = (vec){0} + 1e-7f, total = {0};
  for (int c = 0; c < CHAINS; c++) sum[c] = (vec){0} + (float)c;
  for (int i = 0; i < FMA_STEPS; i++)
#pragma GCC unroll 32
    for (int c = 0; c < CHAINS; c++) sum[c] = sum[c] * x + y;
  for (int c = 0; c < CHAINS; c++) total += sum[c];
  for (int lane = 0; lane < LANES; lane++) sink = total[lane];
}

WHOLE_VECTORS static void touch(float *memory, Job job) {
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
  if (worker->end > JOB_FMA + 1) memset(worker->memory, 0, MEMORY_BYTES);
  for (int round = 0; round < worker->rounds; round++)
    for (Job job = worker->first; job < worker->end; job++)
      for (int repeat = 0; repeat < (job == JOB_FMA ? FMA_REPEATS : 1); repeat++) {
        pthread_barrier_wait(&barrier);
        double start = now();
        if (job == JOB_FMA) fma_peak();
        else touch(worker->memory, job);
        pthread_barrier_wait(&barrier);
        double seconds = now() - start;
        if (round + repeat == 0 || seconds < worker->best[job]) worker->best[job] = seconds;
      }
  return NULL;
}

static void print(const double *best, int threads, bool has_fma, bool has_memory) {
  double flops = 2.0 * LANES * CHAINS * FMA_STEPS * threads, bytes = (double)MEMORY_BYTES * threads;
  printf("{\"threads\": %d", threads);
  if (has_fma) printf(", \"fma_gflops\": %.1f", flops / best[JOB_FMA] * 1e-9);
  if (has_memory)
    printf(", \"read_gbs\": %.1f, \"write_gbs\": %.1f, \"update_gbs\": %.1f, \"copy_gbs\": %.1f",
           bytes / best[JOB_READ] * 1e-9, bytes / best[JOB_WRITE] * 1e-9,
           2 * bytes / best[JOB_UPDATE] * 1e-9, bytes / best[JOB_COPY] * 1e-9);
  puts("}");
}

int main(int argc, char **argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 2, rounds = argc > 2 ? atoi(argv[2]) : 5;
  const char *only = argc > 3 ? argv[3] : "";
  bool has_fma = strcmp(only, "memory") != 0, has_memory = strcmp(only, "fma") != 0;
  bool is_word_known = !*only || !has_fma || !has_memory;
  if (threads < 1 || threads > 256 || rounds < 1 || !is_word_known) {
    fprintf(stderr, "usage: limits [THREADS [ROUNDS [fma|memory]]]\n");
    return 2;
  }
  Worker *workers = calloc((size_t)threads, sizeof *workers);
  pthread_t *handles = calloc((size_t)threads, sizeof *handles);
  if (!workers || !handles || pthread_barrier_init(&barrier, NULL, (unsigned)threads)) return 1;
  for (int i = 0; i < threads; i++) {
    workers[i] = (Worker){.index = i,
                          .rounds = rounds,
                          .first = has_fma ? JOB_FMA : JOB_FMA + 1,
                          .end = has_memory ? JOB_COUNT : JOB_FMA + 1,
                          .memory = aligned_alloc(1 << 21, MEMORY_BYTES)};
    if (!workers[i].memory) return 1;
    if (i > 0 && pthread_create(&handles[i], NULL, run, &workers[i])) return 1;
  }
  run(&workers[0]);
  for (int i = 1; i < threads; i++) pthread_join(handles[i], NULL);
  print(workers[0].best, threads, has_fma, has_memory);
  return 0;
}
