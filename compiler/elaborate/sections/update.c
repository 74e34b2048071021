/* Updates: gradients, accumulation, clipping, optimizers, stores.
 *
 * Parameters belong to objectives: the block's own loss, and that of each group with a loss of its
 * own. Objectives update in text order; a later one's loss is computed again with the new
 * values of the parameters updated before it, which are constants to its gradients. */
#include <string.h>
#include "core/pattern.h"
#include "elaborate/core/emit.h"
#include "elaborate/core/path.h"
#include "elaborate/core/report.h"
#include "elaborate/core/slot.h"
#include "elaborate/eval/call.h"
#include "elaborate/eval/convert.h"
#include "elaborate/eval/evaluate.h"
#include "elaborate/eval/operate.h"
#include "elaborate/sections/gradient_norm.h"
#include "elaborate/sections/loss_scale.h"
#include "elaborate/sections/rate.h"
#include "elaborate/variables/average.h"
#include "elaborate/variables/frozen.h"
#include "elaborate/variables/variable.h"
#include "ops/own_gradient.h"
#include "support/names.h"
#include "support/panic.h"

/* ---- which keys hold for a parameter ------------------------------------------------------ */

/* The truth that is given for `key`, which is called `name`; false where none is. */
static bool key_is_true(Elaborator *e, const KeyValue *key, const char *name) {
  if (!key->expr) return false;
  if (key->value.kind == VALUE_BOOL) return key->value.boolean;
  return report_wrong_kind(e, key->expr->span, name, "true or false", key->value);
}

static UpdateTarget make_target(const TrainPlan *plan, Slot *slot) {
  static const KeyValue none = {0};
  UpdateTarget target = {.slot = slot};
  for (int k = 0; k < KEY_COUNT; k++) target.keys[k] = plan->keys[k].expr ? &plan->keys[k] : &none;
  for (int i = 0; i < plan->groups.count; i++) {
    TrainGroup *group = plan->groups.items[i];
    if (!path_matches_group(group->entry, slot->path)) continue;
    group->matched++;
    for (int k = 0; k < KEY_COUNT; k++)
      if (group->keys[k].expr) target.keys[k] = &group->keys[k];
    if (group->keys[KEY_MINIMIZE].expr) target.objective = i + 1;
  }
  return target;
}

static void set_frozen(Elaborator *e, const Slot *slot) {
  Variable *variable = slot_find_variable(e, slot->path);
  CHECK(variable != NULL);
  variable->frozen = true;
}

/* A group may hold for states alone: `params "*.running_*" { frozen = true }`. */
static void freeze_state(Elaborator *e, const TrainPlan *plan, const Slot *slot) {
  for (int i = 0; i < plan->groups.count; i++) {
    TrainGroup *group = plan->groups.items[i];
    if (group->keys[KEY_FROZEN].expr && path_matches_group(group->entry, slot->path))
      group->matched++;
  }
  if (frozen_path(e, slot->path)) set_frozen(e, slot);
}

/* Nodes that the loss depends on by a way that gradients go. */
static bool *find_reached(Elaborator *e, const Node *loss) {
  const Graph *graph = e->region->graph;
  bool *reached = ARENA_ARRAY(e->arena, bool, graph->next_id);
  reached[loss->id] = true;
  for (int i = graph->nodes.count - 1; i >= 0; i--) {
    const Node *node = graph->nodes.items[i];
    bool is_end = node->op == OP_STOP_GRADIENT || node->op == OP_EXTERN;
    if (!reached[node->id] || is_end) continue;
    if (!dtype_is_float(node->type.dtype)) continue;
    for (int k = 0; k < node->operand_count; k++)
      if (!node->rule || own_gradient_leads(node, k)) reached[node->operands[k]->id] = true;
  }
  return reached;
}

static const KeyValue *objective_loss(const TrainPlan *plan, int objective) {
  return objective == 0 ? &plan->keys[KEY_MINIMIZE]
                        : &plan->groups.items[objective - 1]->keys[KEY_MINIMIZE];
}

