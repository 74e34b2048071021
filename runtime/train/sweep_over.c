/* Means of a sweep over one of its flags: see sweep_over.h. */
#include "train/sweep_over.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/tally.h"
#include "nnc_model.h"
#include "os/printable.h"

typedef struct Over {
  const nnc_sweep_plan *plan;
  const nnc_sweep_row *rows;
} Over;

/* Of how many runs; the deviation is NaN where they are fewer than two. */
typedef struct Mean {
  int count;
  double mean, deviation;
} Mean;

static int members(const Over *over) { return over->plan->axes[over->plan->over].count; }

static const nnc_sweep_row *member(const Over *over, int group, int number) {
  const nnc_sweep_row *row = &over->rows[nnc_sweep_member(over->plan, group, number)];
  return row->result.is_there && strcmp(row->state, "done") == 0 ? row : NULL;
}

/* Of one metric of the last report, or of the best one. */
static Mean mean_of(const Over *over, int group, bool is_best, int metric) {
  Mean mean = {0};
  double squares = 0;
  for (int i = 0; i < members(over); i++) {
    const nnc_sweep_row *row = member(over, group, i);
    if (!row) continue;
    const nnc_sweep_report *report = is_best ? &row->result.best : &row->result.last;
    double apart = report->metrics[metric] - mean.mean;
    mean.mean += apart / ++mean.count;
    squares += apart * (report->metrics[metric] - mean.mean);
  }
  if (mean.count == 0) mean.mean = NAN;
  mean.deviation = mean.count > 1 ? sqrt(squares / (mean.count - 1)) : NAN;
  return mean;
}

static void write_mean(Mean mean, char cell[NNC_SWEEP_CELL]) {
  *cell = '\0';
  if (mean.count == 1) snprintf(cell, NNC_SWEEP_CELL, "%.6g", mean.mean);
  else if (mean.count > 1)
    snprintf(cell, NNC_SWEEP_CELL, "%.6g +- %.2g", mean.mean, mean.deviation);
}

/* --- Table ---------------------------------------------------------------------------------- */

/* Columns: the other axes, how many runs, the metrics of the set that runs are compared by: last and best. */
static void write(const void *context, int group, int column, char cell[NNC_SWEEP_CELL]) {
  const Over *over = context;
  const nnc_sweep_plan *plan = over->plan;
  int metrics = nnc_the_model.metric_count, set = nnc_sweep_compared_by().set;
  char text[64];
  if (column >= plan->over) column++; /* it has no column */
  if (column < plan->axis_count) {
    const char *name = nnc_sweep_axis_name(&plan->axes[column], text);
    if (group >= 0) name = nnc_sweep_value(plan, column, nnc_sweep_member(plan, group, 0), text);
    snprintf(cell, NNC_SWEEP_CELL, "%s", name);
    return;
  }
  column -= plan->axis_count;
  bool is_best = column > metrics;
  int metric = (column - 1) % metrics;
  if (column == 0 && group < 0) snprintf(cell, NNC_SWEEP_CELL, "runs");
  else if (column == 0) snprintf(cell, NNC_SWEEP_CELL, "%d", mean_of(over, group, false, 0).count);
  else if (group < 0)
    snprintf(cell, NNC_SWEEP_CELL, "%s %s/%s", is_best ? "best" : "last",
             nnc_sweep_set_of(set, metric), nnc_the_model.metric_names[metric]);
  else write_mean(mean_of(over, group, is_best, set * metrics + metric), cell);
}

/* The group whose last reports are best in the mean. */
static void print_best(const Over *over, int groups) {
  nnc_sweep_measure by = nnc_sweep_compared_by();
  int metric = by.set * nnc_the_model.metric_count + by.metric, best = -1;
  double least = INFINITY;
  char cell[NNC_SWEEP_CELL];
  for (int i = 0; i < groups; i++) {
    double mean = mean_of(over, i, false, metric).mean, badness = by.is_greatest ? -mean : mean;
    if (!(badness < least)) continue;
    least = badness;
    best = i;
  }
  if (best < 0 || groups == 1) return;
  char *name =
      nnc_sweep_name(over->plan, nnc_sweep_member(over->plan, best, 0), " ", over->plan->over);
  write_mean(mean_of(over, best, false, metric), cell);
  if (name)
    printf("%s mean: %s/%s %s in the last reports, of %s\n", by.is_greatest ? "greatest" : "least",
           nnc_printable(nnc_sweep_set(by.set)),
           nnc_printable(nnc_the_model.metric_names[by.metric]), cell, name);
  free(name);
}

/* --- JSON ----------------------------------------------------------------------------------- */

static void put_metrics(const Over *over, int group, bool is_best) {
  const nnc_model *model = &nnc_the_model;
  const char *before = "";
  for (int set = 0; set <= model->data_set_count; set++)
    for (int i = 0; i < model->metric_count && nnc_sweep_has_set(set); i++) {
      if (set > 0 && !nnc_metric_is_told(model, i, false)) continue;
      Mean mean = mean_of(over, group, is_best, set * model->metric_count + i);
      printf("%s\"%s/%s\":{\"mean\":", before, nnc_sweep_set(set), model->metric_names[i]);
      nnc_json_put_number(stdout, mean.mean);
      fputs(",\"deviation\":", stdout);
      nnc_json_put_number(stdout, mean.deviation);
      putchar('}');
      before = ",";
    }
}

static void print_json(const Over *over, int group) {
  const nnc_sweep_plan *plan = over->plan;
  char flag[64], value[40];
  const char *before = "";
  printf("{\"over\":\"%s\",\"settings\":{", nnc_sweep_axis_name(&plan->axes[plan->over], flag));
  for (int i = 0; i < plan->axis_count; i++) {
    if (i == plan->over) continue;
    printf("%s\"%s\":%s", before, nnc_sweep_axis_name(&plan->axes[i], flag),
           nnc_sweep_value(plan, i, nnc_sweep_member(plan, group, 0), value));
    before = ",";
  }
  printf("},\"runs\":%d,\"last\":{", mean_of(over, group, false, 0).count);
  put_metrics(over, group, false);
  fputs("},\"best\":{", stdout);
  put_metrics(over, group, true);
  puts("}}");
}

void nnc_sweep_print_over(const nnc_sweep_plan *plan, const nnc_sweep_row *rows, bool as_json) {
  Over over = {plan, rows};
  char flag[64];
  int groups = plan->run_count / members(&over);
  nnc_sweep_grid grid = {&over, groups, plan->axis_count + 2 * nnc_the_model.metric_count, write,
                         NULL};
  for (int i = 0; as_json && i < groups; i++) print_json(&over, i);
  if (as_json) return;
  printf("\nover %s, the mean +- the standard deviation:\n",
         nnc_sweep_axis_name(&plan->axes[plan->over], flag));
  nnc_sweep_print_grid(&grid);
  print_best(&over, groups);
}
