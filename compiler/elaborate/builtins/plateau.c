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
#include "elaborate/eval/convert.h"
#include "elaborate/eval/evaluate.h"
#include "elaborate/eval/option.h"
#include "support/names.h"

/* The arguments: the numbers in the order of PlateauPart but for `least`, which is the last. */
enum { AT_METRIC = PLATEAU_FLOOR + 1, AT_SET, AT_BEST, AT_RELATIVE, AT_LEAST };

static bool same_plateau(const Plateau *a, const Plateau *b) {
  for (int i = 0; i < PLATEAU_PART_COUNT; i++)
    if (a->numbers[i].value != b->numbers[i].value || a->numbers[i].scalar != b->numbers[i].scalar)
      return false;
  return a->metric == b->metric && a->set == b->set && a->is_max == b->is_max &&
         a->is_relative == b->is_relative;
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

/* What the runtime holds values of options to, too (runtime/core/plateau.c). */
static const struct {
  const char *what;
  double least, most;
  const char *wanted;
} rules[PLATEAU_PART_COUNT] = {
    [PLATEAU_START] = {"start", -DBL_MAX, DBL_MAX, "a finite number"},
    [PLATEAU_FACTOR] = {"factor", DBL_TRUE_MIN, 1 - DBL_EPSILON / 2, "between 0 and 1"},
    [PLATEAU_PATIENCE] = {"patience", 0, INT32_MAX, "a number of reports"},
    [PLATEAU_THRESHOLD] = {"threshold", 0, DBL_MAX, "a finite number from 0"},
    [PLATEAU_COOLDOWN] = {"cooldown", 0, INT32_MAX, "a number of reports"},
    [PLATEAU_FLOOR] = {"floor", -DBL_MAX, DBL_MAX, "a finite number"},
    [PLATEAU_LEAST] = {"least", 0, DBL_MAX, "a finite number from 0"}};

static bool counts_reports(PlateauPart part) {
  return part == PLATEAU_PATIENCE || part == PLATEAU_COOLDOWN;
}

static bool check_number(Elaborator *e, Span at, PlateauPart part, double number) {
  if (number >= rules[part].least && number <= rules[part].most) return true;
  return report_failure(e, at, "the %s of a plateau must be %s, found %g", rules[part].what,
                        rules[part].wanted, number);
}

static bool check_option(Elaborator *e, Span at, PlateauPart part, Value value) {
  const RunOption *option = option_of(e, value);
  if (!option) return true; /* computed of options: the runtime looks at it */
  if (counts_reports(part) && !option->is_whole)
    return report_failure(e, at, "the %s of a plateau needs an option of whole numbers",
                          rules[part].what);
  return check_number(e, at, part, option->start);
}

static bool refuse_number(Elaborator *e, Span at, PlateauPart part, Value value) {
  if (value_is_tensor(value) && value.tensor.is_host)
    return report_failure(e, at,
                          "the %s of a plateau is one number in the whole run: a constant, an "
                          "option or computed of options; no schedule and no length in epochs",
                          rules[part].what);
  const char *what = name_printf("the %s of a plateau", rules[part].what);
  const char *wanted =
      counts_reports(part) ? "an integer or an option of whole numbers" : "a number or an option";
  report_wrong_kind(e, at, what, wanted, value);
  return false;
}

static bool read_number(Elaborator *e, const Bound *bound, PlateauPart part, Plateau *plateau) {
  int argument = part == PLATEAU_LEAST ? AT_LEAST : (int)part;
  Span at = bound->spans[argument];
  Value value = convert_plain(e, bound->values[argument], at);
  PlateauNumber *number = &plateau->numbers[part];
  if (value_is_error(value)) return false;
  if (counts_reports(part) ? value.kind == VALUE_INT : value_is_number(value)) {
    number->value = value_number(value);
    return check_number(e, at, part, number->value);
  }
  if (!convert_is_of_options(e, value)) return refuse_number(e, at, part, value);
  if (!check_option(e, at, part, value)) return false;
  const char *name = name_printf("plateau:%d:%s", e->module->plateaus.count, rules[part].what);
  number->scalar = evaluate_host_scalar(e, value, name, at);
  return number->scalar != NULL;
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
  for (int part = 0; part < PLATEAU_PART_COUNT; part++)
    if (!read_number(e, bound, (PlateauPart)part, &plateau)) return value_error();
  if (!read_words(e, bound, &plateau)) return value_error();
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
    BUILTIN(
        "parts of schedules", apply_plateau_value, 0, "plateau_value",
        "start: option, factor: option = 0.1, patience: option = 10, threshold: option = 1e-4, "
        "cooldown: option = 0, floor: option = 0, metric: string = \"loss\", set: string = none, "
        "best: string = \"min\", relative: bool = true, least: option = 1e-8",
        "The value that `plateau` begins a step with, for schedules of one's own: `start`, and "
        "times "
        "`factor` whenever a metric of a data set has not improved for more than `patience` "
        "reports. Each number may be an option."
        " Example: schedule calm(peak) { return minimum(plateau_value(peak), 1e-3) }"),
    {0},
};
