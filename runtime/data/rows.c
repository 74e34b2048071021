/* Rows of a table: random orders, choosing and compacting.
 *
 * Orders are Fisher-Yates shuffles drawn from a counter-based generator: draw i of an order is a
 * hash of (seed, stream, i), so any epoch's order can be computed again without those before it.
 */
#include "data/rows.h"

#include <stdlib.h>
#include <string.h>

#include "core/convert.h"
#include "core/number.h"
#include "data/call.h"
#include "data/class.h"
#include "data/table.h"
#include "data/visit.h"
#include "os/assert.h"

/* The finalizer of SplitMix64 (Steele, Lea, Flood 2014): a bijection that mixes all bits. */
static uint64_t mix(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

static const uint64_t golden = 0x9e3779b97f4a7c15u;

static uint64_t order_key(uint64_t seed, uint64_t stream) {
  return mix(mix(seed + golden) ^ mix(stream * golden + 1));
}

__attribute__((noinline)) static void exchange(uint64_t key, int64_t count, uint32_t *order) {
  for (int64_t i = count - 1; i > 0; i--) {
    uint64_t bits = mix(key + (uint64_t)i * golden);
    /* 64 random bits scaled to [0, i]: biased by less than 2^-32 */
    uint64_t j = (uint64_t)((unsigned __int128)bits * (uint64_t)(i + 1) >> 64);
    uint32_t swapped = order[i];
    order[i] = order[j];
    order[j] = swapped;
  }
}

void data_permutation(uint64_t seed, uint64_t stream, int64_t count, uint32_t *order) {
  NNC_ASSERT(count >= 0 && count <= UINT32_MAX);
  for (int64_t i = 0; i < count; i++) order[i] = (uint32_t)i;
  exchange(order_key(seed, stream), count, order);
}

void data_shuffle_part(uint64_t seed, uint64_t stream, uint64_t part, int64_t count,
                       uint32_t *numbers) {
  exchange(mix(order_key(seed, stream) ^ mix((part + 1) * golden)), count, numbers);
}

double data_order_fraction(uint64_t seed, uint64_t stream) {
  return (double)(mix(order_key(seed, stream) ^ golden) >> 11) * 0x1p-53;
}

uint64_t data_random_bits(const DataVisit *visit, uint64_t stream, uint64_t index) {
  uint64_t key = mix(visit->seed + golden);
  key = mix(key ^ mix((uint64_t)(visit->epoch + 2) * golden));
  key = mix(key ^ mix((uint64_t)visit->number * golden + stream));
  return mix(key + index * golden);
}

int64_t data_random_below(const DataVisit *visit, uint64_t stream, uint64_t index, int64_t bound) {
  NNC_ASSERT(bound > 0);
  return (int64_t)((unsigned __int128)data_random_bits(visit, stream, index) * (uint64_t)bound >>
                   64);
}

int data_table_need_order(const DataContext *context, DataTable *table) {
  if (table->order) return 0;
  table->order = malloc((size_t)table->count * sizeof *table->order + 1);
  if (!table->order) return data_fail_memory(context, "the order of the rows", table->count * 4);
  for (int64_t i = 0; i < table->count; i++) table->order[i] = (uint32_t)i;
  return 0;
}

static void compact_field(DataField *field, const uint32_t *chosen, int64_t count) {
  if (!field->input || !field->batched) return;
  field->dim[0] = count;
  if (field->is_made) return;
  size_t size = (size_t)field->width * (size_t)nnc_dtype_size(field->dtype);
  for (int64_t i = 0; i < count; i++) {
    NNC_ASSERT(chosen[i] >= i); /* rows move to the front, past none that is still to be moved */
    memmove(field->values + (size_t)i * size, field->values + (size_t)chosen[i] * size, size);
  }
  char *shrunk = realloc(field->values, (size_t)count * size + 1);
  if (shrunk) field->values = shrunk;
}

/* place[row] becomes the row's new number; then order[] is rewritten by it. */
int data_table_compact(const DataContext *context, DataTable *table) {
  if (!table->order || table->count == table->rows || table->keeps_rows) return 0;
  uint32_t *place = calloc((size_t)table->rows + 1, sizeof *place);
  uint32_t *chosen = malloc((size_t)table->count * sizeof *chosen + 1);
  if (!place || !chosen) {
    free(place);
    free(chosen);
    return data_fail_memory(context, "the chosen rows", (table->rows + table->count) * 4);
  }
  for (int64_t i = 0; i < table->count; i++) {
    NNC_ASSERT(table->order[i] < table->rows);
    place[table->order[i]] = 1;
  }
  uint32_t kept = 0;
  for (int64_t row = 0; row < table->rows; row++)
    if (place[row]) {
      chosen[kept] = (uint32_t)row;
      place[row] = kept++;
    }
  bool is_file_order = true;
  for (int64_t i = 0; i < table->count; i++) {
    table->order[i] = place[table->order[i]];
    is_file_order &= table->order[i] == i;
  }
  NNC_ASSERT(kept <= table->rows && kept <= table->count);
  for (int i = 0; i < table->field_count; i++) compact_field(&table->fields[i], chosen, kept);
  bool makes_rows = table->source->choose != NULL; /* which may draw */
  if (makes_rows) table->source->choose(table, chosen, kept);
  table->numbers = makes_rows ? chosen : NULL;
  table->rows = kept;
  if (is_file_order) {
    free(table->order);
    table->order = NULL;
  }
  free(place);
  if (!makes_rows) free(chosen);
  return 0;
}

int data_table_order_lanes(const DataContext *context, DataTable *table, int64_t lanes) {
  int64_t count = table->count, length = count / lanes;
  NNC_ASSERT(lanes > 0);
  uint32_t *order = malloc((size_t)count * sizeof *order + 1);
  if (!order || data_table_need_order(context, table) < 0) {
    free(order);
    return data_fail_memory(context, "the order of the rows", count * 4);
  }
  for (int64_t lane = 0; lane < lanes; lane++)
    for (int64_t i = 0; i < length; i++) order[i * lanes + lane] = table->order[lane * length + i];
  for (int64_t i = length * lanes; i < count; i++) order[i] = table->order[i];
  free(table->order);
  table->order = order;
  return 0;
}
