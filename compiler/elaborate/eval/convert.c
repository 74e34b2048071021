/* Conversions: what a value becomes where a tensor, an integer, a shape or an axis is wanted. */
#include <math.h>
#include <string.h>
#include "elaborate/core/emit.h"
#include "elaborate/core/report.h"
#include "elaborate/core/slot.h"
#include "elaborate/eval/call.h"
#include "elaborate/eval/convert.h"
#include "elaborate/eval/evaluate.h"

/* ---- numbers ------------------------------------------------------------------------------ */

static const struct {
  double least, most;
} dtype_range[DTYPE_COUNT] = {
    [DTYPE_F64] = {-1.7976931348623157e308, 1.7976931348623157e308},
    [DTYPE_F32] = {-3.4028234663852886e38, 3.4028234663852886e38},
    [DTYPE_BF16] = {-3.3895313892515355e38, 3.3895313892515355e38},
    [DTYPE_F16] = {-65504, 65504},
    [DTYPE_I64] = {-9223372036854775808.0, 9223372036854774784.0},
    [DTYPE_I32] = {-2147483648.0, 2147483647.0},
    [DTYPE_U8] = {0, 255},
    [DTYPE_BOOL] = {0, 1},
};

bool convert_fits(Elaborator *e, Value number, DType dtype, Span at) {
  Text text = {0};
  value_add_text(&text, number);
  const char *shown = text_take(&text, e->arena);
  double real = value_number(number);
  if (dtype == DTYPE_BOOL && real != 0 && real != 1)
    return report_failure(e, at, "%s is no truth value: 0 and 1 alone become bool", shown);
  if (!dtype_is_float(dtype) && (!isfinite(real) || real != floor(real))) {
    Diagnostic *d = report_error(e, at, "%s is not a whole number and cannot become %s", shown,
                                 dtype_name(dtype));
    if (dtype_is_int(dtype)) diag_help(d, "convert the tensor first: f32(x)");
    return false;
  }
  bool fits =
      !isfinite(real) || (real >= dtype_range[dtype].least && real <= dtype_range[dtype].most);
  bool is_exact = number.kind != VALUE_INT || dtype_is_float(dtype) ||
                  (real < 0x1p63 && (int64_t)real == number.integer);
  if (fits && is_exact) return true;
  if (dtype == DTYPE_I64 && !is_exact) { /* constants are kept as doubles */
    return diag_help(
        report_error(e, at,
                     "%s cannot be a constant of an i64 tensor: constants are doubles, "
                     "which hold all whole numbers up to 2^53, but not this one",
                     shown),
        "add it in two steps, (x + 9007199254740992) + 1");
  }
  return report_failure(e, at, "%s is not representable in %s", shown, dtype_name(dtype));
}

static Value convert_quantity(Elaborator *e, Value value) {
  double number = value.quantity.number;
  if (!value.quantity.is_epochs)
    return number == floor(number) && fabs(number) < 1e15 ? value_int((int64_t)number)
                                                          : value_float(number);
  Node *steps = emit_scalar(e, "steps_per_epoch");
  if (!steps) return value_error();
  Node *factor = emit_constant(e, number, type_scalar(DTYPE_F64));
  return value_tensor(e, emit_binary(e, OP_MUL, factor, steps));
}

Value convert_plain(Elaborator *e, Value value, Span at) {
  if (value.kind == VALUE_QUANTITY) return convert_quantity(e, value);
  Deferred *schedule;
  if (!call_is_definer(e, value, AST_SCHEDULE, at, &schedule)) return value;
  return value_tensor(e, schedule ? evaluate_schedule(e, schedule, schedule->scalar) : NULL);
}

