/* Learning rates that the log tells.
 *
 * The rate of a parameter is the argument `lr` of its optimizer, times lr_scale. Where that is a schedule or computed of
 * such, or of options, it is a number that the host knows before each step, so that to tell it costs nothing. A constant
 * number is told nowhere, since the program has it.
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

static const char *rate_scalar(Elaborator *e, const Deferred *optimizer) {
  int at = function_find_formal(optimizer->function, name_intern("lr"));
  if (at < 0) return NULL;
  const AstFormal *formal = &optimizer->function->stmt->function.formals.items[at];
  Value rate = optimizer->arguments[at];
  if (rate.kind == VALUE_KIND_COUNT) return NULL; /* the default, a number of the optimizer */
  rate = convert_plain(e, rate, optimizer->span);
  if (!value_is_tensor(rate) || !rate.tensor.is_host || convert_find_foreign(e, rate)) return NULL;
  return evaluate_host_scalar(e, rate, formal->name.text, optimizer->span);
}

void rate_note(Update *update, const UpdateTarget *target, const Deferred *optimizer) {
  TargetRate rate = {.first = target->slot, .span = optimizer->span};
  find_groups(update->plan, target, rate.groups);
  if (find_rate(update, rate.groups)) return;
  rate.scalar = rate_scalar(update->e, optimizer);
  vec_push(update->e->arena, &update->rates, rate);
}

/* ---- names ---------------------------------------------------------------------------------- */

static bool is_taken(const Module *module, const char *name) {
  for (int i = 0; i < module->rates.count; i++)
    if (module->rates.items[i].name == name) return true;
  return false;
}

/* "rate", "rate/head.*"; where an earlier one is called so, by the first parameter. */
static const char *rate_name(const Update *update, const TargetRate *rate) {
  int last = -1;
  for (int i = 0; i < 3; i++)
    if (rate->groups[i] > last) last = rate->groups[i];
  if (last < 0) return name_intern("rate");
  const AstEntry *entry = update->plan->groups.items[last]->entry;
  Text text = {0};
  for (int i = 0; i < entry->patterns.count; i++)
    text_printf(&text, "%s%s", i ? "," : "rate/", entry->patterns.items[i]->string.bytes);
  const char *name = name_intern(text.data);
  text_free(&text);
  return is_taken(update->e->module, name) ? name_printf("rate/%s", rate->first->path) : name;
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

/* That of the block first; a group with the same has none of its own. */
void rate_finish(Update *update) {
  Elaborator *e = update->e;
  const char *own = NULL;
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < update->rates.count; i++) {
      const TargetRate *rate = &update->rates.items[i];
      if (!rate->scalar || is_of_block(rate) != (pass == 0) || rate->scalar == own) continue;
      if (pass == 0) own = rate->scalar;
      Rate told = {rate_name(update, rate), rate->scalar, rate->span};
      if (!is_taken(e->module, told.name) && check_sets(update, &told))
        vec_push(e->arena, &e->module->rates, told);
    }
}
