/* mix: train { precision = bf16 } or f16. What costs most is computed on numbers of 16 bits.
 *
 * Each operator's class says what becomes of it (OpClass.mix). Contractions and convolutions get
 * their operands in the type of 16 bits and give their results in it; their sums are f32. What
 * moves, selects or adds such results stays in it, and so does scaling by a constant; all else is
 * computed in f32, from operands that are widened exactly. Parameters and constants take the type
 * of what they meet. Parameters, states, inputs, results and outputs of a graph keep their f32; so
 * do the bodies of scans and the rules of gradients, seen from outside. What is computed from
 * gradients (clipping, optimizers, averages) is f32.
 *
 *     contract(x, w) : f32   ->   cast f32 (contract(cast bf16 x, cast bf16 w) : bf16)
 *
 * A node has up to two forms in the new graph, f32 and 16 bits, of which one is its own; the other
 * is a cast, made when it is needed. A cast passes gradients, so the backward part, derived
 * afterwards, is mixed by itself, with f32 gradients for the f32 parameters.
 *
 * Before: no gradients are written out. Types that a program asks for by name are left alone. */
#include <math.h>
#include "ops/make.h"
#include "ops/number.h"
#include "ops/op.h"
#include "passes/pass.h"
#include "passes/rewrite.h"

typedef struct Mix {
  DType narrow;
  Graph *into;
  Node **own, **other; /* by id: the form a node has, and that in the other type, if any yet */
  bool *is_weak;       /* constants, parameters and what moves them: either type will do */
  bool *is_update;     /* computed from gradients */
} Mix;

static Graph *mix_graph(const Graph *from, DType narrow, const bool *weak_arguments);

/* ---- the two forms ------------------------------------------------------------------------ */

static Maker maker_of(const Mix *mix, const Node *node) {
  return (Maker){mix->into, node->span, node->path};
}

static bool is_narrow(const Mix *mix, const Node *node) {
  return node->type.dtype == DTYPE_F32 && mix->own[node->id]->type.dtype == mix->narrow;
}

static Node *form(Mix *mix, const Node *node, DType dtype);

/* Of a parameter that is only moved, the parameter is converted: it has fewer elements. */
static Node *convert(Mix *mix, const Node *node, DType dtype) {
  Maker maker = maker_of(mix, node);
  Node *own = mix->own[node->id];
  if (!mix->is_weak[node->id] || node->operand_count != 1) return make_cast(&maker, own, dtype);
  Node model = *node, *operand = form(mix, node->operands[0], dtype);
  model.type.dtype = dtype;
  model.operands = &operand;
  return graph_add(mix->into, &model);
}

static Node *form(Mix *mix, const Node *node, DType dtype) {
  Node *own = mix->own[node->id];
  if (node->type.dtype != DTYPE_F32 || own->type.dtype == dtype) return own;
  Node **other = &mix->other[node->id];
  if (*other == NULL) *other = convert(mix, node, dtype);
  return *other;
}

/* ---- what becomes of an operator ---------------------------------------------------------- */

/* Whether the value of a constant, or of what a pad adds, neither vanishes nor overflows. */
static bool holds_value(const Mix *mix, const Node *node) {
  if (!node_attribute(node, ATTR_VALUE)) return true;
  double value = node_float(node, ATTR_VALUE), rounded = number_round(value, mix->narrow);
  return (rounded == 0) == (value == 0) && isfinite(rounded) == isfinite(value);
}

static bool find_weak(const Mix *mix, const Node *node, const bool *weak_arguments) {
  const OpClass *class = op_info(node->op)->class;
  if (node->type.dtype != DTYPE_F32) return false;
  if (class->leaf == LEAF_CONSTANT) return holds_value(mix, node);
  if (class->leaf == LEAF_ARGUMENT) return weak_arguments[node_int(node, ATTR_INDEX)];
  bool moves =
      class->family == FAMILY_MOVEMENT && node->operand_count == 1 && class->mix == MIX_FOLLOW;
  return class->leaf == LEAF_PARAM || (moves && mix->is_weak[node->operands[0]->id]);
}

/* Whether all floats among the operands are of 16 bits or may be, and one is: for MIX_SCALE the
 * first (or any, of a product) and no other. */
static bool follows(const Mix *mix, const Node *node, const OpClass *class) {
  int narrow = 0;
  for (int i = 0; i < node->operand_count; i++) {
    const Node *operand = node->operands[i];
    if (operand->type.dtype != DTYPE_F32) continue;
    bool own = is_narrow(mix, operand);
    if (!own && !mix->is_weak[operand->id]) return false;
    if (own && class->mix == MIX_SCALE && !class->commutes && i > 0) return false;
    narrow += own;
  }
  return class->mix == MIX_SCALE ? narrow == 1 : narrow > 0;
}

