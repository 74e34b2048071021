/* elaborate(): traces the program once for each entry and joins what they make to a module.
 *
 *   train      creates variables, the init and host graphs, the update
 *   accumulate an earlier minibatch of a step
 *   eval       one batch; eval_one and predict: a batch of one
 *
 * Each trace executes the whole file afresh. The others are left out after one with mistakes, which
 * they would repeat. */
#include <string.h>
#include "elaborate/builtins/builtins.h"
#include "elaborate/core/observer.h"
#include "elaborate/core/report.h"
#include "elaborate/elaborate.h"
#include "elaborate/eval/evaluate.h"
#include "elaborate/sections/data.h"
#include "elaborate/sections/definitions.h"
#include "elaborate/sections/generate.h"
#include "elaborate/sections/metrics.h"
#include "elaborate/sections/predict.h"
#include "elaborate/sections/steer.h"
#include "elaborate/sections/update.h"
#include "elaborate/variables/frozen.h"
#include "elaborate/variables/variable.h"
#include "ops/retype.h"
#include "support/embedded.h"
#include "support/names.h"
#include "support/panic.h"
#include "syntax/parse.h"
#include "syntax/visit.h"

/* ---- functions of a file ------------------------------------------------------------------ */

static bool is_function(const AstStmt *stmt) {
  return stmt->kind == AST_DEF || stmt->kind == AST_OPTIMIZER || stmt->kind == AST_INIT ||
         stmt->kind == AST_SCHEDULE || stmt->kind == AST_EXTERN;
}

static Function *make_function(Elaborator *e, const AstStmt *stmt, bool is_prelude) {
  for (int i = 0; i < e->functions.count; i++)
    if (e->functions.items[i]->stmt == stmt) return e->functions.items[i];
  Function *function = ARENA_NEW(e->arena, Function);
  function->name = stmt->function.name.text;
  function->stmt = stmt;
  function->is_prelude = is_prelude;
  vec_push(e->arena, &e->functions, function);
  return function;
}

static void bind_functions(Elaborator *e, const AstStmts *stmts, Scope *scope, bool is_prelude) {
  for (int i = 0; i < stmts->count; i++) {
    const AstStmt *stmt = stmts->items[i];
    if (!is_function(stmt) || scope_find_own(scope, stmt->function.name.text)) continue;
    Value value = {.kind = VALUE_DEF};
    value.function = make_function(e, stmt, is_prelude);
    Symbol *symbol = scope_bind(e->arena, scope, is_prelude ? SYMBOL_BUILTIN : SYMBOL_DEF,
                                stmt->function.name.text, value, stmt->function.name.span);
    if (!is_prelude)
      symbol->usage = scope_usage(e, &stmt->function.name, ast_stmt_kind_text(stmt->kind));
  }
}

Prelude *elaborate_prelude(Arena *arena, Diagnostics *diagnostics) {
  Prelude *prelude = ARENA_NEW(arena, Prelude);
  prelude->files = ARENA_ARRAY(arena, const AstProgram *, embedded_file_count);
  for (int i = 0; i < embedded_file_count; i++) {
    const EmbeddedFile *file = &embedded_files[i];
    if (strncmp(file->name, "prelude/", 8) != 0) continue;
    const char *name = arena_printf(arena, "<prelude>/%s", file->name + 8);
    SourceFile *source = source_from_text(arena, name, file->text, file->length);
    source->is_prelude = 1;
    prelude->files[prelude->count++] = parse_program(arena, diagnostics, source);
  }
  return prelude;
}

static void load_prelude(Elaborator *e) {
  const Prelude *prelude =
      e->options->prelude ? e->options->prelude : elaborate_prelude(e->arena, e->diagnostics);
  for (int i = 0; i < prelude->count; i++)
    bind_functions(e, &prelude->files[i]->stmts, e->root, true);
}

/* ---- definitions -------------------------------------------------------------------------- */

AstExpr *elaborator_definition(Elaborator *e, const char *name) {
  for (int i = e->options->definition_count - 1; i >= 0; i--) {
    if (strcmp(e->options->definitions[i].name, name) != 0) continue;
    e->definition_used[i] = true;
    return e->definition_exprs[i];
  }
  return NULL;
}

static void parse_definitions(Elaborator *e) {
  int count = e->options->definition_count;
  e->definition_used = ARENA_ARRAY(e->arena, bool, count);
  e->definition_exprs = ARENA_ARRAY(e->arena, AstExpr *, count);
  for (int i = 0; i < count; i++) {
    const Definition *definition = &e->options->definitions[i];
    SourceFile *source =
        source_from_text(e->arena, arena_printf(e->arena, "-D %s", definition->name),
                         definition->value, strlen(definition->value));
    e->definition_exprs[i] = parse_expression(e->arena, e->diagnostics, source);
  }
}

