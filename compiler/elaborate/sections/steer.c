/* What steers a run: `save = best(val.loss)`, `stop = patience(5, val.loss)`, `keep = 3` and
 * `save_every = 10 minutes`.
 *
 * val.loss names a metric of a data set, no value: the forms are read here, from the syntax tree. Which
 * metrics and data sets there are is known only at the end, when steer_check looks. */
#include "elaborate/sections/steer.h"

#include <math.h>
#include <string.h>
#include "elaborate/core/followed.h"
#include "elaborate/core/report.h"
#include "elaborate/eval/convert.h"
#include "elaborate/eval/evaluate.h"
#include "support/names.h"

enum { MOST_KEPT = 1000 };

static const struct {
  const char *function, *named; /* its argument that is given by name */
  TrainKey key;
  bool has_count; /* the first argument is a number */
  const char *form;
} forms[WATCH_KIND_COUNT] = {
    [WATCH_BEST] = {"best", "keep", KEY_SAVE, false,
                    "save = best(SET.METRIC, \"min\" or \"max\", keep = COUNT); of a loss the word "
                    "may be left out: save = best(val.loss)"},
    [WATCH_STOP] =
        {"patience", "threshold", KEY_STOP, true,
         "stop = patience(COUNT, SET.METRIC, \"min\" or \"max\", threshold = NUMBER); of "
         "a loss the word may be left out: stop = patience(5, val.loss)"},
};

/* What one form says, by place; NULL: not given. */
typedef struct Parts {
  const AstExpr *count, *metric, *word, *named;
} Parts;

/* "save has one argument too many" */
static void *refuse_form(Elaborator *e, WatchKind kind, Span at, const char *found) {
  Diagnostic *d = report_error(e, at, "%s %s", kind == WATCH_BEST ? "save" : "stop", found);
  diag_help(d, "%s", forms[kind].form);
  return NULL;
}

static bool split_arguments(Elaborator *e, WatchKind kind, const AstExpr *expr, Parts *parts) {
  const AstExpr **places[] = {&parts->count, &parts->metric, &parts->word};
  size_t next = forms[kind].has_count ? 0 : 1;
  if (expr->kind != AST_CALL || expr->call.callee->kind != AST_NAME ||
      strcmp(expr->call.callee->name, forms[kind].function) != 0)
    return refuse_form(e, kind, expr->span,
                       kind == WATCH_BEST ? "is no best(...)" : "is no patience(...)");
  for (int i = 0; i < expr->call.arguments.count; i++) {
    const AstArgument *argument = &expr->call.arguments.items[i];
    if (!argument->name.text && next == sizeof places / sizeof *places)
      return refuse_form(e, kind, argument->span, "has one argument too many");
    if (!argument->name.text) {
      *places[next++] = argument->value;
    } else if (strcmp(argument->name.text, forms[kind].named) != 0) {
      return refuse_form(e, kind, argument->name.span,
                         arena_printf(e->arena, "has no argument '%s'", argument->name.text));
    } else {
      parts->named = argument->value;
    }
  }
  if (forms[kind].has_count && !parts->count)
    return refuse_form(e, kind, expr->span, "lacks the number of reports");
  if (parts->metric) return true;
  return refuse_form(e, kind, expr->span, "lacks the metric");
}

/* A whole number from `least` to `most`. */
static bool read_count(Elaborator *e, const AstExpr *expr, const char *what, int64_t most,
                       int64_t *result) {
  if (!convert_int(e, evaluate_expr(e, expr), expr->span, what, result)) return false;
  if (*result >= 1 && *result <= most) return true;
  return report_failure(e, expr->span, "%s must be from 1 to %lld, found %lld", what,
                        (long long)most, (long long)*result);
}

static bool read_metric(Elaborator *e, WatchKind kind, const AstExpr *expr, Watch *watch) {
  if (expr->kind != AST_MEMBER || expr->member.object->kind != AST_NAME)
    return refuse_form(e, kind, expr->span, "wants a metric of a data set, such as val.loss");
  watch->set = expr->member.object->name;
  watch->metric = expr->member.name.text;
  watch->set_span = expr->member.object->span;
  watch->span = expr->member.name.span;
  return true;
}

static const Metric *find_metric(const TrainPlan *plan, const char *name) {
  for (int i = 0; i < plan->metrics.count; i++)
    if (plan->metrics.items[i].name == name) return &plan->metrics.items[i];
  return NULL;
}

