/* Regions: graphs under construction, and how the inner ones reach what lies outside.
 *
 * The body of a scan and a gradient of one's own are regions in a region. A tensor from outside that
 * they use becomes an argument of theirs. */
#include "elaborate/core/elaborator.h"
#include "elaborate/core/emit.h"
#include "support/panic.h"

Region region_create(Arena *arena, const char *name, int stream) {
  return (Region){.graph = graph_create(arena, name), .stream = stream};
}

Region region_within(const Elaborator *e, const char *name) {
  Region region = region_create(e->arena, name, e->region->stream);
  region.outer = e->region;
  region.bytes = e->region->bytes;
  return region;
}

bool region_is_host(const Elaborator *e, const Node *node) {
  return node->id < e->region->is_host.count && e->region->is_host.items[node->id];
}

/* Known to the host: a host scalar, or scalars computed from such and from constants alone. */
static void note_host(Elaborator *e, const Node *node) {
  bool host = node->type.shape.rank == 0;
  bool depends = node->op == OP_SCALAR;
  if (node->body || node->op == OP_SCAN_RESULT) host = false;
  for (int i = 0; i < node->operand_count && host; i++) {
    bool operand = region_is_host(e, node->operands[i]);
    if (!operand && node->operands[i]->op != OP_CONSTANT) host = false;
    depends = depends || operand;
  }
  vec_push(e->arena, &e->region->is_host, host && depends);
  CHECK(e->region->is_host.count == node->id + 1);
}

void region_sync(Elaborator *e) {
  const Graph *graph = e->region->graph;
  while (e->region->is_host.count < graph->nodes.count)
    note_host(e, graph->nodes.items[e->region->is_host.count]);
}

void region_mark_needed(const Graph *graph, bool *needed) {
  for (int i = graph->nodes.count - 1; i >= 0; i--) {
    const Node *node = graph->nodes.items[i];
    for (int k = 0; needed[node->id] && k < node->operand_count; k++)
      needed[node->operands[k]->id] = true;
  }
}

bool region_in_rule(const Region *region) {
  while (region && !region->is_rule) region = region->outer;
  return region != NULL;
}

Context region_enter(Elaborator *e, Region *region) {
  Context outer = {e->frame, e->frame->label, e->region, e->default_float, e->at};
  e->region = region;
  return outer;
}

void region_leave(Elaborator *e, Context outer) {
  e->frame = outer.frame;
  e->frame->label = outer.label;
  e->region = outer.region;
  e->default_float = outer.default_float;
  e->at = outer.at;
}

void region_leave_frame(Elaborator *e, Context outer) {
  outer.frame->elements = e->frame->elements;
  region_leave(e, outer);
}

Node *region_add_argument(Elaborator *e, Region *region, ArgumentKind kind, Node *outer,
                          Type type) {
  Context current = region_enter(e, region);
  Attribute index = attr_make_int(ATTR_INDEX, 0); /* settled at the end */
  e->frame->label = outer->path;
  Node *argument = emit_leaf(e, OP_ARGUMENT, type, 1, &index);
  region_leave(e, current);
  if (!argument) return NULL;
  bool outer_is_host =
      outer->id < region->outer->is_host.count && region->outer->is_host.items[outer->id];
  region->is_host.items[argument->id] = kind == ARGUMENT_INVARIANT && outer_is_host;
  vec_push(e->arena, &region->arguments, ((RegionArgument){kind, outer, argument}));
  return argument;
}

static Node *capture_in(Elaborator *e, Region *region, Node *node, const Graph *graph) {
  if (region->graph == graph) return node;
  if (!region->outer) return NULL;
  Node *outer = capture_in(e, region->outer, node, graph);
  if (!outer) return NULL;
  for (int i = 0; i < region->arguments.count; i++) {
    const RegionArgument *argument = &region->arguments.items[i];
    if (argument->kind == ARGUMENT_INVARIANT && argument->outer == outer) return argument->leaf;
  }
  return region_add_argument(e, region, ARGUMENT_INVARIANT, outer, outer->type);
}

Node *region_capture(Elaborator *e, Node *node, const Graph *graph) {
  return capture_in(e, e->region, node, graph);
}
