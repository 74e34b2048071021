/* Rows of a table: random orders, choosing, compacting. */
#ifndef NNC_DATA_ROWS_H
#define NNC_DATA_ROWS_H

#include <stdint.h>

#include "data/table.h"
#include "data/visit.h"

void data_permutation(uint64_t seed, uint64_t stream, int64_t count, uint32_t *order);

/* Shuffles some numbers; another `part` of the same order is shuffled otherwise. */
void data_shuffle_part(uint64_t seed, uint64_t stream, uint64_t part, int64_t count,
                       uint32_t *numbers);
/* From 0 to below 1, drawn for the order. */
double data_order_fraction(uint64_t seed, uint64_t stream);

/* 64 random bits, a function of the visit, the stream and the index. */
uint64_t data_random_bits(const DataVisit *visit, uint64_t stream, uint64_t index);
/* A whole number from 0 to bound - 1. */
int64_t data_random_below(const DataVisit *visit, uint64_t stream, uint64_t index, int64_t bound);
/* Makes the chosen rows the only ones, in file order. */
int data_table_compact(const DataContext *context, DataTable *table);
/* Orders the examples for minibatches of `lanes`: row b of a minibatch continues row b of the one
 * before, so each lane goes through a part of the set of its own, in order. */
int data_table_order_lanes(const DataContext *context, DataTable *table, int64_t lanes);
int data_table_need_order(const DataContext *context, DataTable *table);
enum { DATA_STREAM_SPLIT = 1, DATA_STREAM_SHUFFLE = 2, DATA_STREAM_EPOCH = 16 };

#endif