static Node *loss_node(const KeyValue *loss) {
  bool fits = loss->expr && value_is_tensor(loss->value) &&
              loss->value.tensor.node->type.shape.rank == 0 &&
              dtype_is_float(loss->value.tensor.node->type.dtype);
  return fits ? loss->value.tensor.node : NULL;
}

Node *update_loss(const TrainPlan *plan, int objective) {
  return loss_node(objective_loss(plan, objective));
}

static void collect_targets(Update *update) {
  Elaborator *e = update->e;
  const TrainPlan *plan = update->plan;
  bool **reached = ARENA_ARRAY(e->arena, bool *, plan->groups.count + 1);
  for (int objective = 0; objective <= plan->groups.count; objective++) {
    const KeyValue *loss = objective_loss(plan, objective);
    if (loss_node(loss)) reached[objective] = find_reached(e, loss_node(loss));
  }
  bool any_param = false;
  for (int i = 0; i < e->trace->slots.count; i++) {
    Slot *slot = e->trace->slots.items[i];
    if (slot->kind == VARIABLE_STATE) freeze_state(e, plan, slot);
    if (slot->kind != VARIABLE_PARAM) continue;
    UpdateTarget target = make_target(plan, slot);
    any_param = true;
    if (key_is_true(e, target.keys[KEY_FROZEN], "frozen")) {
      set_frozen(e, slot);
    } else if (reached[target.objective] && !reached[target.objective][slot->leaf->id]) {
      Diagnostic *d = report_warning(e, slot->leaf->span,
                                     "the parameter '%s' is never trained: "
                                     "the loss does not depend on it",
                                     slot->path);
      diag_note(d, objective_loss(plan, target.objective)->expr->span, "the loss");
      set_frozen(e, slot);
    } else if (reached[target.objective]) {
      vec_push(e->arena, &update->targets, target);
    }
  }
  if (update->targets.count > 0) return;
  const KeyValue *loss = objective_loss(plan, 0);
  if (loss_node(loss))
    report_error(e, loss->expr->span,
                 any_param ? "the loss depends on no parameter that is trained"
                           : "the program has no parameters to train");
}

/* Whether a parameter has a path of this pattern; of a group that freezes, a state counts too. */
static bool pattern_is_met(Elaborator *e, const TrainGroup *group, const AstExpr *pattern) {
  for (int i = 0; i < e->trace->slots.count; i++) {
    const Slot *slot = e->trace->slots.items[i];
    bool counts = slot->kind == VARIABLE_PARAM ||
                  (slot->kind == VARIABLE_STATE && group->keys[KEY_FROZEN].expr);
    if (counts && nnc_pattern_matches(pattern->string.bytes, slot->path)) return true;
  }
  return false;
}

static void help_with_parameters(Elaborator *e, Diagnostic *d, const AstExpr *pattern) {
  int count = 0;
  const char **paths = ARENA_ARRAY(e->arena, const char *, e->trace->slots.count + 1);
  for (int i = 0; i < e->trace->slots.count; i++)
    if (e->trace->slots.items[i]->kind == VARIABLE_PARAM)
      paths[count++] = e->trace->slots.items[i]->path;
  Text list = {0};
  for (int i = 0; i < count && i < 8; i++) text_printf(&list, "%s%s", i ? ", " : "", paths[i]);
  if (pattern) report_suggest(d, pattern->string.bytes, paths, count);
  if (count) diag_help(d, "parameters are %s%s", list.data, count > 8 ? ", ..." : "");
  text_free(&list);
}

/* A group that holds for nothing is told as a whole; else each of its patterns that does. */
static void check_groups(Update *update) {
  Elaborator *e = update->e;
  for (int i = 0; i < update->plan->groups.count; i++) {
    const TrainGroup *group = update->plan->groups.items[i];
    const AstEntry *entry = group->entry;
    if (group->matched == 0) {
      Diagnostic *d = report_warning(e, entry->span, "no parameter matches this group");
      help_with_parameters(e, d, entry->patterns.count == 1 ? entry->patterns.items[0] : NULL);
      continue;
    }
    for (int k = 0; k < entry->patterns.count; k++) {
      const AstExpr *pattern = entry->patterns.items[k];
      if (pattern_is_met(e, group, pattern)) continue;
      Diagnostic *d =
          report_warning(e, pattern->span, "no parameter matches '%s'", pattern->string.bytes);
      help_with_parameters(e, d, pattern);
    }
  }
}

