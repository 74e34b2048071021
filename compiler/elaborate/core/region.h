/* Regions: graphs under construction, and how inner ones reach what lies outside. */
#ifndef NNC_ELABORATE_REGION_H
#define NNC_ELABORATE_REGION_H

#include "elaborate/core/value.h"
#include "support/vec.h"

typedef struct Frame Frame;

/* What a body reads from the region around it: operands of its scan, in this order. */
typedef enum ArgumentKind {
  ARGUMENT_CARRY,
  ARGUMENT_SEQUENCE,
  ARGUMENT_INVARIANT,
  ARGUMENT_KINDS
} ArgumentKind;

typedef struct RegionArgument {
  ArgumentKind kind;
  Node *outer; /* in the region around */
  Node *leaf;
} RegionArgument;

/* A graph under construction. */
typedef struct Region {
  Graph *graph;
  VEC(bool) is_host;    /* by node id */
  VEC(Node *) scalars;  /* one leaf a name */
  double bytes;         /* of all nodes */
  int stream;           /* of random operators */
  const char *key;      /* of random operators; NULL: the path of the call */
  bool is_host_only;    /* host and finish: everything is f64 */
  struct Region *outer; /* of a scan's body or a gradient: the region around it; else NULL */
  bool is_rule;         /* a gradient of one's own (own_gradient.c) */
  int64_t length;       /* of a scan's body: steps */
  VEC(RegionArgument) arguments;
} Region;

/* What nodes are made with: where, as what and for whom. To change it for a while, enter one
 * and leave it (region.c). */
typedef struct Context {
  Frame *frame;
  const char *label; /* of the frame */
  Region *region;
  DType default_float;
  Span at;
} Context;

Region region_create(Arena *arena, const char *name, int stream);
/* For a body within the current region. */
Region region_within(const Elaborator *e, const char *name);
/* After nodes were added to the graph by other hands (graph_copy_tree). */
void region_sync(Elaborator *e);
/* What the marked nodes are computed from, by whatever way, is marked as well. */
void region_mark_needed(const Graph *graph, bool *needed);
/* Whether the region is a gradient of one's own or inside of one. */
bool region_in_rule(const Region *region);
/* Whether the node, of the current region, is known to the host before the step. */
bool region_is_host(const Elaborator *e, const Node *node);
/* A node of a region around the current one as an argument of those between; NULL when `graph` is
 * not around. */
Node *region_capture(Elaborator *e, Node *node, const Graph *graph);
/* Argument of a region that stands for `outer`. */
Node *region_add_argument(Elaborator *e, Region *region, ArgumentKind kind, Node *outer, Type type);

/* Nodes go to `region` until the context is left, which restores what the result holds. */
Context region_enter(Elaborator *e, Region *region);
void region_leave(Elaborator *e, Context outer);
/* The same after a block that ran in a copy of the frame: the path elements that it gave out stay
 * given. */
void region_leave_frame(Elaborator *e, Context outer);

#endif
