/* The tables of nnc_the_model; those of its entries are in entry_tables.c. */
#include "backend/common/emitter.h"
#include "backend/common/c.h"

#include <stdlib.h>
#include <string.h>
#include "ops/op.h"
#include "program/workspace.h"
#include "support/panic.h"

static const char *const variable_enumerators[VARIABLE_KIND_COUNT] = {
    "NNC_PARAM", "NNC_STATE", "NNC_STREAM", "NNC_OPTIMIZER", "NNC_FITTED"};

static const char *quoted(Emitter *emitter, const char *string) {
  return code_string(emitter->arena, string);
}

/* A double: infinities and NaN have names in C, which printf does not write. */
static const char *number(Emitter *emitter, double value) {
  return c_literal(emitter->arena, DTYPE_F64, value);
}

const char *emitter_tensor(Emitter *emitter, const char *name, Type type, int64_t offset) {
  return arena_printf(emitter->arena, "{%s, %s, %d, {%s}, %lld}", quoted(emitter, name),
                      c_dtype(type.dtype), type.shape.rank,
                      code_integers(emitter->arena, type.shape.rank, type.shape.dim),
                      (long long)offset);
}

void emitter_rows(Emitter *emitter, const char *head, int count, const char *const *rows) {
  enum { WIDTH = 100, FEW = 3 };
  Code *code = &emitter->code;
  Text line = {0};
  if (count == 0) return;
  text_printf(&line, "static const %s = {", head);
  for (int i = 0; i < count; i++) text_printf(&line, "%s%s", i ? ", " : "", rows[i]);
  text_add(&line, "};");
  if (line.length <= WIDTH) {
    code_line(code, "%s", line.data);
  } else if (count <= FEW) { /* as many in a line as there is room for */
    code_list(code, arena_printf(code->arena, "static const %s = {", head), count, rows, "};");
  } else {
    code_open(code, "static const %s =", head);
    for (int i = 0; i < count; i++) code_line(code, "%s,", rows[i]);
    code_close_list(code);
  }
  text_free(&line);
}

/* Begins a table, unless it would be empty: then false. */
static bool open_table(Emitter *emitter, const char *type, const char *name, int count) {
  if (count == 0) return false;
  code_blank(&emitter->code);
  code_open(&emitter->code, "static const %s %s[%d] =", type, name, count);
  return true;
}

/* ---- variables ---- */

static int64_t variable_offset(const Emitter *emitter, const char *path) {
  for (int i = 0; i < emitter->program->buffers.count; i++) {
    const Buffer *buffer = &emitter->program->buffers.items[i];
    if (buffer->kind == BUFFER_VARIABLE && strcmp(buffer->name, path) == 0)
      return emitter_offset(emitter->program, i);
  }
  panic("variable %s has no buffer", path);
}

/* Of each node of a graph, by its id: random numbers decide its value. */
static bool *find_drawn(Arena *arena, const Graph *graph) {
  bool *drawn = ARENA_ARRAY(arena, bool, graph->next_id + 1);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    drawn[node->id] = op_info(node->op)->class->family == FAMILY_RANDOM;
    for (int k = 0; k < node->operand_count; k++)
      drawn[node->id] = drawn[node->id] || drawn[node->operands[k]->id];
  }
  return drawn;
}

static void emit_variables(Emitter *emitter) {
  const Module *module = emitter->program->module;
  Code *code = &emitter->code;
  Graph *init = module->entries[ENTRY_INIT];
  const bool *drawn = init ? find_drawn(emitter->arena, init) : NULL;
  if (!open_table(emitter, "nnc_variable", "variables", module->variables.count)) return;
  for (int i = 0; i < module->variables.count; i++) {
    const Variable *variable = &module->variables.items[i];
    const Output *output = init ? graph_find_output(init, OUTPUT_STORE, variable->path) : NULL;
    code_line(code, "{%s, %s, %d, %d, %d},",
              emitter_tensor(emitter, variable->path, variable->type,
                             variable_offset(emitter, variable->path)),
              variable_enumerators[variable->kind], variable->frozen, variable->span.line,
              output && drawn[output->node->id]);
  }
  code_close_list(code);
}