/* ---- gradients ---------------------------------------------------------------------------- */

/* A map in which the parameters updated so far lead to their new values and whatever does not
 * depend on them to itself; false when none of them matters to `node`. */
static bool map_updated(Elaborator *e, const Node *node, NodeMap *map) {
  bool *needed = ARENA_ARRAY(e->arena, bool, e->region->graph->next_id);
  needed[node->id] = true;
  region_mark_needed(e->region->graph, needed);
  *map = node_map_create(e->arena, e->region->graph);
  bool changed = false;
  for (int i = 0; i < e->trace->slots.count; i++) {
    Slot *slot = e->trace->slots.items[i];
    if (slot->kind != VARIABLE_PARAM || !slot->stored || !needed[slot->leaf->id]) continue;
    Node *fixed = emit_unary(e, OP_STOP_GRADIENT, slot->current);
    if (!fixed) return false;
    node_map_set(map, slot->leaf, fixed);
    changed = true;
  }
  bool *depends = ARENA_ARRAY(e->arena, bool, map->capacity);
  for (int i = 0; i < map->capacity; i++) {
    Node *old = e->region->graph->nodes.items[i];
    depends[i] = node_map_get(map, old) != NULL;
    for (int k = 0; k < old->operand_count; k++)
      depends[i] = depends[i] || depends[old->operands[k]->id];
    if (!depends[i]) node_map_set(map, old, old);
  }
  return changed;
}

/* The loss of an objective as the objectives before it have left the parameters. */
static Node *objective_current_loss(Update *update, int objective) {
  Elaborator *e = update->e;
  const KeyValue *loss = objective_loss(update->plan, objective);
  Node *node = loss_node(loss);
  NodeMap map;
  e->at = loss->expr->span;
  if (!map_updated(e, node, &map)) return node;
  node = graph_copy_tree(e->region->graph, node, &map);
  region_sync(e);
  return node;
}

static Node *multiply(Elaborator *e, Node *node, double factor) {
  if (!node || factor == 1) return node;
  Node *constant = emit_constant(e, factor, node->type);
  return constant ? emit_binary(e, OP_MUL, node, constant) : NULL;
}

/* The loss times `loss_scale`, and the gradients by it: small ones do not vanish in f16 between.
 * Whatever is computed from gradients of 16 bits is computed in f32. */
static void add_gradients(Update *update, int objective, Node *loss) {
  Elaborator *e = update->e;
  const KeyValue *key = objective_loss(update->plan, objective);
  const char *name = key->expr->kind == AST_NAME ? key->expr->name : "loss";
  Attribute attribute = attr_make_string(ATTR_LOSS, name);
  e->at = key->expr->span;
  if (!loss_scale_is_one(e) && dtype_is_half(loss->type.dtype))
    loss = emit_cast(e, loss, DTYPE_F32);
  loss = loss_scale_loss(e, loss);
  for (int i = 0; loss && i < update->targets.count; i++) {
    UpdateTarget *target = &update->targets.items[i];
    if (target->objective != objective) continue;
    e->frame->label = target->slot->path;
    Node *gradient =
        emit_node(e, OP_GRADIENT, 2, (Node *[]){loss, target->slot->leaf}, 1, &attribute);
    if (gradient) gradient = emit_cast(e, gradient, type_widened(gradient->type).dtype);
    target->gradient = loss_scale_gradient(e, gradient);
  }
}

/* The state in which the minibatches of a step join the gradients of a parameter. */
static Slot *create_sum(Elaborator *e, const Slot *slot) {
  return variable_create(e, VARIABLE_OPTIMIZER, name_printf("%s:accumulated", slot->path),
                         type_widened(slot->type), slot->leaf->span);
}

