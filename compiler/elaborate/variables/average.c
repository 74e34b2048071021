/* Averaged weights: `average = ema(0.999)` keeps a state PATH:average beside each parameter, which
 * evaluation and prediction read in its stead.
 *
 * How it moves says a definer of the form of an optimizer, run behind the optimizer's: its w is the
 * average, its g the parameter's new value. It starts from the parameter's initial value. Averages
 * of 16 bits would not move: they are f32, and rounded where they are read. */
#include "elaborate/sections/update.h"
#include "support/names.h"
#include "support/panic.h"

static const char *average_path(const char *path) { return name_printf("%s:average", path); }

void initialize_like(Elaborator *e, const Slot *slot, const char *path) {
  const Graph *init = e->init.graph;
  for (int i = 0; i < init->outputs.count; i++) {
    Output output = init->outputs.items[i];
    if (output.kind != OUTPUT_STORE || output.name != slot->path) continue;
    output.name = path;
    Room *room = e->room;
    e->room = &e->init;
    output.node = emit_cast(e, output.node, type_widened(slot->type).dtype);
    e->room = room;
    if (output.node) graph_add_output(e->init.graph, output);
    return;
  }
  CHECK(e->errors > 0); /* else every parameter has an initial value */
}

void move_average(Elaborator *e, Deferred *definer, Slot *average, Node *value) {
  Symbol ambient[6];
  value = emit_cast(e, value, average->type.dtype);
  if (!value) return;
  host_ambient(e, ambient);
  ambient[4] = (Symbol){.name = name_intern("w"),
                        .kind = SYMBOL_PARAM,
                        .slot = average,
                        .value = value_tensor(e, average->leaf)};
  ambient[5] =
      (Symbol){.name = name_intern("g"), .kind = SYMBOL_AMBIENT, .value = value_tensor(e, value)};
  Frame *frame = call_definer(e, definer, 6, ambient, average->path);
  if (!frame) return;
  frame->state_prefix = name_printf("%s:", average->path);
  frame->state_type = &average->type;
  int errors = e->errors;
  evaluate_block(e, frame->stmts);
  if (!average->stored && e->errors == errors)
    report_error(e, definer->function->stmt->function.name.span,
                 "the average '%s' never stores into w: w <- 0.9 * w + 0.1 * g",
                 definer->function->name);
  e->frame = frame->parent;
}

void average_parameter(Update *update, const Target *target) {
  Elaborator *e = update->e;
  const KeyValue *key = target->keys[KEY_AVERAGE];
  const Slot *slot = target->slot;
  if (!key->expr || !slot->stored || key->value.kind == VALUE_NONE) return;
  Deferred *definer = update_definer(e, key, "average", "an average such as ema(0.999)");
  if (!definer) return;
  const char *path = average_path(slot->path);
  e->at = key->expr->span;
  Slot *average = create_slot(e, VARIABLE_STATE, path, type_widened(slot->type), slot->leaf->span);
  if (!average) return;
  initialize_like(e, slot, average->path);
  move_average(e, definer, average, slot->current);
}

Node *average_leaf(Elaborator *e, const char *path, Type type) {
  if (e->walk->training) return NULL;
  Variable *variable = find_variable(e, average_path(path));
  if (!variable) return NULL;
  Attribute attribute = attr_make_string(ATTR_NAME, variable->path);
  Node *leaf = emit_leaf(e, OP_STATE, variable->type, 1, &attribute);
  return leaf ? emit_cast(e, leaf, type.dtype) : NULL;
}
