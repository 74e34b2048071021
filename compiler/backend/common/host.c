/* The host's arithmetic: schedules before a step, metrics after a pass over a data set.
 *
 * The host and finish graphs hold scalars only; they are written as the body of a kernel without
 * axes whose loads are the inputs. */
#include "backend/common/emitter.h"

#include <string.h>
#include "kernel/build.h"
#include "ops/op.h"
#include "support/panic.h"

typedef struct HostWriter {
  Arena *arena;
  const Graph *graph;
  Expr **values;            /* by node id */
  VEC(const char *) leaves; /* texts of the scalars */
} HostWriter;

typedef const char *(*LeafText)(const Emitter *emitter, const char *name);

static Expr *make_expr(HostWriter *writer, ExprKind kind, DType dtype) {
  Expr *expr = ARENA_NEW(writer->arena, Expr);
  expr->kind = kind;
  expr->dtype = dtype;
  return expr;
}

static Expr *node_expr(HostWriter *writer, const Emitter *emitter, const Node *node,
                       LeafText leaf_text) {
  const OpClass *class = op_info(node->op)->class;
  CHECK(shape_elements(node->type.shape) == 1);
  if (class->leaf == LEAF_CONSTANT) {
    Expr *expr = make_expr(writer, EXPR_CONST, node->type.dtype);
    expr->value = node_float(node, ATTR_VALUE);
    return expr;
  }
  if (class->leaf != LEAF_NONE) {
    Expr *expr = make_expr(writer, EXPR_SCALAR, node->type.dtype);
    expr->operand = writer->leaves.count;
    vec_push(writer->arena, &writer->leaves, leaf_text(emitter, node_string(node, ATTR_NAME)));
    return expr;
  }
  if (class->family == FAMILY_MOVEMENT || class->family == FAMILY_REDUCTION)
    return writer->values[node->operands[0]->id]; /* of one element */
  if (class->family != FAMILY_ELEMENTWISE)
    panic("%s: operator %s in the host's arithmetic", node->path, op_info(node->op)->name);
  Expr *expr = make_expr(writer, EXPR_OP, node->type.dtype);
  expr->op = node->op;
  expr->arg_count = node->operand_count;
  for (int i = 0; i < node->operand_count; i++)
    expr->args[i] = writer->values[node->operands[i]->id];
  return expr;
}

/* Statements "<target> = <value>;" for every output of the graph; targets may be NULL. */
static void write_graph(Emitter *emitter, const Graph *graph, const char **targets,
                        LeafText leaf_text) {
  HostWriter writer = {.arena = emitter->arena, .graph = graph};
  writer.values = ARENA_ARRAY(emitter->arena, Expr *, graph->next_id + 1);
  bool *live = graph_live_nodes(emitter->arena, graph);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (live[node->id]) writer.values[node->id] = node_expr(&writer, emitter, node, leaf_text);
  }
  Stage stage = {.kind = STAGE_STORE};
  stage.stores = ARENA_ARRAY(emitter->arena, Store, graph->outputs.count + 1);
  const char **names = ARENA_ARRAY(emitter->arena, const char *, graph->outputs.count + 1);
  for (int i = 0; i < graph->outputs.count; i++) {
    if (targets[i] == NULL) continue;
    Store store = {.value = writer.values[graph->outputs.items[i].node->id],
                   .index = index_const(emitter->arena, 0),
                   .operand = -1};
    names[stage.store_count] = targets[i];
    stage.stores[stage.store_count++] = store;
  }
  Kernel kernel = {.kind = KERNEL_LOOP, .stage_count = 1, .stages = &stage};
  KernelFunction function = {
      .kernel = &kernel, .dialect = &dialect_c, .scalars = writer.leaves.items};
  ExprScope scope = function_scope(emitter->arena, &function);
  const char **texts = expression_render(&emitter->code, &scope, 0);
  for (int i = 0; i < stage.store_count; i++)
    code_line(&emitter->code, "%s = %s;", names[i], texts[i]);
}

/* ---- host ---- */

static const char *const host_inputs[4] = {"t", "epoch", "steps", "steps_per_epoch"};