/* The last of n minibatches: the mean with what the others have left, which then starts at zero. */
static void take_accumulated(Elaborator *e, UpdateTarget *target, int64_t count) {
  Slot *sum = create_sum(e, target->slot);
  if (!sum || !target->gradient) return;
  variable_initialize(e, sum->path, sum->type, NULL, value_int(0), sum->span);
  Node *total = emit_binary(e, OP_ADD, sum->leaf, target->gradient);
  target->gradient = multiply(e, total, 1.0 / (double)count);
  slot_store(sum, emit_constant(e, 0, sum->type));
}

/* ---- optimizers --------------------------------------------------------------------------- */

/* The value of a key as a definer of the form of an optimizer; NULL after an error. */
static Deferred *find_definer(Elaborator *e, const KeyValue *key, const char *what,
                              const char *wanted) {
  Deferred *definer;
  if (call_is_definer(e, key->value, AST_OPTIMIZER, key->expr->span, &definer)) return definer;
  return report_wrong_kind(e, key->expr->span, what, wanted, key->value);
}

static void average_parameter(Update *update, const UpdateTarget *target) {
  Elaborator *e = update->e;
  const KeyValue *key = target->keys[KEY_AVERAGE];
  const Slot *slot = target->slot;
  if (!key->expr || !slot->stored || key->value.kind == VALUE_NONE) return;
  Deferred *definer = find_definer(e, key, "average", "an average such as ema(0.999)");
  if (!definer) return;
  const char *path = average_path(slot->path);
  e->at = key->expr->span;
  Slot *average =
      variable_create(e, VARIABLE_STATE, path, type_widened(slot->type), slot->leaf->span);
  if (!average) return;
  average_begin(e, slot, average->path);
  average_move(e, definer, average, slot->current);
}

/* "D.*" gives "D.lr"; the block's own optimizer gives "lr". */
static const char *schedule_name(const Update *update, const UpdateTarget *target,
                                 const char *formal) {
  const KeyValue *key = target->keys[KEY_OPTIMIZER];
  for (int i = 0; i < update->plan->groups.count; i++) {
    const TrainGroup *group = update->plan->groups.items[i];
    if (&group->keys[KEY_OPTIMIZER] != key) continue;
    const char *pattern = group->entry->patterns.items[0]->string.bytes;
    size_t length = 0;
    while (pattern[length] && !strchr("*?.", pattern[length])) length++;
    if (length > 0) return name_printf("%.*s.%s", (int)length, pattern, formal);
  }
  return formal;
}

static void override_arguments(Update *update, const UpdateTarget *target, Deferred *own) {
  Elaborator *e = update->e;
  for (int i = 0; i < update->plan->groups.count; i++) {
    const TrainGroup *group = update->plan->groups.items[i];
    if (!path_matches_group(group->entry, target->slot->path)) continue;
    for (int k = 0; k < group->overrides.count; k++) {
      const Override *override = &group->overrides.items[k];
      int at = function_find_formal(own->function, override->name.text);
      if (at < 0) {
        report_error(e, override->name.span, "the optimizer '%s' of '%s' has no argument '%s'",
                     own->function->name, target->slot->path, override->name.text);
        continue;
      }
      own->arguments[at] = override->value;
      own->given[at] = override->span;
    }
  }
}

static void scale_rate(Elaborator *e, const UpdateTarget *target, Deferred *own) {
  const KeyValue *scale = target->keys[KEY_LR_SCALE];
  if (!scale->expr || value_is_error(scale->value)) return;
  double factor;
  bool is_host = value_is_tensor(scale->value) && scale->value.tensor.is_host;
  if (!is_host && !convert_number(e, scale->value, scale->expr->span, "lr_scale", &factor)) return;
  int at = function_find_formal(own->function, name_intern("lr"));
  if (at < 0) {
    report_error(e, scale->expr->span,
                 "lr_scale needs an optimizer with an argument 'lr', which '%s' has not",
                 own->function->name);
    return;
  }
  const AstFormal *formal = &own->function->stmt->function.formals.items[at];
  Value rate = own->arguments[at];
  if (rate.kind == VALUE_KIND_COUNT) {
    if (!formal->default_value) return;
    rate = evaluate_expr(e, formal->default_value);
  }
  e->at = scale->expr->span;
  own->arguments[at] = operate_binary(e, AST_MUL, rate, scale->value, e->at, e->at);
  own->given[at] = e->at;
}