bool convert_int(Elaborator *e, Value value, Span at, const char *what, int64_t *result) {
  if (value.kind == VALUE_QUANTITY && !value.quantity.is_epochs) value = convert_quantity(e, value);
  if (value.kind == VALUE_FLOAT && value.real == floor(value.real) && fabs(value.real) < 1e15)
    return diag_help(report_error(e, at, "%s must be an integer, found %s", what,
                                  value_describe(e->arena, value)),
                     "int(...) converts, // divides integers");
  if (value.kind != VALUE_INT) return report_wrong_kind(e, at, what, "an integer", value);
  *result = value.integer;
  return true;
}

bool convert_number(Elaborator *e, Value value, Span at, const char *what, double *result) {
  if (!value_is_number(value)) return report_wrong_kind(e, at, what, "a number", value);
  *result = value_number(value);
  return true;
}

/* ---- tensors ------------------------------------------------------------------------------ */

/* The dtype of the first tensor of the step in a list and the lists in it; DTYPE_COUNT where there is none. */
static DType find_step_dtype(Value value) {
  if (value_is_tensor(value))
    return value.tensor.is_host ? DTYPE_COUNT : value.tensor.node->type.dtype;
  DType dtype = DTYPE_COUNT;
  bool is_list = value_is_sequence(value) && value.kind != VALUE_RANGE;
  for (int64_t i = 0; is_list && i < value_sequence_length(value) && dtype == DTYPE_COUNT; i++)
    dtype = find_step_dtype(value_sequence_item(value, i));
  return dtype;
}

/* The dtype of numbers and host scalars: whether any element has a fraction, is bool. */
static DType find_weak_dtype(const Elaborator *e, Value value) {
  if (value.kind == VALUE_BOOL) return DTYPE_BOOL;
  if (value.kind == VALUE_INT) return DTYPE_I32;
  if (value_is_tensor(value) && !dtype_is_float(value.tensor.node->type.dtype))
    return value.tensor.node->type.dtype;
  if (!value_is_sequence(value)) return e->default_float;
  DType dtype = DTYPE_I32;
  for (int64_t i = 0; i < value_sequence_length(value); i++) {
    DType found = find_weak_dtype(e, value_sequence_item(value, i));
    if (found != DTYPE_I32) dtype = found;
  }
  return dtype;
}

DType convert_own_dtype(Elaborator *e, Value value) {
  DType dtype = value_is_sequence(value) ? find_step_dtype(value) : DTYPE_COUNT;
  return dtype == DTYPE_COUNT ? find_weak_dtype(e, value) : dtype;
}

bool convert_is_weak_list(Value value) {
  return value_is_sequence(value) && find_step_dtype(value) == DTYPE_COUNT;
}

bool convert_refuse_results(Elaborator *e, Value value, Span at) {
  bool is_results = false;
  for (int64_t i = 0; value.kind == VALUE_TUPLE && i < value.list.count; i++)
    is_results = is_results || value_is_tensor(value.list.items[i]);
  if (!is_results) return false;
  Diagnostic *d =
      report_error(e, at, "these are %d values, where one tensor is wanted", value.list.count);
  for (int i = 0; i < value.list.count && i < 4; i++)
    if (value_is_tensor(value.list.items[i]))
      report_note_tensor(e, d, arena_printf(e->arena, "value %d", i),
                         value.list.items[i].tensor.node);
  diag_help(d, "bind as many names, a, b = ..., or take one by its number, y[0]; stack(...) joins "
               "them");
  return true;
}

Node *convert_element(Elaborator *e, Value value, DType dtype, Span at) {
  value = convert_plain(e, value, at);
  Node *node = convert_tensor(e, value, dtype, at);
  bool is_host = node && value_is_tensor(value) && value.tensor.is_host;
  bool adapts = is_host && (dtype_is_float(dtype) || node->type.dtype == DTYPE_BOOL);
  return adapts ? emit_cast(e, node, dtype) : node;
}

