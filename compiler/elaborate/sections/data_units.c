/* What `unstandardize` wants of `data train`: that it standardizes the field. That training reads it: data_learnt.c. */
#include <string.h>
#include "elaborate/core/report.h"
#include "elaborate/sections/data.h"

#include "support/names.h"

/* "price:standardize" is of the field price. */
const char *data_field_of_scores(Elaborator *e, const Variable *scores) {
  size_t length = strcspn(scores->path, ":");
  return name_intern(arena_strndup(e->arena, scores->path, length));
}

static bool is_standardized(const DataPipeline *pipeline, const char *field) {
  for (int c = 1; c < pipeline->call_count; c++)
    if (!strcmp(pipeline->calls[c].function, "standardize") &&
        data_call_names_field(&pipeline->calls[c], field))
      return true;
  return false;
}

static void check_stage(Elaborator *e, const DataSet *train, const Variable *scores) {
  const char *field = data_field_of_scores(e, scores);
  const DataPipeline *pipeline = train ? data_find_pipeline(train, field) : NULL;
  bool was_told = pipeline ? pipeline->is_wrong : train || e->trace->train;
  if (was_told || (pipeline && is_standardized(pipeline, field))) return;
  Diagnostic *d = report_error(e, scores->span, "'unstandardize' knows no units of '%s': %s", field,
                               pipeline ? "'data train' does not standardize it"
                                        : "no line of 'data train' has it");
  if (pipeline) diag_note(d, pipeline->span, "its line");
  if (pipeline)
    diag_help(d, "add | standardize(%s); without names the stage leaves targets alone", field);
  else diag_help(d, "data train { %s = npy(\"file\") | standardize(%s) }", field, field);
}

void data_check_units(Elaborator *e) {
  const DataSet *train = data_find_set(e->module, "train");
  for (int i = 0; i < e->module->variables.count; i++)
    if (e->module->variables.items[i].kind == VARIABLE_FITTED)
      check_stage(e, train, &e->module->variables.items[i]);
}
