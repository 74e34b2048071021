/* Curves over a run as an SVG picture. */
#ifndef NNC_CHART_H
#define NNC_CHART_H

#include <stdio.h>

#include "report/history.h"

enum { NNC_CHART_LINES = 5 };

typedef struct nnc_chart {
  const char *title;
  const nnc_history *history;
  const nnc_series *across; /* "epoch" or "step" */
  int count;
  const nnc_series *lines[NNC_CHART_LINES];
  const char *names[NNC_CHART_LINES]; /* of the lines */
  int left_out;                       /* for which there was no room */
  int64_t mark;                       /* a report that is pointed out; -1: none */
  bool is_share;                      /* values are of [0, 1], and the axis has all of it */
} nnc_chart;

/* Epochs where each report is of another one, else steps. */
const nnc_series *nnc_chart_across(const nnc_history *history);
void nnc_chart_put(FILE *file, const nnc_chart *chart);

/* Of `count` things that are too many: of which distance those lie that are shown, at most `most`. */
int64_t nnc_chart_stride(int64_t count, int64_t most);

#endif
