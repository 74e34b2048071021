/* Gradients of one's own: def f(x) { ... } gradient (dy) { return ... }.
 *
 * The def runs like any other. Then, in the traces that differentiate, its block `gradient` is
 * elaborated into a graph of its own, in a Region whose `outer` is the region of the call, as the
 * body of a scan is: it sees the names that the call has bound, and each tensor that it uses becomes
 * an argument. The result of the call is an own_gradient node on top of what the def has returned
 * (ops/own_gradient.h). Its targets are the arguments of the call that are float tensors.
 *
 * Several results are laid one after the other in a flat tensor for the node and taken apart again,
 * the gradients dy likewise. */
#include <string.h>
#include "elaborate/core/elaborator.h"
#include "elaborate/core/emit.h"
#include "elaborate/core/report.h"
#include "elaborate/eval/convert.h"
#include "elaborate/eval/evaluate.h"
#include "ops/op.h"
#include "ops/own_gradient.h"
#include "support/names.h"

typedef struct OwnGradient {
  Elaborator *e;
  const Function *function;
  const AstGradient *written;
  Span call;
  int result_count;
  Node *results[MAX_FORMALS];
  int target_count;
  Node *targets[MAX_FORMALS]; /* in the region of the call */
  AstName names[MAX_FORMALS]; /* their formals */
  Node *dy;                   /* in the rule */
} OwnGradient;

/* ---- targets ------------------------------------------------------------------------------ */

static bool is_float_tensor(Value value) {
  return value_is_tensor(value) && !value.tensor.is_host &&
         dtype_is_float(value.tensor.node->type.dtype);
}

static bool holds_float_tensor(Value value) {
  if (!value_is_sequence(value) || value.kind == VALUE_RANGE) return is_float_tensor(value);
  for (int64_t i = 0; i < value_sequence_length(value); i++)
    if (holds_float_tensor(value_sequence_item(value, i))) return true;
  return false;
}

static bool find_targets(OwnGradient *own, const Value *values) {
  Elaborator *e = own->e;
  const AstFormals *formals = &own->function->stmt->function.formals;
  for (int i = 0; i < formals->count; i++) {
    AstName name = formals->items[i].name;
    if (value_is_sequence(values[i]) && holds_float_tensor(values[i]))
      return diag_help(report_error(e, own->call,
                                    "'%s' has a gradient of its own, which cannot be "
                                    "given to '%s', a list of tensors",
                                    own->function->name, name.text),
                       "make each tensor an argument, or join them: stack(...), concat(...)");
    if (!is_float_tensor(values[i])) continue;
    Node *node = convert_any_tensor(e, values[i], own->call);
    if (!node) return false;
    own->names[own->target_count] = name;
    own->targets[own->target_count++] = node;
  }
  if (own->target_count > 0) return true;
  return diag_note(report_error(e, own->call,
                                "'%s' has a gradient of its own, but no argument of "
                                "this call is a tensor of floats",
                                own->function->name),
                   own->written->keyword, "the gradient");
}

/* What stands for a leaf of the trace's graph in the body of a scan. */
static const Node *outside_of(const Region *region, const Node *node) {
  for (; op_info(node->op)->class->leaf == LEAF_ARGUMENT && region->outer; region = region->outer) {
    const Node *outer = NULL;
    for (int i = 0; i < region->arguments.count; i++)
      if (region->arguments.items[i].leaf == node) outer = region->arguments.items[i].outer;
    if (!outer) return node;
    node = outer;
  }
  return node;
}

/* A parameter that the results depend on by another way than the targets: it would stop learning
 * without a word. */
