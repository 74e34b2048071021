/* Curves by class: see class_curves.h. A chart for each class of each set, recall and precision over all of [0, 1], so that
 * charts compare at a glance. Of many classes those with the least recall in the last report are drawn. */
#include "report/class_curves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/chart.h"
#include "report/page.h"
#include "report/values.h"

enum { MOST_CLASSES = 12, NAME = 512 };
static const char recall[] = "recall/", precision[] = "precision/";

static bool is_recall(const nnc_series *series) {
  return strncmp(series->name, recall, sizeof recall - 1) == 0;
}

static const nnc_series *precision_of(const nnc_history *classes, const nnc_series *series) {
  char name[NAME + sizeof precision];
  snprintf(name, sizeof name, "%s%s", precision, series->name + sizeof recall - 1);
  return nnc_history_find(classes, name);
}

/* In the last report; above all others where that has none. */
static double last_value(const nnc_history *classes, int number) {
  const nnc_series *series = &classes->series[number];
  double value = series->has[classes->count - 1] ? series->values[classes->count - 1] : NAN;
  return isnan(value) ? 2 : value;
}

/* Marks the class with the least recall of those that are not marked. */
static void choose_next(const nnc_history *classes, bool *chosen) {
  int least = -1;
  for (int k = 0; k < classes->series_count; k++) {
    if (chosen[k] || !is_recall(&classes->series[k])) continue;
    if (least < 0 || last_value(classes, k) < last_value(classes, least)) least = k;
  }
  if (least >= 0) chosen[least] = true;
}

static void put_chart(FILE *file, const nnc_history *classes, const nnc_series *series,
                      int64_t mark) {
  nnc_chart chart = {.title = series->name + sizeof recall - 1,
                     .history = classes,
                     .across = nnc_chart_across(classes),
                     .count = 1,
                     .lines = {series, precision_of(classes, series)},
                     .names = {"recall", "precision"},
                     .mark = mark,
                     .is_share = true};
  if (chart.lines[1]) chart.count = 2;
  nnc_chart_put(file, &chart);
}

/* The columns of the table: what is drawn, and what it is drawn over. */
static void choose_columns(const nnc_history *classes, bool *chosen) {
  for (int k = 0; k < classes->series_count; k++) {
    const nnc_series *series = &classes->series[k];
    if (chosen[k] && is_recall(series)) {
      const nnc_series *other = precision_of(classes, series);
      if (other) chosen[other - classes->series] = true;
    }
    if (strcmp(series->name, "epoch") == 0 || strcmp(series->name, "step") == 0) chosen[k] = true;
  }
}

void nnc_class_curves_put(FILE *file, const nnc_history *classes, int64_t mark) {
  int count = 0;
  for (int k = 0; classes && k < classes->series_count; k++)
    count += is_recall(&classes->series[k]);
  bool *chosen = count > 0 ? calloc((size_t)classes->series_count, sizeof *chosen) : NULL;
  if (!chosen) return;
  for (int i = 0; i < MOST_CLASSES; i++) choose_next(classes, chosen);
  nnc_page_section(file, "Curves by class");
  if (count > MOST_CLASSES)
    fprintf(file,
            "<p class=\"soft\">The %d of %d classes with the least recall in the last "
            "report; the log has all.</p>\n",
            MOST_CLASSES, count);
  fputs("<div class=\"charts\">\n", file);
  for (int k = 0; k < classes->series_count; k++)
    if (chosen[k]) put_chart(file, classes, &classes->series[k], mark);
  fputs("</div>\n", file);
  choose_columns(classes, chosen);
  nnc_values_put(
      file, classes,
      &(nnc_values){.title = "Values of the curves by class", .best = mark, .chosen = chosen});
  free(chosen);
}
