/* Metrics of data sets that are followed: see followed.h. */
#include "elaborate/core/followed.h"

#include <string.h>
#include "elaborate/core/report.h"

static void check_metric(Elaborator *e, const char *set, const char *metric, Span span) {
  const Module *module = e->module;
  const char **names = module_metric_names(e->arena, module);
  if (strcmp(set, "train") == 0 && module_metric_is_ranked(e->arena, module, metric)) {
    Diagnostic *d =
        report_error(e, span, "training has no '%s': it is of the order of a whole set", metric);
    diag_help(d, "name a data set that is evaluated");
    return;
  }
  if (strcmp(set, "train") != 0 && module_metric_is_of_steps(e->arena, module, metric)) {
    Diagnostic *d =
        report_error(e, span, "evaluation has no '%s': it is of the steps of training", metric);
    diag_help(d, "train.%s is that of the steps since the report before", metric);
    return;
  }
  for (int i = 0; i < module->metrics.count; i++)
    if (strcmp(names[i], metric) == 0) return;
  Diagnostic *d = report_error(e, span, "there is no metric '%s'", metric);
  report_suggest(d, metric, names, module->metrics.count);
  diag_help(d, "there %s %s; metrics = [...] in the train block adds others",
            module->metrics.count == 1 ? "is" : "are",
            report_list(e->arena, names, module->metrics.count));
}

static void check_set(Elaborator *e, const char *set, Span span) {
  const Module *module = e->module;
  VEC(const char *) names = {0};
  for (int i = 0; i < module->data_sets.count; i++) {
    const char *name = module->data_sets.items[i].name;
    if (strcmp(name, "predict") == 0) continue;
    if (strcmp(name, set) == 0) return;
    vec_push(e->arena, &names, name);
  }
  /* Reports have the metrics of training in any case. */
  if (strcmp(set, "train") == 0) return;
  Diagnostic *d = report_error(e, span, "there is no data set '%s' that is evaluated", set);
  report_suggest(d, set, names.items, names.count);
  if (names.count == 0 || strcmp(names.items[0], "train") != 0) vec_push(e->arena, &names, "train");
  const char *list = report_list(e->arena, names.items, names.count);
  const char *verb = names.count == 1 ? "is" : "are";
  if (strcmp(set, "predict") == 0) diag_help(d, "there %s %s", verb, list);
  else diag_help(d, "there %s %s; a block 'data %s { ... }' adds it", verb, list, set);
}

void followed_check(Elaborator *e, const char *set, Span set_span, const char *metric,
                    Span metric_span) {
  check_set(e, set, set_span);
  check_metric(e, set, metric, metric_span);
}
