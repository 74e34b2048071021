/* The report: what a step costs and what it needs, exactly as planned.
 *
 * Layers are the path prefixes that own parameters ("h1" of "h1.w"), in the order of their
 * creation; nodes and parameters outside of them are gathered under the program's name. The
 * forward pass is what evaluation computes; what the training step computes beyond it is the
 * backward pass and the update. Data sets live in memory of the host, beside the arena. */
#include "program/buffers.h"
#include "program/updates.h"
#include "program/workspace.h"

#include <string.h>
#include "ops/op.h"
#include "ops/scan.h"

typedef struct Layer {
  const char *prefix; /* "" gathers the rest */
  size_t length;
  int64_t parameters; /* elements */
  double forward, backward;
  Type output; /* of the last forward node */
  bool has_output;
} Layer;

typedef struct Report {
  Arena *arena;
  const Program *program;
  EntryKind entry; /* that is counted */
  VEC(Layer) layers;
} Report;

static size_t prefix_length(const char *path) {
  const char *dot = strrchr(path, '.');
  return dot ? (size_t)(dot - path) : 0;
}

static bool path_is_in(const char *path, const Layer *layer) {
  return strncmp(path, layer->prefix, layer->length) == 0 &&
         (path[layer->length] == '.' || path[layer->length] == '\0');
}

/* The layer with the longest fitting prefix; number 0 fits all. */
static Layer *layer_of(Report *report, const char *path) {
  Layer *best = &report->layers.items[0];
  for (int i = 1; i < report->layers.count; i++) {
    Layer *layer = &report->layers.items[i];
    if (layer->length > best->length && path_is_in(path, layer)) best = layer;
  }
  return best;
}

static void add_layer(Report *report, const char *path) {
  size_t length = prefix_length(path);
  for (int i = 0; i < report->layers.count; i++) {
    const Layer *layer = &report->layers.items[i];
    if (layer->length == length && strncmp(layer->prefix, path, length) == 0) return;
  }
  Layer layer = {.prefix = arena_strndup(report->arena, path, length), .length = length};
  vec_push(report->arena, &report->layers, layer);
}

/* Flops of the nodes of a graph, done `rounds` times, by layer: to `forward` with shapes, or to
 * `backward`. */
static void count_graph(Report *report, const Graph *graph, double rounds, bool is_forward) {
  const bool *live = graph_live_nodes(report->arena, graph);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (!live[node->id]) continue;
    Layer *layer = layer_of(report, node->path);
    if (node->body) {
      count_graph(report, node->body, rounds * (double)scan_shape(node).length, is_forward);
      continue;
    }
    double flops = rounds * node_cost(node).flops;
    if (!is_forward) {
      layer->backward += flops;
      continue;
    }
    layer->forward += flops;
    if (op_info(node->op)->class->leaf != LEAF_NONE) continue;
    layer->output = node->type;
    layer->has_output = true;
  }
}

static void count_nodes(Report *report, EntryKind entry, bool is_forward) {
  count_graph(report, report->program->module->entries[entry], 1, is_forward);
}

static void count_layers(Report *report) {
  const ProgramEntry *entries = report->program->entries;
  EntryKind forward = entries[ENTRY_EVAL].present ? ENTRY_EVAL : report->entry;
  count_nodes(report, forward, true);
  if (report->entry != ENTRY_TRAIN || forward == ENTRY_TRAIN) return;
  count_nodes(report, ENTRY_TRAIN, false);
  for (int i = 0; i < report->layers.count; i++) {
    Layer *layer = &report->layers.items[i];
    layer->backward = layer->backward > layer->forward ? layer->backward - layer->forward : 0;
  }
}

