/* Emitting nodes.
 *
 * Every node of every graph is made by emit_node() or emit_leaf(). They ask the operator's type rule
 * first, so that what the checks before them have missed is still a diagnostic and never a panic, and
 * they limit the number of nodes and elements. */
#include "elaborate/core/elaborator.h"
#include "elaborate/core/emit.h"
#include "elaborate/core/report.h"
#include "ops/make.h"
#include "ops/number.h"
#include "ops/op.h"
#include "support/names.h"
#include "support/panic.h"

bool emit_allow_elements(Elaborator *e, int64_t count) {
  e->trace->elements += count;
  if (e->trace->elements <= MAX_ELEMENTS_MADE) return true;
  if (!e->trace->exhausted)
    report_error(e, e->at, "the program makes lists of more than %lld elements",
                 (long long)MAX_ELEMENTS_MADE);
  e->trace->exhausted = true;
  return false;
}

static bool emit_allowed(Elaborator *e) {
  if (e->region->graph->nodes.count < MAX_NODES) return true;
  if (!e->trace->exhausted)
    report_error(e, e->at, "the program needs more than %d operations in one step", MAX_NODES);
  e->trace->exhausted = true;
  return false;
}

bool emit_check_shape(Elaborator *e, Span at, Shape shape) {
  if (shape_is_representable(shape)) return true;
  return report_failure(e, at, "a tensor of shape %s is too large: at most 2^40 elements",
                        shape_text(e->arena, shape));
}

bool emit_check_rank(Elaborator *e, Span at, int rank) {
  if (rank <= MAX_RANK) return true;
  return report_failure(e, at, "the result would have %d axes; a tensor has at most %d", rank,
                        MAX_RANK);
}

static Span emit_span(const Elaborator *e) {
  bool inside = e->at.file && e->at.file->is_prelude && e->frame->user_call.line;
  return inside ? e->frame->user_call : e->at;
}

/* A tensor of this type may be added; offsets of all together stay far from overflow. */
static bool check_bytes(Elaborator *e, Type type) {
  if (!emit_check_shape(e, e->at, type.shape)) return false;
  e->region->bytes += (double)type_bytes(type);
  if (e->region->bytes <= MAX_TOTAL_BYTES) return true;
  if (!e->trace->exhausted)
    report_error(e, e->at, "the tensors of one step need more than 1 PiB, with this one of %s",
                 type_text(e->arena, type));
  e->trace->exhausted = true;
  return false;
}

Node *emit_leaf(Elaborator *e, Op op, Type type, int attribute_count, const Attribute *attributes) {
  if (!emit_allowed(e) || !check_bytes(e, type)) return NULL;
  Node *node = make_leaf(&(Maker){e->region->graph, emit_span(e), e->frame->label}, op, type,
                         attribute_count, attributes);
  region_sync(e);
  return node;
}

Node *emit_node(Elaborator *e, Op op, int operand_count, Node *const *operands, int attribute_count,
                const Attribute *attributes) {
  for (int i = 0; i < operand_count; i++)
    if (!operands[i]) return NULL;
  if (!emit_allowed(e)) return NULL;
  /* The attributes of a trial need the order that a node's have. */
  Attribute sorted[16];
  CHECK(attribute_count <= 16);
  for (int i = 0; i < attribute_count; i++) {
    int k = i;
    for (; k > 0 && sorted[k - 1].key > attributes[i].key; k--) sorted[k] = sorted[k - 1];
    sorted[k] = attributes[i];
  }
  Node trial = {.id = e->region->graph->next_id,
                .op = op,
                .operand_count = operand_count,
                .operands = (Node **)operands,
                .attribute_count = attribute_count,
                .attributes = sorted,
                .span = emit_span(e),
                .path = e->frame->label};
  Type type;
  const char *reason;
  if (!node_infer(e->arena, &trial, &type, &reason))
    return report_failure(e, e->at, "%s: %s", op_info(op)->name, reason);
  if (!check_bytes(e, type)) return NULL;
  trial.type = type;
  Node *node = graph_add(e->region->graph, &trial);
  region_sync(e);
  return node;
}

Node *emit_unary(Elaborator *e, Op op, Node *x) { return emit_node(e, op, 1, &x, 0, NULL); }

Node *emit_binary(Elaborator *e, Op op, Node *x, Node *y) {
  return emit_node(e, op, 2, (Node *[]){x, y}, 0, NULL);
}

Node *emit_constant(Elaborator *e, double value, Type type) {
  Attribute attribute = attr_make_float(ATTR_VALUE, number_round(value, type.dtype));
  return emit_leaf(e, OP_CONSTANT, type, 1, &attribute);
}

void emit_own_result(Trace *trace, const char *name, Node *node) {
  graph_add_output(trace->region.graph,
                   (Output){.kind = OUTPUT_RESULT, .name = name, .node = node});
}

void emit_output(Elaborator *e, OutputKind kind, const char *name, Node *node, Span span) {
  graph_add_output(e->region->graph,
                   (Output){.kind = kind, .name = name, .node = node, .span = span});
}