/* What executes the statements that evaluation leaves to variables and sections. */
static StatementFunction *const statements[AST_STMT_KINDS] = {
    [AST_PARAM] = variable_declare,   [AST_STATE] = variable_declare,
    [AST_STREAM] = variable_declare,  [AST_STORE] = variable_store,
    [AST_DATA] = data_evaluate,       [AST_TRAIN] = train_evaluate,
    [AST_PREDICT] = predict_evaluate, [AST_GENERATE] = generate_evaluate,
};

/* ---- traces -------------------------------------------------------------------------------- */

static Frame *make_bottom(Elaborator *e, Scope *scope) {
  Frame *frame = ARENA_NEW(e->arena, Frame);
  frame->path = frame->label = name_intern("");
  frame->scope = scope;
  frame->stmts = &e->program->stmts;
  return frame;
}

static Trace *trace_program(Elaborator *e, EntryKind entry, bool training, bool single) {
  Trace *trace = ARENA_NEW(e->arena, Trace);
  trace->entry = entry;
  trace->training = training;
  trace->single = single;
  trace->region = region_create(e->arena, entry_name(entry), training ? 1 : 2);
  trace->globals = scope_create(e->arena, e->root, false);
  trace->slot_names = scope_create(e->arena, NULL, false);
  trace->keys = scope_create(e->arena, NULL, false);
  e->trace = trace;
  e->region = &trace->region;
  e->frame = make_bottom(e, trace->globals);
  Value is_training = value_bool(training);
  scope_bind(e->arena, e->root, SYMBOL_BUILTIN, name_intern("training"), is_training, (Span){0})
      ->read = frozen_training;
  bind_functions(e, &e->program->stmts, trace->globals, false);
  evaluate_block(e, &e->program->stmts);
  e->frame->label = e->frame->path;
  const Observer *observer = e->options->observer;
  if (observer) observer->trace(observer->context, e);
  return trace;
}

static void find_batch(Elaborator *e) {
  RunConfig *run = &e->module->run;
  run->batch = 1;
  if (!e->batch_name) return;
  const Symbol *symbol = scope_find_own(e->trace->globals, e->batch_name);
  if (!symbol || symbol->value.kind != VALUE_INT) return;
  run->batch_name = e->batch_name;
  run->batch = symbol->value.integer;
}

static bool has_section(const Elaborator *e, AstStmtKind kind) {
  for (int i = 0; i < e->sections.count; i++)
    if (e->sections.items[i]->kind == kind) return true;
  return false;
}

/* Some use of the parameters for single examples, which needs no training. */
static bool has_predict(const Elaborator *e) {
  return has_section(e, AST_PREDICT) || has_section(e, AST_GENERATE);
}

/* A program that only predicts has its parameters from a file. */
static void report_no_train(Elaborator *e) {
  Span start = {.file = e->program->file};
  const char *text = "the program has neither a train block nor a predict block";
  Diagnostic *d = e->options->check_only ? report_warning(e, start, "%s", text)
                                         : report_error(e, start, "%s", text);
  diag_help(d, "train { minimize = loss, optimizer = adam(lr = 1e-3), epochs = 20 }");
}

static Trace *trace_training(Elaborator *e) {
  Trace *trace = trace_program(e, ENTRY_TRAIN, true, false);
  find_batch(e);
  definitions_check(e);
  data_check(e);
  if (!trace->train && !trace->exhausted && !has_predict(e)) report_no_train(e);
  if (trace->train) train_configure(e);
  data_name_features(e);
  data_check_units(e);
  if (diagnostics_error_count(e->diagnostics) > 0) return NULL;
  if (trace->train) update_parameters(e);
  update_states(e);
  e->module->entries[ENTRY_TRAIN] = trace->region.graph;
  return trace;
}

static Trace *trace_accumulation(Elaborator *e) {
  Trace *trace = trace_program(e, ENTRY_ACCUMULATE, true, false);
  update_accumulators(e);
  update_states(e);
  e->module->entries[ENTRY_ACCUMULATE] = trace->region.graph;
  return trace;
}

static void trace_prediction(Elaborator *e, const Trace *eval) {
  Trace *trace = trace_program(e, ENTRY_PREDICT, false, true);
  for (int i = 0; i < trace->results.count; i++)
    graph_add_output(trace->region.graph, trace->results.items[i]);
  generate_build(e, trace);
  if (!has_section(e, AST_PREDICT)) return;
  e->module->entries[ENTRY_PREDICT] = trace->region.graph;
  if (diagnostics_error_count(e->diagnostics) == 0) predict_build_batch(e, eval, trace);
}

