/* The page about a run: see report.h. */
#include "report/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/planned.h"
#include "os/memory.h"
#include "os/message.h"
#include "os/replace.h"
#include "report/chart.h"
#include "report/class_curves.h"
#include "report/network.h"
#include "report/page.h"
#include "report/plan.h"
#include "report/values.h"

enum { NAME = 256 };
static const char beginning[] = "<!DOCTYPE html>";

/* ---- what was best --------------------------------------------------------------------------- */

static const nnc_watch *best_watch(const nnc_model *model) {
  for (int i = 0; i < model->watch_count; i++)
    if (model->watches[i].kind == NNC_WATCH_BEST) return &model->watches[i];
  return NULL;
}

static const nnc_series *find_metric(const nnc_history *history, const char *set,
                                     const char *metric) {
  char name[NAME];
  snprintf(name, sizeof name, "%s/%s", set, metric);
  return nnc_history_find(history, name);
}

/* What tells of the run best. */
static const nnc_series *chief_series(const nnc_history *history, const nnc_model *model) {
  const nnc_watch *watch = best_watch(model);
  if (watch) return find_metric(history, watch->set, model->metric_names[watch->metric]);
  for (int i = 0; model->metric_count > 0 && i < model->data_set_count; i++) {
    const char *set = model->data_sets[i].name;
    const nnc_series *found =
        strcmp(set, "train") == 0 ? NULL : find_metric(history, set, model->metric_names[0]);
    if (found) return found;
  }
  return model->metric_count > 0 ? find_metric(history, "train", model->metric_names[0]) : NULL;
}

nnc_best_report nnc_report_best(const nnc_history *history, const nnc_model *model) {
  const nnc_watch *watch = best_watch(model);
  bool is_max = watch && watch->is_max;
  nnc_best_report best = {.series = chief_series(history, model), .at = -1};
  for (int64_t i = 0; best.series && i < history->count; i++) {
    double value = best.series->values[i];
    if (!best.series->has[i] || isnan(value)) continue;
    double before = best.at < 0 ? 0 : best.series->values[best.at];
    if (best.at < 0 || (is_max ? value > before : value < before)) best.at = i;
  }
  return best.at >= 0 ? best : (nnc_best_report){.at = -1};
}

/* ---- head ------------------------------------------------------------------------------------ */

static void put_state(FILE *file, const nnc_report *report) {
  const nnc_history *history = report->history;
  int64_t last = history->count - 1;
  fputs("<p class=\"soft\">", file);
  nnc_page_text(file, report->session->model->file);
  fputs(". ", file);
  if (last < 0) {
    fputs("There is no report yet: ", file);
    nnc_page_text(file, report->log);
    fputs(" has no lines", file);
  } else
    fprintf(file, "%s in epoch %.0f, step %.0f, after %.4g seconds",
            report->refresh > 0   ? "The run goes on; the last report was"
            : history->is_stopped ? "The run stopped, since its metric no longer improved,"
                                  : "The last report was",
            nnc_history_value(history, "epoch", last), nnc_history_value(history, "step", last),
            nnc_history_value(history, "seconds", last));
  fputs(".</p>\n", file);
}

static double mean_of(const nnc_series *series, int64_t count) {
  double sum = 0;
  int64_t values = 0;
  for (int64_t i = 0; i < count; i++)
    if (series->has[i]) sum += series->values[i], values++;
  return values > 0 ? sum / (double)values : NAN;
}

static void put_metric_tiles(FILE *file, const nnc_report *report, const nnc_best_report *best) {
  const nnc_history *history = report->history;
  const nnc_model *model = report->session->model;
  char value[NNC_DIGITS], what[NAME + 64];
  if (best->series) {
    snprintf(what, sizeof what, "best %s, epoch %.0f", best->series->name,
             nnc_history_value(history, "epoch", best->at));
    nnc_page_tile(file, nnc_page_digits(value, 5, best->series->values[best->at]), what);
  }
  const nnc_series *chief = chief_series(history, model);
  size_t set = chief ? strcspn(chief->name, "/") + 1 : 0;
  for (int i = 0; chief && i < history->series_count; i++) {
    const nnc_series *series = &history->series[i];
    if (strncmp(series->name, chief->name, set) != 0) continue;
    double last = nnc_history_value(history, series->name, history->count - 1);
    snprintf(what, sizeof what, "last %s", series->name);
    nnc_page_tile(file, nnc_page_digits(value, 5, last), what);
  }
}