/* Which variables have their channels last; whether there are any. */
static bool emit_layouts(Emitter *emitter) {
  const Program *program = emitter->program;
  int64_t *last = ARENA_ARRAY(emitter->arena, int64_t, program->buffers.count);
  bool has_any = false;
  int count = program->module->variables.count; /* their buffers are the first */
  for (int i = 0; i < count; i++) {
    last[i] = program->buffers.items[i].has_channels_last;
    has_any = has_any || last[i];
  }
  if (has_any)
    code_line(&emitter->code, "static const char channels_last[%d] = {%s};", count,
              code_integers(emitter->arena, count, last));
  return has_any;
}

/* Those whose initial values come from files; returns how many. */
static int emit_initials(Emitter *emitter) {
  const Module *module = emitter->program->module;
  Code *code = &emitter->code;
  int count = 0;
  for (int i = 0; i < module->variables.count; i++)
    count += module->variables.items[i].file != NULL;
  if (!open_table(emitter, "nnc_initial", "initials", count)) return 0;
  for (int i = 0; i < module->variables.count; i++) {
    const Variable *variable = &module->variables.items[i];
    if (!variable->file) continue;
    code_line(code, "{%d, %s, %s, %d, %d},", i, quoted(emitter, variable->file),
              variable->entry ? quoted(emitter, variable->entry) : "NULL", variable->span.line,
              variable->span.column);
  }
  code_close_list(code);
  return count;
}

static int metric_number(const Module *module, const char *name) {
  for (int i = 0; i < module->metrics.count; i++)
    if (strcmp(module->metrics.items[i].name, name) == 0) return i;
  panic("there is no metric %s", name);
}

/* What steers the run. */
static void emit_watches(Emitter *emitter) {
  static const char *const kinds[] = {
      [WATCH_BEST] = "NNC_WATCH_BEST", [WATCH_STOP] = "NNC_WATCH_STOP"};
  const Module *module = emitter->program->module;
  Code *code = &emitter->code;
  if (!open_table(emitter, "nnc_watch", "watches", module->watches.count)) return;
  for (int i = 0; i < module->watches.count; i++) {
    const Watch *watch = &module->watches.items[i];
    code_line(code, "{%s, %d, %s, %d, %s, %lld},", kinds[watch->kind],
              metric_number(module, watch->metric), quoted(emitter, watch->set), watch->is_max,
              number(emitter, watch->threshold), (long long)watch->count);
  }
  code_close_list(code);
}

static int scalar_number(const Program *program, const char *name) {
  for (int i = 0; i < program->scalar_names.count; i++)
    if (strcmp(program->scalar_names.items[i], name) == 0) return i;
  panic("there is no host scalar %s", name);
}

/* Schedules that follow a metric. */
static void emit_plateaus(Emitter *emitter) {
  const Module *module = emitter->program->module;
  Code *code = &emitter->code;
  if (!open_table(emitter, "nnc_plateau", "plateaus", module->plateaus.count)) return;
  for (int i = 0; i < module->plateaus.count; i++) {
    const Plateau *plateau = &module->plateaus.items[i];
    Text text = {0};
    for (int k = 0; k < PLATEAU_PART_COUNT; k++) {
      const PlateauNumber *part = &plateau->numbers[k];
      int scalar = part->scalar ? 1 + scalar_number(emitter->program, part->scalar) : 0;
      text_printf(&text, "%s{%s, %d}", k ? ", " : "", number(emitter, part->value), scalar);
    }
    code_line(code, "{%d, %s, %d, %d, {%s}},", metric_number(module, plateau->metric),
              quoted(emitter, plateau->set), plateau->is_max, plateau->is_relative, text.data);
    text_free(&text);
  }
  code_close_list(code);
}

/* ---- the model ---- */

static void emit_names(Emitter *emitter, const char *table, int count, const char *const *names) {
  const char **rows = ARENA_ARRAY(emitter->arena, const char *, count + 1);
  for (int i = 0; i < count; i++) rows[i] = quoted(emitter, names[i]);
  if (count > 0) code_blank(&emitter->code);
  emitter_rows(emitter, arena_printf(emitter->arena, "char *const %s[%d]", table, count), count,
               rows);
}

