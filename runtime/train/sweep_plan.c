/* The runs of a sweep: see sweep_plan.h. */
#include "train/sweep_plan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/flag_value.h"
#include "core/session.h"
#include "os/message.h"

enum { MOST_RUNS = 10000 };

/* --- Lists ---------------------------------------------------------------------------------- */

const char *nnc_sweep_axis_name(const nnc_sweep_axis *axis, char buffer[64]) {
  if (axis->option >= 0) return nnc_setting_flag(axis->option, buffer);
  strcpy(buffer, "seed");
  return buffer;
}

static bool add(nnc_sweep_axis *axis, const char *text) {
  char flag[64];
  if (axis->count >= MOST_RUNS) {
    nnc_error("--%s lists more than %d values", nnc_sweep_axis_name(axis, flag), MOST_RUNS);
    return false;
  }
  double value = 0;
  uint64_t seed = 0;
  if (axis->option >= 0 && !nnc_setting_read(axis->option, text, &value)) return false;
  enum nnc_whole read = axis->option < 0 ? nnc_read_whole(text, &seed) : NNC_WHOLE;
  if (read == NNC_TOO_LARGE) return nnc_flag_whole("seed", text, 0, UINT64_MAX, &seed);
  if (read == NNC_NOT_WHOLE) {
    nnc_error("--seed wants whole numbers, such as 0,1,2 or 0..3, not '%s'", text);
    return false;
  }
  for (int i = 0; i < axis->count; i++) {
    if (axis->option >= 0 ? axis->values[i] != value : axis->seeds[i] != seed) continue;
    nnc_error("--%s lists %s twice", nnc_sweep_axis_name(axis, flag), text);
    return false;
  }
  axis->values[axis->count] = value;
  axis->seeds[axis->count++] = seed;
  return true;
}

/* a..b: the whole numbers from a, without b, as everywhere in the language. */
static bool add_range(nnc_sweep_axis *axis, char *text, char *dots) {
  char flag[64], number[24];
  uint64_t from, to;
  *dots = '\0';
  if (nnc_read_whole(text, &from) != NNC_WHOLE || nnc_read_whole(dots + 2, &to) != NNC_WHOLE ||
      to <= from) {
    nnc_error("--%s: '%s..%s' is no range: 0..3 is 0, 1, 2", nnc_sweep_axis_name(axis, flag), text,
              dots + 2);
    return false;
  }
  for (uint64_t value = from; value < to; value++) {
    snprintf(number, sizeof number, "%" PRIu64, value);
    if (!add(axis, number)) return false;
  }
  return true;
}

static bool read_list(nnc_sweep_axis *axis, char *text) {
  for (char *item = text, *next; item; item = next) {
    char *comma = strchr(item, ',');
    next = comma ? comma + 1 : NULL;
    if (comma) *comma = '\0';
    char *dots = strstr(item, "..");
    if (!(dots ? add_range(axis, item, dots) : add(axis, item))) return false;
  }
  return true;
}

static bool add_axis(nnc_sweep_plan *plan, int option, const char *text, bool *usage) {
  nnc_sweep_axis *axis = &plan->axes[plan->axis_count++];
  *axis = (nnc_sweep_axis){.option = option};
  axis->values = calloc(MOST_RUNS, sizeof *axis->values);
  axis->seeds = calloc(MOST_RUNS, sizeof *axis->seeds);
  char *copy = strdup(text);
  bool good = axis->values && axis->seeds && copy;
  *usage = good;
  if (good) good = read_list(axis, copy);
  else nnc_error("cannot allocate the values of a sweep");
  free(copy);
  return good;
}

/* "weight_decay" is the axis weight-decay. */
static bool is_axis(const nnc_sweep_axis *axis, const char *name) {
  if (axis->option < 0) return strcmp(name, "seed") == 0;
  return nnc_setting_find(name, strlen(name)) == axis->option;
}