static void put_tiles(FILE *file, const nnc_report *report, const nnc_best_report *best) {
  const nnc_model *model = report->session->model;
  const nnc_series *wait = nnc_history_find(report->history, "data_wait");
  char value[64];
  fputs("<div class=\"tiles\">\n", file);
  put_metric_tiles(file, report, best);
  if (wait) {
    snprintf(value, sizeof value, "%.1f %%", 100 * mean_of(wait, report->history->count));
    nnc_page_tile(file, value, "stall: training waited for data");
  }
  snprintf(value, sizeof value, "%lld", (long long)nnc_network_parameters(model));
  nnc_page_tile(file, value, "parameters");
  double bytes = (double)nnc_planned_bytes(model, report->session->threads);
  nnc_page_tile(file, nnc_format_bytes(value, bytes), "memory planned");
  fputs("</div>\n", file);
}

/* ---- curves ---------------------------------------------------------------------------------- */

static void add_line(nnc_chart *chart, const nnc_series *series, const char *name) {
  if (!series) return;
  if (chart->count == NNC_CHART_LINES) {
    chart->left_out++;
    return;
  }
  chart->lines[chart->count] = series;
  chart->names[chart->count++] = name;
}

static void put_metric_chart(FILE *file, const nnc_report *report, nnc_chart chart, int metric) {
  const nnc_model *model = report->session->model;
  chart.title = model->metric_names[metric];
  add_line(&chart, find_metric(chart.history, "train", chart.title), "train");
  for (int i = 0; i < model->data_set_count; i++) {
    const char *set = model->data_sets[i].name;
    if (strcmp(set, "train") != 0)
      add_line(&chart, find_metric(chart.history, set, chart.title), set);
  }
  if (chart.count > 0) nnc_chart_put(file, &chart);
}

static bool changes(const nnc_history *history, const nnc_series *series) {
  double first = nnc_history_value(history, series->name, 0);
  for (int64_t i = 1; i < history->count; i++)
    if (nnc_history_value(history, series->name, i) != first) return true;
  return false;
}

/* The learning rates of a program in one picture, where one of them changes: those of groups are often a part of the
 * first. */
static void put_rates(FILE *file, const nnc_report *report, nnc_chart chart) {
  const nnc_model *model = report->session->model;
  bool is_any = false;
  chart.title = "learning rate";
  for (int i = 0; i < model->rate_count; i++) {
    const nnc_series *series = nnc_history_find(chart.history, model->rates[i].name);
    is_any = is_any || (series && changes(chart.history, series));
    add_line(&chart, series, model->rates[i].name);
  }
  if (is_any) nnc_chart_put(file, &chart);
}

/* Numbers of the log that change and are no metric. */
static bool is_other(const nnc_history *history, const nnc_series *series) {
  static const char *const known[] = {"epoch", "step", "seconds", "best", "best_step", "rate"};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(series->name, known[i]) == 0) return false;
  if (strchr(series->name, '/') && strncmp(series->name, "options/", 8) != 0 &&
      strncmp(series->name, "skipped/", 8) != 0)
    return false;
  return changes(history, series);
}

static const char *title_of(const char *name) {
  return strcmp(name, "data_wait") == 0 ? "stall: part of the time that training waited for data"
         : strcmp(name, "bad_reports") == 0 ? "reports in a row without an improvement"
                                            : name;
}

static void put_curves(FILE *file, const nnc_report *report, const nnc_best_report *best) {
  const nnc_history *history = report->history;
  nnc_chart chart = {.history = history, .across = nnc_chart_across(history), .mark = best->at};
  nnc_page_section(file, "Curves");
  fputs("<div class=\"charts\">\n", file);
  for (int i = 0; i < report->session->model->metric_count; i++)
    put_metric_chart(file, report, chart, i);
  put_rates(file, report, chart);
  for (int i = 0; i < history->series_count; i++) {
    const nnc_series *series = &history->series[i];
    nnc_chart other = chart;
    if (!is_other(history, series)) continue;
    other.title = title_of(series->name);
    add_line(&other, series, series->name);
    nnc_chart_put(file, &other);
  }
  fputs("</div>\n", file);
}

/* ---- settings -------------------------------------------------------------------------------- */

static void put_number_pair(FILE *file, const char *name, int64_t number) {
  char text[32];
  snprintf(text, sizeof text, "%lld", (long long)number);
  nnc_page_pair(file, name, text);
}

/* As the log has them, which is there where a checkpoint may not be. */
static double option_value(const nnc_report *report, int option) {
  const nnc_history *history = report->history;
  char name[NAME];
  snprintf(name, sizeof name, "options/%s", report->session->model->options[option].name);
  double value = nnc_history_value(history, name, history->count - 1);
  return isnan(value) ? report->session->settings.values[option] : value;
}

