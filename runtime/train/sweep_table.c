/* The table of a sweep: settings, state, the metrics of the last report and of that with the least loss, folder. */
#include "train/sweep_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "os/printable.h"

/* Columns: the axes, the state, the last step and its metrics, the best step and its metrics. */
typedef struct Table {
  const nnc_sweep_plan *plan;
  const nnc_sweep_row *rows;
} Table;

static int column_count(const Table *table) {
  return table->plan->axis_count + 1 + 2 * (1 + nnc_the_model.metric_count);
}

static void head(const Table *table, int column, char cell[NNC_SWEEP_CELL]) {
  int axes = table->plan->axis_count, metrics = nnc_the_model.metric_count;
  char flag[64];
  if (column < axes) {
    snprintf(cell, NNC_SWEEP_CELL, "%s", nnc_sweep_axis_name(&table->plan->axes[column], flag));
    return;
  }
  column -= axes;
  if (column == 0) snprintf(cell, NNC_SWEEP_CELL, "state");
  else if (column == 1 || column == 2 + metrics)
    snprintf(cell, NNC_SWEEP_CELL, "%s", column == 1 ? "last step" : "best step");
  else
    snprintf(cell, NNC_SWEEP_CELL, "%s/%s",
             nnc_sweep_set_of(nnc_sweep_compared_by().set, (column - 2) % (metrics + 1)),
             nnc_the_model.metric_names[(column - 2) % (metrics + 1)]);
}

static void body(const Table *table, int run, int column, char cell[NNC_SWEEP_CELL]) {
  int axes = table->plan->axis_count, metrics = nnc_the_model.metric_count;
  const nnc_sweep_row *row = &table->rows[run];
  char value[40];
  *cell = '\0';
  if (column < axes)
    snprintf(cell, NNC_SWEEP_CELL, "%s", nnc_sweep_value(table->plan, column, run, value));
  else if (column == axes) snprintf(cell, NNC_SWEEP_CELL, "%s", row->state);
  else if (row->result.is_there) {
    column -= axes + 1;
    const nnc_sweep_report *report = column <= metrics ? &row->result.last : &row->result.best;
    column %= metrics + 1;
    if (column == 0) snprintf(cell, NNC_SWEEP_CELL, "%lld", (long long)report->step);
    else snprintf(cell, NNC_SWEEP_CELL, "%.6g", nnc_sweep_compared(report)[column - 1]);
  }
}

static void write(const void *table, int run, int column, char cell[NNC_SWEEP_CELL]) {
  if (run < 0) head(table, column, cell);
  else body(table, run, column, cell);
}

static const char *folder_of(const void *context, int run) {
  const Table *table = context;
  return run < 0 ? "folder" : table->rows[run].folder;
}

void nnc_sweep_print_grid(const nnc_sweep_grid *grid) {
  int *widths = calloc((size_t)grid->column_count + 1, sizeof *widths);
  char cell[NNC_SWEEP_CELL];
  if (!widths) return;
  for (int row = -1; row < grid->row_count; row++)
    for (int i = 0; i < grid->column_count; i++) {
      grid->write(grid->context, row, i, cell);
      int width = (int)strlen(cell);
      if (width > widths[i]) widths[i] = width;
    }
  for (int row = -1; row < grid->row_count; row++) {
    for (int i = 0; i < grid->column_count; i++) {
      grid->write(grid->context, row, i, cell);
      printf("%s%*s", i ? "  " : "", widths[i], nnc_printable(cell));
    }
    if (grid->end) printf("  %s", nnc_printable(grid->end(grid->context, row)));
    putchar('\n');
  }
  free(widths);
}

/* The run with the best report; -1: none has one. */
static int find_best(const Table *table) {
  int best = -1;
  double least = INFINITY;
  for (int run = 0; run < table->plan->run_count; run++) {
    const nnc_sweep_result *result = &table->rows[run].result;
    double badness = result->is_there ? nnc_sweep_badness(&result->best) : NAN;
    if (!(badness < least)) continue;
    least = badness;
    best = run;
  }
  return best;
}

static void print_best(const Table *table) {
  int best = find_best(table);
  char *name = best >= 0 ? nnc_sweep_name(table->plan, best, " ", -1) : NULL;
  if (!name) return;
  const nnc_sweep_report *report = &table->rows[best].result.best;
  nnc_sweep_measure by = nnc_sweep_compared_by();
  printf("%s %s/%s: %.6g, at step %lld of %s\n", by.is_greatest ? "greatest" : "least",
         nnc_printable(nnc_sweep_set(by.set)), nnc_printable(nnc_the_model.metric_names[by.metric]),
         nnc_sweep_compared(report)[by.metric], (long long)report->step, name);
  free(name);
}

static void print_json(const Table *table, int run) {
  const nnc_sweep_row *row = &table->rows[run];
  char flag[64], value[40];
  fputs("{\"settings\":{", stdout);
  for (int i = 0; i < table->plan->axis_count; i++)
    printf("%s\"%s\":%s", i ? "," : "", nnc_sweep_axis_name(&table->plan->axes[i], flag),
           nnc_sweep_value(table->plan, i, run, value));
  fputs("},\"folder\":", stdout);
  nnc_json_put_string(stdout, row->folder);
  printf(",\"state\":\"%s\"", row->state);
  if (row->result.is_there) {
    printf(",\"seconds\":%.3f,\"last\":", row->result.seconds);
    nnc_sweep_report_put(stdout, &row->result.last);
    fputs(",\"best\":", stdout);
    nnc_sweep_report_put(stdout, &row->result.best);
  }
  puts("}");
}

void nnc_sweep_print(const nnc_sweep_plan *plan, const nnc_sweep_row *rows, bool as_json) {
  Table table = {plan, rows};
  nnc_sweep_grid grid = {&table, plan->run_count, column_count(&table), write, folder_of};
  for (int run = 0; as_json && run < plan->run_count; run++) print_json(&table, run);
  if (!as_json) nnc_sweep_print_grid(&grid);
  if (!as_json && plan->over < 0) print_best(&table);
}
