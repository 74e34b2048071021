/* How fast this machine can be: code that does nothing but multiply-add, and code that does nothing
 * but read memory.  It is compiled with the model, for the same instruction set, and `profile`
 * times it (speed.c) to say what a step could at best take.
 *
 * Both run on all workers of a pool of their own, whose arena is what is read; the scalars say how
 * much. */
#ifndef NNC_LIMITS_H
#define NNC_LIMITS_H

#include "nnc_parallel.h"
#include "nnc_vector.h"

typedef struct nnc_limits {
  const char *float_name;               /* "f32": what `multiply` computes in */
  double flops;                         /* of one round of `multiply`, in each worker */
  void (*multiply)(nnc_worker *worker); /* scalars[0] rounds */
  void (*read)(nnc_worker *worker);     /* its share of scalars[0] bytes, scalars[1] times */
} nnc_limits;

/* Independent chains hide the latency of a multiply-add: 4 cycles, two a cycle, and some to spare.
 * The smallest target has 16 registers; two hold the factors. */
enum { NNC_LIMIT_CHAINS = 12, NNC_LIMIT_REPEATS = 1000 };

/* A round is NNC_LIMIT_REPEATS multiply-adds in every lane of every chain; values fall to 1. */
#define NNC_DEFINE_MULTIPLY(name)                                                                  \
  static void nnc_multiply_##name(nnc_worker *worker) {                                            \
    const nnc_vec_##name half = nnc_splat_##name(0.5f);                                            \
    nnc_vec_##name chains[NNC_LIMIT_CHAINS], sum = {0};                                            \
    NNC_UNROLL for (int i = 0; i < NNC_LIMIT_CHAINS; i++) chains[i] =                              \
        nnc_splat_##name(2 + (float)i * 0.125f);                                                   \
    for (int64_t left = (int64_t)worker->scalars[0] * NNC_LIMIT_REPEATS; left > 0; left--) {       \
      NNC_UNROLL for (int i = 0; i < NNC_LIMIT_CHAINS; i++) chains[i] = chains[i] * half + half;   \
    }                                                                                              \
    NNC_UNROLL for (int i = 0; i < NNC_LIMIT_CHAINS; i++) sum += chains[i];                        \
    nnc_store_##name((void *)worker->scratch, sum);                                                \
  }

__attribute__((unused)) static void nnc_read_memory(nnc_worker *worker) {
  enum { STREAMS = 8 };
  const int64_t block = STREAMS * NNC_VECTOR_BYTES;
  nnc_vec_i64 sums[STREAMS] = {0}, sum = {0};
  for (int64_t left = (int64_t)worker->scalars[1]; left > 0; left--) {
    NNC_TASKS(worker, (int64_t)worker->scalars[0] / block, task) {
      const char *from = worker->arena + task * block;
      NNC_UNROLL for (int i = 0; i < STREAMS; i++) sums[i] ^=
          nnc_load_i64((const void *)(from + i * NNC_VECTOR_BYTES));
    }
    __asm__ volatile("" ::: "memory"); /* it is read again */
  }
  NNC_UNROLL for (int i = 0; i < STREAMS; i++) sum ^= sums[i];
  nnc_store_i64((void *)worker->scratch, sum);
}

/* The table of a model that computes in f32 or f64. */
#define NNC_DEFINE_LIMITS(name)                                                                    \
  NNC_DEFINE_MULTIPLY(name)                                                                        \
  static const nnc_limits nnc_limits_##name = {                                                    \
      #name, 2.0 * NNC_LIMIT_CHAINS * NNC_LANES_##name * NNC_LIMIT_REPEATS, nnc_multiply_##name,   \
      nnc_read_memory}

#endif
