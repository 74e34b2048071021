/* The graph: typed, static, pure; one node is one tensor.
 *
 * A Graph is one entry point of the executable (a training step, an evaluation batch, ...): nodes in
 * creation order (operands precede users) and a list of outputs, the only roots. Nothing has a side
 * effect: stores into parameters and state are outputs. A scan owns one more graph, its body, and
 * so does a gradient of one's own, its rule. Elementwise operators need operands of equal shape and
 * dtype; broadcasting is an explicit `broadcast` node, conversion an explicit `cast`.
 *
 * What an operator means (its type rule, gradient, evaluation, cost, lowering) is in ops/; this file
 * knows only nodes, attributes and outputs. */
#ifndef NNC_GRAPH_GRAPH_H
#define NNC_GRAPH_GRAPH_H

#include "graph/types.h"
#include "support/source.h"
#include "support/vec.h"

/* One enumerator an operator: OP_ADD, ...; the list is ops/ops.def, and all that is known of operators
 * here. */
typedef enum Op {
#define OP(identifier, ...) OP_##identifier,
#include "ops/ops.def"
#undef OP
  OP_COUNT
} Op;

/* Attribute keys and their kinds; the list is graph/attributes.def. */
typedef enum AttributeKey {
#define ATTRIBUTE(identifier, ...) ATTR_##identifier,
#include "graph/attributes.def"
#undef ATTRIBUTE
  ATTR_COUNT
} AttributeKey;

typedef enum AttributeKind {
  ATTRIBUTE_INT,
  ATTRIBUTE_FLOAT,
  ATTRIBUTE_STRING,
  ATTRIBUTE_INTS
} AttributeKind;

typedef struct Attribute {
  AttributeKey key;
  int64_t integer;    /* ATTRIBUTE_INT */
  double real;        /* ATTRIBUTE_FLOAT */
  const char *string; /* ATTRIBUTE_STRING; interned */
  int count;          /* ATTRIBUTE_INTS */
  int64_t *ints;
} Attribute;

typedef struct Node Node;
typedef struct Graph Graph;
struct Node {
  int id; /* unique in its graph and increasing; printed as %id */
  Op op;
  Type type;
  int operand_count;
  Node **operands;
  int attribute_count;
  Attribute *attributes; /* sorted by key */
  Span span;             /* where in the .net file it comes from */
  const char *path;      /* dotted name: "h1.relu"; interned, never NULL */
  const Graph *body;     /* of a scan: what one step computes (ops/scan.h); else NULL */
  const Graph *rule;     /* of an own_gradient: what its targets receive; else NULL */
};

typedef enum OutputKind {
  OUTPUT_STORE,       /* the new value of parameter or state `name` at the end of the step */
  OUTPUT_ACCUMULATOR, /* a scalar that the host combines over batches; `name` is its own */
  OUTPUT_RESULT,      /* a named result of predict; in evaluation what is known of classes */
  OUTPUT_SCALAR,      /* a host scalar computed by ENTRY_HOST or ENTRY_FINISH */
  OUTPUT_KIND_COUNT
} OutputKind;

/* How the host combines an accumulator over batches (always in double). */
typedef enum Combine {
  COMBINE_MEAN,    /* mean weighted by examples */
  COMBINE_COUNTS,  /* of a sum: mean over examples */
  COMBINE_BATCHES, /* mean of whole batches, since single examples say nothing */
  COMBINE_SUM,
  COMBINE_MAX,
  COMBINE_MIN,
  COMBINE_LAST, /* does not depend on the inputs: the value of the last batch */
  COMBINE_STEPS, /* of a step as a whole, in its last minibatch: mean over steps; evaluation has none */
  COMBINE_COUNT
} Combine;

typedef struct Output {
  OutputKind kind;
  Combine combine;  /* OUTPUT_ACCUMULATOR only */
  const char *name; /* interned */
  Node *node;
  Span span;
} Output;

struct Graph {
  Arena *arena;
  const char *name; /* "train" */
  int next_id;
  VEC(Node *) nodes;
  VEC(Output) outputs;
};

Graph *graph_create(Arena *arena, const char *name);

/* A node like `model`, whose operands are of this graph, with an id of its own; operands and attributes
 * are copied. Nothing is inferred or checked: ops/make.h builds nodes by the rules of operators, and the
 * verifier looks at what a dump says. */
Node *graph_add(Graph *graph, const Node *model);
void graph_add_output(Graph *graph, Output output);
Output *graph_find_output(Graph *graph, OutputKind kind, const char *name);

Attribute attr_make_int(AttributeKey key, int64_t value);
Attribute attr_make_float(AttributeKey key, double value);
Attribute attr_make_string(AttributeKey key, const char *value);
Attribute attr_make_ints(AttributeKey key, int count, const int64_t *values);
/* NULL when the node has none of that key. */
const Attribute *node_attribute(const Node *node, AttributeKey key);
/* These panic when it is absent: the verifier has made sure that it is there. */
int64_t node_int(const Node *node, AttributeKey key);
double node_float(const Node *node, AttributeKey key);
const char *node_string(const Node *node, AttributeKey key);
const Attribute *node_ints(const Node *node, AttributeKey key);
/* A result of a scan: its one operand is the scan. */
bool node_is_scan_result(const Node *node);
/* Some node owns a body: there is a scan. */
bool graph_has_scans(const Graph *graph);
/* The graph that a node owns, a body or a rule; NULL when it owns none. */
const Graph *node_inner(const Node *node);
bool node_same_attributes(const Node *a, const Node *b);
const char *op_name(Op op);
bool op_parse(const char *name, Op *op);
AttributeKind attribute_kind(AttributeKey key);
const char *attribute_name(AttributeKey key);

/* Rewriting.  A map from old nodes to new ones, indexed by the old node's id. */
typedef struct NodeMap {
  Node **to; /* NULL where nothing is mapped */
  int capacity;
} NodeMap;
NodeMap node_map_create(Arena *arena, const Graph *graph);
Node *node_map_get(const NodeMap *map, const Node *node);
void node_map_set(NodeMap *map, const Node *node, Node *to);
/* A copy of `node` in `into` with operands looked up in `map` (each must be there). */
Node *graph_copy_node(Graph *into, const Node *node, const NodeMap *map);
/* A copy of `node` with everything it depends on that `map` does not yet hold; fills the map. */
Node *graph_copy_tree(Graph *into, Node *node, NodeMap *map);
/* The same outputs, of the nodes that the map has for theirs: each must be there. */
void graph_map_outputs(Graph *into, const Graph *from, const NodeMap *map);
/* Nodes that some output depends on, indexed by id. */
bool *graph_live_nodes(Arena *arena, const Graph *graph);
/* The forward part: nodes that an accumulator (loss, metric) depends on, indexed by id; but for those of a step as a
 * whole, which follow from the gradients. */
bool *graph_forward_nodes(Arena *arena, const Graph *graph);
/* For each node id the number of uses by live nodes and by outputs. */
int *graph_use_counts(Arena *arena, const Graph *graph);

#endif
