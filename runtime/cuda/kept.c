/* Copying the arrays and the tables: kept.h. */
#include "cuda/kept.h"

#include <stdlib.h>
#include <string.h>

#include "core/number.h"
#include "cuda/failure.h"
#include "nnc_cuda_program.h"
#include "os/assert.h"

enum { HEADER = 2 * sizeof(int64_t) };

/* --- Where the arrays lie ------------------------------------------------------------------- */

/* What is to be kept, and where. */
typedef struct Keeping {
  nnc_kept *kept;
  const nnc_kept_place *place;
  int count;
  const nnc_rows *rows;
} Keeping;

/* Whether array `i` lies in the memory of an earlier one. */
static bool is_shared(const nnc_rows *rows, int i, const void *memory) {
  for (int k = 0; k < i; k++)
    if (rows[k].held == memory || (const void *)rows[k].order == memory) return true;
  return false;
}

static int64_t order_bytes(const nnc_rows *rows) {
  return rows->order ? rows->order_count * (int64_t)sizeof *rows->order : 0;
}

/* Where the array `memory` lies, from the first one on; with NULL the bytes of all. */
static int64_t offset_of(const Keeping *keeping, const void *memory) {
  int64_t at = 0;
  for (int i = 0; i < keeping->count; i++) {
    const nnc_rows *rows = &keeping->rows[i];
    if (!is_shared(keeping->rows, i, rows->held)) {
      if (rows->held == memory) return at;
      at += nnc_gpu_rounded(rows->held_bytes);
    }
    if (rows->order && !is_shared(keeping->rows, i, rows->order)) {
      if ((const void *)rows->order == memory) return at;
      at += nnc_gpu_rounded(order_bytes(rows));
    }
  }
  return at;
}

static CuAddress address_of(const Keeping *keeping, const void *memory) {
  return keeping->kept->memory + (CuAddress)offset_of(keeping, memory);
}

static void copy_arrays(const Keeping *keeping) {
  nnc_transfer *transfer = keeping->place->transfer;
  for (int i = 0; i < keeping->count; i++) {
    const nnc_rows *rows = &keeping->rows[i];
    if (!is_shared(keeping->rows, i, rows->held))
      nnc_transfer_in(transfer, address_of(keeping, rows->held), rows->held, rows->held_bytes);
    if (rows->order && !is_shared(keeping->rows, i, rows->order))
      nnc_transfer_in(transfer, address_of(keeping, rows->order), rows->order, order_bytes(rows));
  }
}

/* --- Tables --------------------------------------------------------------------------------- */

static int kind_from(int dtype) {
  switch (dtype) {
  case NNC_U8:
  case NNC_BOOL: return NNC_FROM_U8;
  case NNC_I8: return NNC_FROM_I8;
  case NNC_U16: return NNC_FROM_U16;
  case NNC_I16: return NNC_FROM_I16;
  case NNC_U32: return NNC_FROM_U32;
  case NNC_I32: return NNC_FROM_I32;
  case NNC_F32: return NNC_FROM_F32;
  default: return -1;
  }
}

static int kind_to(int dtype) {
  switch (dtype) {
  case NNC_I32: return NNC_TO_I32;
  case NNC_I64: return NNC_TO_I64;
  case NNC_F32: return NNC_TO_F32;
  case NNC_F64: return NNC_TO_F64;
  default: return -1;
  }
}

/* Equal types are copied by as many bytes as rows have together: 16, or a divisor of it. */
static void choose_copies(nnc_cuda_rows *to, int64_t size, int64_t first) {
  int64_t row = to->width * size, step = to->step * size, bytes = 16;
  int kind = NNC_COPY_16;
  for (; (row | step | first) % bytes != 0; bytes /= 2) kind--;
  to->from = to->type = kind;
  to->width = row / bytes;
  to->step = step / bytes;
}

/* All but addresses; false where the kernel has no such conversion, or too many values to count. */
static bool fill_rows(nnc_cuda_rows *to, const nnc_rows *rows, const nnc_tensor *input) {
  int64_t elements = nnc_tensor_elements(input);
  *to = (nnc_cuda_rows){.width = rows->width,
                        .step = rows->step,
                        .rows = rows->is_batched ? input->dim[0] : 1,
                        .from = kind_from(rows->dtype),
                        .type = kind_to(input->dtype),
                        .is_batched = rows->is_batched};
  if (elements >= INT32_MAX || elements == 0 || to->rows * to->width != elements) return false;
  if (rows->dtype == input->dtype)
    choose_copies(to, nnc_dtype_size(rows->dtype), rows->values - rows->held);
  if (to->from < 0 || to->type < 0) return false;
  const int64_t of_block = NNC_GATHER_THREADS * NNC_GATHER_EACH;
  to->blocks = (to->rows * to->width + of_block - 1) / of_block;
  return true;
}