/* The text of the .net file, a literal a line. */
static void emit_source_text(Emitter *emitter) {
  const SourceFile *source = emitter->program->module->source;
  Code *code = &emitter->code;
  code_blank(code);
  code_line(code, "static const char source[] =");
  code->indent++;
  const char *line = source && source->text ? source->text : "";
  while (*line) {
    const char *end = strchr(line, '\n');
    size_t length = end ? (size_t)(end - line) + 1 : strlen(line);
    code_line(code, "%s", quoted(emitter, arena_strndup(emitter->arena, line, length)));
    line += length;
  }
  code_line(code, "\"\";");
  code->indent--;
}

/* ---- checked indices ---- */

typedef VEC(const Node *) IndexPlaces; /* by their number; NULL: not in use */

static void find_index_places(Arena *arena, const Graph *graph, IndexPlaces *places) {
  for (int i = 0; graph && i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    find_index_places(arena, node_inner(node), places);
    if (node->op != OP_CHECK_INDEX) continue;
    while (places->count <= node_int(node, ATTR_INDEX)) vec_push(arena, places, NULL);
    places->items[node_int(node, ATTR_INDEX)] = node;
  }
}

static void emit_index_place(Emitter *emitter, const Node *node) {
  const Attribute *extents = node_ints(node, ATTR_EXTENTS);
  code_line(&emitter->code, "{%s, %s, %lld, %lld, %d, {%s}, %d, %d},",
            quoted(emitter, node_string(node, ATTR_NAME)), quoted(emitter, node->path),
            (long long)node_int(node, ATTR_AXIS), (long long)node_int(node, ATTR_LENGTH),
            extents->count, code_integers(emitter->arena, extents->count, extents->ints),
            node->span.line, node->span.column);
}

/* Returns how many there are. */
static int emit_index_places(Emitter *emitter) {
  IndexPlaces places = {0};
  const Module *module = emitter->program->module;
  for (int e = 0; e < ENTRY_COUNT; e++)
    find_index_places(emitter->arena, module->entries[e], &places);
  if (!open_table(emitter, "nnc_index_place", "index_places", places.count)) return 0;
  for (int i = 0; i < places.count; i++) {
    if (places.items[i]) emit_index_place(emitter, places.items[i]);
    else code_line(&emitter->code, "{0},");
  }
  code_close_list(&emitter->code);
  return places.count;
}

static const char *unit_text(OptionUnit unit) {
  return unit == UNIT_EPOCHS ? "\"epochs\"" : unit == UNIT_STEPS ? "\"steps\"" : "NULL";
}

static void emit_options(Emitter *emitter) {
  const Module *module = emitter->program->module;
  Code *code = &emitter->code;
  if (!open_table(emitter, "nnc_program_option", "options", module->options.count)) return;
  for (int i = 0; i < module->options.count; i++) {
    const RunOption *option = &module->options.items[i];
    code_line(code, "{%s, %d, %s, %s, %s, %s, %d, %d, %d, %d, %d, %d},",
              quoted(emitter, option->name), option->is_whole, unit_text(option->unit),
              number(emitter, option->start), number(emitter, option->least),
              number(emitter, option->limit), option->sets_epochs, option->sets_steps,
              option->sets_validate, option->sets_seed, option->sets_rows, option->span.line);
  }
  code_close_list(code);
}

/* The input that the true classes come from as they are. */
static const char *class_input(const Module *module) {
  const Graph *graph = module->entries[ENTRY_EVAL];
  for (int i = 0; graph && i < graph->outputs.count; i++) {
    const Output *output = &graph->outputs.items[i];
    if (output->kind != OUTPUT_RESULT || strcmp(output->name, MODULE_CLASS_LABEL) != 0) continue;
    const Node *node = output->node;
    while (node->op == OP_CAST || node->op == OP_RESHAPE || node->op == OP_WHERE)
      node = node->operands[node->op == OP_WHERE ? 2 : 0]; /* -1 where it does not count */
    return node->op == OP_INPUT ? node_string(node, ATTR_NAME) : NULL;
  }
  return NULL;
}

/* Of a ranking of boxes: its overlap in percent, 0 for all; else -1. */
static int ranked_percent(const char *name) {
  const char *boxes = MODULE_RANKING "boxes";
  return strncmp(name, boxes, strlen(boxes)) == 0 ? atoi(name + strlen(boxes)) : -1;
}