/* Its number among the inputs; -1: it is none. */
static int find_input(const Module *module, const char *name) {
  for (int i = 0; i < 4; i++)
    if (strcmp(host_inputs[i], name) == 0) return i;
  for (int i = 0; i < module->plateaus.count; i++)
    if (strcmp(module->plateaus.items[i].name, name) == 0) return 4 + i;
  const char *option = module_option_name(name);
  for (int i = 0; option && i < module->options.count; i++)
    if (strcmp(module->options.items[i].name, option) == 0) return 4 + module->plateaus.count + i;
  return -1;
}

static const char *host_leaf(const Emitter *emitter, const char *name) {
  int input = find_input(emitter->program->module, name);
  if (input < 0) panic("the host entry reads %s", name);
  return arena_printf(emitter->arena, "inputs[%d]", input);
}

/* For each output of the graph "<array>[i] <its name in a comment>", i by the list of names; NULL where
 * that lacks it. */
static const char **find_targets(Emitter *emitter, const Graph *graph, const char *array, int count,
                                 const char *const *names) {
  const char **targets = ARENA_ARRAY(emitter->arena, const char *, graph->outputs.count + 1);
  for (int i = 0; i < graph->outputs.count; i++)
    for (int k = 0; k < count; k++)
      if (strcmp(names[k], graph->outputs.items[i].name) == 0)
        targets[i] = arena_printf(emitter->arena, "%s[%d] /* %s */", array, k,
                                  code_in_comment(emitter->arena, names[k]));
  return targets;
}

static void emit_host_function(Emitter *emitter) {
  const Graph *graph = emitter->program->module->entries[ENTRY_HOST];
  const Program *program = emitter->program;
  Code *code = &emitter->code;
  code_blank(code);
  code_comment(code, "Host scalars of a step, from t, epoch, steps, steps_per_epoch, the plateaus "
                     "and the options.");
  code_line(code, "static void host(const double *inputs, double *scalars)");
  code_block(code);
  for (int s = 0; s < program->scalar_names.count; s++) {
    int input = find_input(program->module, program->scalar_names.items[s]);
    if (input >= 0)
      code_line(code, "scalars[%d] = inputs[%d]; /* %s */", s, input,
                code_in_comment(emitter->arena, program->scalar_names.items[s]));
  }
  if (graph != NULL)
    write_graph(emitter, graph,
                find_targets(emitter, graph, "scalars", program->scalar_names.count,
                             program->scalar_names.items),
                host_leaf);
  code_close(code);
}

/* ---- finish ---- */

/* Accumulators are numbered as the entry that evaluates them lists them. */
static const char *finish_leaf(const Emitter *emitter, const char *name) {
  const Module *module = emitter->program->module;
  const Graph *graph =
      module->entries[ENTRY_TRAIN] ? module->entries[ENTRY_TRAIN] : module->entries[ENTRY_EVAL];
  CHECK(graph != NULL);
  int number = 0;
  for (int i = 0; i < graph->outputs.count; i++) {
    if (graph->outputs.items[i].kind != OUTPUT_ACCUMULATOR) continue;
    if (strcmp(graph->outputs.items[i].name, name) == 0)
      return arena_printf(emitter->arena, "accumulators[%d]", number);
    number++;
  }
  /* After the accumulators come the rankings. */
  RankingNames rankings = {0};
  module_rankings(emitter->arena, module, &rankings);
  for (int i = 0; i < rankings.count; i++)
    if (strcmp(rankings.items[i], name) == 0)
      return arena_printf(emitter->arena, "accumulators[%d]", number + i);
  panic("the finish entry reads %s, which is no accumulator", name);
}

static void emit_finish_function(Emitter *emitter) {
  const Module *module = emitter->program->module;
  const Graph *graph = module->entries[ENTRY_FINISH];
  Code *code = &emitter->code;
  code_blank(code);
  code_comment(code, "Metrics of a data set from its accumulators.");
  code_line(code, "static void finish(const double *accumulators, double *metrics)");
  code_block(code);
  if (graph != NULL) {
    const char **targets = find_targets(emitter, graph, "metrics", module->metrics.count,
                                        module_metric_names(emitter->arena, module));
    write_graph(emitter, graph, targets, finish_leaf);
  }
  code_close(code);
}

void emitter_host(Emitter *emitter) {
  emit_host_function(emitter);
  emit_finish_function(emitter);
}
