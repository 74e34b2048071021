/* How well scores put the true examples before the others, over a whole set. */
#ifndef NNC_RANKING_H
#define NNC_RANKING_H

#include <stdint.h>

typedef struct nnc_ranked {
  double score;
  int is_true;
} nnc_ranked;

typedef struct nnc_ranking {
  double auc;     /* the area under the curve of true against false positives; ties count half */
  double average; /* average precision: the mean of the precision at each true example's score */
} nnc_ranking;

/* Sorts the list. NaN where there are no true or no other examples (`average`: no true ones), or a score is NaN. */
nnc_ranking nnc_rank(nnc_ranked *list, int64_t count);

#endif