/* Metrics of the order of a set, and which of the reported metrics depend on them. */
static void emit_rankings(Emitter *emitter) {
  const Module *module = emitter->program->module;
  Arena *arena = emitter->arena;
  RankingNames names = {0};
  module_rankings(arena, module, &names);
  if (!open_table(emitter, "unsigned char", "rankings", names.count)) return;
  for (int i = 0; i < names.count; i++) {
    int percent = ranked_percent(names.items[i]);
    bool is_auc = strncmp(names.items[i] + strlen(MODULE_RANKING), "auc:", 4) == 0;
    if (percent > 0) code_line(&emitter->code, "%d,", percent);
    else
      code_line(&emitter->code, "%s,",
                percent == 0 ? "NNC_RANKING_BOXES"
                : is_auc     ? "NNC_RANKING_AUC"
                             : "NNC_RANKING_AVERAGE");
  }
  code_close_list(&emitter->code);
  open_table(emitter, "unsigned char", "metric_is_ranked", module->metrics.count);
  for (int i = 0; i < module->metrics.count; i++) {
    const char *name = module->metrics.items[i].name;
    code_line(&emitter->code, "%d, /* %s */", module_metric_is_ranked(arena, module, name),
              code_in_comment(arena, name));
  }
  code_close_list(&emitter->code);
}

/* Whether training alone has some of the reported metrics. */
static bool has_of_steps(Emitter *emitter) {
  const Module *module = emitter->program->module;
  for (int i = 0; i < module->metrics.count; i++)
    if (module_metric_is_of_steps(emitter->arena, module, module->metrics.items[i].name))
      return true;
  return false;
}

static void emit_of_steps(Emitter *emitter) {
  const Module *module = emitter->program->module;
  if (!has_of_steps(emitter)) return;
  open_table(emitter, "unsigned char", "metric_is_of_steps", module->metrics.count);
  for (int i = 0; i < module->metrics.count; i++) {
    const char *name = module->metrics.items[i].name;
    code_line(&emitter->code, "%d, /* %s */",
              module_metric_is_of_steps(emitter->arena, module, name),
              code_in_comment(emitter->arena, name));
  }
  code_close_list(&emitter->code);
}

static void emit_rates(Emitter *emitter) {
  const Module *module = emitter->program->module;
  if (!open_table(emitter, "nnc_rate", "rates", module->rates.count)) return;
  for (int i = 0; i < module->rates.count; i++)
    code_line(&emitter->code, "{%s, %d},", quoted(emitter, module->rates.items[i].name),
              scalar_number(emitter->program, module->rates.items[i].scalar));
  code_close_list(&emitter->code);
}

static void emit_classes(Emitter *emitter) {
  const Module *module = emitter->program->module;
  const char *input = class_input(module);
  RankingNames rankings = {0};
  module_rankings(emitter->arena, module, &rankings);
  if (rankings.count > 0)
    code_line(&emitter->code,
              ".ranking_count = %d, .rankings = rankings, .metric_is_ranked = metric_is_ranked,",
              rankings.count);
  if (module->run.losses > 0)
    code_line(&emitter->code, ".losses = %lld,", (long long)module->run.losses);
  if (module->run.class_losses > 0)
    code_line(&emitter->code, ".class_losses = %lld,", (long long)module->run.class_losses);
  if (input) code_line(&emitter->code, ".class_input = %s,", quoted(emitter, input));
}

/* Whether a result of predict has the shape of a picture for each example: [height, width], or these after 1, 3 or 4
 * channels. The runtime says which (train/predict_pictures.c). */
static bool predicts_pictures(const Module *module) {
  const Graph *graph = module->entries[ENTRY_PREDICT];
  for (int i = 0; graph && i < graph->outputs.count; i++) {
    const Output *output = &graph->outputs.items[i];
    if (output->kind != OUTPUT_RESULT) continue;
    Shape shape = output->node->type.shape;
    bool is_batched = shape.rank > 0 && shape.dim[0] == 1;
    int rank = shape.rank - is_batched;
    int64_t first = rank == 3 ? shape.dim[is_batched] : 1;
    if (rank == 2 || (rank == 3 && (first == 1 || first == 3 || first == 4))) return true;
  }
  return false;
}

