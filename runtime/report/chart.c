/* Curves: see chart.h. What has more points than can be seen keeps the least and the greatest of each piece. */
#include "report/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "os/message.h"
#include "report/page.h"

enum { WIDTH = 400, HEIGHT = 200, LEFT = 48, RIGHT = 380, TOP = 10, BOTTOM = 172 };
enum { MOST_POINTS = 400, MOST_HOVERS = 150 };
static const double wide_range = 30; /* from which on a scale is logarithmic */

typedef struct Axis {
  double from, to; /* on a logarithmic scale the logarithms */
  double tick;
  bool is_log;
} Axis;

typedef struct Plot {
  const nnc_chart *chart;
  Axis x, y;
  bool *keeps;        /* by report: it is drawn */
  int64_t kept, lost; /* lost: values that are not finite */
} Plot;

int64_t nnc_chart_stride(int64_t count, int64_t most) { return (count + most - 1) / most; }

const nnc_series *nnc_chart_across(const nnc_history *history) {
  const nnc_series *epoch = nnc_history_find(history, "epoch");
  bool differs = epoch != NULL;
  for (int64_t i = 0; differs && i < history->count; i++)
    differs = epoch->has[i] && (i == 0 || epoch->values[i] > epoch->values[i - 1]);
  return differs ? epoch : nnc_history_find(history, "step");
}

static bool has_value(const nnc_series *line, int64_t i) {
  return line->has[i] && isfinite(line->values[i]);
}

/* ---- axes ------------------------------------------------------------------------------------ */

/* 1, 2 or 5 times a power of ten, so that at most some five fit. */
static double nice_tick(double range) {
  double tick = pow(10, floor(log10(range / 4)));
  return range / tick <= 5 ? tick : range / tick <= 10 ? 2 * tick : 5 * tick;
}

static Axis make_axis(double least, double most, bool may_be_log) {
  Axis axis = {.from = least, .to = most};
  if (!(most > least)) {
    double margin = fabs(least) > 0 ? fabs(least) / 10 : 1;
    axis.from -= margin;
    axis.to += margin;
  }
  axis.is_log = may_be_log && least > 0 && most / least >= wide_range;
  if (axis.is_log) {
    axis.from = log10(least);
    axis.to = log10(most);
  }
  axis.tick = axis.is_log ? ceil((axis.to - axis.from) / 5) : nice_tick(axis.to - axis.from);
  return axis;
}

static double place(const Axis *axis, double value, double begin, double end) {
  double at = axis->is_log ? log10(value) : value;
  return begin + (at - axis->from) / (axis->to - axis->from) * (end - begin);
}

static double x_of(const Plot *plot, int64_t i) {
  return place(&plot->x, plot->chart->across->values[i], LEFT, RIGHT);
}

static void find_range(Plot *plot) {
  const nnc_chart *chart = plot->chart;
  double least = HUGE_VAL, most = -HUGE_VAL;
  for (int k = 0; k < chart->count; k++)
    for (int64_t i = 0; i < chart->history->count; i++) {
      plot->lost += chart->lines[k]->has[i] && !isfinite(chart->lines[k]->values[i]);
      if (!has_value(chart->lines[k], i)) continue;
      least = fmin(least, chart->lines[k]->values[i]);
      most = fmax(most, chart->lines[k]->values[i]);
    }
  if (least > most) least = 0, most = 1;
  plot->y = chart->is_share ? make_axis(0, 1, false) : make_axis(least, most, true);
  plot->x =
      make_axis(chart->across->values[0], chart->across->values[chart->history->count - 1], false);
}

/* ---- which points ---------------------------------------------------------------------------- */

static void keep(Plot *plot, int64_t i) {
  plot->kept += !plot->keeps[i];
  plot->keeps[i] = true;
}

