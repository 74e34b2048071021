/* A run's log as a table: see values.h. */
#include "report/values.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/json_numbers.h"
#include "report/chart.h"
#include "report/page.h"

enum { MOST_ROWS = 120 };

static void put_report(FILE *file, const nnc_history *history, const nnc_values *values,
                       int64_t i) {
  fprintf(file, "<tr%s>", i == values->best ? " class=\"best\"" : "");
  for (int k = 0; k < history->series_count; k++) {
    if (values->chosen && !values->chosen[k]) continue;
    if (history->series[k].has[i]) nnc_page_number(file, history->series[k].values[i]);
    else fputs("<td></td>", file);
  }
  fputs("</tr>\n", file);
}

void nnc_values_put(FILE *file, const nnc_history *history, const nnc_values *values) {
  int64_t stride = nnc_chart_stride(history->count, MOST_ROWS);
  const char *by = values->chosen ? ", by class" : "";
  char caption[100];
  snprintf(caption, sizeof caption, "All reports%s; the best is in bold type", by);
  if (stride > 1)
    snprintf(caption, sizeof caption, "%s of %lld reports, the best and the last%s",
             stride == 2 ? "Every other" : "Some", (long long)history->count, by);
  const char **names = calloc((size_t)history->series_count, sizeof *names);
  char(*heads)[NNC_JSON_NAME + 1] = calloc((size_t)history->series_count, sizeof *heads);
  nnc_page_fold(file, values->title);
  int count = 0;
  for (int k = 0; names && heads && k < history->series_count; k++) {
    if (values->chosen && !values->chosen[k]) continue;
    snprintf(heads[k], sizeof heads[k], ">%s", history->series[k].name);
    names[count++] = heads[k];
  }
  if (names && heads) {
    nnc_page_head(file, caption, count, names);
    for (int64_t i = 0; i < history->count; i++)
      if (i % stride == 0 || i == values->best || i == history->count - 1)
        put_report(file, history, values, i);
    fputs("</table></div>\n", file);
  }
  fputs("</details>\n", file);
  free(names);
  free(heads);
}