static Report report_create(Arena *arena, const Program *program) {
  Report report = {.arena = arena, .program = program, .entry = ENTRY_COUNT};
  vec_push(arena, &report.layers, ((Layer){.prefix = ""}));
  const Module *module = program->module;
  for (int i = 0; i < module->variables.count; i++)
    if (module->variables.items[i].kind == VARIABLE_PARAM)
      add_layer(&report, module->variables.items[i].path);
  for (int i = 0; i < module->variables.count; i++)
    if (module->variables.items[i].kind == VARIABLE_PARAM)
      layer_of(&report, module->variables.items[i].path)->parameters +=
          shape_elements(module->variables.items[i].type.shape);
  static const EntryKind candidates[] = {ENTRY_TRAIN, ENTRY_EVAL, ENTRY_PREDICT, ENTRY_EVAL_ONE};
  for (int i = 0; i < 4 && report.entry == ENTRY_COUNT; i++)
    if (program->entries[candidates[i]].present) report.entry = candidates[i];
  if (report.entry != ENTRY_COUNT) count_layers(&report);
  return report;
}

static int64_t input_bytes(const Report *report) {
  int64_t bytes = 0;
  if (report->entry == ENTRY_COUNT) return 0;
  const ProgramEntry *entry = &report->program->entries[report->entry];
  for (int i = 0; i < entry->inputs.count; i++)
    bytes += report->program->buffers.items[entry->inputs.items[i]].bytes;
  return bytes;
}

static int64_t parameter_count(const Report *report) {
  int64_t count = 0;
  for (int i = 0; i < report->layers.count; i++) count += report->layers.items[i].parameters;
  return count;
}

/* ---- text ---------------------------------------------------------------------------------- */

static void add_bytes_line(Text *text, const char *name, int64_t bytes) {
  size_t before = text->length;
  text_printf(text, "  %s", name);
  text_pad(text, ' ', 28 - (int)(text->length - before));
  text_add_bytes_size(text, (double)bytes);
  text_add(text, " (");
  text_add_grouped(text, bytes);
  text_add(text, " bytes)\n");
}

static void add_column(Text *text, size_t line, int column) {
  int width = column - (int)(text->length - line);
  text_pad(text, ' ', width > 1 ? width : 1);
}

static void print_layer(Text *text, const Report *report, const Layer *layer) {
  if (layer->parameters == 0 && layer->forward + layer->backward == 0) return;
  size_t line = text->length;
  text_printf(text, "  %s", layer->length > 0 ? layer->prefix : report->program->module->name);
  add_column(text, line, 24);
  if (layer->has_output) text_add_shape(text, layer->output.shape);
  add_column(text, line, 46);
  text_add_grouped(text, layer->parameters);
  add_column(text, line, 62);
  text_add_grouped(text, (int64_t)layer->forward);
  add_column(text, line, 82);
  text_add_grouped(text, (int64_t)layer->backward);
  text_add_char(text, '\n');
}

/* The updates that share a reason, with the first few names. */
static void print_reason(Text *text, const UpdateList *list, int first) {
  enum { NAMED = 4 };
  int count = 0;
  for (int i = first; i < list->count; i++)
    count += list->items[i].reason == list->items[first].reason;
  text_printf(text, "  %d in a pass of %s own (", count, count > 1 ? "their" : "its");
  int named = 0;
  for (int i = first; i < list->count && named < NAMED; i++) {
    if (list->items[i].reason != list->items[first].reason) continue;
    text_printf(text, "%s%s", named > 0 ? ", " : "", list->items[i].variable);
    named++;
  }
  text_printf(text, "%s): %s\n", count > named ? ", ..." : "", list->items[first].reason);
}

static void print_updates(Text *text, const Report *report) {
  UpdateList list = updates_find(report->arena, report->program);
  if (list.count == 0) return;
  int fused = 0;
  for (int i = 0; i < list.count; i++) fused += list.items[i].reason == NULL;
  text_printf(text, "\nupdates\n  %d of %d inside the kernel of their gradient\n", fused,
              list.count);
  for (int i = 0; i < list.count; i++) {
    bool is_first = list.items[i].reason != NULL;
    for (int k = 0; k < i; k++) is_first = is_first && list.items[k].reason != list.items[i].reason;
    if (is_first) print_reason(text, &list, i);
  }
}