/* The optimizer's application for one parameter: the group's arguments, named schedules. */
static Deferred *bind_optimizer(Update *update, const UpdateTarget *target) {
  Elaborator *e = update->e;
  Deferred *shared = find_definer(e, target->keys[KEY_OPTIMIZER], "optimizer",
                                  "an optimizer such as adam(lr = 1e-3)");
  if (!shared) return NULL;
  const AstFormals *formals = &shared->function->stmt->function.formals;
  Deferred *own = ARENA_NEW(e->arena, Deferred);
  *own = *shared;
  own->arguments = arena_copy(e->arena, shared->arguments,
                              sizeof *own->arguments * (size_t)(formals->count + 1));
  own->given =
      arena_copy(e->arena, shared->given, sizeof *own->given * (size_t)(formals->count + 1));
  override_arguments(update, target, own);
  for (int i = 0; i < formals->count; i++) {
    Value value = own->arguments[i];
    if (value.kind == VALUE_DEFERRED && !value.deferred->scalar)
      value.deferred->scalar = schedule_name(update, target, formals->items[i].name.text);
  }
  scale_rate(e, target, own);
  return own;
}

/* What an optimizer sees as w: a parameter of 16 bits as f32, so that its states are f32 as well
 * (0.999 is 1 in bf16, and squares vanish in f16). */
static Slot widened_slot(Elaborator *e, const Slot *slot) {
  Slot wide = *slot;
  wide.type = type_widened(slot->type);
  if (type_equal(wide.type, slot->type)) return wide;
  e->frame->label = slot->path;
  wide.leaf = wide.current = emit_cast(e, slot->leaf, wide.type.dtype);
  return wide;
}

/* `lazy`: where the gradient is 0, `slot` stays as it is; a state of another shape has no elements of
 * the gradient's. */
static void keep_unmoved(Elaborator *e, Slot *slot, Node *gradient) {
  if (!slot->stored || !slot->current || !shape_equal(slot->type.shape, gradient->type.shape))
    return;
  e->frame->label = slot->path;
  Node *zero = emit_constant(e, 0, gradient->type);
  Node *moves = zero ? emit_binary(e, OP_NE, gradient, zero) : NULL;
  if (!moves) return;
  slot_store(slot,
             emit_node(e, OP_WHERE, 3, (Node *[]){moves, slot->current, slot->leaf}, 0, NULL));
}

/* `is_finite`: unless it is true nothing changes; NULL: it does in any case. */
static void run_optimizer(Update *update, UpdateTarget *target, Node *is_finite) {
  Elaborator *e = update->e;
  Slot *slot = target->slot;
  int states = e->trace->slots.count;
  e->at = target->keys[KEY_OPTIMIZER]->expr->span;
  Deferred *own = bind_optimizer(update, target);
  if (!own || !target->gradient) return;
  Slot wide = widened_slot(e, slot);
  if (!wide.leaf) return;
  call_optimizer(e, own, &wide, target->gradient, "optimizer", "w <- w - lr * g");
  rate_note(update, target, own);
  if (wide.stored && wide.current) slot_store(slot, emit_cast(e, wide.current, slot->type.dtype));
  bool is_lazy = key_is_true(e, target->keys[KEY_LAZY], "lazy");
  if (is_lazy) keep_unmoved(e, slot, target->gradient);
  loss_scale_guard(e, slot, is_finite);
  for (int i = states; i < e->trace->slots.count; i++) {
    if (is_lazy) keep_unmoved(e, e->trace->slots.items[i], target->gradient);
    loss_scale_guard(e, e->trace->slots.items[i], is_finite);
  }
}