static const nnc_rows *find_rows(const Keeping *keeping, const char *name) {
  for (int i = 0; i < keeping->count; i++)
    if (strcmp(keeping->rows[i].input, name) == 0) return &keeping->rows[i];
  return NULL;
}

/* Bytes of an entry's table. */
static int64_t table_bytes(const nnc_entry *entry) {
  return nnc_gpu_rounded(HEADER + entry->input_count * (int64_t)sizeof(nnc_cuda_rows));
}

/* Fills the table of an entry; false where the kernel cannot fetch its inputs. */
static bool fill_table(const Keeping *keeping, const nnc_entry *entry, nnc_kept_table *table,
                       char *to) {
  int64_t inputs = entry->input_count, blocks = 0;
  memcpy(to, &inputs, sizeof inputs);
  for (int i = 0; i < entry->input_count; i++) {
    const nnc_rows *rows = find_rows(keeping, entry->inputs[i].name);
    nnc_cuda_rows filled;
    if (!rows || !fill_rows(&filled, rows, &entry->inputs[i])) return false;
    filled.values = address_of(keeping, rows->held) + (CuAddress)(rows->values - rows->held);
    if (rows->order) filled.order = address_of(keeping, rows->order);
    filled.to = keeping->place->arena + (CuAddress)entry->inputs[i].offset;
    filled.first_block = blocks;
    blocks += filled.blocks;
    memcpy(to + HEADER + i * (int64_t)sizeof filled, &filled, sizeof filled);
  }
  table->blocks = blocks > 0 ? blocks : 1;
  return blocks < INT32_MAX;
}

/* The tables of both entries go after the arrays. */
static bool write_table(const Keeping *keeping, const nnc_entry *entry, nnc_kept_table *table,
                        int64_t at) {
  char *text = calloc(1, (size_t)table_bytes(entry));
  bool good = text && (!entry->run || fill_table(keeping, entry, table, text));
  table->address = keeping->kept->memory + (CuAddress)at;
  if (good) nnc_transfer_in(keeping->place->transfer, table->address, text, table_bytes(entry));
  free(text);
  return good;
}

/* --- Opening -------------------------------------------------------------------------------- */

/* Half of what is free is left to others. */
static bool fits(const nnc_gpu *gpu, int64_t bytes) {
  size_t free = 0, total;
  int64_t limit = nnc_the_cuda_program.memory_limit;
  if (limit > 0 && gpu->planned + bytes > limit) return false;
  return nnc_cuda_worked(nnc_cuda.memory_info(&free, &total), "ask for the free memory") &&
         (uint64_t)bytes <= free / 2;
}

static bool take(nnc_kept *kept, int64_t bytes) {
  CuResult result = nnc_cuda.memory_take(&kept->memory, (size_t)bytes);
  return result != CU_OUT_OF_MEMORY && nnc_cuda_worked(result, "take memory for data");
}

bool nnc_kept_open(nnc_kept *kept, const nnc_kept_place *place, int count, const nnc_rows *rows) {
  const nnc_entry *train = &place->model->train, *accumulate = &place->model->accumulate;
  Keeping keeping = {kept, place, count, rows};
  *kept = (nnc_kept){.bytes = offset_of(&keeping, NULL)};
  int64_t second = kept->bytes + table_bytes(train), all = second + table_bytes(accumulate);
  kept->is_open = nnc_the_cuda_program.gather && fits(place->gpu, all) && take(kept, all) &&
                  write_table(&keeping, train, &kept->train, kept->bytes) &&
                  write_table(&keeping, accumulate, &kept->accumulate, second);
  if (kept->is_open) copy_arrays(&keeping);
  else nnc_kept_close(kept);
  return kept->is_open;
}

void nnc_kept_close(nnc_kept *kept) {
  if (kept->memory) (void)nnc_cuda.memory_free(kept->memory);
  *kept = (nnc_kept){0};
}

void nnc_kept_launch(const nnc_kept *kept, nnc_play *play, enum nnc_entry_number number,
                     const nnc_told *told) {
  NNC_ASSERT(kept->is_open && (number == NNC_RUN_TRAIN || number == NNC_RUN_ACCUMULATE));
  nnc_kept_table table = number == NNC_RUN_TRAIN ? kept->train : kept->accumulate;
  nnc_told own = *told;
  nnc_play_gather(play, table.blocks,
                  (void *[]){&table.address, &own.told, &own.state, &own.words});
}
