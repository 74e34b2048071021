/* Learning rates that the log tells.
 *
 * The rate of a parameter is the argument `lr` of its optimizer, times lr_scale. Where that is a schedule or computed of
 * such, or of options, it is a number that the host knows before each step, so that to tell it costs nothing. Where
 * all parameters have one constant number it is told nowhere, since the program has it; where one rate is told, all are.
 *
 * Parameters of which the same groups say optimizer, lr and lr_scale have one rate. That of the block is "rate", that
 * of groups has their patterns in its name. */
#include "elaborate/sections/rate.h"

#include <string.h>
#include "elaborate/core/emit.h"
#include "elaborate/core/path.h"
#include "elaborate/core/report.h"
#include "elaborate/eval/convert.h"
#include "elaborate/eval/evaluate.h"
#include "elaborate/sections/data.h"
#include "support/names.h"

/* ---- which groups say it -------------------------------------------------------------------- */

static bool overrides_rate(const TrainGroup *group) {
  for (int i = 0; i < group->overrides.count; i++)
    if (strcmp(group->overrides.items[i].name.text, "lr") == 0) return true;
  return false;
}

static void find_groups(const TrainPlan *plan, const UpdateTarget *target, int groups[3]) {
  groups[0] = groups[1] = groups[2] = -1;
  for (int i = 0; i < plan->groups.count; i++) {
    const TrainGroup *group = plan->groups.items[i];
    if (target->keys[KEY_OPTIMIZER] == &group->keys[KEY_OPTIMIZER]) groups[0] = i;
    if (path_matches_group(group->entry, target->slot->path) && overrides_rate(group))
      groups[1] = i;
    if (target->keys[KEY_LR_SCALE] == &group->keys[KEY_LR_SCALE]) groups[2] = i;
  }
}

static const TargetRate *find_rate(const Update *update, const int groups[3]) {
  for (int i = 0; i < update->rates.count; i++)
    if (memcmp(update->rates.items[i].groups, groups, sizeof update->rates.items[i].groups) == 0)
      return &update->rates.items[i];
  return NULL;
}

/* ---- the number ----------------------------------------------------------------------------- */

/* The default of an optimizer's `lr`, where that is a number as it stands. */
static Value default_rate(Elaborator *e, const AstFormal *formal) {
  const AstExpr *expr = formal->default_value;
  bool is_number = expr && (expr->kind == AST_INTEGER || expr->kind == AST_FLOAT);
  return is_number ? evaluate_expr(e, expr) : value_error();
}

static void find_number(Elaborator *e, const Deferred *optimizer, TargetRate *rate) {
  int at = function_find_formal(optimizer->function, name_intern("lr"));
  if (at < 0) return;
  const AstFormal *formal = &optimizer->function->stmt->function.formals.items[at];
  Value value = optimizer->arguments[at];
  if (value.kind == VALUE_KIND_COUNT) value = default_rate(e, formal);
  value = convert_plain(e, value, optimizer->span);
  rate->is_constant = value_is_number(value);
  if (rate->is_constant) rate->constant = value_number(value);
  else if (value_is_tensor(value) && value.tensor.is_host && !convert_find_foreign(e, value))
    rate->scalar = evaluate_host_scalar(e, value, formal->name.text, optimizer->span);
}

void rate_note(Update *update, const UpdateTarget *target, const Deferred *optimizer) {
  TargetRate rate = {.first = target->slot, .span = optimizer->span};
  find_groups(update->plan, target, rate.groups);
  if (find_rate(update, rate.groups)) return;
  find_number(update->e, optimizer, &rate);
  vec_push(update->e->arena, &update->rates, rate);
}

/* ---- names ---------------------------------------------------------------------------------- */

static bool is_taken(const Module *module, const char *name) {
  for (int i = 0; i < module->rates.count; i++)
    if (module->rates.items[i].name == name) return true;
  return false;
}

static void append_patterns(Text *text, const char *before, const TrainGroup *group) {
  for (int i = 0; i < group->entry->patterns.count; i++)
    text_printf(text, "%s%s", i ? "," : before, group->entry->patterns.items[i]->string.bytes);
}

