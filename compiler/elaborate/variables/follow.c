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
#include "elaborate/core/emit.h"
#include "elaborate/core/report.h"
#include "elaborate/core/slot.h"
#include "elaborate/variables/average.h"
#include "elaborate/variables/follow.h"
#include "elaborate/variables/frozen.h"
#include "elaborate/variables/variable.h"
#include "support/names.h"

/* What follows the path of the follower; NULL when the path does not belong to it. */
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
  Slot *source = slot_find(e->trace, path);
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
static void keep_stored_values(Trace *trace, int first) {
  for (int i = first; i < trace->slots.count; i++) trace->slots.items[i]->stored = false;
}

/* An average of a parameter of 16 bits is f32; the def reads it rounded, by a slot of its own. */
static Slot *rounded_slot(Elaborator *e, const Slot *average, Type type) {
  Slot *slot = ARENA_NEW(e->arena, Slot);
  *slot = *average;
  slot->type = type;
  slot->stored = false;
  Context outer = region_enter(e, &e->trace->region);
  slot->leaf = slot->current = emit_cast(e, average->current, type.dtype);
  region_leave(e, outer);
  scope_find_own(e->trace->slot_names, slot->path)->slot = slot;
  return slot->leaf ? slot : NULL;
}

static bool move_toward_source(Elaborator *e, Slot *average, Type type, int first) {
  Slot *source = find_source(e, average->path, type);
  if (!source) return false;
  Context outer = region_enter(e, &e->trace->region); /* also from the body of a scan */
  if (e->trace->entry == ENTRY_TRAIN) average_begin(e, source, average->path);
  Node *value = emit_unary(e, OP_STOP_GRADIENT, source->current);
  if (value && !frozen_path(e, average->path))
    average_move(e, e->frame->follower->average, average, value);
  if (e->trace->entry == ENTRY_ACCUMULATE) keep_stored_values(e->trace, first);
  region_leave(e, outer);
  return true;
}

Slot *follow_slot(Elaborator *e, const char *path, Type type, Span span) {
  int first = e->trace->slots.count;
  Slot *average = variable_create(e, VARIABLE_STATE, path, type_widened(type), span);
  if (!average) return NULL;
  if (e->trace->training && !move_toward_source(e, average, type, first)) return NULL;
  bool is_wide = !type_equal(average->type, type);
  return is_wide && average->current ? rounded_slot(e, average, type) : average;
}