static Node *convert_list(Elaborator *e, Value value, DType dtype, Span at) {
  if (convert_refuse_results(e, value, at)) return NULL;
  int64_t length = value_sequence_length(value);
  if (length == 0) return report_failure(e, at, "an empty list has no shape to be a tensor of");
  if (length > 65536)
    return report_failure(e, at, "a list of %lld elements is too long to be a tensor",
                          (long long)length);
  Node **parts = ARENA_ARRAY(e->arena, Node *, length);
  Type first = {0};
  for (int64_t i = 0; i < length; i++) {
    Node *item = convert_element(e, value_sequence_item(value, i), dtype, at);
    if (!item) return NULL;
    if (i == 0) first = item->type;
    if (item->type.shape.rank != first.shape.rank)
      return report_failure(e, at, "the elements of this list have different shapes");
    if (!type_equal(item->type, first))
      return report_failure(e, at, "the elements of this list have different types: %s and %s",
                            type_text(e->arena, first), type_text(e->arena, item->type));
    Shape shape = item->type.shape;
    if (shape.rank == MAX_RANK)
      return report_failure(e, at, "a tensor has at most %d axes", MAX_RANK);
    memmove(shape.dim + 1, shape.dim, sizeof shape.dim[0] * (size_t)shape.rank);
    shape.dim[0] = 1;
    shape.rank++;
    parts[i] = emit_reshape(e, item, shape);
  }
  return emit_concat(e, (int)length, parts, 0);
}

/* An input that the tensor is computed from; NULL when there is none. */
static const Node *find_input(Elaborator *e, Value tensor) {
  const Graph *graph = tensor.tensor.graph;
  bool *is_used = ARENA_ARRAY(e->arena, bool, graph->next_id);
  is_used[tensor.tensor.node->id] = true;
  region_mark_needed(graph, is_used);
  for (int i = graph->nodes.count - 1; i >= 0; i--)
    if (is_used[graph->nodes.items[i]->id] && graph->nodes.items[i]->op == OP_INPUT)
      return graph->nodes.items[i];
  return NULL;
}

static void report_not_initial(Elaborator *e, Value tensor, Span at) {
  const Node *input = find_input(e, tensor);
  Diagnostic *d;
  if (input) {
    d = report_error(e, at,
                     "an initial value is computed before the first step, but this depends "
                     "on the input '%s'",
                     node_string(input, ATTR_NAME));
    diag_note(d, input->span, "the input");
    diag_help(d, "begin with a number or zeros, and store in each step: s <- ...");
  } else {
    d = report_error(e, at,
                     "an initial value is computed before the first step, and this tensor "
                     "in each step");
    report_note_tensor(e, d, "the tensor", tensor.tensor.node);
    diag_help(d, "write its expression after the '=': of numbers, random numbers, parameters and "
                 "states");
  }
}

/* What the host computes itself is read where it does. */
static Node *copy_scalar(Elaborator *e, const char *name) {
  const Output *output =
      e->region->is_host_only ? graph_find_output(e->region->graph, OUTPUT_SCALAR, name) : NULL;
  return output ? output->node : emit_scalar(e, name);
}

/* The nodes that it is computed from, itself among them, by their ids. */
static bool *find_needed(const Elaborator *e, Value value) {
  bool *is_needed = ARENA_ARRAY(e->arena, bool, value.tensor.graph->next_id);
  is_needed[value.tensor.node->id] = true;
  region_mark_needed(value.tensor.graph, is_needed);
  return is_needed;
}

static bool is_of_host(DType dtype) {
  return dtype == DTYPE_F64 || dtype == DTYPE_F32 || dtype == DTYPE_BOOL;
}

const Node *convert_find_foreign(Elaborator *e, Value value) {
  const Graph *graph = value.tensor.graph;
  const bool *is_needed = find_needed(e, value);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (is_needed[node->id] && !is_of_host(node->type.dtype)) return node;
  }
  return NULL;
}