static void print_entries(Text *text, const Program *program) {
  text_add(text, "\nentries\n");
  for (int e = 0; e < ENTRY_COUNT; e++) {
    const ProgramEntry *entry = &program->entries[e];
    if (!entry->present) continue;
    int launches = 0, copies = 0, looped = 0;
    for (int i = 0; i < entry->steps.count; i++) {
      launches += entry->steps.items[i].kind == STEP_LAUNCH;
      copies += entry->steps.items[i].kind == STEP_COPY;
      looped += entry->steps.items[i].loop >= 0;
    }
    size_t line = text->length;
    text_printf(text, "  %s", entry_name((EntryKind)e));
    add_column(text, line, 16);
    text_printf(text, "%d launches", launches);
    if (entry->loops.count > 0)
      text_printf(text, " (%d in %d task loop%s)", looped, entry->loops.count,
                  entry->loops.count > 1 ? "s" : "");
    text_printf(text, ", %d copies, %d barriers, ", copies, entry->barrier_count);
    text_add_grouped(text, (int64_t)entry->flops);
    text_add(text, " flop, ");
    text_add_bytes_size(text, entry->bytes);
    text_add(text, " moved\n");
  }
}

static void print_loop(Text *text, const ProgramEntry *entry, const TaskLoop *loop) {
  int scan = entry->steps.items[loop->first_step].scan;
  bool is_around = scan >= 0 && scan_task_loop(entry, &entry->scans.items[scan]) == loop;
  text_printf(text, "  a task loop of %lld blocks of %lld example%s, %s to %s",
              (long long)loop->blocks, (long long)loop->examples, loop->examples > 1 ? "s" : "",
              entry->steps.items[loop->first_step].path, entry->steps.items[loop->last_step].path);
  if (is_around)
    text_printf(text, ", through %lld rounds", (long long)entry->scans.items[scan].rounds);
  text_add(text, "\n");
}

/* Where the workers of the counted entry wait for each other, and why. */
static void print_barriers(Text *text, const Report *report) {
  if (report->entry == ENTRY_COUNT) return;
  const ProgramEntry *entry = &report->program->entries[report->entry];
  if (entry->barrier_count + entry->loops.count == 0) return;
  text_printf(text, "\nbarriers of %s\n", entry_name(entry->entry));
  for (int i = 0; i < entry->steps.count; i++) {
    const Step *step = &entry->steps.items[i];
    if (step->kind == STEP_BARRIER) text_printf(text, "  barrier: %s\n", step->reason);
    if (step->loop >= 0 && entry->loops.items[step->loop].first_step == i)
      print_loop(text, entry, &entry->loops.items[step->loop]);
  }
}

/* Results of the counted entry that the target writes past its caches. */
static void print_streams(Text *text, const Report *report) {
  const Target *target = report->program->target;
  if (report->entry == ENTRY_COUNT || target->streams == NULL) return;
  const ProgramEntry *entry = &report->program->entries[report->entry];
  int count = 0;
  for (int i = 0; i < entry->steps.count; i++) {
    const Step *step = &entry->steps.items[i];
    if (step->kind != STEP_LAUNCH) continue;
    const Kernel *kernel = report->program->kernels.items[step->kernel];
    for (int k = 0; k < kernel->operand_count; k++) {
      if (!target->streams(kernel, k)) continue;
      if (count++ == 0) text_add(text, "\nwritten past the caches\n");
      const KernelOperand *operand = &kernel->operands[k];
      text_printf(text, "  %s of %s, ", operand->name, step->path);
      text_add_bytes_size(text, (double)operand->elements * dtype_size(operand->dtype));
      text_add(text, "\n");
    }
  }
}

/* Convolutions of the counted entry that are computed by Winograd's minimal filtering. */
static void print_filters(Text *text, const Report *report) {
  const Target *target = report->program->target;
  if (report->entry == ENTRY_COUNT || target->is_winograd == NULL) return;
  const ProgramEntry *entry = &report->program->entries[report->entry];
  int count = 0;
  for (int i = 0; i < entry->steps.count; i++) {
    const Step *step = &entry->steps.items[i];
    if (step->kind != STEP_LAUNCH) continue;
    if (!target->is_winograd(report->program->kernels.items[step->kernel])) continue;
    if (count++ == 0) text_add(text, "\nby Winograd's minimal filtering (--conv=direct: none)\n");
    text_printf(text, "  %s, %s\n", step->path, step->operator_name);
  }
}