/* Whether a source names a vocabulary of files. */
static bool names_vocabulary(const Module *module) {
  for (int s = 0; s < module->data_sets.count; s++) {
    const DataSet *set = &module->data_sets.items[s];
    for (int p = 0; p < set->pipeline_count; p++) {
      const DataCall *source = &set->pipelines[p].calls[0];
      for (int i = 0; i < source->argument_count; i++)
        if (strcmp(source->arguments[i].name, "vocabulary") == 0) return true;
    }
  }
  return false;
}

/* Parts of the runtime that only some programs have. */
static void emit_parts(Emitter *emitter) {
  const Module *module = emitter->program->module;
  Code *code = &emitter->code;
  RankingNames rankings = {0};
  module_rankings(emitter->arena, module, &rankings);
  bool ranks_boxes = false;
  for (int i = 0; i < rankings.count; i++)
    ranks_boxes = ranks_boxes || ranked_percent(rankings.items[i]) >= 0;
  if (ranks_boxes) code_line(code, ".detections = &nnc_detections,");
  if (module->entries[ENTRY_GENERATE]) code_line(code, ".generate_text = nnc_generate_text,");
  if (names_vocabulary(module)) code_line(code, ".tokenizer = &nnc_tokenizer,");
  if (emitter->options->has_report) code_line(code, ".report = &nnc_report_writer,");
  if (predicts_pictures(module)) code_line(code, ".pictures = &nnc_result_pictures,");
}

/* What the program is made of. */
static void emit_origin(Emitter *emitter) {
  const Module *module = emitter->program->module;
  Code *code = &emitter->code;
  code_line(code, ".name = %s, .file = %s, .source = source,", quoted(emitter, module->name),
            quoted(emitter, module->source ? module->source->name : module->name));
  if (module->run.definitions)
    code_line(code, ".definitions = %s,", quoted(emitter, module->run.definitions));
  code_line(code, ".compiler = %s,", quoted(emitter, emitter->options->compiler));
}

typedef struct Number {
  const char *member;
  int64_t value;
} Number;

/* Those that are not 0, in one line; up to one without a member. */
static void emit_numbers(Emitter *emitter, const Number *numbers) {
  Text line = {0};
  for (int i = 0; numbers[i].member; i++)
    if (numbers[i].value != 0)
      text_printf(&line, "%s.%s = %lld,", line.length > 0 ? " " : "", numbers[i].member,
                  (long long)numbers[i].value);
  if (line.length > 0) code_line(&emitter->code, "%s", line.data);
  text_free(&line);
}

/* How many rows the tables of a model have that lists depend on. */
typedef struct TableCounts {
  int initials, index_places, looked_at;
} TableCounts;

static void emit_lists(Emitter *emitter, const TableCounts *counts) {
  const Module *module = emitter->program->module;
  Code *code = &emitter->code;
  if (module->variables.count > 0)
    code_line(code, ".variable_count = %d, .variables = variables,", module->variables.count);
  if (counts->index_places > 0)
    code_line(code, ".index_place_count = %d, .index_places = index_places,", counts->index_places);
  if (module->plateaus.count > 0)
    code_line(code, ".plateau_count = %d, .plateaus = plateaus,", module->plateaus.count);
  if (module->options.count > 0)
    code_line(code, ".option_count = %d, .options = options,", module->options.count);
  if (module->watches.count > 0)
    code_line(code, ".watch_count = %d, .watches = watches,", module->watches.count);
  if (module->rates.count > 0)
    code_line(code, ".rate_count = %d, .rates = rates,", module->rates.count);
  if (counts->initials > 0)
    code_line(code, ".initial_count = %d, .initials = initials, .read_initials = nnc_initial_read,",
              counts->initials);
}

static void emit_sets(Emitter *emitter, int looked_at) {
  const Program *program = emitter->program;
  const Module *module = program->module;
  Code *code = &emitter->code;
  if (program->scalar_names.count > 0)
    code_line(code, ".scalar_count = %d, .scalar_names = scalar_names,",
              program->scalar_names.count);
  if (module->metrics.count > 0)
    code_line(code, ".metric_count = %d, .metric_names = metric_names,", module->metrics.count);
  if (has_of_steps(emitter)) code_line(code, ".metric_is_of_steps = metric_is_of_steps,");
  if (module->data_sets.count > 0)
    code_line(code, ".data_set_count = %d, .data_sets = data_sets,", module->data_sets.count);
  if (looked_at > 0) code_line(code, ".looked_at_count = %d, .looked_at = looked_at,", looked_at);
}

