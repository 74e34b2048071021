/* Layers that follow others: target = averaged(online, ema(0.99)).
 *
 * Such a layer calls the def of the other, but what that def declares as parameters are states here:
 * moving averages of the other's, under the paths that its own parameters would have. They move
 * once a step, before they are read, toward what the parameters are then. So the order of a step is
 * that of the field: use the average, update the parameters, move the average to the new ones.
 *
 * What the def declares as states (statistics of batch_norm) the layer has for itself. A shared
 * layer of the program that the def calls is no part of it. */
#include <string.h>

#include "elaborate/sections/train.h"
#include "support/names.h"

/* Behind the path of the follower; NULL when the path does not belong to it. */
static const char *path_within(const Layer *follower, const char *path) {
  size_t length = strlen(follower->path);
  bool is_within = !strncmp(path, follower->path, length) && path[length] == '.';
  return is_within ? path + length : NULL;
}

bool follow_is_average(const Elaborator *e, const char *path) {
  const Layer *follower = e->frame->follower;
  return follower && path_within(follower, path);
}

/* The parameter that is averaged; NULL after an error. */
static Slot *find_source(Elaborator *e, const char *average, Type type) {
  const Layer *follower = e->frame->follower;
  const char *path = name_printf("%s%s", follower->followed->path, path_within(follower, average));
  Slot *source = find_slot(e->walk, path);
  if (source && type_equal(source->type, type)) return source;
  Diagnostic *d =
      source ? report_error(e, follower->span,
                            "'%s' is %s, but '%s', of which it is the average, is %s", average,
                            type_text(e->arena, type), path, type_text(e->arena, source->type))
             : report_error(e, follower->span, "'%s' averages '%s', which is not there yet",
                            average, path);
  diag_note(d, follower->followed->span, "the layer that is averaged");
  if (!source)
    diag_help(d, "call that layer before its average: its first call makes its parameters");
  return NULL;
}

/* In the earlier minibatches of a step the average is read as it will be, but not stored. */
static void keep_stored_values(Walk *walk, int first) {
  for (int i = first; i < walk->slots.count; i++) walk->slots.items[i]->stored = false;
}

/* An average of a parameter of 16 bits is f32; the def reads it rounded, by a slot of its own. */
static Slot *rounded_slot(Elaborator *e, const Slot *average, Type type) {
  Room *room = e->room;
  Slot *slot = ARENA_NEW(e->arena, Slot);
  *slot = *average;
  slot->type = type;
  slot->stored = false;
  e->room = &e->walk->room;
  slot->leaf = slot->current = emit_cast(e, average->current, type.dtype);
  e->room = room;
  scope_find_own(e->walk->slot_names, slot->path)->slot = slot;
  return slot->leaf ? slot : NULL;
}

static bool move_toward_source(Elaborator *e, Slot *average, Type type, int first) {
  Slot *source = find_source(e, average->path, type);
  if (!source) return false;
  Room *room = e->room;
  e->room = &e->walk->room; /* also from the body of a scan */
  if (e->walk->entry == ENTRY_TRAIN) initialize_like(e, source, average->path);
  Node *value = emit_unary(e, OP_STOP_GRADIENT, source->current);
  if (value && !path_is_frozen(e, average->path))
    move_average(e, e->frame->follower->average, average, value);
  if (e->walk->entry == ENTRY_ACCUMULATE) keep_stored_values(e->walk, first);
  e->room = room;
  return true;
}

Slot *follow_slot(Elaborator *e, const char *path, Type type, Span span) {
  int first = e->walk->slots.count;
  Slot *average = create_slot(e, VARIABLE_STATE, path, type_widened(type), span);
  if (!average) return NULL;
  if (e->walk->training && !move_toward_source(e, average, type, first)) return NULL;
  bool is_wide = !type_equal(average->type, type);
  return is_wide && average->current ? rounded_slot(e, average, type) : average;
}

/* ---- the builtin -------------------------------------------------------------------------- */

static Deferred *average_of(Elaborator *e, Value value, Span at) {
  if (value.kind == VALUE_DEF && value.function->stmt->kind == AST_OPTIMIZER)
    return call_defaults(e, value.function, at);
  if (value.kind == VALUE_DEFERRED && value.deferred->function->stmt->kind == AST_OPTIMIZER)
    return value.deferred;
  report_kind(e, at, "how 'averaged' averages", "an average such as ema(0.999)", value);
  return NULL;
}

static Value apply_averaged(Elaborator *e, const Bound *bound) {
  Value followed = bound->values[0];
  if (followed.kind != VALUE_LAYER) {
    report_kind(e, bound->spans[0], "what is averaged", "a layer, made by a call with '_'",
                followed);
    return value_error();
  }
  Layer *layer = ARENA_NEW(e->arena, Layer);
  *layer = *followed.layer;
  layer->followed = followed.layer;
  layer->average = average_of(e, bound->values[1], bound->spans[1]);
  layer->path = path_of_copy(e, bound->builtin->name);
  layer->span = bound->call;
  if (!layer->average) return value_error();
  Value value = {.kind = VALUE_LAYER};
  value.layer = layer;
  return value;
}

const Builtin builtins_follow[] = {
    {"averaged", "averaged(layer: any, average: any)",
     "A layer like the given one, with moving averages of its parameters, which no gradient "
     "trains: a "
     "target network, a momentum encoder, a mean teacher. They begin as the parameters are when a "
     "run "
     "begins and move once a step, by an average as of train { average = ... }; statistics of "
     "batch_norm it has for itself."
     " Example: online = linear(_, 8); y = online(x); target = averaged(online, ema(0.99)); "
     "loss = mse(y, target(x + 0.1))",
     apply_averaged, 0, "layers that follow"},
    {0},
};
