/* Averaged weights: `average = ema(0.999)` keeps a state PATH:average beside each parameter, which
 * evaluation and prediction read in its stead.
 *
 * A definer of the form of an optimizer says how it moves. It runs after the optimizer: its w is the
 * average, its g the parameter's new value. It starts from the parameter's initial value. Averages
 * of 16 bits would not move: they are f32, and rounded where they are read. */
#include "elaborate/core/emit.h"
#include "elaborate/core/slot.h"
#include "elaborate/eval/call.h"
#include "elaborate/variables/average.h"
#include "support/names.h"
#include "support/panic.h"

const char *average_path(const char *path) { return name_printf("%s:average", path); }

void average_begin(Elaborator *e, const Slot *slot, const char *path) {
  const Graph *init = e->init.graph;
  for (int i = 0; i < init->outputs.count; i++) {
    Output output = init->outputs.items[i];
    if (output.kind != OUTPUT_STORE || output.name != slot->path) continue;
    output.name = path;
    Context outer = region_enter(e, &e->init);
    output.node = emit_cast(e, output.node, type_widened(slot->type).dtype);
    region_leave(e, outer);
    if (output.node) graph_add_output(e->init.graph, output);
    return;
  }
  CHECK(e->errors > 0); /* else every parameter has an initial value */
}

void average_move(Elaborator *e, Deferred *definer, Slot *average, Node *value) {
  value = emit_cast(e, value, average->type.dtype);
  if (value) call_optimizer(e, definer, average, value, "average", "w <- 0.9 * w + 0.1 * g");
}

Node *average_leaf(Elaborator *e, const char *path, Type type) {
  if (e->trace->training) return NULL;
  Variable *variable = slot_find_variable(e, average_path(path));
  if (!variable) return NULL;
  Attribute attribute = attr_make_string(ATTR_NAME, variable->path);
  Node *leaf = emit_leaf(e, OP_STATE, variable->type, 1, &attribute);
  return leaf ? emit_cast(e, leaf, type.dtype) : NULL;
}
