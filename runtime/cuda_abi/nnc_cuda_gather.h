/* What the kernel nnc_gather does, which the runtime launches before a run: of data that the device keeps
 * (runtime/cuda/kept.h) it fetches the rows of a batch's examples to the inputs, and it tells the run what
 * it is told. All inputs are one launch, whose blocks find theirs by their number. */
#ifndef NNC_CUDA_GATHER_H
#define NNC_CUDA_GATHER_H

#include "nnc_cuda_machine.h"

/* nnc_cuda_rows of nnc_cuda_program.h, and the numbers there. */
typedef struct nnc_gather_input {
  uint64_t values, to, order;
  int64_t width, step, rows, first_block, blocks;
  int32_t from, type, is_batched, unused;
} nnc_gather_input;

typedef struct nnc_gather_table {
  int64_t count, unused;
  nnc_gather_input inputs[1]; /* `count` of them */
} nnc_gather_table;

enum { NNC_GATHER_U8 = 5, NNC_GATHER_I8, NNC_GATHER_U16, NNC_GATHER_I16, NNC_GATHER_U32 };
enum {
  NNC_GATHER_I32 = 10,
  NNC_GATHER_F32,
  NNC_GATHER_TO_I32,
  NNC_GATHER_TO_I64,
  NNC_GATHER_TO_F32
};
enum { NNC_GATHER_BLOCK = 256, NNC_GATHER_VALUES = 4 }; /* threads of a block, values of a thread */

typedef struct NNC_ALIGN(16) nnc_gather_16 {
  uint64_t low, high;
} nnc_gather_16;

template <class T>
NNC_DEVICE void nnc_gather_copy(uint64_t to, uint64_t from, int64_t t, int64_t f) {
  ((T *)to)[t] = ((const T *)from)[f];
}

/* Whole numbers of 32 bits or less. */
NNC_DEVICE int64_t nnc_gather_integer(uint64_t from, int64_t f, int type) {
  if (type == NNC_GATHER_U8) return ((const uint8_t *)from)[f];
  if (type == NNC_GATHER_I8) return ((const int8_t *)from)[f];
  if (type == NNC_GATHER_U16) return ((const uint16_t *)from)[f];
  if (type == NNC_GATHER_I16) return ((const int16_t *)from)[f];
  if (type == NNC_GATHER_U32) return ((const uint32_t *)from)[f];
  return ((const int32_t *)from)[f];
}

NNC_DEVICE void nnc_gather_widen(const nnc_gather_input *input, int64_t t, int64_t f) {
  if (input->from == NNC_GATHER_F32) { /* to the only longer type */
    ((double *)input->to)[t] = (double)((const float *)input->values)[f];
    return;
  }
  const int64_t value = nnc_gather_integer(input->values, f, input->from);
  if (input->type == NNC_GATHER_TO_I32) ((int32_t *)input->to)[t] = (int32_t)value;
  else if (input->type == NNC_GATHER_TO_I64) ((int64_t *)input->to)[t] = value;
  else if (input->type == NNC_GATHER_TO_F32) ((float *)input->to)[t] = (float)value;
  else ((double *)input->to)[t] = (double)value;
}

/* Value t of the input is value f of the data. */
NNC_DEVICE void nnc_gather_value(const nnc_gather_input *input, int64_t t, int64_t f) {
  const uint64_t to = input->to, from = input->values;
  switch (input->from) {
  case 0: nnc_gather_copy<uint8_t>(to, from, t, f); break;
  case 1: nnc_gather_copy<uint16_t>(to, from, t, f); break;
  case 2: nnc_gather_copy<uint32_t>(to, from, t, f); break;
  case 3: nnc_gather_copy<uint64_t>(to, from, t, f); break;
  case 4: nnc_gather_copy<nnc_gather_16>(to, from, t, f); break;
  default: nnc_gather_widen(input, t, f);
  }
}

NNC_DEVICE void nnc_gather_block(const nnc_gather_input *input, const uint32_t *examples) {
  const int64_t block = NNC_BLOCK_OF_GRID - input->first_block;
  const int64_t count = input->rows * input->width;
  for (int i = 0; i < NNC_GATHER_VALUES; i++) {
    const int64_t t = (block * NNC_GATHER_VALUES + i) * NNC_GATHER_BLOCK + NNC_THREAD;
    if (t >= count) return;
    const uint32_t row_of_batch = (uint32_t)t / (uint32_t)input->width; /* all fit into 31 bits */
    int64_t row = input->is_batched ? examples[row_of_batch] : 0;
    if (input->is_batched && input->order) row = ((const uint32_t *)input->order)[row];
    nnc_gather_value(input, t, row * input->step + t - row_of_batch * input->width);
  }
}

/* `told`: so many words of the state and its scalars, then the numbers of the batch's examples. */
NNC_DEVICE void nnc_gather_rows(const nnc_gather_table *table, const uint64_t *told,
                                uint64_t *state, int64_t words) {
  if (NNC_BLOCK_OF_GRID == 0)
    for (int64_t i = NNC_THREAD; i < words; i += NNC_GATHER_BLOCK) state[i] = told[i];
  for (int64_t i = 0; i < table->count; i++) {
    const nnc_gather_input *const input = &table->inputs[i];
    if (NNC_BLOCK_OF_GRID < input->first_block + input->blocks) {
      nnc_gather_block(input, (const uint32_t *)(told + words));
      return;
    }
  }
}

#endif
