/* scan, scan_result, argument: see scan.h.
 *
 * The interpreter runs bodies itself (interpret/evaluate.c), differentiation and writing out are
 * passes: here are the type rules, the constructors and what they share. */
#include "ops/scan.h"

#include <string.h>
#include "ops/op.h"
#include "support/panic.h"

ScanShape scan_shape(const Node *scan) {
  return (ScanShape){.carries = (int)node_int(scan, ATTR_CARRIES),
                     .sequences = (int)node_int(scan, ATTR_SEQUENCES),
                     .length = node_int(scan, ATTR_LENGTH),
                     .reverse = node_int(scan, ATTR_REVERSE) != 0,
                     .recomputes = node_attribute(scan, ATTR_RECOMPUTE) != NULL};
}

bool scan_is_sequence(const ScanShape *shape, int operand) {
  return operand >= shape->carries && operand < shape->carries + shape->sequences;
}

int scan_result_count(const Node *scan) { return scan->body->outputs.count; }

Type scan_argument_type(const ScanShape *shape, const Node *operand, int i) {
  Type type = operand->type;
  if (!scan_is_sequence(shape, i)) return type;
  type.shape.rank--;
  memmove(type.shape.dim, type.shape.dim + 1, sizeof type.shape.dim[0] * (MAX_RANK - 1));
  type.shape.dim[MAX_RANK - 1] = 0;
  return type;
}

Type scan_result_type(const ScanShape *shape, const Graph *body, int i) {
  Type type = body->outputs.items[i].node->type;
  if (i < shape->carries) return type;
  memmove(type.shape.dim + 1, type.shape.dim, sizeof type.shape.dim[0] * (MAX_RANK - 1));
  type.shape.dim[0] = shape->length;
  type.shape.rank++;
  return type;
}

Node **scan_arguments(Arena *arena, const Graph *body, int operand_count) {
  Node **arguments = ARENA_ARRAY(arena, Node *, operand_count);
  for (int i = 0; i < body->nodes.count; i++) {
    Node *node = body->nodes.items[i];
    if (op_info(node->op)->class->leaf == LEAF_ARGUMENT)
      arguments[node_int(node, ATTR_INDEX)] = node;
  }
  return arguments;
}

/* ---- constructors ------------------------------------------------------------------------- */

Node *make_saving_scan(const Maker *maker, const Graph *body, ScanShape shape, int saved,
                       int operand_count, Node *const *operands) {
  Attribute attributes[ATTR_COUNT];
  int count = 0;
  attributes[count++] = attr_make_int(ATTR_CARRIES, shape.carries);
  attributes[count++] = attr_make_int(ATTR_SEQUENCES, shape.sequences);
  attributes[count++] = attr_make_int(ATTR_LENGTH, shape.length);
  attributes[count++] = attr_make_int(ATTR_REVERSE, shape.reverse);
  if (shape.recomputes) attributes[count++] = attr_make_int(ATTR_RECOMPUTE, 1);
  if (saved != SCAN_SAVES_NOTHING) attributes[count++] = attr_make_int(ATTR_SAVED, saved);
  Node *scan = graph_add(maker->graph, &(Node){.op = OP_SCAN,
                                               .operand_count = operand_count,
                                               .operands = (Node **)operands,
                                               .attribute_count = count,
                                               .attributes = attributes,
                                               .body = body,
                                               .span = maker->span,
                                               .path = maker->path});
  make_type(maker, scan);
  return scan;
}

Node *make_scan(const Maker *maker, const Graph *body, ScanShape shape, int operand_count,
                Node *const *operands) {
  return make_saving_scan(maker, body, shape, SCAN_SAVES_NOTHING, operand_count, operands);
}

Node *make_scan_result(const Maker *maker, Node *scan, int index) {
  Attribute attribute = attr_make_int(ATTR_INDEX, index);
  return make_node(maker, OP_SCAN_RESULT, 1, &scan, 1, &attribute);
}

Node *make_argument(const Maker *maker, Type type, int index) {
  Attribute attribute = attr_make_int(ATTR_INDEX, index);
  return make_leaf(maker, OP_ARGUMENT, type, 1, &attribute);
}

/* ---- type rules --------------------------------------------------------------------------- */

static bool int_attribute(Inference *in, AttributeKey key, int64_t most, int64_t *value) {
  const Attribute *attribute = infer_attribute(in, key);
  if (!attribute) return false;
  *value = attribute->integer;
  if (*value >= 0 && *value <= most) return true;
  return infer_fail(in, "%s = %lld is not between 0 and %lld", attribute_name(key),
                    (long long)*value, (long long)most);
}

static bool infer_scan_shape(Inference *in, ScanShape *shape) {
  int64_t carries, sequences, reverse;
  if (!int_attribute(in, ATTR_CARRIES, in->node->operand_count, &carries) ||
      !int_attribute(in, ATTR_SEQUENCES, in->node->operand_count - carries, &sequences) ||
      !int_attribute(in, ATTR_LENGTH, MAX_ELEMENTS, &shape->length) ||
      !int_attribute(in, ATTR_REVERSE, 1, &reverse))
    return false;
  shape->carries = (int)carries;
  shape->sequences = (int)sequences;
  shape->reverse = reverse != 0;
  return true;
}