static void keep_extremes(Plot *plot, const nnc_series *line, int64_t from, int64_t to) {
  int64_t least = -1, most = -1;
  for (int64_t i = from; i < to; i++) {
    if (!has_value(line, i)) continue;
    if (least < 0 || line->values[i] < line->values[least]) least = i;
    if (most < 0 || line->values[i] > line->values[most]) most = i;
  }
  if (least >= 0) keep(plot, least);
  if (most >= 0) keep(plot, most);
}

static void choose_points(Plot *plot) {
  const nnc_chart *chart = plot->chart;
  int64_t count = chart->history->count;
  int64_t piece =
      count <= MOST_POINTS ? 1 : nnc_chart_stride(count, MOST_POINTS / (2 * chart->count));
  for (int64_t from = 0; from < count; from += piece) {
    int64_t to = from + piece < count ? from + piece : count;
    if (piece == 1) keep(plot, from);
    else
      for (int k = 0; k < chart->count; k++) keep_extremes(plot, chart->lines[k], from, to);
  }
  keep(plot, 0);
  keep(plot, count - 1);
  if (chart->mark >= 0) keep(plot, chart->mark);
}

/* ---- drawing --------------------------------------------------------------------------------- */

static void put_ticks(FILE *file, const Plot *plot) {
  const Axis *x = &plot->x, *y = &plot->y;
  for (double at = ceil(y->from / y->tick) * y->tick; at <= y->to + y->tick * 1e-6; at += y->tick) {
    double value = y->is_log ? pow(10, at) : fabs(at) < y->tick * 1e-6 ? 0 : at;
    double height = BOTTOM + (at - y->from) / (y->to - y->from) * (TOP - BOTTOM);
    fprintf(file,
            "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"%.1f\" "
            "text-anchor=\"end\">%.4g</text>",
            LEFT, height, RIGHT, LEFT - 5, height + 4, value);
  }
  for (double at = ceil(x->from / x->tick) * x->tick; at <= x->to + x->tick * 1e-6; at += x->tick)
    if (at == floor(at))
      fprintf(file, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.9g</text>",
              place(x, at, LEFT, RIGHT), BOTTOM + 15, at);
  fprintf(file, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s%s</text>\n", RIGHT, HEIGHT - 1,
          plot->chart->across->name, y->is_log ? "; logarithmic scale" : "");
}

/* Where a value is missing the line is broken; a point between two gaps is a dot. */
static void put_line(FILE *file, const Plot *plot, int number) {
  const nnc_series *line = plot->chart->lines[number];
  int64_t run = 0, last = 0;
  for (int64_t i = 0; i <= plot->chart->history->count; i++) {
    bool is_end = i == plot->chart->history->count || (line->has[i] && !has_value(line, i));
    if (is_end && run > 0) {
      fputs("\"/>\n", file);
      if (run == 1)
        fprintf(file, "<circle class=\"f%d\" cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\"/>\n", number,
                x_of(plot, last), place(&plot->y, line->values[last], BOTTOM, TOP));
      run = 0;
    }
    if (is_end || !plot->keeps[i] || !has_value(line, i)) continue;
    if (run++ == 0) fprintf(file, "<polyline class=\"s%d\" points=\"", number);
    fprintf(file, "%.1f %.1f ", x_of(plot, i), place(&plot->y, line->values[i], BOTTOM, TOP));
    last = i;
  }
}

static void put_mark(FILE *file, const Plot *plot) {
  int64_t mark = plot->chart->mark;
  if (mark < 0) return;
  double x = x_of(plot, mark);
  fprintf(file, "<path class=\"mark\" d=\"M%.1f %dV%d\"><title>the best</title></path>\n", x, TOP,
          BOTTOM);
}