static DType choose(const Mix *mix, const Node *node) {
  const OpClass *class = op_info(node->op)->class;
  if (node->type.dtype != DTYPE_F32 || mix->is_update[node->id]) return DTYPE_F32;
  if (class->mix == MIX_NARROW) return mix->narrow;
  bool may_follow = class->mix != MIX_WIDE && holds_value(mix, node);
  return may_follow && follows(mix, node, class) ? mix->narrow : DTYPE_F32;
}

/* Its elements are those of its operand, but no gradient goes through: stop_gradient, and casts of
 * integers, which makes no difference here. */
static bool is_stop(const Node *node) {
  const OpClass *class = op_info(node->op)->class;
  return op_is_elementwise(node->op) && class->moves_values && class->gradient == NULL;
}

static bool is_gradient(const Node *node) {
  return op_info(node->op)->class->family == FAMILY_SPECIAL;
}

/* A parameter that an earlier update has left is a parameter again, after a stop. */
static bool find_update(const Mix *mix, const Node *node) {
  if (is_gradient(node)) return true;
  bool found = false;
  for (int i = 0; i < node->operand_count; i++) found |= mix->is_update[node->operands[i]->id];
  return found && !is_stop(node);
}

/* ---- graphs ------------------------------------------------------------------------------- */

static const Graph *mix_inner(const Mix *mix, const Node *node) {
  const Graph *inner = node_inner(node);
  bool *weak = ARENA_ARRAY(mix->into->arena, bool, node->operand_count + 1);
  for (int i = 0; i < node->operand_count; i++) weak[i] = mix->is_weak[node->operands[i]->id];
  if (node->rule) weak[0] = false; /* the gradient */
  return mix->is_update[node->id] ? inner : mix_graph(inner, mix->narrow, weak);
}

/* The target of a gradient must be the node itself, in its own form. */
static Node *mix_node(Mix *mix, const Node *node) {
  DType dtype = choose(mix, node);
  Node **operands = ARENA_ARRAY(mix->into->arena, Node *, node->operand_count);
  for (int i = 0; i < node->operand_count; i++) {
    bool is_target = is_gradient(node) && i == 1;
    operands[i] = is_target ? mix->own[node->operands[i]->id] : form(mix, node->operands[i], dtype);
  }
  Type type = node->type;
  if (type.dtype == DTYPE_F32) type.dtype = dtype;
  if (is_gradient(node)) type = operands[1]->type;
  Node model = *node;
  model.type = type;
  model.operands = operands;
  if (node->body) model.body = mix_inner(mix, node);
  if (node->rule) model.rule = mix_inner(mix, node);
  return graph_add(mix->into, &model);
}

static Graph *mix_graph(const Graph *from, DType narrow, const bool *weak_arguments) {
  Arena *arena = from->arena;
  Mix mix = {.narrow = narrow, .into = rewrite_start(from)};
  mix.own = ARENA_ARRAY(arena, Node *, from->next_id);
  mix.other = ARENA_ARRAY(arena, Node *, from->next_id);
  mix.is_weak = ARENA_ARRAY(arena, bool, from->next_id);
  mix.is_update = ARENA_ARRAY(arena, bool, from->next_id);
  for (int i = 0; i < from->nodes.count; i++) {
    const Node *node = from->nodes.items[i];
    mix.is_weak[node->id] = find_weak(&mix, node, weak_arguments);
    mix.is_update[node->id] = find_update(&mix, node);
    mix.own[node->id] = mix_node(&mix, node);
  }
  NodeMap map = node_map_create(arena, from);
  for (int i = 0; i < from->outputs.count; i++) {
    Node *node = from->outputs.items[i].node;
    node_map_set(&map, node, form(&mix, node, DTYPE_F32));
  }
  graph_map_outputs(mix.into, from, &map);
  return mix.into;
}

void pass_mix(Module *module, Diagnostics *diagnostics) {
  static const EntryKind mixed[] = {ENTRY_TRAIN,    ENTRY_ACCUMULATE, ENTRY_EVAL,
                                    ENTRY_EVAL_ONE, ENTRY_PREDICT,    ENTRY_PREDICT_BATCH,
                                    ENTRY_GENERATE};
  if (!dtype_is_half(module->run.precision)) return;
  for (size_t i = 0; i < sizeof mixed / sizeof *mixed; i++) {
    Graph **entry = &module->entries[mixed[i]];
    if (*entry) *entry = mix_graph(*entry, module->run.precision, NULL);
  }
}
