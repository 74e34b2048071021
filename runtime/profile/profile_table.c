/* Tables of a profile: means over the middle half of the steps, by instance, operator, class. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "os/message.h"
#include "profile/profile.h"

typedef struct Timed {
  int64_t time, step;
} Timed;

static int compare_timed(const void *a, const void *b) {
  const Timed *x = a, *y = b;
  if (x->time != y->time) return x->time < y->time ? -1 : 1;
  return (x->step > y->step) - (x->step < y->step);
}

/* The steps of the middle half of `times`, the number of which goes to *count; malloc'ed, NULL
 * after a message. Of fewer than four all count. */
static Timed *middle_half(const int64_t *times, int64_t steps, int64_t *count) {
  Timed *timed = calloc((size_t)steps, sizeof *timed);
  if (!timed) {
    nnc_error("cannot allocate the order of %lld steps", (long long)steps);
    return NULL;
  }
  for (int64_t i = 0; i < steps; i++) timed[i] = (Timed){times[i], i};
  qsort(timed, (size_t)steps, sizeof *timed, compare_timed);
  *count = steps - 2 * (steps / 4);
  memmove(timed, timed + steps / 4, (size_t)*count * sizeof *timed);
  return timed;
}

static double mean_seconds(const Timed *timed, int64_t count) {
  double sum = 0;
  for (int64_t i = 0; i < count; i++) sum += (double)timed[i].time;
  return sum * 1e-9 / (double)count;
}

static void fill_row(const nnc_profile *profile, const Timed *timed, int row) {
  nnc_profile_row *to = &profile->rows[row];
  int64_t sum = 0;
  for (int64_t i = 0; i < profile->counted; i++)
    sum += profile->times[timed[i].step * profile->row_count + row];
  to->seconds = (double)sum * 1e-9 /
                (double)(profile->counted * nnc_device_workers(profile->session->device));
  bool has_mark = to->step || row == NNC_ROW_START;
  if (has_mark) to->seconds = fmax(0, to->seconds - to->calls * profile->mark_seconds);
  if (!profile->has_bound) return;
  enum nnc_unit unit = to->step ? to->step->unit : NNC_UNIT_PLAIN;
  double compute = to->flops / profile->speed.flops[unit];
  double memory = to->bytes / profile->speed.bandwidth;
  to->least_seconds = compute > memory ? compute : memory;
}

static bool fill_rows(nnc_profile *profile) {
  Timed *marked = middle_half(profile->marked, profile->steps, &profile->counted);
  Timed *plain = middle_half(profile->plain, profile->steps, &profile->counted);
  if (marked && plain) {
    profile->marked_seconds = mean_seconds(marked, profile->counted);
    profile->plain_seconds = mean_seconds(plain, profile->counted);
    for (int i = 0; i < profile->row_count; i++) fill_row(profile, marked, i);
  }
  free(marked);
  free(plain);
  return marked && plain;
}

/* --- Tables --------------------------------------------------------------------------------- */

static void add_row(nnc_profile_row *sum, const nnc_profile_row *row) {
  sum->calls += row->calls;
  sum->seconds += row->seconds;
  sum->flops += row->flops;
  sum->bytes += row->bytes;
  sum->least_seconds += row->least_seconds;
}

static int compare_rows(const void *a, const void *b) {
  const nnc_profile_row *x = a, *y = b;
  if (x->seconds != y->seconds) return x->seconds > y->seconds ? -1 : 1;
  int order = strcmp(x->name, y->name);
  if (order == 0) order = strcmp(x->entry, y->entry);
  return order != 0 ? order : x->number - y->number;
}

enum Key { KEY_CLASS, KEY_OPERATOR, KEY_INSTANCE };

/* What rows of a table have in common, and are called. */
static const char *key_text(const nnc_profile_row *row, enum Key key) {
  if (key == KEY_INSTANCE) return row->name;
  return key == KEY_OPERATOR && *row->operator_name ? row->operator_name : row->class_name;
}

static nnc_profile_row *find_row(const nnc_profile_table *table, const nnc_profile_row *row,
                                 enum Key key) {
  for (int i = 0; i < table->count && key != KEY_INSTANCE; i++)
    if (strcmp(table->rows[i].class_name, row->class_name) == 0 &&
        strcmp(table->rows[i].name, key_text(row, key)) == 0)
      return &table->rows[i];
  return NULL;
}

static bool make_table(const nnc_profile *profile, nnc_profile_table *table, enum Key key) {
  table->rows = calloc((size_t)profile->row_count, sizeof *table->rows);
  if (!table->rows) {
    nnc_error("cannot allocate a table of %d rows", profile->row_count);
    return false;
  }
  for (int i = 0; i < profile->row_count; i++) {
    const nnc_profile_row *row = &profile->rows[i];
    if (row->calls == 0) continue;
    add_row(&table->total, row);
    nnc_profile_row *same = find_row(table, row, key);
    if (same) {
      add_row(same, row);
      continue;
    }
    nnc_profile_row *new = &table->rows[table->count++];
    *new = *row;
    new->name = key_text(row, key);
    if (key == KEY_INSTANCE) continue;
    new->step = NULL;
    new->entry = "";
  }
  qsort(table->rows, (size_t)table->count, sizeof *table->rows, compare_rows);
  return true;
}

bool nnc_profile_tabulate(nnc_profile *profile) {
  return fill_rows(profile) && make_table(profile, &profile->classes, KEY_CLASS) &&
         make_table(profile, &profile->operators, KEY_OPERATOR) &&
         make_table(profile, &profile->instances, KEY_INSTANCE);
}

void nnc_profile_free_tables(nnc_profile *profile) {
  free(profile->classes.rows);
  free(profile->operators.rows);
  free(profile->instances.rows);
}
