/* The info command: what the compiler knows of the model, as tables or as one JSON object. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "train/commands.h"
#include "train/info_fitted.h"
#include "core/device.h"
#include "core/device_json.h"
#include "core/json.h"
#include "core/level.h"
#include "core/setting.h"
#include "os/memory.h"
#include "os/message.h"
#include "nnc_model.h"
#include "core/number.h"
#include "os/printable.h"

static const char *const kind_names[] = {[NNC_PARAM] = "param",
                                         [NNC_STATE] = "state",
                                         [NNC_STREAM] = "stream",
                                         [NNC_OPTIMIZER] = "optimizer",
                                         [NNC_FITTED] = "fitted"};

typedef struct NamedEntry {
  const char *name;
  const nnc_entry *entry;
} NamedEntry;

static const NamedEntry entries[] = {
    {"init", &nnc_the_model.init},
    {"train", &nnc_the_model.train},
    {"accumulate", &nnc_the_model.accumulate},
    {"eval", &nnc_the_model.eval},
    {"eval_one", &nnc_the_model.eval_one},
    {"predict", &nnc_the_model.predict},
    {"predict_batch", &nnc_the_model.predict_batch},
    {"generate", &nnc_the_model.generate},
};
enum { ENTRY_COUNT = sizeof entries / sizeof *entries };

typedef struct NamedBytes {
  const char *name;
  const int64_t *bytes;
} NamedBytes;

static const NamedBytes memory[] = {
    {"parameters", &nnc_the_model.parameter_bytes},
    {"optimizer", &nnc_the_model.optimizer_bytes},
    {"state", &nnc_the_model.state_bytes},
    {"activations", &nnc_the_model.activation_bytes},
    {"arena", &nnc_the_model.arena_bytes},
    {"a worker", &nnc_the_model.worker_bytes},
};
enum { MEMORY_COUNT = sizeof memory / sizeof *memory };

static int64_t count_parameters(const nnc_model *model, bool frozen_only) {
  int64_t count = 0;
  for (int i = 0; i < model->variable_count; i++) {
    const nnc_variable *variable = &model->variables[i];
    if (variable->kind == NNC_PARAM && (!frozen_only || variable->frozen))
      count += nnc_tensor_elements(&variable->tensor);
  }
  return count;
}

/* --- Data calls, as in the .net file -------------------------------------------------------- */

static void put_value(FILE *file, const nnc_value *value) {
  switch (value->kind) {
  case NNC_NUMBER: fprintf(file, "%.9g", value->number); return;
  case NNC_STRING: nnc_json_put_string(file, value->string); return;
  case NNC_BOOLEAN: fputs(value->number != 0 ? "true" : "false", file); return;
  case NNC_OPTION:
  case NNC_FIELD: fputs(nnc_printable(value->string), file); return;
  default: break;
  }
  fputc('[', file);
  for (int i = 0; i < value->count; i++) {
    if (i) fputs(", ", file);
    put_value(file, &value->items[i]);
  }
  fputc(']', file);
}

static void put_pipeline(FILE *file, const nnc_pipeline *pipeline) {
  for (int i = 0; i < pipeline->field_count; i++)
    fprintf(file, "%s%s", i ? ", " : "", nnc_printable(pipeline->fields[i]));
  for (int i = 0; i < pipeline->call_count; i++) {
    const nnc_call *call = &pipeline->calls[i];
    fprintf(file, "%s%s(", i ? " | " : " = ", call->function);
    for (int k = 0; k < call->argument_count; k++) {
      const nnc_argument *argument = &call->arguments[k];
      fprintf(file, "%s%s%s", k ? ", " : "", argument->name, *argument->name ? " = " : "");
      put_value(file, &argument->value);
    }
    fputc(')', file);
  }
}

/* --- Text ----------------------------------------------------------------------------------- */