/* ---- stores ------------------------------------------------------------------------------- */

void update_states(Elaborator *e) {
  for (int i = 0; i < e->trace->slots.count; i++) {
    const Slot *slot = e->trace->slots.items[i];
    bool is_kept = e->trace->training || slot->kind == VARIABLE_STREAM;
    if (!slot->stored || !slot->current || !is_kept) continue;
    if (slot->kind == VARIABLE_STATE && frozen_path(e, slot->path)) continue;
    emit_output(e, OUTPUT_STORE, slot->path, slot->current, slot->leaf->span);
  }
}

static bool objective_has_targets(const Update *update, int objective) {
  for (int i = 0; i < update->targets.count; i++)
    if (update->targets.items[i].objective == objective) return true;
  return false;
}

/* Whether nothing forbids `what`, of one loss alone, together with losses of groups. */
static bool check_one_loss(Update *update, const char *what) {
  Elaborator *e = update->e;
  for (int i = 0; i < update->plan->groups.count; i++) {
    const KeyValue *own = &update->plan->groups.items[i]->keys[KEY_MINIMIZE];
    if (!own->expr) continue;
    return report_failure(e, own->expr->span,
                          "%s cannot be combined with a group that minimizes a loss of its own",
                          what);
  }
  return true;
}

/* NULL: whether they are finite makes no difference. */
static Node *judge_gradients(Update *update) {
  Elaborator *e = update->e;
  Node **gradients = ARENA_ARRAY(e->arena, Node *, update->targets.count + 1);
  for (int i = 0; i < update->targets.count; i++) gradients[i] = update->targets.items[i].gradient;
  return loss_scale_judge(e, update->targets.count, gradients);
}

void update_parameters(Elaborator *e) {
  Update update = {.e = e, .plan = e->trace->train};
  int64_t count = e->module->run.accumulate;
  collect_targets(&update);
  check_groups(&update);
  if (count > 1 && !check_one_loss(&update, "accumulate")) return;
  if (e->has_dynamic_scale && !check_one_loss(&update, "loss_scale = \"dynamic\"")) return;
  for (int objective = 0; objective <= update.plan->groups.count; objective++) {
    if (!objective_has_targets(&update, objective)) continue;
    add_gradients(&update, objective, objective_current_loss(&update, objective));
    for (int i = 0; i < update.targets.count && count > 1; i++)
      take_accumulated(e, &update.targets.items[i], count);
    Node *is_finite = judge_gradients(&update);
    gradient_norm_add(&update, objective, update_loss(update.plan, objective), is_finite);
    update_clip(&update, objective);
    int errors = e->errors;
    for (int i = 0; i < update.targets.count; i++) {
      UpdateTarget *target = &update.targets.items[i];
      if (target->objective != objective) continue;
      run_optimizer(&update, target, is_finite);
      average_parameter(&update, target);
    }
    if (e->errors > errors) return;
  }
  gradient_norm_finish(&update);
  rate_finish(&update);
}

/* An earlier minibatch: gradients join the sums; the trace's states are stored as well. */
void update_accumulators(Elaborator *e) {
  Update update = {.e = e, .plan = e->trace->train};
  Node *loss = update_loss(update.plan, 0);
  if (!loss) return;
  for (int i = 0; i < e->trace->slots.count; i++) {
    Slot *slot = e->trace->slots.items[i];
    Variable *variable = slot_find_variable(e, slot->path);
    if (slot->kind != VARIABLE_PARAM || !variable || variable->frozen) continue;
    vec_push(e->arena, &update.targets, ((UpdateTarget){.slot = slot}));
  }
  add_gradients(&update, 0, loss);
  for (int i = 0; i < update.targets.count; i++) {
    UpdateTarget *target = &update.targets.items[i];
    Slot *sum = create_sum(e, target->slot);
    if (!sum || !target->gradient) continue;
    e->frame->label = sum->path;
    slot_store(sum, emit_binary(e, OP_ADD, sum->leaf, target->gradient));
  }
}
