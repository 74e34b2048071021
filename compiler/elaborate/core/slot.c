/* Slots: the variables as the current tracing of the program sees them. */
#include <string.h>
#include "elaborate/core/report.h"
#include "elaborate/core/slot.h"
#include "support/names.h"

Slot *slot_find(const Trace *trace, const char *path) {
  Symbol *symbol = scope_find_own(trace->slot_names, name_intern(path));
  return symbol ? symbol->slot : NULL;
}

Variable *slot_find_variable(const Elaborator *e, const char *path) {
  Symbol *symbol = scope_find_own(e->variable_names, name_intern(path));
  return symbol ? &e->module->variables.items[symbol->value.integer] : NULL;
}

Value slot_value(Elaborator *e, const Slot *slot) {
  if (!slot->current) return value_error();
  Value value = {.kind = VALUE_TENSOR};
  value.tensor.node = slot->current;
  value.tensor.graph = e->trace->region.graph;
  return value;
}

void slot_store(Slot *slot, Node *value) {
  slot->current = value;
  slot->stored = !slot->is_fresh;
}

/* A stream begins anew at each pass, when the parameter has moved. */
Node *slot_first_value(Elaborator *e, const Node *leaf, Span at) {
  const char *path = node_string(leaf, ATTR_NAME);
  const Variable *variable = slot_find_variable(e, e->init.key),
                 *parameter = slot_find_variable(e, path);
  if (variable && variable->kind == VARIABLE_STREAM)
    return diag_help(report_error(e, at,
                                  "a stream begins anew at each pass, when '%s' is no longer "
                                  "what it began with",
                                  path),
                     "begin with a number, an initializer or an expression without parameters");
  if (parameter && parameter->file && (!variable || variable->file != parameter->file))
    return diag_help(
        report_error(e, at,
                     "'%s' begins with what a file holds, and that is not known "
                     "before a run begins",
                     path),
        "'%s' itself, of its shape, may be an initial value, but nothing computed of it", path);
  const Graph *graph = e->init.graph;
  for (int i = 0; i < graph->outputs.count; i++)
    if (!strcmp(graph->outputs.items[i].name, path)) return graph->outputs.items[i].node;
  return NULL; /* its own initial value was a mistake */
}