/* "rate/head.w"; where an earlier one is called so, by the patterns of all groups that say it, "rate/h?.w+head.w". */
static const char *group_name(const Update *update, const TargetRate *rate, bool is_long) {
  const TrainPlan *plan = update->plan;
  int last = -1;
  Text text = {0};
  text_printf(&text, "rate/");
  for (int i = 0; i < plan->groups.count; i++) {
    if (rate->groups[0] != i && rate->groups[1] != i && rate->groups[2] != i) continue;
    if (is_long) append_patterns(&text, last >= 0 ? "+" : "", plan->groups.items[i]);
    last = i;
  }
  if (!is_long) append_patterns(&text, "", plan->groups.items[last]);
  const char *name = name_intern(text.data);
  text_free(&text);
  return name;
}

static bool is_of_block(const TargetRate *rate) {
  return rate->groups[0] < 0 && rate->groups[1] < 0 && rate->groups[2] < 0;
}

/* The log has "rate/c" of a group and of a data set that is called rate. */
static bool check_sets(const Update *update, const Rate *rate) {
  Elaborator *e = update->e;
  const DataSet *set = data_find_set(e->module, "rate");
  const char *metric = strchr(rate->name, '/');
  for (int i = 0; set && metric && i < update->plan->metrics.count; i++) {
    if (strcmp(update->plan->metrics.items[i].name, metric + 1) != 0) continue;
    Diagnostic *d =
        report_error(e, rate->span, "the log would have two numbers called '%s'", rate->name);
    diag_note(d, update->plan->metrics.items[i].span, "the metric of the data set 'rate'");
    return diag_help(
        d, "give the data set another name: a log has the rates of groups of parameters as "
           "rate/PATTERN");
  }
  return true;
}

static const char *rate_name(const Update *update, const TargetRate *rate) {
  if (is_of_block(rate)) return name_intern("rate");
  const Module *module = update->e->module;
  for (int is_long = 0; is_long < 2; is_long++) {
    const char *name = group_name(update, rate, is_long);
    if (!is_taken(module, name)) return name;
  }
  return name_printf("rate/%s", rate->first->path);
}

/* ---- the log -------------------------------------------------------------------------------- */

static bool has_number(const TargetRate *rate) { return rate->scalar || rate->is_constant; }

static bool is_same(const TargetRate *a, const TargetRate *b) {
  return a->scalar == b->scalar && a->is_constant == b->is_constant && a->constant == b->constant;
}

/* Whether the program's text alone does not say at once what a parameter's rate is. */
static bool are_told(const Update *update) {
  const TargetRate *first = NULL;
  for (int i = 0; i < update->rates.count; i++) {
    const TargetRate *rate = &update->rates.items[i];
    if (!has_number(rate)) continue;
    if (rate->scalar || (first && !is_same(first, rate))) return true;
    first = rate;
  }
  return false;
}

static void tell(Update *update, const TargetRate *rate) {
  Elaborator *e = update->e;
  Rate told = {rate_name(update, rate), rate->scalar, rate->span};
  if (is_taken(e->module, told.name) || !check_sets(update, &told)) return;
  if (!told.scalar)
    told.scalar = evaluate_host_scalar(e, value_float(rate->constant), "lr", rate->span);
  if (told.scalar) vec_push(e->arena, &e->module->rates, told);
}

/* That of the block first; a group with the same has none of its own. */
void rate_finish(Update *update) {
  const TargetRate *own = NULL;
  if (!are_told(update)) return;
  for (int i = 0; i < update->rates.count; i++)
    if (is_of_block(&update->rates.items[i])) own = &update->rates.items[i];
  if (own && has_number(own)) tell(update, own);
  for (int i = 0; i < update->rates.count; i++) {
    const TargetRate *rate = &update->rates.items[i];
    if (!has_number(rate) || (own && is_same(own, rate))) continue;
    tell(update, rate);
  }
}