/* Kernels of a GPU, for one, have no workspace of a thread's. */
static void print_peak(Text *text, const Program *program) {
  if (program->worker_bytes == 0) {
    text_add(text, "  peak = arena: ");
    text_add_grouped(text, program->arena_bytes);
    text_add(text, " bytes\n");
    return;
  }
  add_bytes_line(text, "workspace, each thread", program->worker_bytes);
  text_add(text, program->target->blocks_move ? "  peak, workspaces where the arena is free: "
                                              : "  peak = arena + threads * workspace: ");
  for (int threads = 1; threads <= 8; threads *= 2) {
    text_add_grouped(text, program_bytes(program, threads));
    text_printf(text, " bytes with %d%s", threads, threads < 8 ? ", " : "\n");
  }
}

static void print_memory(Text *text, const Report *report) {
  const Program *program = report->program;
  text_add(text, "\nmemory\n");
  add_bytes_line(text, "parameters", program->parameter_bytes);
  add_bytes_line(text, "optimizer state", program->optimizer_bytes);
  add_bytes_line(text, "state", program->state_bytes);
  add_bytes_line(text, "inputs of one batch", input_bytes(report));
  add_bytes_line(text, "activations and inputs", program->activation_bytes);
  add_bytes_line(text, "arena", program->arena_bytes);
  int turned = 0;
  for (int i = 0; i < program->buffers.count; i++)
    turned += program->buffers.items[i].has_channels_last;
  if (turned > 0)
    text_printf(text, "  %d %s channels last\n", turned,
                turned == 1 ? "variable has its" : "variables have their");
  print_peak(text, program);
  for (int i = 0; i < program->module->data_sets.count; i++)
    text_printf(text, "  data set '%s' is held by the host beside it, as large as its files say\n",
                program->module->data_sets.items[i].name);
}

void report_print(Text *text, const Program *program) {
  Report report = report_create(arena_create(), program);
  text_printf(text, "%s", program->module->name);
  if (report.entry != ENTRY_COUNT)
    text_printf(text, ": entry %s, batch %lld", entry_name(report.entry),
                (long long)program->entries[report.entry].batch);
  text_add(text, "\n\n  layer                 output                parameters      "
                 "forward flop        backward and update flop\n");
  for (int i = 1; i <= report.layers.count; i++)
    print_layer(text, &report, &report.layers.items[i % report.layers.count]);
  text_add(text, "\n  parameters: ");
  text_add_grouped(text, parameter_count(&report));
  text_add_char(text, '\n');
  print_entries(text, program);
  print_barriers(text, &report);
  print_streams(text, &report);
  print_filters(text, &report);
  print_updates(text, &report);
  print_memory(text, &report);
  arena_destroy(report.arena);
}

/* ---- JSON ---------------------------------------------------------------------------------- */

static void json_layer(Text *text, const Report *report, const Layer *layer) {
  text_add(text, "    {\"layer\": ");
  text_add_quoted(text, layer->length > 0 ? layer->prefix : report->program->module->name);
  text_add(text, ", \"output\": [");
  for (int i = 0; layer->has_output && i < layer->output.shape.rank; i++)
    text_printf(text, "%s%lld", i > 0 ? ", " : "", (long long)layer->output.shape.dim[i]);
  text_printf(text, "], \"parameters\": %lld, \"forward_flops\": %.0f, \"backward_flops\": %.0f}",
              (long long)layer->parameters, layer->forward, layer->backward);
}

static void json_steps(Text *text, const Program *program, const ProgramEntry *entry) {
  bool first = true;
  for (int i = 0; i < entry->steps.count; i++) {
    const Step *step = &entry->steps.items[i];
    if (step->kind == STEP_BARRIER) continue;
    text_add(text, first ? "\n" : ",\n");
    first = false;
    const char *kernel =
        step->kind == STEP_LAUNCH ? program->kernels.items[step->kernel]->name : "";
    text_add(text, "      {\"path\": ");
    text_add_quoted(text, step->path);
    text_add(text, ", \"kernel\": ");
    text_add_quoted(text, kernel);
    text_add(text, ", \"class\": ");
    text_add_quoted(text, step->class_name);
    text_printf(text, ", \"line\": %d, \"tasks\": %lld, \"flops\": %.0f, \"bytes\": %.0f}",
                step->span.line, (long long)step->task_count, step->flops, step->bytes);
  }
}

