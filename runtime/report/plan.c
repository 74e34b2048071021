/* The picture of the memory plan: see plan.h. A buffer is a rectangle: its steps across, its addresses down. */
#include "report/plan.h"

#include <stdlib.h>
#include <string.h>

#include "os/memory.h"
#include "os/message.h"
#include "report/page.h"

enum { WIDTH = 800, HEIGHT = 300, MOST = 2000, LARGEST = 12 };
static const double least_height = 0.2; /* of what is drawn where there are many */

/* What is told apart by colour, with the class of the style sheet. */
enum { PARAMETERS, INPUTS, ACTIVATIONS, OPTIMIZER, STATES, KINDS };
static const char *const kind_names[KINDS] = {"parameters", "inputs and results", "activations",
                                              "optimizer", "states and streams"};

static int kind_of(const nnc_model *model, const nnc_held *held) {
  if (held->kind == NNC_HELD_ACTIVATION) return ACTIVATIONS;
  for (int i = 0; held->kind == NNC_HELD_VARIABLE && i < model->variable_count; i++) {
    const nnc_variable *variable = &model->variables[i];
    if (strcmp(variable->tensor.name, held->name) != 0) continue;
    return variable->kind == NNC_PARAM       ? PARAMETERS
           : variable->kind == NNC_OPTIMIZER ? OPTIMIZER
                                             : STATES;
  }
  return INPUTS;
}

static void put_buffer(FILE *file, const nnc_model *model, const nnc_entry *entry,
                       const nnc_held *held) {
  char bytes[NNC_FORMAT_BYTES];
  double step = (double)WIDTH / (entry->step_count > 0 ? entry->step_count : 1);
  double byte = HEIGHT / (double)model->arena_bytes, height = (double)held->bytes * byte;
  fprintf(file, "<rect class=\"f%d\" x=\"%.1f\" y=\"%.2f\" width=\"%.1f\" height=\"%.2f\"><title>",
          kind_of(model, held), held->first * step, (double)held->begin * byte,
          (held->last - held->first + 1) * step, height);
  nnc_page_text(file, held->name);
  fprintf(file, ", %s, steps %d to %d</title></rect>\n",
          nnc_format_bytes(bytes, (double)held->bytes), held->first, held->last);
}

/* How many were too small to be drawn. */
static int put_buffers(FILE *file, const nnc_model *model, const nnc_entry *entry) {
  int small = 0;
  double least = entry->held_count > MOST ? least_height * (double)model->arena_bytes / HEIGHT : 0;
  for (int i = 0; i < entry->held_count; i++) {
    if ((double)entry->held[i].bytes < least) small++;
    else put_buffer(file, model, entry, &entry->held[i]);
  }
  return small;
}

static void put_keys(FILE *file, const nnc_model *model, const nnc_entry *entry) {
  char text[NNC_FORMAT_BYTES];
  double bytes[KINDS] = {0};
  for (int i = 0; i < entry->held_count; i++)
    bytes[kind_of(model, &entry->held[i])] += (double)entry->held[i].bytes;
  fputs("<figcaption>", file);
  for (int k = 0; k < KINDS; k++)
    if (bytes[k] > 0)
      fprintf(file,
              "<span class=\"key\"><svg viewBox=\"0 0 22 10\" aria-hidden=\"true\">"
              "<rect class=\"f%d\" width=\"22\" height=\"10\"/></svg>%s %s%s</span>",
              k, kind_names[k], nnc_format_bytes(text, bytes[k]),
              k == ACTIVATIONS ? " in all, in turns" : "");
  fputs("</figcaption>\n", file);
}

/* The bytes that are in use during a step. */
static int64_t live_bytes(const nnc_entry *entry, int step) {
  int64_t bytes = 0;
  for (int i = 0; i < entry->held_count; i++)
    if (entry->held[i].first <= step && step <= entry->held[i].last) bytes += entry->held[i].bytes;
  return bytes;
}

static void put_peak(FILE *file, const nnc_model *model, const nnc_entry *entry) {
  char peak[NNC_FORMAT_BYTES], whole[NNC_FORMAT_BYTES], worker[NNC_FORMAT_BYTES];
  int64_t most = 0;
  int at = 0;
  for (int i = 0; i < entry->step_count; i++) {
    int64_t bytes = live_bytes(entry, i);
    if (bytes > most) most = bytes, at = i;
  }
  fprintf(file,
          "<p>%s planned, and up to %s for each worker. At most %s of it are in use at a time, in "
          "step %d",
          nnc_format_bytes(whole, (double)model->arena_bytes),
          nnc_format_bytes(worker, (double)model->worker_bytes),
          nnc_format_bytes(peak, (double)most), at);
  if (at < entry->step_count && *entry->steps[at].path) {
    fputs(", ", file);
    nnc_page_text(file, entry->steps[at].path);
  }
  fputs(".</p>\n", file);
}

static int compare(const void *a, const void *b) {
  const nnc_held *const *one = a, *const *other = b;
  if ((*one)->bytes != (*other)->bytes) return (*one)->bytes < (*other)->bytes ? 1 : -1;
  return *one < *other ? -1 : 1;
}

static void put_largest(FILE *file, const nnc_model *model, const nnc_entry *entry) {
  static const char *const names[] = {"buffer", "of", ">bytes", ">first step", ">last step"};
  const nnc_held **order = malloc((size_t)entry->held_count * sizeof *order);
  if (!order) {
    nnc_warning("no memory for the list of buffers");
    return;
  }
  for (int i = 0; i < entry->held_count; i++) order[i] = &entry->held[i];
  qsort(order, (size_t)entry->held_count, sizeof *order, compare);
  nnc_page_head(file, "The largest buffers", 5, names);
  for (int i = 0; i < entry->held_count && i < LARGEST; i++) {
    fputs("<tr>", file);
    nnc_page_cell(file, order[i]->name);
    nnc_page_cell(file, kind_names[kind_of(model, order[i])]);
    fprintf(file, "<td class=\"n\">%lld</td><td class=\"n\">%d</td><td class=\"n\">%d</td></tr>\n",
            (long long)order[i]->bytes, order[i]->first, order[i]->last);
  }
  fputs("</table></div>\n", file);
  free(order);
}

void nnc_plan_put(FILE *file, const nnc_model *model, const nnc_entry *entry) {
  if (entry->held_count == 0 || model->arena_bytes <= 0) return;
  nnc_page_section(file, "Memory");
  put_peak(file, model, entry);
  fputs("<figure><h3>Buffers: steps from left to right, addresses from top to bottom</h3>\n", file);
  put_keys(file, model, entry);
  fprintf(file,
          "<svg class=\"plan\" role=\"img\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" "
          "aria-label=\"%d buffers in %lld bytes over %d steps; the largest are in the table "
          "below\">\n",
          WIDTH, HEIGHT, entry->held_count, (long long)model->arena_bytes, entry->step_count);
  int small = put_buffers(file, model, entry);
  fputs("</svg>\n", file);
  if (small > 0) fprintf(file, "<p class=\"soft\">%d small buffers are not drawn.</p>\n", small);
  fputs("</figure>\n", file);
  put_largest(file, model, entry);
}