static bool check_parameters(OwnGradient *own) {
  Elaborator *e = own->e;
  const Graph *graph = e->region->graph;
  bool *reached = ARENA_ARRAY(e->arena, bool, graph->next_id);
  bool *is_target = ARENA_ARRAY(e->arena, bool, graph->next_id);
  for (int i = 0; i < own->result_count; i++) reached[own->results[i]->id] = true;
  for (int i = 0; i < own->target_count; i++) is_target[own->targets[i]->id] = true;
  for (int i = graph->nodes.count - 1; i >= 0; i--) {
    const Node *node = graph->nodes.items[i];
    if (!reached[i] || is_target[i]) continue;
    const Node *leaf = outside_of(e->region, node);
    if (leaf->op == OP_PARAM) {
      const char *path = node_string(leaf, ATTR_NAME);
      Diagnostic *d = report_error(e, own->written->keyword,
                                   "the gradient of '%s' gives nothing to "
                                   "the parameter '%s', which '%s' uses",
                                   own->function->name, path, own->function->name);
      diag_note(d, leaf->span, "the parameter");
      return diag_help(d, "take it as an argument, or use stop_gradient(...) of it");
    }
    for (int k = 0; k < node->operand_count && node_passes_gradient(node); k++)
      reached[node->operands[k]->id] = true;
  }
  return true;
}

/* ---- results ------------------------------------------------------------------------------ */

static bool add_result(OwnGradient *own, Value value) {
  Elaborator *e = own->e;
  if (!is_float_tensor(value)) return true; /* has no gradient */
  Node *node = convert_any_tensor(e, value, own->call);
  if (!node) return false;
  if (own->result_count > 0 && node->type.dtype != own->results[0]->type.dtype)
    return report_failure(e, own->call,
                          "the results of '%s', which has a gradient of its own, are %s and %s: "
                          "they must be of one type",
                          own->function->name, type_text(e->arena, own->results[0]->type),
                          type_text(e->arena, node->type));
  own->results[own->result_count++] = node;
  return true;
}

static bool find_results(OwnGradient *own, Value result) {
  Elaborator *e = own->e;
  const AstFormals *formals = &own->written->formals;
  bool is_tuple = result.kind == VALUE_TUPLE;
  int count = is_tuple ? result.list.count : 1;
  if (count > MAX_FORMALS)
    return report_failure(e, own->call, "'%s' has a gradient of its own and more than %d results",
                          own->function->name, MAX_FORMALS);
  for (int i = 0; i < count; i++)
    if (!add_result(own, is_tuple ? result.list.items[i] : result)) return false;
  if (own->result_count == 0)
    return diag_note(report_error(e, own->written->keyword,
                                  "'%s' returns no tensor of floats: it has no gradient",
                                  own->function->name),
                     own->call, "in this call it returns %s", value_describe(e->arena, result));
  if (formals->count == own->result_count) return true;
  Span at = formals->count > 0 ? formals->items[0].span : own->written->keyword;
  return report_failure(
      e, at, "the gradient of '%s' has %d name%s, but '%s' returns %d tensor%s of floats",
      own->function->name, formals->count, formals->count == 1 ? "" : "s", own->function->name,
      own->result_count, own->result_count == 1 ? "" : "s");
}

/* [n0 + n1 + ...]: the tensors one after the other; a single one as it is. */
static Node *pack(Elaborator *e, int count, Node *const *parts) {
  Node *flat[MAX_FORMALS];
  if (count == 1) return parts[0];
  for (int i = 0; i < count; i++) {
    int64_t elements = shape_elements(parts[i]->type.shape);
    flat[i] = emit_reshape(e, parts[i], shape_make(1, &elements));
    if (!flat[i]) return NULL;
  }
  return emit_concat(e, count, flat, 0);
}

/* Part `i` of what was packed. */
static Node *unpack(Elaborator *e, Node *packed, int count, Node *const *parts, int i) {
  if (count == 1 || !packed) return packed;
  int64_t start = 0, step = 1;
  for (int k = 0; k < i; k++) start += shape_elements(parts[k]->type.shape);
  int64_t stop = start + shape_elements(parts[i]->type.shape);
  return emit_reshape(e, emit_slice(e, packed, &start, &stop, &step), parts[i]->type.shape);
}

/* ---- the rule ----------------------------------------------------------------------------- */