static bool trace_all(Elaborator *e) {
  Trace *train = trace_training(e), *accumulate = NULL;
  bool failed = diagnostics_error_count(e->diagnostics) > 0;
  if (!train || failed) return false;
  if (train->train && e->module->run.accumulate > 1) accumulate = trace_accumulation(e);
  Trace *eval = trace_program(e, ENTRY_EVAL, false, false);
  update_states(e);
  if (diagnostics_error_count(e->diagnostics) > 0) return false;
  Trace *eval_one = trace_program(e, ENTRY_EVAL_ONE, false, true);
  update_states(e);
  if (diagnostics_error_count(e->diagnostics) > 0) return false;
  if (has_predict(e)) trace_prediction(e, eval);
  data_check_predicted(e);
  if (diagnostics_error_count(e->diagnostics) > 0) return false;
  if (!train->train && has_predict(e)) {
    e->module->entries[ENTRY_TRAIN] = NULL; /* it only predicts */
    return true;
  }
  e->module->entries[ENTRY_EVAL] = eval->region.graph;
  e->module->entries[ENTRY_EVAL_ONE] = eval_one->region.graph;
  metrics_check_predictions(e, eval, eval_one);
  if (train->train) metrics_build(e, eval, eval_one, train, accumulate);
  if (train->train) data_check_learnt(e);
  if (train->train) builtins_add_ranked(eval, eval_one);
  if (train->train) builtins_add_classified(e, eval, eval_one);
  builtins_check_ranked(e);
  builtins_check_gradient_norms(e);
  builtins_check_plateaus(e);
  steer_check(e);
  return diagnostics_error_count(e->diagnostics) == 0;
}

/* ---- the module --------------------------------------------------------------------------- */

/* Only what an output depends on stays. */
static Graph *prune(Elaborator *e, const Graph *graph) {
  Graph *kept = graph_create(e->arena, graph->name);
  const bool *live = graph_live_nodes(e->arena, graph);
  NodeMap map = node_map_create(e->arena, graph);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (live[node->id]) node_map_set(&map, node, graph_copy_node(kept, node, &map));
  }
  graph_map_outputs(kept, graph, &map);
  return kept;
}

/* Whether places of gradient norms are in the graph, which no host fills once metrics are made of them. */
static bool has_gradient_norms(const Graph *graph) {
  bool has = false;
  for (int i = 0; i < graph->nodes.count && !has; i++)
    has = builtins_is_gradient_norm(graph->nodes.items[i]);
  return has;
}

/* Whether an entry may hold what nothing fills: places of gradient norms, or accumulators of a metric that was no
 * reduction after all. */
static bool is_left_over(const Module *module, int entry) {
  return entry == ENTRY_FINISH || has_gradient_norms(module->entries[entry]);
}

static void finish_module(Elaborator *e) {
  Module *module = e->module;
  module->entries[ENTRY_INIT] = e->init.graph;
  module->entries[ENTRY_HOST] = e->host.graph;
  for (int i = 0; i < ENTRY_COUNT; i++)
    if (module->entries[i] && (!e->options->check_only || is_left_over(module, i)))
      module->entries[i] = prune(e, module->entries[i]);
  if (module->run.precision == DTYPE_F64) module_retype_floats(module, DTYPE_F64);
}

/* "path/mnist.net" is the module mnist. */
static const char *module_name(Arena *arena, const char *file) {
  const char *slash = strrchr(file, '/');
  const char *base = slash ? slash + 1 : file;
  const char *dot = strrchr(base, '.');
  size_t length = dot && dot > base ? (size_t)(dot - base) : strlen(base);
  return length ? arena_strndup(arena, base, length) : "model";
}

/* Whether the program may ask for gradients as values: then gradients of one's own matter to
 * evaluation, too. */
static bool uses_grad(const Elaborator *e) {
  const char *grad = name_intern("grad");
  bool found = visit_finds_name_in(&e->program->stmts, grad);
  for (int i = 0; i < e->options->definition_count; i++)
    found = found || (e->definition_exprs[i] && visit_finds_name(e->definition_exprs[i], grad));
  return found;
}

Module *elaborate(Arena *arena, Diagnostics *diagnostics, const AstProgram *program,
                  const ElaborateOptions *options) {
  static const ElaborateOptions defaults = {0};
  Elaborator elaborator = {.arena = arena,
                           .diagnostics = diagnostics,
                           .program = program,
                           .options = options ? options : &defaults,
                           .statements = statements,
                           .default_float = DTYPE_F32};
  Elaborator *e = &elaborator;
  if (diagnostics_error_count(diagnostics) > 0) return NULL;
  e->module = module_create(arena, module_name(arena, program->file->name), program->file);
  e->root = scope_create(arena, NULL, false);
  e->variable_names = scope_create(arena, NULL, false);
  e->init = region_create(arena, entry_name(ENTRY_INIT), 0);
  e->host = region_create(arena, entry_name(ENTRY_HOST), 0);
  e->host.is_host_only = true;
  builtins_bind(e);
  load_prelude(e);
  parse_definitions(e);
  e->uses_grad = uses_grad(e);
  if (diagnostics_error_count(diagnostics) > 0) return NULL;
  if (!trace_all(e)) return NULL;
  scope_warn_unused(e);
  finish_module(e);
  return e->module;
}