static void put_options(FILE *file, const nnc_report *report) {
  const nnc_model *model = report->session->model;
  char flag[64], name[80], value[40], start[40], text[120];
  for (int i = 0; i < model->option_count; i++) {
    double own = option_value(report, i), usual = model->options[i].start;
    snprintf(name, sizeof name, "--%s", nnc_setting_flag(i, flag));
    nnc_setting_text(own, value);
    nnc_setting_text(usual, start);
    snprintf(text, sizeof text, own == usual ? "%s, the default" : "%s instead of %s", value,
             start);
    nnc_page_pair(file, name, text);
  }
}

static void put_checkpoint(FILE *file, const char *name, const nnc_report_file *checkpoint) {
  char text[4200];
  if (!checkpoint->path) return;
  snprintf(text, sizeof text, "%s, of step %lld%s", checkpoint->path, (long long)checkpoint->step,
           checkpoint->is_of_other_source ? ", by another version of the program than the one below"
                                          : "");
  nnc_page_pair(file, name, text);
}

static void put_settings(FILE *file, const nnc_report *report) {
  const nnc_session *session = report->session;
  const nnc_model *model = session->model;
  char name[NNC_MESSAGE];
  nnc_page_section(file, "Settings and files");
  nnc_page_table(file, "", "Settings and files");
  put_checkpoint(file, "best checkpoint", &report->best);
  put_checkpoint(file, "last checkpoint", &report->last);
  nnc_page_pair(file, "log", report->log);
  for (int i = 0; i < report->history->command_count; i++)
    nnc_page_pair(file, i == 0 ? "command" : "went on with", report->history->commands[i]);
  put_options(file, report);
  snprintf(name, sizeof name, "%llu", (unsigned long long)session->seed);
  nnc_page_pair(file, "seed", name);
  put_number_pair(file, "batch", model->batch);
  if (model->accumulation > 1) put_number_pair(file, "batches a step", model->accumulation);
  if (model->epochs > 0) put_number_pair(file, "epochs in the program", model->epochs);
  else put_number_pair(file, "steps in the program", model->steps);
  put_number_pair(file, "threads now", session->threads);
  if (nnc_device_name(model, (int)session->options->device, name))
    nnc_page_pair(file, "device now", name);
  nnc_page_pair(file, "compiler", model->compiler);
  if (model->definitions) nnc_page_pair(file, "compiled with", model->definitions);
  nnc_page_pair(file, "instruction set", model->isa);
  fputs("</table></div>\n", file);
  nnc_page_fold(file, "The program");
  fputs("<pre>", file);
  nnc_page_text(file, model->source);
  fputs("</pre></details>\n", file);
}

/* ---- the page -------------------------------------------------------------------------------- */

static void put_page(FILE *file, const nnc_report *report) {
  const nnc_model *model = report->session->model;
  nnc_best_report best = nnc_report_best(report->history, model);
  char title[NAME];
  snprintf(title, sizeof title, "%s: a run", model->name);
  nnc_page_begin(file, title, report->refresh);
  fputs("<h1>", file);
  nnc_page_text(file, model->name);
  fputs("</h1>\n", file);
  put_state(file, report);
  put_tiles(file, report, &best);
  if (report->history->count > 0) {
    put_curves(file, report, &best);
    nnc_values_put(file, report->history,
                   &(nnc_values){.title = "Values of the curves", .best = best.at});
    nnc_class_curves_put(file, report->history->classes, best.at);
  }
  if (report->put_more) report->put_more(file, report->context);
  nnc_network_put(file, model);
  nnc_plan_put(file, model, model->train.run ? &model->train : &model->predict);
  put_settings(file, report);
  nnc_page_end(file);
}

/* A name without an ending is any file's. */
static bool ends_as_page(const char *path) {
  const char *name = strrchr(path, '/'), *ending = strrchr(name ? name : path, '.');
  if (!ending || strcasecmp(ending, ".html") == 0 || strcasecmp(ending, ".htm") == 0) return true;
  nnc_error("a page is written as HTML, which %s does not say: let its name end in .html", path);
  return false;
}

bool nnc_report_may_write(const char *path) {
  return ends_as_page(path) && nnc_may_replace(path, "page of HTML", 0, beginning);
}

bool nnc_report_write(const nnc_report *report, const char *path) {
  char *page = NULL;
  size_t length;
  nnc_replacement replacement;
  FILE *file = open_memstream(&page, &length);
  if (file) put_page(file, report);
  bool good = file && !ferror(file);
  good = file && fclose(file) == 0 && good;
  if (!good) nnc_error("no memory for the page %s", path);
  good = good && nnc_replace_open(&replacement, path) &&
         nnc_replace_write(&replacement, page, length) && nnc_replace_commit(&replacement, NULL);
  free(page);
  return good;
}