static void print_variables(const nnc_model *model) {
  int width = 8;
  for (int i = 0; i < model->variable_count; i++) {
    int length = (int)strlen(nnc_printable(model->variables[i].tensor.name));
    if (length > width && length < 60) width = length;
  }
  printf("%-*s  %-10s %-24s %12s  %s\n", width, "variable", "kind", "type", "bytes", "line");
  for (int i = 0; i < model->variable_count; i++) {
    const nnc_variable *variable = &model->variables[i];
    const nnc_tensor *tensor = &variable->tensor;
    char type[NNC_SHAPE_TEXT];
    nnc_tensor_type_text(type, tensor->dtype, tensor->rank, tensor->dim);
    printf("%-*s  %-10s %-24s %12lld", width, nnc_printable(tensor->name),
           variable->frozen ? "frozen" : kind_names[variable->kind], type,
           (long long)nnc_tensor_bytes(tensor));
    if (variable->line > 0) printf("  %d", variable->line);
    putchar('\n');
  }
}

static void print_entries(void) {
  printf("\n%-10s %8s %12s %12s\n", "entry", "batch", "GFLOP", "MB moved");
  for (int i = 0; i < ENTRY_COUNT; i++) {
    const nnc_entry *entry = entries[i].entry;
    if (entry->run)
      printf("%-10s %8lld %12.6g %12.6g\n", entries[i].name, (long long)entry->batch,
             entry->flops * 1e-9, entry->bytes * 1e-6);
  }
}

static void print_run(const nnc_model *model) {
  printf("\nbatch %lld", (long long)model->batch);
  if (model->accumulation > 1) printf(", %lld batches a step", (long long)model->accumulation);
  if (model->epochs > 0) printf(", %lld epochs", (long long)model->epochs);
  else printf(", %lld steps", (long long)model->steps);
  if (model->validate_steps > 0)
    printf(", validated each %lld steps", (long long)model->validate_steps);
  printf(", seed %llu; metrics:", (unsigned long long)model->seed);
  for (int i = 0; i < model->metric_count; i++)
    printf(" %s", nnc_printable(model->metric_names[i]));
  putchar('\n');
}

static void print_data(const nnc_model *model) {
  for (int i = 0; i < model->data_set_count; i++) {
    for (int k = 0; k < model->data_sets[i].pipeline_count; k++) {
      printf("data %s: ", nnc_printable(model->data_sets[i].name));
      put_pipeline(stdout, &model->data_sets[i].pipelines[k]);
      putchar('\n');
    }
  }
}

/* Of a program for a device the levels are those of its host's part. */
static void print_architectures(void) {
  fputs("kernels for ", stdout);
  for (int i = 0; nnc_device_architecture(i); i++)
    printf("%s%s", i ? ", " : "", nnc_device_architecture(i));
  printf("; the host's code for %s\n\n", nnc_level_used()->name);
}

static void print_levels(const nnc_model *model) {
  for (int i = 0; i < model->level_count; i++) {
    const nnc_level *level = model->levels[i];
    const char *lacks = nnc_level_lacks(level);
    printf("code for %s (%s)%s%s%s\n", level->name, level->isa,
           lacks ? ": this processor has no " : "", lacks ? lacks : "",
           level == nnc_level_used() && !lacks ? ": used" : "");
  }
  putchar('\n');
}

static void print_device(const nnc_model *model, int number) {
  char text[NNC_MESSAGE];
  if (nnc_device_describe(model, number, text)) printf("%s\n", nnc_printable(text));
}

static void print_options(const nnc_model *model) {
  char form[160], flag[64];
  for (int i = 0; i < model->option_count; i++)
    printf("option --%s: %s (line %d)\n", nnc_setting_flag(i, flag), nnc_setting_form(i, form),
           model->options[i].line);
}

static void print_text(const nnc_model *model, int device, const nnc_fitted *fitted) {
  char bytes[NNC_FORMAT_BYTES];
  printf("%s (%s), compiled by %s\n", nnc_printable(model->name), nnc_printable(model->file),
         nnc_printable(model->compiler));
  print_device(model, device);
  if (nnc_device_architecture(0)) print_architectures();
  else print_levels(model);
  print_variables(model);
  printf("%lld parameters, %lld of them frozen\n\n", (long long)count_parameters(model, false),
         (long long)count_parameters(model, true));
  for (int i = 0; i < MEMORY_COUNT; i++)
    printf("%-12s %12s\n", memory[i].name, nnc_format_bytes(bytes, (double)*memory[i].bytes));
  print_entries();
  print_run(model);
  print_options(model);
  print_data(model);
  nnc_info_print_fitted(fitted);
}

