/* Both areas by one pass over the examples in the order of their scores, the greatest first; equal scores are one
 * step, so that their order does not matter.
 *
 * The area under the receiver's curve is the share of pairs of a true and another example of which the true one has the
 * greater score (Hanley and McNeil 1982). Average precision is the sum of (recall less the recall before) times
 * precision, without interpolation. */
#include "train/ranking.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b) {
  double x = ((const nnc_ranked *)a)->score, y = ((const nnc_ranked *)b)->score;
  return x < y ? 1 : x > y ? -1 : 0;
}

static int has_nan(const nnc_ranked *list, int64_t count) {
  for (int64_t i = 0; i < count; i++)
    if (isnan(list[i].score)) return 1;
  return 0;
}

nnc_ranking nnc_rank(nnc_ranked *list, int64_t count) {
  double hits = 0, others = 0, pairs = 0, precision = 0;
  if (has_nan(list, count)) return (nnc_ranking){NAN, NAN};
  qsort(list, (size_t)count, sizeof *list, compare);
  for (int64_t i = 0; i < count;) {
    double hits_here = 0, others_here = 0, score = list[i].score;
    for (; i < count && list[i].score == score; i++)
      *(list[i].is_true ? &hits_here : &others_here) += 1;
    pairs += others_here * (hits + hits_here / 2);
    hits += hits_here;
    others += others_here;
    precision += hits_here * hits / (hits + others);
  }
  return (nnc_ranking){.auc = hits > 0 && others > 0 ? pairs / (hits * others) : NAN,
                       .average = hits > 0 ? precision / hits : NAN};
}
