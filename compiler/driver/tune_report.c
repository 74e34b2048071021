/* What --tune found, as text and for --report=json. */
#include "driver/tune.h"

#include <string.h>

static int count_measured(const Tuning *tuning) {
  int count = 0;
  for (int i = 0; i < tuning->count; i++) count += tuning->kernels[i].is_measured;
  return count;
}

static bool has_plans(const Tuning *tuning) { return tuning->plan_ms[PLAN_MODEL] > 0; }

static void print_candidate(Text *text, double ms, const char *how, bool is_model, bool is_chosen) {
  text_printf(text, "    %s %9.4g ms  %s%s\n", is_chosen ? ">" : " ", ms, how,
              is_model ? "  (the cost model's)" : "");
}

static void print_kernel(Text *text, const TunedKernel *kernel) {
  text_printf(text, "  %s", kernel->name);
  if (kernel->calls > 1) text_printf(text, ", %d launches", kernel->calls);
  text_add_char(text, '\n');
  for (int i = 0; i < kernel->count; i++)
    print_candidate(text, kernel->ms[i], kernel->how[i], i == 0, i == kernel->chosen);
}

static void print_outcome(Text *text, const Tuning *tuning) {
  if (tuning->plan == PLAN_MODEL && tuning->variants.count == 0)
    text_add(text, "tune: nothing is clearly faster than what the cost model picks, which stays\n");
  else
    text_printf(text,
                "tune: a step takes %.4g ms with the choices marked >, %.4g ms as the cost model "
                "picks: %s\n",
                tuning->tuned_ms, tuning->model_ms,
                tuning->is_kept ? "taken" : "not taken, all stays as the cost model picks");
}

void tuning_print(Text *text, const Tuning *tuning) {
  if (!tuning->is_wanted) return;
  if (tuning->count == 0 && !has_plans(tuning)) {
    text_add(text, "tune: no part of a training step has variants\n");
    return;
  }
  text_printf(text, "tune: %d kernel%s for %d thread%s, %d measured now, %d known from before\n",
              tuning->count, tuning->count == 1 ? "" : "s", tuning->threads,
              tuning->threads == 1 ? "" : "s", count_measured(tuning),
              tuning->count - count_measured(tuning));
  if (has_plans(tuning)) text_add(text, "  the program as a whole\n");
  for (int i = 0; i < PLAN_COUNT; i++)
    if (tuning->plan_ms[i] > 0)
      print_candidate(text, tuning->plan_ms[i], tuned_plan_names[i], i == PLAN_MODEL,
                      i == tuning->plan);
  for (int i = 0; i < tuning->count; i++) print_kernel(text, &tuning->kernels[i]);
  print_outcome(text, tuning);
}

static void add_candidate(Text *text, bool is_first, const char *how, double ms) {
  text_add(text, is_first ? "{\"how\": " : ", {\"how\": ");
  text_add_quoted(text, how);
  text_printf(text, ", \"ms\": %.6g}", ms);
}

void tuning_add_json(Text *text, const Tuning *tuning) {
  while (text->length > 0 && strchr("\n}", text->data[text->length - 1])) text->length--;
  text_printf(text, ",\n  \"tuning\": {\"threads\": %d, \"taken\": %s, \"model_ms\": %.6g, ",
              tuning->threads, tuning->is_kept ? "true" : "false", tuning->model_ms);
  text_printf(text, "\"tuned_ms\": %.6g, \"measured\": %d, \"plan\": ", tuning->tuned_ms,
              count_measured(tuning) + tuning->are_plans_measured);
  text_add_quoted(text, tuned_plan_names[tuning->plan]);
  text_add(text, ", \"plans\": [");
  bool is_first = true;
  for (int i = 0; i < PLAN_COUNT; i++) {
    if (tuning->plan_ms[i] <= 0) continue;
    add_candidate(text, is_first, tuned_plan_names[i], tuning->plan_ms[i]);
    is_first = false;
  }
  text_add(text, "], \"kernels\": [");
  for (int i = 0; i < tuning->count; i++) {
    const TunedKernel *kernel = &tuning->kernels[i];
    text_add(text, i > 0 ? ",\n    {\"kernel\": " : "\n    {\"kernel\": ");
    text_add_quoted(text, kernel->name);
    text_printf(text, ", \"launches\": %d, \"model\": 0, \"chosen\": %d, \"candidates\": [",
                kernel->calls, kernel->chosen);
    for (int k = 0; k < kernel->count; k++)
      add_candidate(text, k == 0, kernel->how[k], kernel->ms[k]);
    text_add(text, "]}");
  }
  text_add(text, "]}\n}\n");
}
