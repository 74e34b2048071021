/* The profile as aligned text. */
#include <stdio.h>
#include <string.h>

#include "core/options.h"
#include "os/message.h"
#include "os/printable.h"
#include "profile/profile.h"

enum { SHOWN_INSTANCES = 20, LEAST_WIDTH = 24, MOST_WIDTH = 44, STORES_WIDTH = 60 };

/* Rows that compute nothing are set off: "(barrier)". */
static bool is_waiting(const nnc_profile_row *row) {
  return !row->step ? row->flops == 0 && row->bytes == 0 : !*row->step->path;
}

/* The name in a buffer, which is returned; the end of a long one is cut off. */
static const char *label(char buffer[128], const nnc_profile_row *row, bool is_instance) {
  const char *entry = is_instance && strcmp(row->entry, "accumulate") == 0 ? "accumulate " : "";
  if (!is_waiting(row)) snprintf(buffer, 128, "%s%s", entry, row->name);
  else if (!is_instance)
    snprintf(buffer, 128, "(%s%s)", row->name, strcmp(row->name, "barrier") == 0 ? " wait" : "");
  else if (row->step) snprintf(buffer, 128, "(%sbarrier after %s)", entry, row->name);
  else snprintf(buffer, 128, "(%s)", row->name);
  if (strlen(buffer) > MOST_WIDTH) memcpy(buffer + MOST_WIDTH - 3, "...", 4);
  return buffer;
}

static int label_width(const nnc_profile_table *table, int shown, bool is_instance) {
  int width = LEAST_WIDTH;
  char buffer[128];
  for (int i = 0; i < shown; i++) {
    int length = (int)strlen(label(buffer, &table->rows[i], is_instance));
    if (length > width) width = length;
  }
  return width;
}

/* Milliseconds, microseconds for short steps. */
static bool is_short(double seconds) { return seconds < 1e-3; }
static const char *unit(double seconds) { return is_short(seconds) ? "us" : "ms"; }
static double in_unit(double seconds, double total) {
  return seconds * (is_short(total) ? 1e6 : 1e3);
}

/* The columns after the name; `sum` is the time of the rows so far, this one included. */
static void print_numbers(const nnc_profile_row *row, double sum, double total) {
  double share = total > 0 ? 100 / total : 0;
  printf(" %10.4f %6.1f%% %6.1f%% %7.0f %10.2f", in_unit(row->seconds, total), row->seconds * share,
         sum * share, row->calls, row->calls > 0 ? row->seconds / row->calls * 1e6 : 0);
  if (row->seconds <= 0 || (row->flops <= 0 && row->bytes <= 0)) return;
  printf(" %8.2f %8.2f", row->flops / row->seconds * 1e-9, row->bytes / row->seconds * 1e-9);
  if (row->least_seconds > 0) printf(" %6.1f%%", nnc_profile_bound(row) * 100);
}

static void print_instance_end(const nnc_profile_row *row) {
  if (!row->step || !*row->step->path) return;
  printf(" %5d  %s", row->step->line, row->operator_name);
  int length = (int)strlen(row->step->stores);
  if (length > STORES_WIDTH)
    printf(" -> %.*s...", STORES_WIDTH - 3, nnc_printable(row->step->stores));
  else if (length > 0) printf(" -> %s", nnc_printable(row->step->stores));
}

static void print_table(const nnc_profile_table *table, const char *title, int shown,
                        bool is_instance) {
  char buffer[128];
  if (shown > table->count) shown = table->count;
  int width = label_width(table, shown, is_instance);
  printf("\n%-*s %10s %7s %7s %7s %10s %8s %8s%s%s\n", width, title, unit(table->total.seconds),
         "share", "cum.", "calls", "us a call", "GFLOP/s", "GB/s",
         table->total.least_seconds > 0 ? "   bound" : "",
         is_instance ? "  line  operator -> what it stores" : "");
  double sum = 0;
  for (int i = 0; i < shown; i++) {
    const nnc_profile_row *row = &table->rows[i];
    sum += row->seconds;
    printf("%-*s", width, nnc_printable(label(buffer, row, is_instance)));
    print_numbers(row, sum, table->total.seconds);
    if (is_instance) print_instance_end(row);
    putchar('\n');
  }
  nnc_profile_row rest = {.name = ""};
  for (int i = shown; i < table->count; i++) {
    rest.calls += table->rows[i].calls;
    rest.seconds += table->rows[i].seconds;
  }
  if (shown < table->count) {
    snprintf(buffer, sizeof buffer, "%d more (--all)", table->count - shown);
    printf("%-*s", width, buffer);
    print_numbers(&rest, sum + rest.seconds, table->total.seconds);
    putchar('\n');
  }
  printf("%-*s", width, "all");
  print_numbers(&table->total, table->total.seconds, table->total.seconds);
  putchar('\n');
}

static void print_head(const nnc_profile *profile) {
  const nnc_model *model = profile->session->model;
  const nnc_entry *last = profile->trial.last;
  int64_t examples = last->batch * profile->trial.runs;
  int threads = nnc_device_workers(profile->session->device);
  printf("%s: a %s of %lld example%s, %d worker%s, %s; means over the middle half of "
         "%lld steps.\n",
         model->file, last == &model->train ? "training step" : "prediction", (long long)examples,
         examples == 1 ? "" : "s", threads, threads == 1 ? "" : "s",
         profile->trial.loader ? "the data" : "synthetic inputs", (long long)profile->steps);
  char device[NNC_MESSAGE];
  if (nnc_device_describe(model, (int)profile->session->options->device, device))
    printf("It %s.\n", nnc_printable(device));
  double marks = (double)last->step_count + 1;
  if (profile->trial.runs > 1)
    marks += (double)(profile->trial.runs - 1) * ((double)model->accumulate.step_count + 1);
  double step = profile->instances.total.seconds;
  const char *name = unit(step);
  printf("A step takes %.4f %s: %.4f %s while it is measured, %.4f %s while not; the %.0f marks of "
         "%.0f ns in each worker are taken off.\n",
         in_unit(step, step), name, in_unit(profile->marked_seconds, step), name,
         in_unit(profile->plain_seconds, step), name, marks, profile->mark_seconds * 1e9);
  if (profile->loading_threads > 0)
    printf("Beside it %d thread%s of the data take %.4f %s of processor time a step: where they "
           "hold a "
           "worker's processor, the others wait in (barrier).\n",
           profile->loading_threads, profile->loading_threads == 1 ? "" : "s",
           in_unit(profile->loading_seconds, step), name);
  if (!profile->has_bound) return;
  printf("The bound: %.1f GFLOP/s (%s), %.1f GB/s (%s).\n",
         profile->speed.flops[NNC_UNIT_PLAIN] * 1e-9, profile->speed.flops_of,
         profile->speed.bandwidth * 1e-9, profile->speed.bandwidth_of);
}

void nnc_profile_print(const nnc_profile *profile) {
  print_head(profile);
  print_table(&profile->classes, "By class", profile->classes.count, false);
  print_table(&profile->operators, "By operator", profile->operators.count, false);
  print_table(&profile->instances, "By instance",
              profile->session->options->all ? profile->instances.count : SHOWN_INSTANCES, true);
}
