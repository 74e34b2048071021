/* The profile as one JSON object on a line. */
#include <stdio.h>

#include "core/device_json.h"
#include "core/json.h"
#include "core/options.h"
#include "os/message.h"
#include "profile/profile.h"

static void put_member(const char *name, const char *text) {
  printf(",\"%s\":", name);
  nnc_json_put_string(stdout, text);
}

static void put_number(const char *name, double number) {
  printf(",\"%s\":", name);
  nnc_json_put_number(stdout, number);
}

static void put_instance(const nnc_profile_row *row) {
  put_member("class", row->class_name);
  put_member("operator", row->operator_name);
  put_member("entry", row->entry);
  if (!row->step) return;
  put_number("step", row->number);
  put_member("kernel", row->step->kernel);
  put_member("stores", row->step->stores);
  put_number("tasks", (double)row->step->tasks);
  put_number("line", row->step->line);
}

static void put_row(const nnc_profile_row *row, double total, bool has_bound) {
  printf("{\"name\":");
  nnc_json_put_string(stdout, row->name);
  put_number("ms", row->seconds * 1e3);
  put_number("share", row->seconds / total);
  put_number("calls", row->calls);
  put_number("gflops", row->seconds > 0 ? row->flops / row->seconds * 1e-9 : 0);
  put_number("gbs", row->seconds > 0 ? row->bytes / row->seconds * 1e-9 : 0);
  if (has_bound) put_number("bound", nnc_profile_bound(row));
}

static void put_table(const char *name, const nnc_profile_table *table, bool is_instance,
                      bool has_bound) {
  printf(",\"%s\":[", name);
  for (int i = 0; i < table->count; i++) {
    if (i > 0) putchar(',');
    put_row(&table->rows[i], table->total.seconds, has_bound);
    if (is_instance) put_instance(&table->rows[i]);
    putchar('}');
  }
  putchar(']');
}

static double product_flops(const nnc_profile *profile) {
  const nnc_model *model = profile->session->model;
  double earlier = (double)(profile->trial.runs - 1);
  return earlier * model->accumulate.product_flops + profile->trial.last->product_flops;
}

static void put_speed(const nnc_speed *speed) {
  put_number("peak_gflops", speed->flops[NNC_UNIT_PLAIN] * 1e-9);
  put_number("peak_gflops_16_bits", speed->flops[NNC_UNIT_HALF] * 1e-9);
  put_number("peak_gflops_tf32", speed->flops[NNC_UNIT_TF32] * 1e-9);
  put_number("peak_gbs", speed->bandwidth * 1e-9);
  put_number("peak_gbs_bytes", (double)speed->read_bytes);
}

void nnc_profile_print_json(const nnc_profile *profile) {
  const nnc_model *model = profile->session->model;
  printf("{\"model\":");
  nnc_json_put_string(stdout, model->name);
  put_member("isa", model->isa);
  nnc_device_json(stdout, model, (int)profile->session->options->device);
  put_number("batch", (double)(profile->trial.last->batch * profile->trial.runs));
  put_number("threads", profile->session->threads);
  put_number("steps", (double)profile->steps);
  put_number("counted_steps", (double)profile->counted);
  put_number("product_gflop", product_flops(profile) * 1e-9);
  put_number("step_ms", profile->instances.total.seconds * 1e3);
  put_number("marked_step_ms", profile->marked_seconds * 1e3);
  put_number("unmarked_step_ms", profile->plain_seconds * 1e3);
  if (profile->loading_threads > 0) {
    put_number("loading_threads", profile->loading_threads);
    put_number("loading_ms", profile->loading_seconds * 1e3);
  }
  put_number("mark_ns", profile->mark_seconds * 1e9);
  if (profile->has_bound) put_speed(&profile->speed);
  put_table("classes", &profile->classes, false, profile->has_bound);
  put_table("operators", &profile->operators, false, profile->has_bound);
  put_table("instances", &profile->instances, true, profile->has_bound);
  printf("}\n");
}
