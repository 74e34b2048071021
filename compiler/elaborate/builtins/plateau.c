/* plateau_value: the number that a schedule of the kind of PyTorch's ReduceLROnPlateau begins with.
 *
 * It is a host scalar that the runtime keeps and lowers after a report (runtime/core/plateau.c). What
 * the program says of it goes into the module; equal ones are one. Which metrics there are is known
 * only at the end, when builtins_check_plateaus looks. */
#include <float.h>
#include <string.h>
#include "elaborate/builtins/builtins.h"
#include "elaborate/core/emit.h"
#include "elaborate/core/followed.h"
#include "elaborate/core/report.h"
#include "support/names.h"

enum {
  AT_START,
  AT_FACTOR,
  AT_PATIENCE,
  AT_THRESHOLD,
  AT_COOLDOWN,
  AT_FLOOR,
  AT_METRIC,
  AT_SET,
  AT_BEST,
  AT_RELATIVE,
  AT_LEAST
};

static bool same_plateau(const Plateau *a, const Plateau *b) {
  return a->metric == b->metric && a->set == b->set && a->is_max == b->is_max &&
         a->is_relative == b->is_relative && a->start == b->start && a->factor == b->factor &&
         a->threshold == b->threshold && a->floor == b->floor && a->least == b->least &&
         a->patience == b->patience && a->cooldown == b->cooldown;
}

/* The data set whose metric counts: the first that is evaluated, else that of training. */
static const char *default_set(const Elaborator *e) {
  for (int i = 0; i < e->program->stmts.count; i++) {
    const AstStmt *stmt = e->program->stmts.items[i];
    const char *name = stmt->kind == AST_DATA ? stmt->section.name.text : NULL;
    if (name && strcmp(name, "train") != 0 && strcmp(name, "predict") != 0) return name;
  }
  return name_intern("train");
}

static bool read_numbers(Elaborator *e, const Bound *bound, Plateau *plateau) {
  static const struct {
    int at;
    const char *what;
    double least, most;
    const char *wanted;
  } rules[] = {{AT_START, "start", -DBL_MAX, DBL_MAX, "a finite number"},
               {AT_FACTOR, "factor", DBL_TRUE_MIN, 1 - DBL_EPSILON / 2, "between 0 and 1"},
               {AT_PATIENCE, "patience", 0, INT32_MAX, "a number of reports"},
               {AT_COOLDOWN, "cooldown", 0, INT32_MAX, "a number of reports"},
               {AT_THRESHOLD, "threshold", 0, DBL_MAX, "a finite number from 0"},
               {AT_FLOOR, "floor", -DBL_MAX, DBL_MAX, "a finite number"},
               {AT_LEAST, "least", 0, DBL_MAX, "a finite number from 0"}};
  const Value *values = bound->values;
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    double number = value_number(values[rules[i].at]);
    if (number >= rules[i].least && number <= rules[i].most) continue;
    return report_failure(e, bound->spans[rules[i].at], "the %s of a plateau must be %s, found %g",
                          rules[i].what, rules[i].wanted, number);
  }
  plateau->start = value_number(values[AT_START]);
  plateau->factor = value_number(values[AT_FACTOR]);
  plateau->threshold = value_number(values[AT_THRESHOLD]);
  plateau->floor = value_number(values[AT_FLOOR]);
  plateau->least = value_number(values[AT_LEAST]);
  plateau->patience = values[AT_PATIENCE].integer;
  plateau->cooldown = values[AT_COOLDOWN].integer;
  return true;
}

static bool read_words(Elaborator *e, const Bound *bound, Plateau *plateau) {
  const char *best = bound->values[AT_BEST].string;
  Value set = bound->values[AT_SET];
  plateau->metric = bound->values[AT_METRIC].string;
  plateau->is_relative = bound->values[AT_RELATIVE].boolean;
  plateau->is_max = strcmp(best, "max") == 0;
  if (!plateau->is_max && strcmp(best, "min") != 0)
    return report_failure(e, bound->spans[AT_BEST],
                          "the best of a metric is its \"min\" or its \"max\", not \"%s\"", best);
  plateau->set = set.kind == VALUE_STRING ? set.string : default_set(e);
  return true;
}

static Value apply_plateau_value(Elaborator *e, const Bound *bound) {
  Plateau plateau = {.span = report_user_span(e, bound->call)};
  if (!e->region->is_host_only || e->region == &e->init) {
    Diagnostic *d = report_error(e, bound->call, "plateau_value belongs in a schedule");
    diag_help(d, "lr = plateau(1e-3), or a schedule of your own that calls it");
    return value_error();
  }
  if (!read_numbers(e, bound, &plateau) || !read_words(e, bound, &plateau)) return value_error();
  Module *module = e->module;
  for (int i = 0; i < module->plateaus.count; i++)
    if (same_plateau(&module->plateaus.items[i], &plateau))
      return value_tensor(e, emit_scalar(e, module->plateaus.items[i].name));
  /* No schedule has such a name. */
  plateau.name = name_printf("plateau:%d", module->plateaus.count);
  vec_push(e->arena, &module->plateaus, plateau);
  return value_tensor(e, emit_scalar(e, plateau.name));
}

void builtins_check_plateaus(Elaborator *e) {
  for (int i = 0; i < e->module->plateaus.count; i++) {
    const Plateau *plateau = &e->module->plateaus.items[i];
    followed_check(e, plateau->set, plateau->span, plateau->metric, plateau->span);
  }
}

const Builtin builtins_schedule[] = {
    BUILTIN("parts of schedules", apply_plateau_value, 0, "plateau_value",
            "start: number, factor: number = 0.1, patience: int = 10, threshold: number = 1e-4, "
            "cooldown: int = 0, floor: number = 0, metric: string = \"loss\", set: string = none, "
            "best: string = \"min\", relative: bool = true, least: number = 1e-8",
            "The value that `plateau` begins a step with, for schedules of one's own: `start`, and "
            "times "
            "`factor` whenever a metric of a data set has not improved for more than `patience` "
            "reports."
            " Example: schedule calm(peak) { return minimum(plateau_value(peak), 1e-3) }"),
    {0},
};