/* What stands under the pointer. */
static void put_hovers(FILE *file, const Plot *plot) {
  char text[NNC_DIGITS];
  const nnc_chart *chart = plot->chart;
  int64_t stride = nnc_chart_stride(chart->history->count, MOST_HOVERS);
  double width = (double)(RIGHT - LEFT) / (double)chart->history->count * (double)stride;
  for (int64_t i = 0; i < chart->history->count; i += stride) {
    fprintf(file,
            "<rect class=\"hover\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"><title>%s %.9g",
            x_of(plot, i) - width / 2, TOP, width, BOTTOM - TOP, chart->across->name,
            chart->across->values[i]);
    for (int k = 0; k < chart->count; k++) {
      if (!chart->lines[k]->has[i]) continue;
      fputc('\n', file);
      nnc_page_text(file, chart->names[k]);
      fprintf(file, " %s", nnc_page_digits(text, 9, chart->lines[k]->values[i]));
    }
    fputs("</title></rect>\n", file);
  }
}

static void put_keys(FILE *file, const nnc_chart *chart) {
  char text[NNC_DIGITS];
  fputs("<figcaption>", file);
  for (int k = 0; k < chart->count; k++) {
    fprintf(file,
            "<span class=\"key\"><svg viewBox=\"0 0 22 10\" aria-hidden=\"true\">"
            "<polyline class=\"s%d\" points=\"0 5 22 5\"/></svg>",
            k);
    nnc_page_text(file, chart->names[k]);
    fprintf(file, " %s</span>",
            nnc_page_digits(text, 4,
                            nnc_history_value(chart->history, chart->lines[k]->name,
                                              chart->history->count - 1)));
  }
  fputs("</figcaption>\n", file);
}

/* The axes are told in attributes, so that whoever reads the page can turn points into numbers again. */
static void put_open(FILE *file, const Plot *plot) {
  char first[NNC_DIGITS], last[NNC_DIGITS];
  const nnc_chart *chart = plot->chart;
  fputs("<figure><h3>", file);
  nnc_page_text(file, chart->title);
  fputs("</h3>\n", file);
  put_keys(file, chart);
  fprintf(file,
          "<svg role=\"img\" viewBox=\"0 0 %d %d\" data-x=\"%.9g %.9g %d %d\" "
          "data-y=\"%.9g %.9g %d %d\" data-log=\"%d\" aria-label=\"",
          WIDTH, HEIGHT, plot->x.from, plot->x.to, LEFT, RIGHT, plot->y.from, plot->y.to, BOTTOM,
          TOP, plot->y.is_log);
  nnc_page_text(file, chart->title);
  for (int k = 0; k < chart->count; k++) {
    fputs(k ? "; " : ": ", file);
    nnc_page_text(file, chart->names[k]);
    const char *name = chart->lines[k]->name;
    fprintf(file, " from %s to %s",
            nnc_page_digits(first, 4, nnc_history_value(chart->history, name, 0)),
            nnc_page_digits(last, 4,
                            nnc_history_value(chart->history, name, chart->history->count - 1)));
  }
  fputs("; the values are in the table below\">\n", file);
}

void nnc_chart_put(FILE *file, const nnc_chart *chart) {
  Plot plot = {.chart = chart, .keeps = calloc((size_t)chart->history->count, sizeof(bool))};
  if (!plot.keeps) {
    nnc_warning("no memory for the curves of %s", chart->title);
    return;
  }
  find_range(&plot);
  choose_points(&plot);
  put_open(file, &plot);
  put_ticks(file, &plot);
  put_mark(file, &plot);
  for (int k = 0; k < chart->count; k++) put_line(file, &plot, k);
  put_hovers(file, &plot);
  fputs("</svg>\n", file);
  if (plot.lost > 0)
    fprintf(file, "<p class=\"bad\">%lld value%s no number and stand%s nowhere in the curves</p>\n",
            (long long)plot.lost, plot.lost == 1 ? " is" : "s are", plot.lost == 1 ? "s" : "");
  if (chart->left_out > 0)
    fprintf(file, "<p class=\"soft\">%d more in the table below</p>\n", chart->left_out);
  fputs("</figure>\n", file);
  free(plot.keeps);
}
