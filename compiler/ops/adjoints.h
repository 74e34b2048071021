/* Adjoints: reverse mode on one graph, of an entry or of a scan's body.
 *
 * To differentiate: mark the nodes that gradients are wanted of, let the marks spread to what depends
 * on them, add the adjoints to begin with, and run. */
#ifndef NNC_OPS_ADJOINTS_H
#define NNC_OPS_ADJOINTS_H

#include "graph/graph.h"
#include "ops/make.h"

typedef struct Adjoints {
  Graph *into;    /* rules add nodes to it */
  int count;      /* nodes with ids below take part */
  bool *leads;    /* by id: depends on a node that a gradient is wanted of */
  Node **adjoint; /* by id; NULL where it is zero or not known to be needed */
} Adjoints;

/* For the nodes that are in the graph now; nothing is marked. */
Adjoints adjoints_create(Graph *into, int count);
void adjoints_spread(Adjoints *adjoints);
/* Adds to the adjoint of a marked node; nothing happens for others. */
void adjoints_add(Adjoints *adjoints, const Node *node, Node *part);
/* The adjoint, zeros where it has none. */
Node *adjoints_get(const Adjoints *adjoints, const Node *node);
void adjoints_run(Adjoints *adjoints);
Maker adjoints_maker(Graph *into, const Node *of);

/* scan_gradient.c */

/* A copy that keeps what a gradient will need: a scan yields its carries' values before each step
 * as well (ATTR_SAVED), inside of bodies too. */
Node *scan_copy_node(Graph *into, const Node *node, const NodeMap *map);
/* Hands the adjoints of a scan's results on to its operands. */
void scan_propagate(Adjoints *adjoints, Node *scan);

#endif