static void json_barriers(Text *text, const ProgramEntry *entry) {
  text_printf(text, "\"task_loops\": %d, \"barrier_reasons\": [", entry->loops.count);
  bool first = true;
  for (int i = 0; i < entry->steps.count; i++) {
    if (entry->steps.items[i].kind != STEP_BARRIER) continue;
    if (!first) text_add(text, ", ");
    text_add_quoted(text, entry->steps.items[i].reason);
    first = false;
  }
  text_add(text, "], ");
}

static void json_entries(Text *text, const Program *program) {
  bool first = true;
  for (int e = 0; e < ENTRY_COUNT; e++) {
    const ProgramEntry *entry = &program->entries[e];
    if (!entry->present) continue;
    text_printf(text, "%s    {\"entry\": \"%s\", \"batch\": %lld, \"barriers\": %d, ",
                first ? "" : ",\n", entry_name((EntryKind)e), (long long)entry->batch,
                entry->barrier_count);
    json_barriers(text, entry);
    text_printf(text,
                "\"activation_peak\": %lld, \"flops\": %.0f, \"product_flops\": %.0f, "
                "\"bytes\": %.0f, \"steps\": [",
                (long long)entry->activation_peak, entry->flops, entry->product_flops,
                entry->bytes);
    json_steps(text, program, entry);
    text_add(text, "]}");
    first = false;
  }
}

static void json_updates(Text *text, const Report *report) {
  UpdateList list = updates_find(report->arena, report->program);
  for (int i = 0; i < list.count; i++) {
    const Update *update = &list.items[i];
    text_add(text, i > 0 ? ",\n    {\"parameter\": " : "    {\"parameter\": ");
    text_add_quoted(text, update->variable);
    text_printf(text, ", \"fused\": %s", update->reason ? "false" : "true");
    if (update->reason) {
      text_add(text, ", \"reason\": ");
      text_add_quoted(text, update->reason);
    }
    text_add_char(text, '}');
  }
}

void report_print_json(Text *text, const Program *program) {
  Report report = report_create(arena_create(), program);
  text_add(text, "{\n  \"model\": ");
  text_add_quoted(text, program->module->name);
  text_add(text, ",\n  \"layers\": [\n");
  for (int i = 0; i < report.layers.count; i++) {
    if (i > 0) text_add(text, ",\n");
    json_layer(text, &report, &report.layers.items[i]);
  }
  text_add(text, "\n  ],\n  \"entries\": [\n");
  json_entries(text, program);
  text_add(text, "\n  ],\n  \"updates\": [\n");
  json_updates(text, &report);
  text_printf(text, "\n  ],\n  \"parameters\": %lld,\n  \"parameter_bytes\": %lld,\n",
              (long long)parameter_count(&report), (long long)program->parameter_bytes);
  text_printf(text, "  \"optimizer_bytes\": %lld,\n  \"state_bytes\": %lld,\n",
              (long long)program->optimizer_bytes, (long long)program->state_bytes);
  text_printf(text, "  \"activation_bytes\": %lld,\n  \"arena_bytes\": %lld,\n",
              (long long)program->activation_bytes, (long long)program->arena_bytes);
  text_printf(text, "  \"worker_bytes\": %lld,\n  \"workspaces\": [",
              (long long)program->worker_bytes);
  WorkspaceList spaces = program_workspaces(report.arena, program);
  for (int i = 0; i < spaces.count; i++)
    text_printf(text, "%s{\"at\": %lld, \"bytes\": %lld}", i > 0 ? ", " : "",
                (long long)spaces.items[i].at, (long long)spaces.items[i].bytes);
  text_add(text, "],\n  \"data_sets\": [");
  for (int i = 0; i < program->module->data_sets.count; i++) {
    if (i > 0) text_add(text, ", ");
    text_add_quoted(text, program->module->data_sets.items[i].name);
  }
  text_add(text, "]\n}\n");
  arena_destroy(report.arena);
}