static bool infer_sequences(Inference *in, const ScanShape *shape) {
  for (int i = shape->carries; i < shape->carries + shape->sequences; i++) {
    Shape found = in->node->operands[i]->type.shape;
    if (found.rank == 0 || found.dim[0] != shape->length)
      return infer_fail(in, "sequence %d has shape %s, not %lld elements", i,
                        shape_text(in->arena, found), (long long)shape->length);
  }
  return true;
}

bool scan_infer_arguments(Inference *in, const ScanShape *shape) {
  bool *seen = ARENA_ARRAY(in->arena, bool, in->node->operand_count);
  const Graph *inner = node_inner(in->node);
  const char *word = in->node->body ? "body" : "rule";
  for (int i = 0; i < inner->nodes.count; i++) {
    const Node *argument = inner->nodes.items[i];
    if (op_info(argument->op)->class->leaf != LEAF_ARGUMENT) continue;
    int64_t k = node_int(argument, ATTR_INDEX);
    if (k < 0 || k >= in->node->operand_count || seen[k])
      return infer_fail(in, "argument %lld of its %s is no operand or stands twice", (long long)k,
                        word);
    seen[k] = true;
    Type expected = scan_argument_type(shape, in->node->operands[k], (int)k);
    if (!type_equal(argument->type, expected))
      return infer_fail(in, "argument %lld of its %s is %s but gets %s", (long long)k, word,
                        type_text(in->arena, argument->type), type_text(in->arena, expected));
  }
  return true;
}

static bool infer_results(Inference *in, const ScanShape *shape) {
  const Graph *body = in->node->body;
  if (body->outputs.count < shape->carries)
    return infer_fail(in, "its body gives %d results for %d carries", body->outputs.count,
                      shape->carries);
  for (int i = 0; i < body->outputs.count; i++) {
    const Output *output = &body->outputs.items[i];
    if (i < shape->carries && !type_equal(output->node->type, in->node->operands[i]->type))
      return infer_fail(in, "the carry '%s' begins as %s and goes on as %s", output->name,
                        type_text(in->arena, in->node->operands[i]->type),
                        type_text(in->arena, output->node->type));
    if (i >= shape->carries && (output->node->type.shape.rank == MAX_RANK ||
                                !shape_is_representable(scan_result_type(shape, body, i).shape)))
      return infer_fail(in, "what it yields is too large when stacked");
  }
  return true;
}

static bool infer_recompute(Inference *in) {
  const Attribute *recompute = node_attribute(in->node, ATTR_RECOMPUTE);
  if (!recompute || recompute->integer == 1) return true;
  return infer_fail(in, "recompute = %lld is neither 1 nor left out",
                    (long long)recompute->integer);
}

/* From result `saved` on, the carries' values before each step. */
static bool infer_saved(Inference *in, const ScanShape *shape) {
  int64_t saved;
  const Graph *body = in->node->body;
  if (!node_attribute(in->node, ATTR_SAVED)) return true;
  if (!int_attribute(in, ATTR_SAVED, body->outputs.count - shape->carries, &saved)) return false;
  for (int i = 0; i < shape->carries; i++) {
    const Node *result = body->outputs.items[saved + i].node;
    if (saved < shape->carries || result->op != OP_ARGUMENT || node_int(result, ATTR_INDEX) != i)
      return infer_fail(in, "result %lld of its body is not the saved carry %d",
                        (long long)saved + i, i);
  }
  return true;
}

static bool scan_infer(Inference *in) {
  ScanShape shape;
  in->type = type_scalar(DTYPE_F64);
  if (!in->node->body) return infer_fail(in, "it has no body");
  return infer_scan_shape(in, &shape) && infer_recompute(in) && infer_sequences(in, &shape) &&
         scan_infer_arguments(in, &shape) && infer_results(in, &shape) && infer_saved(in, &shape);
}

static bool scan_result_infer(Inference *in) {
  const Node *scan = in->node->operands[0];
  int64_t index;
  if (!scan->body) return infer_fail(in, "its operand is no scan");
  if (!int_attribute(in, ATTR_INDEX, scan_result_count(scan) - 1, &index)) return false;
  ScanShape shape = scan_shape(scan);
  in->type = scan_result_type(&shape, scan->body, (int)index);
  return true;
}

static bool argument_infer(Inference *in) {
  in->type = in->node->type;
  return infer_attribute(in, ATTR_INDEX) != NULL;
}

static Cost scan_cost(const Node *node) {
  Cost cost = {0};
  for (int i = 0; i < node->body->nodes.count; i++) {
    Cost step = node_cost(node->body->nodes.items[i]);
    cost.flops += step.flops;
    cost.bytes += step.bytes;
  }
  double length = (double)node_int(node, ATTR_LENGTH);
  return (Cost){cost.flops * length, cost.bytes * length};
}

const OpClass op_class_scan = {
    .family = FAMILY_SCAN,
    .infer = scan_infer,
    .cost = scan_cost,
    .owns_body = true,
};

const OpClass op_class_scan_result = {
    .family = FAMILY_SCAN,
    .infer = scan_result_infer,
    .cost = cost_nothing,
};

const OpClass op_class_argument = {
    .family = FAMILY_LEAF,
    .leaf = LEAF_ARGUMENT,
    .infer = argument_infer,
    .cost = cost_nothing,
};