Node *emit_scalar(Elaborator *e, const char *name) {
  const char *interned = name_intern(name);
  Region *body = e->region;
  if (body->outer) {
    e->region = body->outer;
    Node *scalar = emit_scalar(e, name);
    e->region = body;
    return scalar ? region_capture(e, scalar, body->outer->graph) : NULL;
  }
  for (int i = 0; i < e->region->scalars.count; i++)
    if (node_string(e->region->scalars.items[i], ATTR_NAME) == interned)
      return e->region->scalars.items[i];
  Attribute attribute = attr_make_string(ATTR_NAME, interned);
  const char *label = e->frame->label;
  e->frame->label = interned;
  Node *node = emit_leaf(e, OP_SCALAR, type_scalar(DTYPE_F64), 1, &attribute);
  e->frame->label = label;
  if (node) vec_push(e->arena, &e->region->scalars, node);
  return node;
}

Node *emit_iota(Elaborator *e, Type type, int axis) {
  Attribute attribute = attr_make_int(ATTR_AXIS, axis);
  return emit_leaf(e, OP_IOTA, type, 1, &attribute);
}

Node *emit_cast(Elaborator *e, Node *x, DType dtype) {
  if (!x || x->type.dtype == dtype) return x;
  Attribute attribute = attr_make_int(ATTR_DTYPE, dtype);
  return emit_node(e, OP_CAST, 1, &x, 1, &attribute);
}

Node *emit_reshape(Elaborator *e, Node *x, Shape shape) {
  if (!x || shape_equal(x->type.shape, shape)) return x;
  Attribute attribute = attr_make_ints(ATTR_SHAPE, shape.rank, shape.dim);
  return emit_node(e, OP_RESHAPE, 1, &x, 1, &attribute);
}

Node *emit_transpose(Elaborator *e, Node *x, const int *permutation) {
  if (!x) return NULL;
  int64_t wide[MAX_RANK];
  bool is_identity = true;
  for (int i = 0; i < x->type.shape.rank; i++) {
    wide[i] = permutation[i];
    is_identity = is_identity && permutation[i] == i;
  }
  if (is_identity) return x;
  Attribute attribute = attr_make_ints(ATTR_PERMUTATION, x->type.shape.rank, wide);
  return emit_node(e, OP_TRANSPOSE, 1, &x, 1, &attribute);
}

/* [a, rest...] to [rest..., a at `axis`]: axis 0 goes to `axis`; or back. */
Node *emit_move_axis(Elaborator *e, Node *x, int from, int to) {
  int permutation[MAX_RANK], rank = x ? x->type.shape.rank : 0, at = 0;
  for (int i = 0; i < rank; i++) {
    if (i == to) permutation[i] = from;
    else {
      if (at == from) at++;
      permutation[i] = at++;
    }
  }
  return emit_transpose(e, x, permutation);
}

Node *emit_broadcast_axes(Elaborator *e, Node *x, Shape shape, const int64_t *axes) {
  if (!x || shape_equal(x->type.shape, shape)) return x;
  Attribute attributes[] = {attr_make_ints(ATTR_AXES, x->type.shape.rank, axes),
                            attr_make_ints(ATTR_SHAPE, shape.rank, shape.dim)};
  return emit_node(e, OP_BROADCAST, 1, &x, 2, attributes);
}

/* Axes of extent 1 that grow are dropped first: `broadcast` wants equal extents. */
Node *emit_broadcast(Elaborator *e, Node *x, Shape shape) {
  if (!x || shape_equal(x->type.shape, shape)) return x;
  if (!emit_check_shape(e, e->at, shape)) return NULL;
  if (x->op == OP_CONSTANT)
    return emit_constant(e, node_float(x, ATTR_VALUE), type_make(x->type.dtype, shape));
  Shape from = x->type.shape, kept = {0};
  int64_t axes[MAX_RANK];
  int shift = shape.rank - from.rank;
  for (int i = 0; i < from.rank; i++) {
    if (from.dim[i] != shape.dim[i + shift]) continue;
    axes[kept.rank] = i + shift;
    kept.dim[kept.rank++] = from.dim[i];
  }
  return emit_broadcast_axes(e, emit_reshape(e, x, kept), shape, axes);
}

Node *emit_slice(Elaborator *e, Node *x, const int64_t *start, const int64_t *stop,
                 const int64_t *step) {
  if (!x) return NULL;
  int rank = x->type.shape.rank;
  bool is_whole = true;
  for (int i = 0; i < rank; i++)
    is_whole = is_whole && start[i] == 0 && stop[i] == x->type.shape.dim[i] && step[i] == 1;
  if (is_whole) return x;
  Attribute attributes[] = {attr_make_ints(ATTR_START, rank, start),
                            attr_make_ints(ATTR_STOP, rank, stop),
                            attr_make_ints(ATTR_STEP, rank, step)};
  return emit_node(e, OP_SLICE, 1, &x, 3, attributes);
}

Node *emit_reduce(Elaborator *e, Op op, Node *x, int axis_count, const int64_t *axes) {
  if (!x || axis_count == 0) return x;
  Attribute attribute = attr_make_ints(ATTR_AXES, axis_count, axes);
  return emit_node(e, op, 1, &x, 1, &attribute);
}

Node *emit_concat(Elaborator *e, int count, Node *const *parts, int axis) {
  if (count == 1) return parts[0];
  Attribute attribute = attr_make_int(ATTR_AXIS, axis);
  return emit_node(e, OP_CONCAT, count, parts, 1, &attribute);
}

Value value_tensor(Elaborator *e, Node *node) {
  if (!node) return value_error();
  Value value = {.kind = VALUE_TENSOR};
  value.tensor.node = node;
  value.tensor.graph = e->region->graph;
  value.tensor.is_host = region_is_host(e, node);
  return value;
}
