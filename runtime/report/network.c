/* Tables of layers: see network.h. A layer is the variables whose paths differ in the last element alone. */
#include "report/network.h"

#include <stdbool.h>
#include <string.h>

#include "core/number.h"
#include "report/page.h"

enum { MOST_STEPS = 1000 };

int64_t nnc_network_parameters(const nnc_model *model) {
  int64_t count = 0;
  for (int i = 0; i < model->variable_count; i++)
    if (model->variables[i].kind == NNC_PARAM)
      count += nnc_tensor_elements(&model->variables[i].tensor);
  return count;
}

/* The bytes of the name that are the layer's. */
static size_t layer_length(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot ? (size_t)(dot - name) : strlen(name);
}

static bool is_of_layer(const char *path, const char *layer, size_t length) {
  return strncmp(path, layer, length) == 0 && (path[length] == '\0' || path[length] == '.');
}

static double layer_flops(const nnc_entry *entry, const char *layer, size_t length) {
  double flops = 0;
  for (int i = 0; i < entry->step_count; i++)
    if (is_of_layer(entry->steps[i].path, layer, length)) flops += entry->steps[i].flops;
  return flops;
}

/* Optimizer states belong to their parameters: "h1.w:m". */
static int64_t held_bytes(const nnc_model *model, const nnc_variable *variable) {
  size_t length = strlen(variable->tensor.name);
  int64_t bytes = nnc_tensor_bytes(&variable->tensor);
  for (int i = 0; i < model->variable_count; i++) {
    const nnc_variable *other = &model->variables[i];
    if (other->kind == NNC_OPTIMIZER &&
        strncmp(other->tensor.name, variable->tensor.name, length) == 0 &&
        other->tensor.name[length] == ':')
      bytes += nnc_tensor_bytes(&other->tensor);
  }
  return bytes;
}

static void put_variable(FILE *file, const nnc_model *model, const nnc_variable *variable) {
  static const char *const kinds[] = {[NNC_PARAM] = "parameter",
                                      [NNC_STATE] = "state",
                                      [NNC_STREAM] = "stream",
                                      [NNC_FITTED] = "fitted"};
  const nnc_tensor *tensor = &variable->tensor;
  char type[NNC_SHAPE_TEXT];
  nnc_tensor_type_text(type, tensor->dtype, tensor->rank, tensor->dim);
  fputs("<tr>", file);
  nnc_page_cell(file, tensor->name);
  nnc_page_cell(file, variable->frozen ? "frozen" : kinds[variable->kind]);
  nnc_page_cell(file, type);
  fprintf(file, "<td class=\"n\">%lld</td><td class=\"n\">%lld</td>",
          (long long)nnc_tensor_elements(tensor), (long long)held_bytes(model, variable));
}

/* The first variable of a layer has its work beside it. */
static void put_work(FILE *file, const nnc_entry *entry, const nnc_variable *variable,
                     const char *before) {
  const char *name = variable->tensor.name;
  size_t length = layer_length(name);
  if (before && layer_length(before) == length && strncmp(before, name, length) == 0) {
    fputs("<td></td>", file);
    return;
  }
  double flops = layer_flops(entry, name, length);
  fprintf(file, "<td class=\"n bar\" style=\"--v:%.4f\">%.6g</td>",
          entry->flops > 0 ? flops / entry->flops : 0, flops * 1e-6);
}

static void put_line(FILE *file, int line) {
  fputs("<td class=\"n\">", file);
  if (line > 0) fprintf(file, "%d", line);
  fputs("</td></tr>\n", file);
}

static void put_steps(FILE *file, const nnc_entry *entry) {
  static const char *const names[] = {">step",  "operator", "of",   "writes",
                                      ">MFLOP", ">MB",      ">line"};
  nnc_page_fold(file, "The steps of the program, in their order");
  nnc_page_head(file, "Steps", 7, names);
  for (int i = 0; i < entry->step_count && i < MOST_STEPS; i++) {
    const nnc_step *step = &entry->steps[i];
    fprintf(file, "<tr><td class=\"n\">%d</td>", i);
    nnc_page_cell(file, *step->operator_name ? step->operator_name : step->class_name);
    nnc_page_cell(file, step->path);
    nnc_page_cell(file, step->stores);
    fprintf(file, "<td class=\"n\">%.6g</td><td class=\"n\">%.6g</td>", step->flops * 1e-6,
            step->bytes * 1e-6);
    put_line(file, step->line);
  }
  fputs("</table></div>\n", file);
  if (entry->step_count > MOST_STEPS)
    fprintf(file, "<p>%d further steps are left out.</p>\n", entry->step_count - MOST_STEPS);
  fputs("</details>\n", file);
}

void nnc_network_put(FILE *file, const nnc_model *model) {
  static const char *const names[] = {"variable", "kind",   "type", ">elements",
                                      ">bytes",   ">MFLOP", ">line"};
  const nnc_entry *entry = model->train.run ? &model->train : &model->predict;
  const char *before = NULL;
  nnc_page_section(file, "Network");
  nnc_page_head(
      file,
      "Variables with those of the optimizer in their bytes, and the work of their layer in a step",
      7, names);
  for (int i = 0; i < model->variable_count; i++) {
    const nnc_variable *variable = &model->variables[i];
    if (variable->kind == NNC_OPTIMIZER) continue;
    put_variable(file, model, variable);
    put_work(file, entry, variable, before);
    before = variable->tensor.name;
    put_line(file, variable->line);
  }
  fputs("</table></div>\n", file);
  if (entry->step_count > 0) put_steps(file, entry);
}
