/* Sampling: an epoch of as many draws as there are examples.
 *
 * By weights: the examples stand in a random order on a line, each as long as its weight, and draws are
 * evenly spaced on it from a random start (systematic sampling), so an example is drawn as often as
 * its share says, but for one; where there are groups these stand one after the other, so the same holds for
 * each of them. Of groups alone: they take turns, and so do the examples of each, in a random order.
 * Then the draws are shuffled. */
#include "data/sampling.h"

#include <stdlib.h>
#include <string.h>

#include "data/rows.h"

static void draw_by_weight(const DataSampling *sampling, uint64_t seed, uint64_t stream,
                           uint32_t *line, uint32_t *order) {
  int64_t at = 0, last = 0; /* the last of a weight above 0: rounding may go beyond all */
  if (sampling->group_count == 0) data_permutation(seed, stream, sampling->count, line);
  for (int64_t i = 0; sampling->group_count > 0 && i < sampling->count; i++) line[i] = (uint32_t)i;
  for (int64_t g = 0; g < sampling->group_count; g++) {
    int64_t start = sampling->starts[g];
    data_shuffle_part(seed, stream, (uint64_t)g + 1, sampling->starts[g + 1] - start, line + start);
  }
  double step = sampling->total / (double)sampling->count;
  double start = data_order_fraction(seed, stream), past = 0;
  for (int64_t draw = 0; draw < sampling->count; draw++) {
    double place = ((double)draw + start) * step;
    while (past <= place && at < sampling->count) {
      double weight = sampling->weights[line[at]];
      if (weight > 0) last = at;
      past += weight;
      at++;
    }
    order[draw] = line[last];
  }
}

static void draw_by_group(const DataSampling *sampling, uint64_t seed, uint64_t stream,
                          uint32_t *members, uint32_t *order) {
  memcpy(members, sampling->members, (size_t)sampling->count * sizeof *members);
  for (int64_t g = 0; g < sampling->group_count; g++) {
    int64_t start = sampling->starts[g];
    data_shuffle_part(seed, stream, (uint64_t)g + 1, sampling->starts[g + 1] - start,
                      members + start);
  }
  for (int64_t draw = 0; draw < sampling->count; draw++) {
    int64_t group = draw % sampling->group_count, turn = draw / sampling->group_count;
    int64_t start = sampling->starts[group], size = sampling->starts[group + 1] - start;
    order[draw] = members[start + turn % size];
  }
}

static void make_order(const DataSampling *sampling, uint64_t seed, uint64_t stream,
                       uint32_t *scratch, uint32_t *order) {
  if (sampling->weights) draw_by_weight(sampling, seed, stream, scratch, order);
  else draw_by_group(sampling, seed, stream, scratch, order);
  data_shuffle_part(seed, stream, 0, sampling->count, order);
}

static void close_sampling(DataSampling *sampling) {
  free(sampling->weights);
  free(sampling->members);
  free(sampling->starts);
  free(sampling);
}

DataSampling *data_sampling_open(int64_t count) {
  DataSampling *sampling = calloc(1, sizeof *sampling);
  if (sampling)
    *sampling = (DataSampling){.order = make_order, .close = close_sampling, .count = count};
  return sampling;
}
