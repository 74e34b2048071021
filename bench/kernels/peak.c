/* The FMA peak of this machine in f32, one and two threads, for the ratio that bench/kernels
 * quotes.
 *
 *   cc -O3 -march=native -I runtime/abi bench/kernels/peak.c -o /tmp/peak -lpthread && /tmp/peak */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "nnc_vector.h"

enum { CHAINS = NNC_PICK(24, 12, 12), ROUNDS = 200000, REPEATS = 200 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds of the fastest of REPEATS rounds. */
static void *burn(void *result) {
  nnc_vec_f32 sum[CHAINS], x = nnc_splat_f32(1.000001f), y = nnc_splat_f32(1e-7f);
  for (int i = 0; i < CHAINS; i++) sum[i] = nnc_splat_f32((float)i);
  double best = 1e30;
  for (int repeat = 0; repeat < REPEATS; repeat++) {
    double start = now();
    for (int round = 0; round < ROUNDS / 10; round++)
      NNC_UNROLL for (int i = 0; i < CHAINS; i++) sum[i] = sum[i] * x + y;
    double time = now() - start;
    if (time < best) best = time;
  }
  volatile float sink = 0;
  for (int i = 0; i < CHAINS; i++) sink += sum[i][0];
  *(double *)result = best;
  return NULL;
}

int main(void) {
  double flop = 2.0 * CHAINS * NNC_LANES_f32 * (ROUNDS / 10);
  for (int threads = 1; threads <= 2; threads++) {
    pthread_t thread[2];
    double time[2] = {0, 0}, total = 0;
    for (int i = 0; i < threads; i++)
      if (pthread_create(&thread[i], NULL, burn, &time[i]) != 0) return 1;
    for (int i = 0; i < threads; i++)
      if (pthread_join(thread[i], NULL) != 0) return 1;
    for (int i = 0; i < threads; i++) total += flop / time[i];
    printf("{\"threads\":%d,\"gflops\":%.1f}\n", threads, total / 1e9);
  }
  return 0;
}