/* --- JSON ----------------------------------------------------------------------------------- */

static void put_member(const char *key, const char *text) {
  printf("\"%s\":", key);
  nnc_json_put_string(stdout, text);
  putchar(',');
}

static void put_shape(const nnc_tensor *tensor) {
  fputs("\"shape\":[", stdout);
  for (int k = 0; k < tensor->rank; k++) printf(k ? ",%lld" : "%lld", (long long)tensor->dim[k]);
  putchar(']');
}

/* What a training step reads, or a prediction where nothing trains; `limit`: indices lie in [0, limit). */
static void json_inputs(const nnc_entry *entry) {
  fputs("\"inputs\":[", stdout);
  for (int i = 0; i < entry->input_count; i++) {
    fputs(i ? ",{" : "{", stdout);
    put_member("name", entry->inputs[i].name);
    put_member("dtype", nnc_dtype_name(entry->inputs[i].dtype));
    put_shape(&entry->inputs[i]);
    if (entry->input_limits && entry->input_limits[i] > 0)
      printf(",\"limit\":%lld", (long long)entry->input_limits[i]);
    if (entry->input_exceptions && entry->input_exceptions[i] != INT64_MIN)
      printf(",\"exception\":%lld", (long long)entry->input_exceptions[i]);
    putchar('}');
  }
  fputs("],", stdout);
}

static void json_variables(const nnc_model *model) {
  fputs("\"variables\":[", stdout);
  for (int i = 0; i < model->variable_count; i++) {
    const nnc_variable *variable = &model->variables[i];
    const nnc_tensor *tensor = &variable->tensor;
    fputs(i ? ",{" : "{", stdout);
    put_member("name", tensor->name);
    put_member("kind", kind_names[variable->kind]);
    put_member("dtype", nnc_dtype_name(tensor->dtype));
    put_shape(tensor);
    printf(",\"bytes\":%lld,\"frozen\":%s,\"line\":%d}", (long long)nnc_tensor_bytes(tensor),
           variable->frozen ? "true" : "false", variable->line);
  }
  fputs("],", stdout);
}

static void json_options(const nnc_model *model) {
  if (model->option_count == 0) return;
  fputs("\"options\":[", stdout);
  for (int i = 0; i < model->option_count; i++) {
    const nnc_program_option *option = &model->options[i];
    char text[40];
    fputs(i ? ",{" : "{", stdout);
    put_member("name", option->name);
    if (option->unit) put_member("unit", option->unit);
    printf("\"whole\":%s,\"default\":%s", option->is_whole ? "true" : "false",
           nnc_setting_text(option->start, text));
    if (isfinite(option->least)) printf(",\"least\":%s", nnc_setting_text(option->least, text));
    if (isfinite(option->limit)) printf(",\"limit\":%s", nnc_setting_text(option->limit, text));
    printf(",\"line\":%d}", option->line);
  }
  fputs("],", stdout);
}

static void json_levels(const nnc_model *model) {
  fputs("\"levels\":[", stdout);
  for (int i = 0; i < model->level_count; i++) {
    const char *lacks = nnc_level_lacks(model->levels[i]);
    fputs(i ? ",{" : "{", stdout);
    put_member("name", model->levels[i]->name);
    put_member("isa", model->levels[i]->isa);
    if (lacks) put_member("lacks", lacks);
    printf("\"used\":%s}", model->levels[i] == nnc_level_used() && !lacks ? "true" : "false");
  }
  fputs("],", stdout);
}

static void json_entries(void) {
  bool is_first = true;
  fputs("\"entries\":{", stdout);
  for (int i = 0; i < ENTRY_COUNT; i++) {
    const nnc_entry *entry = entries[i].entry;
    if (!entry->run) continue;
    printf("%s\"%s\":{\"batch\":%lld,\"flops\":%.0f,\"bytes\":%.0f}", is_first ? "" : ",",
           entries[i].name, (long long)entry->batch, entry->flops, entry->bytes);
    is_first = false;
  }
  fputs("},", stdout);
}