static Node *copy_node(Elaborator *e, const Node *node, Node **operands) {
  bool is_wide = e->region->is_host_only && node->type.dtype == DTYPE_F32;
  Type type = is_wide ? type_scalar(DTYPE_F64) : node->type;
  if (node->op == OP_SCALAR) return copy_scalar(e, node_string(node, ATTR_NAME));
  if (is_wide && node->op == OP_CAST) return emit_cast(e, operands[0], DTYPE_F64);
  if (node->operand_count == 0)
    return emit_leaf(e, node->op, type, node->attribute_count, node->attributes);
  return emit_node(e, node->op, node->operand_count, operands, node->attribute_count,
                   node->attributes);
}

/* A host scalar of another graph, computed again in this one from the same scalars. The host computes in f64. */
static Node *copy_host(Elaborator *e, Value value, Span at) {
  const Graph *graph = value.tensor.graph;
  const bool *is_used = find_needed(e, value);
  NodeMap map = node_map_create(e->arena, graph);
  const Node *foreign = e->region->is_host_only ? convert_find_foreign(e, value) : NULL;
  if (foreign) {
    const char *name = dtype_name(foreign->type.dtype);
    Diagnostic *d = report_error(e, at, "a schedule computes in f64 and takes no %s", name);
    diag_note(d, foreign->span, "it is computed here");
    return NULL;
  }
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (!is_used[node->id]) continue;
    Node **operands = ARENA_ARRAY(e->arena, Node *, node->operand_count + 1);
    for (int k = 0; k < node->operand_count; k++)
      operands[k] = node_map_get(&map, node->operands[k]);
    Node *copy = copy_node(e, node, operands);
    if (!copy) return NULL;
    node_map_set(&map, node, copy);
  }
  return node_map_get(&map, value.tensor.node);
}

bool convert_is_of_options(const Elaborator *e, Value value) {
  if (!value_is_tensor(value) || !value.tensor.is_host) return false;
  const Graph *graph = value.tensor.graph;
  const bool *is_used = find_needed(e, value);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (!is_used[node->id] || node->op != OP_SCALAR) continue;
    if (!module_option_name(node_string(node, ATTR_NAME))) return false;
  }
  return true;
}

/* Whether that makes sense: of what the host knows, initial values know options alone. */
static bool can_copy_host(const Elaborator *e, Value value) {
  if (!value.tensor.is_host || value.tensor.graph == e->init.graph) return false;
  if (e->region->is_host_only) return true;
  return e->region == &e->init && convert_is_of_options(e, value);
}

/* The tensor in the current graph: itself, or what stands for it in the body of a scan. */
static Node *convert_same_graph(Elaborator *e, Value value, Span at) {
  Op op = value.tensor.node->op;
  if (e->region == &e->init && (op == OP_PARAM || op == OP_STATE))
    return slot_first_value(e, value.tensor.node, at);
  Node *node = region_capture(e, value.tensor.node, value.tensor.graph);
  if (!node && can_copy_host(e, value)) return copy_host(e, value, at);
  if (node || e->trace->exhausted) return node;
  if (e->region == &e->init) report_not_initial(e, value, at);
  else if (e->region->is_host_only)
    report_error(e, at, "a schedule is computed by the host and cannot use a tensor of the step");
  else
    report_error(e, at, "this tensor cannot be used here: it belongs to the graph '%s'",
                 value.tensor.graph->name);
  return NULL;
}

Node *convert_tensor(Elaborator *e, Value value, DType dtype, Span at) {
  value = convert_plain(e, value, at);
  if (value_is_error(value)) return NULL;
  if (value_is_tensor(value)) return convert_same_graph(e, value, at);
  if (value_is_number(value))
    return convert_fits(e, value, dtype, at)
               ? emit_constant(e, value_number(value), type_scalar(dtype))
               : NULL;
  if (value.kind == VALUE_BOOL) /* a truth value is 0 or 1 among numbers */
    return emit_constant(e, value.boolean, type_scalar(dtype));
  if (value_is_sequence(value)) return convert_list(e, value, dtype, at);
  return report_wrong_kind(e, at, "this", "a tensor or a number", value);
}