static bool bind_gradients(OwnGradient *own, Type packed) {
  Elaborator *e = own->e;
  const AstFormals *formals = &own->written->formals;
  Attribute index = attr_make_int(ATTR_INDEX, 0);
  own->dy = emit_leaf(e, OP_ARGUMENT, packed, 1, &index);
  for (int i = 0; i < formals->count; i++) {
    const AstFormal *formal = &formals->items[i];
    if (formal->default_value)
      return report_failure(
          e, formal->default_value->span,
          "the gradient '%s' always comes from what uses the result and has no default",
          formal->name.text);
    int outer = function_find_formal(own->function, formal->name.text);
    if (outer >= 0)
      return diag_note(report_error(e, formal->name.span, "'%s' is an argument of '%s' already",
                                    formal->name.text, own->function->name),
                       own->function->stmt->function.formals.items[outer].name.span,
                       "it is defined here");
    Value value = value_tensor(e, unpack(e, own->dy, own->result_count, own->results, i));
    if (value_is_error(value)) return false;
    if (formal->type && !evaluate_formal_type(e, formal, value, formal->name.span)) return false;
    scope_bind(e->arena, e->frame->scope, SYMBOL_FORMAL, formal->name.text, value,
               formal->name.span);
  }
  return true;
}

/* A number stands for a tensor of it, none for zeros. */
static Node *convert_gradient(OwnGradient *own, int i, Value value, Span at) {
  Elaborator *e = own->e;
  const char *name = own->names[i].text;
  Type type = own->targets[i]->type;
  e->at = at;
  if (value.kind == VALUE_NONE) return emit_constant(e, 0, type);
  value = convert_plain(e, value, at);
  if (value_is_error(value)) return NULL;
  bool is_weak = value_is_number(value) || (value_is_tensor(value) && value.tensor.is_host);
  if (is_weak)
    return convert_to_type(e, value, type, at,
                           arena_printf(e->arena, "the gradient of '%s'", name));
  if (!value_is_tensor(value))
    return report_wrong_kind(e, at, arena_printf(e->arena, "the gradient of '%s'", name),
                             "a tensor", value);
  Node *node = convert_any_tensor(e, value, at);
  if (!node || type_equal(node->type, type)) return node;
  Diagnostic *d = report_error(e, at, "the gradient of '%s' must be %s, as '%s' is, found %s", name,
                               type_text(e->arena, type), name, type_text(e->arena, node->type));
  if (node->type.dtype == type.dtype)
    diag_help(d, "where '%s' was broadcast, its gradient is a sum over these axes", name);
  return NULL;
}

/* `return a, b`, or one tuple of as many. */
static bool take_gradients(OwnGradient *own, Node **gradients) {
  Elaborator *e = own->e;
  const Frame *frame = e->frame;
  const AstStmt *stmt = frame->return_stmt;
  int count = frame->returned.count;
  const Value *values = frame->returned.items;
  bool is_spread = count == 1 && values[0].kind == VALUE_TUPLE;
  if (is_spread) {
    count = values[0].list.count;
    values = values[0].list.items;
  }
  if (count != own->target_count) {
    Text names = {0};
    for (int i = 0; i < own->target_count; i++)
      text_printf(&names, "%s'%s'",
                  i == 0                      ? ""
                  : i + 1 < own->target_count ? ", "
                                              : " and ",
                  own->names[i].text);
    Diagnostic *d = report_error(e, stmt->span, "%d gradient%s for %d tensor%s of floats: %s",
                                 count, count == 1 ? "" : "s", own->target_count,
                                 own->target_count == 1 ? "" : "s", names.data);
    text_free(&names);
    return diag_help(d,
                     "return one for each, in the order of the arguments; none stands for zeros");
  }
  for (int i = 0; i < count; i++) {
    Span at = stmt->values.items[is_spread ? 0 : i]->span;
    if (value_is_error(values[i])) return false;
    gradients[i] = convert_gradient(own, i, values[i], at);
    if (!gradients[i]) return false;
  }
  return true;
}