static void emit_run(Emitter *emitter) {
  const RunConfig *run = &emitter->program->module->run;
  Code *code = &emitter->code;
  emit_numbers(emitter, (const Number[]){{"batch", run->batch},
                                         {"epochs", run->epochs},
                                         {"steps", run->steps},
                                         {"validate_steps", run->validate_steps},
                                         {"accumulation", run->accumulate},
                                         {NULL, 0}});
  if (run->seed) code_line(code, ".seed = %llu,", (unsigned long long)run->seed);
  emit_numbers(emitter, (const Number[]){{"keep", run->keep},
                                         {"save_steps", run->save_steps},
                                         {"save_epochs", run->save_epochs},
                                         {"save_minutes", run->save_minutes},
                                         {NULL, 0}});
}

/* Returns how many. */
static int emit_workspaces(Emitter *emitter) {
  Code *code = &emitter->code;
  WorkspaceList list = program_workspaces(emitter->arena, emitter->program);
  if (list.count == 0) return 0;
  code_blank(code);
  code_open(code, "static const nnc_workspace workspaces[] =");
  for (int i = 0; i < list.count; i++)
    code_line(code, "{%lld, %lld},", (long long)list.items[i].at, (long long)list.items[i].bytes);
  code_close_list(code);
  return list.count;
}

static void emit_model(Emitter *emitter, const char *const *entries, const TableCounts *counts) {
  const Program *program = emitter->program;
  bool has_layouts = emit_layouts(emitter);
  int workspaces = emit_workspaces(emitter);
  Code *code = &emitter->code;
  static const EntryKind order[] = {ENTRY_INIT,          ENTRY_TRAIN,    ENTRY_ACCUMULATE,
                                    ENTRY_EVAL,          ENTRY_EVAL_ONE, ENTRY_PREDICT,
                                    ENTRY_PREDICT_BATCH, ENTRY_GENERATE};
  code_blank(code);
  code_open(code, "nnc_model nnc_the_model =");
  code_line(code, ".abi = NNC_MODEL_ABI,");
  emit_origin(emitter);
  code_line(code, ".level_count = %d, .levels = levels,", emitter_level_count(emitter->options));
  emit_numbers(emitter, (const Number[]){{"arena_bytes", program->arena_bytes},
                                         {"worker_bytes", program->worker_bytes},
                                         {"parameter_bytes", program->parameter_bytes},
                                         {"optimizer_bytes", program->optimizer_bytes},
                                         {"state_bytes", program->state_bytes},
                                         {"activation_bytes", program->activation_bytes},
                                         {NULL, 0}});
  if (workspaces > 0)
    code_line(code, ".workspace_count = %d, .workspaces = workspaces,", workspaces);
  if (has_layouts) code_line(code, ".channels_last = channels_last,");
  emit_lists(emitter, counts);
  for (size_t i = 0; i < sizeof order / sizeof *order; i++)
    if (entries[order[i]]) code_line(code, ".%s = %s,", entry_name(order[i]), entries[order[i]]);
  emit_sets(emitter, counts->looked_at);
  emit_run(emitter);
  emit_parts(emitter);
  emit_classes(emitter);
  code_close_list(code);
}

void emitter_tables(Emitter *emitter) {
  const Program *program = emitter->program;
  const Module *module = program->module;
  emit_variables(emitter);
  int initials = emit_initials(emitter);
  emit_plateaus(emitter);
  emit_options(emitter);
  emit_watches(emitter);
  emit_rankings(emitter);
  emit_of_steps(emitter);
  emit_rates(emitter);
  const char *entries[ENTRY_COUNT];
  for (int e = 0; e < ENTRY_COUNT; e++) entries[e] = emitter_entry_tables(emitter, (EntryKind)e);
  emitter_data_sets(emitter);
  TableCounts counts = {.initials = initials, .looked_at = emitter_looked_at(emitter)};
  emit_names(emitter, "scalar_names", program->scalar_names.count, program->scalar_names.items);
  emit_names(emitter, "metric_names", module->metrics.count,
             module_metric_names(emitter->arena, module));
  emit_source_text(emitter);
  emitter_level_table(emitter);
  counts.index_places = emit_index_places(emitter);
  emit_model(emitter, entries, &counts);
}
