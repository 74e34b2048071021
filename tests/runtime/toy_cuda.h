/* The toy as a program for CUDA, on the counting driver of tests/unit: its kernels are the entries that
 * processors run, each as one worker. */
#ifndef TOY_CUDA_H
#define TOY_CUDA_H

#include <stdlib.h>
#include <string.h>

#include "nnc_cuda_program.h"

/* Kernel KERNEL_NAME runs the entry; launched_NAME is the host code that launches it. */
#define LAUNCHED(name, number)                                                                     \
  __attribute__((visibility("default"))) void kernel_##name(const uint64_t *arguments);            \
  void kernel_##name(const uint64_t *arguments) {                                                  \
    const nnc_cuda_state *state = (const nnc_cuda_state *)arguments[3];                            \
    nnc_worker worker = {.count = 1,                                                               \
                         .arena = (char *)arguments[0],                                            \
                         .scratch = (char *)arguments[1],                                          \
                         .scalars = (const double *)arguments[2],                                  \
                         .seed = state->seed,                                                      \
                         .step = state->step,                                                      \
                         .example = state->example};                                               \
    run_##name(&worker);                                                                           \
  }                                                                                                \
  static void launched_##name(nnc_worker *worker) {                                                \
    nnc_cuda_state *state = nnc_cuda_state_of(worker);                                             \
    void *arguments[] = {&worker->arena, &worker->scratch, &worker->scalars, &state};              \
    nnc_mark(worker, 0);                                                                           \
    nnc_cuda_launch(worker, number, arguments);                                                    \
    for (int i = 1; i <= 6; i++) nnc_mark(worker, i);                                              \
  }
LAUNCHED(init, NNC_RUN_INIT)
LAUNCHED(train, NNC_RUN_TRAIN)
LAUNCHED(accumulate, NNC_RUN_ACCUMULATE)
LAUNCHED(eval, NNC_RUN_EVAL)
LAUNCHED(eval_one, NNC_RUN_EVAL_ONE)
LAUNCHED(predict, NNC_RUN_PREDICT)

static const unsigned char toy_image[] = "toy";
static const nnc_cuda_image toy_images[] = {{"sm_80", 0, toy_image, toy_image + 3},
                                            {"sm_90a", 0, toy_image, toy_image + 3}};
/* What nnc_gather of nnc_cuda_gather.h does: inputs of the toy have their data's types, or are widened from
 * bytes to floats. */
__attribute__((visibility("default"))) void kernel_gather(const uint64_t *arguments);
static void gather_value(const nnc_cuda_rows *rows, int64_t to, int64_t from) {
  const char *values = (const char *)rows->values;
  char *input = (char *)rows->to;
  if (rows->from == NNC_FROM_U8) {
    if (rows->type != NNC_TO_F32) abort();
    ((float *)input)[to] = ((const unsigned char *)values)[from];
    return;
  }
  if (rows->from > NNC_COPY_16) abort();
  size_t bytes = (size_t)1 << rows->from;
  memcpy(input + (size_t)to * bytes, values + (size_t)from * bytes, bytes);
}
void kernel_gather(const uint64_t *arguments) {
  const int64_t *count = (const int64_t *)arguments[0];
  const nnc_cuda_rows *rows = (const nnc_cuda_rows *)(count + 2);
  const uint64_t *told = (const uint64_t *)arguments[1];
  const uint32_t *examples = (const uint32_t *)(told + arguments[3]), *order;
  memcpy((void *)arguments[2], told, arguments[3] * sizeof *told);
  for (int64_t i = 0; i < *count; i++) {
    order = (const uint32_t *)rows[i].order;
    for (int64_t k = 0; k < rows[i].rows; k++) {
      int64_t row = !rows[i].is_batched ? 0 : order ? order[examples[k]] : examples[k];
      for (int64_t j = 0; j < rows[i].width; j++)
        gather_value(&rows[i], k * rows[i].width + j, row * rows[i].step + j);
    }
  }
}

static const nnc_cuda_kernel toy_kernels[] = {
    {"kernel_init", 0, 1, 32, 0, NULL, NULL},          {"kernel_train", 0, 1, 32, 0, NULL, NULL},
    {"kernel_accumulate", 0, 1, 32, 0, NULL, NULL},    {"kernel_eval", 0, 1, 32, 0, NULL, NULL},
    {"kernel_eval_one", 0, 1, 32, 0, NULL, NULL},      {"kernel_predict", 0, 1, 32, 0, NULL, NULL},
    {"kernel_predict_batch", 0, 1, 32, 0, NULL, NULL}, {"kernel_generate", 0, 1, 32, 0, NULL, NULL},
    {"kernel_gather", 0, 1, 256, 0, NULL, NULL}};
const nnc_cuda_program nnc_the_cuda_program = {
    1, 2, toy_images, NNC_ENTRY_COUNT + 1, toy_kernels, NULL, NULL, &toy_kernels[NNC_ENTRY_COUNT],
    0};

#endif