static void json_data(const nnc_model *model) {
  fputs("\"data\":[", stdout);
  for (int i = 0; i < model->data_set_count; i++) {
    fputs(i ? ",{\"name\":" : "{\"name\":", stdout);
    nnc_json_put_string(stdout, model->data_sets[i].name);
    fputs(",\"fields\":[", stdout);
    int count = 0;
    for (int k = 0; k < model->data_sets[i].pipeline_count; k++) {
      const nnc_pipeline *pipeline = &model->data_sets[i].pipelines[k];
      for (int f = 0; f < pipeline->field_count; f++) {
        if (count++) putchar(',');
        nnc_json_put_string(stdout, pipeline->fields[f]);
      }
    }
    fputs("]}", stdout);
  }
  fputs("]}\n", stdout);
}

static void json_architectures(void) {
  if (!nnc_device_architecture(0)) return;
  fputs("\"kernels\":[", stdout);
  for (int i = 0; nnc_device_architecture(i); i++) {
    if (i) putchar(',');
    nnc_json_put_string(stdout, nnc_device_architecture(i));
  }
  fputs("],", stdout);
}

static void print_json(const nnc_model *model, int device, const nnc_fitted *fitted) {
  putchar('{');
  put_member("model", model->name);
  put_member("file", model->file);
  put_member("compiler", model->compiler);
  fputs("\"isa\":", stdout);
  nnc_json_put_string(stdout, model->isa);
  nnc_device_json(stdout, model, device);
  putchar(',');
  json_architectures();
  json_levels(model);
  printf("\"parameters\":%lld,", (long long)count_parameters(model, false));
  printf("\"parameter_bytes\":%lld,\"optimizer_bytes\":%lld,\"state_bytes\":%lld,",
         (long long)model->parameter_bytes, (long long)model->optimizer_bytes,
         (long long)model->state_bytes);
  printf("\"activation_bytes\":%lld,\"arena_bytes\":%lld,\"worker_bytes\":%lld,",
         (long long)model->activation_bytes, (long long)model->arena_bytes,
         (long long)model->worker_bytes);
  fputs("\"workspaces\":[", stdout);
  for (int i = 0; i < model->workspace_count; i++)
    printf("%s{\"at\":%lld,\"bytes\":%lld}", i > 0 ? "," : "", (long long)model->workspaces[i].at,
           (long long)model->workspaces[i].bytes);
  fputs("],", stdout);
  printf(
      "\"batch\":%lld,\"accumulate\":%lld,\"epochs\":%lld,\"steps\":%lld,\"validate_steps\":%lld,"
      "\"seed\":%llu,",
      (long long)model->batch, (long long)model->accumulation, (long long)model->epochs,
      (long long)model->steps, (long long)model->validate_steps, (unsigned long long)model->seed);
  fputs("\"metrics\":[", stdout);
  for (int i = 0; i < model->metric_count; i++) {
    if (i) putchar(',');
    nnc_json_put_string(stdout, model->metric_names[i]);
  }
  fputs("],", stdout);
  json_options(model);
  json_inputs(model->train.run || !model->predict.run ? &model->train : &model->predict);
  json_variables(model);
  json_entries();
  if (fitted->count > 0) nnc_info_put_fitted(fitted);
  json_data(model);
}

int nnc_info_command(const nnc_options *options) {
  nnc_fitted fitted;
  if (!nnc_info_read_fitted(&fitted, options)) {
    nnc_fitted_free(&fitted);
    return NNC_EXIT_FAILURE;
  }
  (options->json ? print_json : print_text)(&nnc_the_model, (int)options->device, &fitted);
  nnc_fitted_free(&fitted);
  if (fflush(stdout) == 0) return NNC_EXIT_OK;
  nnc_error_system("write", "the description");
  return NNC_EXIT_FAILURE;
}