Node *convert_any_tensor(Elaborator *e, Value value, Span at) {
  return convert_tensor(e, value, convert_own_dtype(e, value), at);
}

Node *convert_to_type(Elaborator *e, Value value, Type type, Span at, const char *what) {
  value = convert_plain(e, value, at);
  Node *node = convert_tensor(e, value, type.dtype, at);
  if (!node) return NULL;
  bool adapts = (value_is_tensor(value) && value.tensor.is_host && dtype_is_float(type.dtype));
  bool widens = node->type.dtype == DTYPE_I32 && type.dtype == DTYPE_I64;
  if (adapts || widens) node = emit_cast(e, node, type.dtype);
  if (!node) return NULL;
  Shape joined;
  bool fits = node->type.dtype == type.dtype &&
              shape_broadcast(node->type.shape, type.shape, &joined) &&
              shape_equal(joined, type.shape);
  if (fits) return emit_broadcast(e, node, type.shape);
  Diagnostic *d = report_error(e, at, "%s is %s, but this is %s", what, type_text(e->arena, type),
                               type_text(e->arena, node->type));
  if (node->type.dtype != type.dtype && shape_equal(node->type.shape, type.shape))
    diag_help(d, "%s(...) converts", dtype_name(type.dtype));
  return NULL;
}

/* ---- shapes, axes ------------------------------------------------------------------------- */

bool convert_shape(Elaborator *e, Value value, Span at, const char *what, bool allow_negative,
                   Shape *shape) {
  *shape = shape_scalar();
  if (value.kind == VALUE_INT) value = value_list(e->arena, 1, &value);
  if (!value_is_sequence(value))
    return report_wrong_kind(
        e, at, what, value_is_number(value) ? "an integer" : "an integer or a list of integers",
        value);
  int64_t length = value_sequence_length(value);
  if (length > MAX_RANK)
    return report_failure(e, at, "%s has %lld axes, but a tensor has at most %d", what,
                          (long long)length, MAX_RANK);
  for (int64_t i = 0; i < length; i++) {
    int64_t extent = 0;
    if (!convert_int(e, value_sequence_item(value, i), at, what, &extent)) return false;
    if (extent < 0 && !(allow_negative && extent == -1))
      return report_failure(e, at, "%s contains the negative extent %lld", what, (long long)extent);
    shape->dim[shape->rank++] = extent;
  }
  if (allow_negative) return true;
  return emit_check_shape(e, at, *shape);
}

bool convert_axis(Elaborator *e, Value value, Span at, int rank, int *axis) {
  int64_t given = 0;
  if (!convert_int(e, value, at, "an axis", &given)) return false;
  if (given >= -rank && given < rank) {
    *axis = (int)(given < 0 ? given + rank : given);
    return true;
  }
  if (rank == 0) report_error(e, at, "axis %lld of a scalar, which has no axes", (long long)given);
  else
    report_error(e, at, "axis %lld of a tensor with %d ax%cs; it must be from %d to %d",
                 (long long)given, rank, rank == 1 ? 'i' : 'e', -rank, rank - 1);
  return false;
}

bool convert_axes(Elaborator *e, Value value, Span at, int rank, int *count, int64_t *axes) {
  bool seen[MAX_RANK] = {false};
  int axis;
  *count = 0;
  if (value.kind == VALUE_NONE) {
    for (int i = 0; i < rank; i++) seen[i] = true;
  } else if (value_is_sequence(value)) {
    for (int64_t i = 0; i < value_sequence_length(value); i++) {
      if (!convert_axis(e, value_sequence_item(value, i), at, rank, &axis)) return false;
      if (seen[axis]) return report_failure(e, at, "axis %d is given twice", axis);
      seen[axis] = true;
    }
  } else {
    if (!convert_axis(e, value, at, rank, &axis)) return false;
    seen[axis] = true;
  }
  for (int i = 0; i < rank; i++)
    if (seen[i]) axes[(*count)++] = i;
  return true;
}