static bool find_over(nnc_sweep_plan *plan, bool *usage) {
  const char *name = plan->options->over;
  for (int i = 0; name && i < plan->axis_count; i++)
    if (is_axis(&plan->axes[i], name)) plan->over = i;
  if (!name || plan->over >= 0) return true;
  nnc_error("--over %s wants the name of a flag that lists values here, as in --seed 0..5 --over "
            "seed",
            name);
  *usage = true;
  return false;
}

bool nnc_sweep_plan_open(nnc_sweep_plan *plan, const nnc_options *options, bool *usage) {
  *plan = (nnc_sweep_plan){.options = options, .run_count = 1, .over = -1};
  *usage = false;
  plan->folder = nnc_default_folder(options);
  if (!plan->folder) return false;
  for (int i = 0; i < nnc_the_model.option_count; i++)
    if (options->setting_texts[i] && !add_axis(plan, i, options->setting_texts[i], usage))
      return false;
  if (options->seed_text && !add_axis(plan, -1, options->seed_text, usage)) return false;
  if (!find_over(plan, usage)) return false;
  *usage = true;
  for (int i = 0; i < plan->axis_count; i++) {
    if (plan->axes[i].count <= MOST_RUNS / plan->run_count) {
      plan->run_count *= plan->axes[i].count;
      continue;
    }
    nnc_error("these lists give more than %d runs", MOST_RUNS);
    return false;
  }
  if (plan->axis_count > 0) return true;
  nnc_error("sweep wants lists of values: --seed 0..4%s",
            nnc_the_model.option_count > 0 ? ", or of options of the program, as --help lists them"
                                           : "; an option of the program would be another");
  return false;
}

void nnc_sweep_plan_close(nnc_sweep_plan *plan) {
  for (int i = 0; i < plan->axis_count; i++) {
    free(plan->axes[i].values);
    free(plan->axes[i].seeds);
  }
  free(plan->folder);
}

/* --- Single runs ---------------------------------------------------------------------------- */

/* Which of its values an axis has in a run. */
static int value_index(const nnc_sweep_plan *plan, int axis, int run) {
  for (int i = plan->axis_count - 1; i > axis; i--) run /= plan->axes[i].count;
  return run % plan->axes[axis].count;
}

const char *nnc_sweep_value(const nnc_sweep_plan *plan, int axis, int run, char buffer[40]) {
  const nnc_sweep_axis *own = &plan->axes[axis];
  int index = value_index(plan, axis, run);
  if (own->option >= 0) return nnc_setting_text(own->values[index], buffer);
  snprintf(buffer, 40, "%" PRIu64, own->seeds[index]);
  return buffer;
}

int nnc_sweep_member(const nnc_sweep_plan *plan, int group, int member) {
  int stride = 1;
  for (int i = plan->axis_count - 1; i > plan->over; i--) stride *= plan->axes[i].count;
  return (group / stride * plan->axes[plan->over].count + member) * stride + group % stride;
}

char *nnc_sweep_name(const nnc_sweep_plan *plan, int run, const char *between, int but) {
  char *name = NULL, flag[64], value[40];
  const char *before = "";
  size_t size;
  FILE *file = open_memstream(&name, &size);
  for (int i = 0; file && i < plan->axis_count; i++) {
    if (i == but) continue;
    fprintf(file, "%s%s=%s", before, nnc_sweep_axis_name(&plan->axes[i], flag),
            nnc_sweep_value(plan, i, run, value));
    before = between;
  }
  if (file && fclose(file) == 0) return name;
  free(file ? name : NULL);
  nnc_error("cannot allocate the name of a run");
  return NULL;
}

nnc_options nnc_sweep_options(const nnc_sweep_plan *plan, int run) {
  nnc_options options = *plan->options;
  for (int i = 0; i < plan->axis_count; i++) {
    const nnc_sweep_axis *axis = &plan->axes[i];
    int index = value_index(plan, i, run);
    if (axis->option < 0) {
      options.has_seed = true;
      options.seed = axis->seeds[index];
      continue;
    }
    options.settings.values[axis->option] = axis->values[index];
    options.settings.given[axis->option] = true;
  }
  options.resume = NULL;
  return options;
}