static bool run_rule(OwnGradient *own, Type packed, Node **gradients) {
  Elaborator *e = own->e;
  Frame *frame = e->frame;
  if (!bind_gradients(own, packed)) return false;
  int errors = e->errors;
  evaluate_block(e, &own->written->body->stmts);
  if (e->errors > errors || e->trace->exhausted) return false;
  if (!frame->has_returned)
    return report_failure(e, own->written->keyword, "the gradient of '%s' ended without `return`",
                          own->function->name);
  return take_gradients(own, gradients);
}

/* The block in a region, a scope and a frame of its own. */
static bool elaborate_rule(OwnGradient *own, Type packed, Region *region) {
  Elaborator *e = own->e;
  Node *gradients[MAX_FORMALS];
  *region = region_within(e, "gradient");
  region->is_rule = true;
  Context outer = region_enter(e, region);
  Frame frame = *e->frame;
  frame.scope = scope_create(e->arena, frame.scope, false);
  memset(&frame.returned, 0, sizeof frame.returned);
  frame.has_returned = false;
  frame.stmts = &own->written->body->stmts;
  frame.loops = 0;
  e->frame = &frame;
  bool fine = run_rule(own, packed, gradients);
  for (int i = 0; i < own->target_count && fine; i++)
    emit_output(e, OUTPUT_RESULT, own->names[i].text, gradients[i], own->names[i].span);
  region_leave_frame(e, outer);
  return fine;
}

/* ---- the node ----------------------------------------------------------------------------- */

/* Operands: the value, the targets, what else the rule has captured. */
static Node *add_node(const OwnGradient *own, Node *value, const Region *region) {
  Elaborator *e = own->e;
  int most = 1 + own->target_count + region->arguments.count, count = 0;
  Node **operands = ARENA_ARRAY(e->arena, Node *, most);
  operands[count++] = value;
  for (int i = 0; i < own->target_count; i++) operands[count++] = own->targets[i];
  for (int i = 0; i < region->arguments.count; i++) {
    const RegionArgument *argument = &region->arguments.items[i];
    int at = 1;
    while (at < count && operands[at] != argument->outer) at++;
    if (at == count) operands[count++] = argument->outer;
    argument->leaf->attributes[0].integer = at;
  }
  Maker maker = {e->region->graph, report_user_span(e, own->call), e->frame->label};
  Node *node = make_own_gradient(&maker, region->graph, count, operands);
  region_sync(e);
  return node;
}

/* The results with their tensors of floats replaced by parts of the node. */
static Value wrap_results(const OwnGradient *own, Node *node, Value result) {
  Elaborator *e = own->e;
  if (result.kind != VALUE_TUPLE) return value_tensor(e, node);
  Value *values = ARENA_ARRAY(e->arena, Value, result.list.count);
  int at = 0;
  for (int i = 0; i < result.list.count; i++) {
    values[i] = result.list.items[i];
    if (!is_float_tensor(values[i])) continue;
    values[i] = value_tensor(e, unpack(e, node, own->result_count, own->results, at++));
    if (value_is_error(values[i])) return value_error();
  }
  return value_tuple(e->arena, result.list.count, values);
}

Value evaluate_own_gradient(Elaborator *e, const Function *function, Span call, const Value *values,
                            Value result) {
  const Region *bottom = e->region;
  while (bottom->outer) bottom = bottom->outer;
  bool is_wanted = (e->trace->training || e->uses_grad) && bottom == &e->trace->region;
  if (!is_wanted || value_is_error(result)) return result;
  OwnGradient own = {
      .e = e, .function = function, .call = call, .written = function->stmt->function.gradient};
  e->at = call;
  if (!find_targets(&own, values) || !find_results(&own, result) || !check_parameters(&own))
    return value_error();
  Node *packed = pack(e, own.result_count, own.results);
  Region region;
  if (!packed || !elaborate_rule(&own, packed->type, &region)) return value_error();
  e->at = call;
  Node *node = add_node(&own, packed, &region);
  return wrap_results(&own, node, result);
}