/* Less is better of a loss alone: of other metrics the program says it. */
static bool read_direction(Elaborator *e, const TrainPlan *plan, const AstExpr *word,
                           Watch *watch) {
  const Metric *metric = find_metric(plan, watch->metric);
  if (!word) {
    if (!metric || metric->is_loss) return true; /* an unknown one is told of by steer_check */
    Diagnostic *d = report_error(e, watch->span, "is more or less of '%s' better?", watch->metric);
    diag_help(d, "say \"max\" or \"min\" after it: %s.%s, \"max\"", watch->set, watch->metric);
    return false;
  }
  Value value = evaluate_expr(e, word);
  if (value_is_error(value)) return false;
  if (value.kind == VALUE_STRING) watch->is_max = strcmp(value.string, "max") == 0;
  if (watch->is_max || (value.kind == VALUE_STRING && strcmp(value.string, "min") == 0))
    return true;
  return report_failure(e, word->span,
                        "the best of a metric is its \"min\" or its \"max\", found %s",
                        value_describe(e->arena, value));
}

static bool read_named(Elaborator *e, const AstExpr *expr, Watch *watch) {
  if (!expr) return true;
  if (watch->kind == WATCH_BEST) return read_count(e, expr, "keep", MOST_KEPT, &watch->count);
  if (!convert_number(e, evaluate_expr(e, expr), expr->span, "threshold", &watch->threshold))
    return false;
  if (watch->threshold >= 0 && isfinite(watch->threshold)) return true;
  return report_failure(e, expr->span, "threshold must be a finite number from 0, found %g",
                        watch->threshold);
}

static void configure_watch(Elaborator *e, const TrainPlan *plan, WatchKind kind) {
  const AstExpr *expr = plan->keys[forms[kind].key].expr;
  Parts parts = {0};
  Watch watch = {.kind = kind, .count = 1};
  if (!expr || !split_arguments(e, kind, expr, &parts) ||
      (parts.count && !read_count(e, parts.count, "patience", INT32_MAX, &watch.count)) ||
      !read_metric(e, kind, parts.metric, &watch) || !read_direction(e, plan, parts.word, &watch) ||
      !read_named(e, parts.named, &watch))
    return;
  vec_push(e->arena, &e->module->watches, watch);
}

/* Minutes are a unit here alone. */
static bool find_unit(Elaborator *e, const AstExpr *expr, bool *is_minutes) {
  static const char *const units[] = {"steps", "step", "epochs", "epoch", "minutes", "minute"};
  enum { UNITS = sizeof units / sizeof *units, FIRST_OF_MINUTES = 4 };
  *is_minutes = false;
  if (expr->kind != AST_QUANTITY) return true;
  AstName unit = expr->quantity.unit;
  for (int i = 0; i < UNITS; i++) {
    if (strcmp(unit.text, units[i]) != 0) continue;
    *is_minutes = i >= FIRST_OF_MINUTES;
    return true;
  }
  Diagnostic *d = report_error(e, unit.span, "unknown unit '%s'", unit.text);
  report_suggest(d, unit.text, units, UNITS);
  diag_help(d, "save_every counts steps, epochs or minutes");
  return false;
}

static void configure_save_every(Elaborator *e, const AstExpr *expr) {
  RunConfig *run = &e->module->run;
  bool counts_minutes;
  if (!expr || !find_unit(e, expr, &counts_minutes)) return;
  Value value = evaluate_expr(e, counts_minutes ? expr->quantity.number : expr);
  bool has_unit = value.kind == VALUE_QUANTITY;
  bool counts_epochs = has_unit && value.quantity.is_epochs;
  double number = has_unit ? value.quantity.number : 0;
  if (has_unit) value = number == floor(number) ? value_int((int64_t)number) : value_float(number);
  if (!counts_minutes && !has_unit && value.kind == VALUE_INT) {
    Diagnostic *d = report_error(e, expr->span, "save_every needs a unit");
    diag_help(d, "save_every = 500 steps, 2 epochs or 10 minutes");
    return;
  }
  int64_t *result = counts_minutes  ? &run->save_minutes
                    : counts_epochs ? &run->save_epochs
                                    : &run->save_steps;
  int64_t count;
  if (!convert_int(e, value, expr->span, "save_every", &count)) return;
  if (count >= 1 && count <= INT32_MAX) *result = count;
  else
    report_error(e, expr->span, "save_every must be from 1 to %d, found %lld", INT32_MAX,
                 (long long)count);
}

void steer_configure(Elaborator *e, const TrainPlan *plan) {
  const AstExpr *keep = plan->keys[KEY_KEEP].expr;
  for (int kind = 0; kind < WATCH_KIND_COUNT; kind++) configure_watch(e, plan, (WatchKind)kind);
  configure_save_every(e, plan->keys[KEY_SAVE_EVERY].expr);
  if (keep) read_count(e, keep, "keep", MOST_KEPT, &e->module->run.keep);
}

void steer_check(Elaborator *e) {
  for (int i = 0; i < e->module->watches.count; i++) {
    const Watch *watch = &e->module->watches.items[i];
    followed_check(e, watch->set, watch->set_span, watch->metric, watch->span);
  }
}
