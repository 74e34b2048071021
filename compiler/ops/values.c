/* Follows an input, and what was added to it, to the operators that tell what its values are.
 *
 * A table of counts (arange) is followed as well: what is compared with it has values in its range. */
#include "ops/values.h"

#include <string.h>
#include "ops/op.h"
#include "ops/scan.h"

/* What is known of a node of a graph. */
typedef struct Carried {
  bool is_input; /* the input's values + offset */
  int64_t offset;
  int64_t range; /* n: the node has the values 0, 1, ..., n - 1; 0: it has not */
} Carried;

typedef struct Uses {
  bool is_index, is_compared, tells_zero;
  int64_t first, last; /* of an index */
  int64_t steps; /* the least n of the ranges 0 to n - 1 that its order is compared with; 0: none */
  int64_t greatest; /* constant that it is compared with */
} Uses;

static const Node *find_constant(const Node *node) {
  while (node->op == OP_BROADCAST || node->op == OP_CAST || node->op == OP_RESHAPE)
    node = node->operands[0];
  return node->op == OP_CONSTANT ? node : NULL;
}

static void use_index(Uses *uses, const Carried *carried, int64_t bound) {
  int64_t first = -carried->offset, last = bound - 1 - carried->offset;
  uses->first = uses->is_index && uses->first > first ? uses->first : first;
  uses->last = uses->is_index && uses->last < last ? uses->last : last;
  uses->is_index = true;
}

/* The input against a range or a constant. */
static void use_comparison(Uses *uses, const Node *node, const Carried *known) {
  bool is_equality = node->op == OP_EQ || node->op == OP_NE;
  bool is_order = node->op == OP_LT || node->op == OP_LE || node->op == OP_GT || node->op == OP_GE;
  for (int i = 0; i < 2 && (is_equality || is_order); i++) {
    const Node *other = node->operands[1 - i];
    int64_t range = known[other->id].range;
    if (!known[node->operands[i]->id].is_input) continue;
    if (range > 0 && is_equality) use_index(uses, &known[node->operands[i]->id], range);
    if (range > 0 && is_order && (uses->steps == 0 || range < uses->steps)) uses->steps = range;
    const Node *constant = find_constant(other);
    if (range > 0 || !constant) continue;
    double value = node_float(constant, ATTR_VALUE);
    if (!(value >= 0 && value < 1 << 20)) continue;
    uses->tells_zero = uses->tells_zero || (is_equality && value == 0);
    uses->is_compared = true;
    if ((int64_t)value > uses->greatest) uses->greatest = (int64_t)value;
  }
}

/* x + 1 and x - 1; x where a constant takes the place of some values: maximum(x, 0), where(x == k, 0, x). */
static Carried carry_beside_constant(const Node *node, const Carried *known) {
  int first = node->op == OP_WHERE ? 1 : 0;
  for (int i = 0; i < (node->op == OP_SUB ? 1 : 2); i++) {
    Carried carried = known[node->operands[first + i]->id];
    const Node *constant = find_constant(node->operands[first + 1 - i]);
    if (!carried.is_input || !constant) continue;
    int64_t value = (int64_t)node_float(constant, ATTR_VALUE);
    carried.offset += node->op == OP_ADD ? value : node->op == OP_SUB ? -value : 0;
    return carried;
  }
  return (Carried){0};
}

static Carried carry(const Node *node, const char *input, const Carried *known) {
  if (node->op == OP_INPUT)
    return (Carried){.is_input = strcmp(node_string(node, ATTR_NAME), input) == 0};
  if (node->op == OP_IOTA)
    return (Carried){.range = node->type.shape.dim[node_int(node, ATTR_AXIS)]};
  if (node->op == OP_ADD || node->op == OP_SUB || node->op == OP_MAX || node->op == OP_MIN ||
      node->op == OP_WHERE)
    return carry_beside_constant(node, known);
  bool keeps = op_info(node->op)->class->family == FAMILY_MOVEMENT || node->op == OP_CAST ||
               node->op == OP_CHECK_INDEX;
  for (int i = 0; keeps && i < node->operand_count; i++)
    if (known[node->operands[i]->id].is_input || known[node->operands[i]->id].range > 0)
      return known[node->operands[i]->id];
  return (Carried){0};
}

static void follow(Arena *arena, const Graph *graph, const char *input, Carried *known, Uses *uses);

static Carried *follow_scan(Arena *arena, const Node *scan, const char *input, const Carried *outer,
                            Uses *uses) {
  Carried *known = ARENA_ARRAY(arena, Carried, scan->body->next_id);
  Node **arguments = scan_arguments(arena, scan->body, scan->operand_count);
  for (int i = 0; i < scan->operand_count; i++)
    if (arguments[i]) known[arguments[i]->id] = outer[scan->operands[i]->id];
  follow(arena, scan->body, input, known, uses);
  return known;
}

static void follow(Arena *arena, const Graph *graph, const char *input, Carried *known,
                   Uses *uses) {
  Carried **bodies = ARENA_ARRAY(arena, Carried *, graph->next_id); /* by id of a scan */
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    const OpClass *class = op_info(node->op)->class;
    if (node->op == OP_ARGUMENT) continue; /* told by the scan */
    if (node->body) bodies[node->id] = follow_scan(arena, node, input, known, uses);
    const Node *scan = node->op == OP_SCAN_RESULT ? node->operands[0] : NULL;
    if (scan) {
      const Node *from = scan->body->outputs.items[node_int(node, ATTR_INDEX)].node;
      known[node->id] = bodies[scan->id][from->id];
    }
    if (node->body || scan) continue;
    known[node->id] = carry(node, input, known);
    use_comparison(uses, node, known);
    for (int k = 0; class->index_bound && k < node->operand_count; k++) {
      int64_t bound = class->index_bound(node, k);
      const Carried *index = &known[node->operands[k]->id];
      if (bound > 0 && index->is_input) use_index(uses, index, bound);
    }
  }
}

InputValues module_input_values(Arena *arena, const Module *module, const char *input) {
  Uses uses = {0};
  for (int i = 0; i < ENTRY_COUNT; i++) {
    const Graph *graph = module->entries[i];
    if (graph) follow(arena, graph, input, ARENA_ARRAY(arena, Carried, graph->next_id), &uses);
  }
  if (uses.is_index) return (InputValues){uses.first, uses.last};
  if (uses.steps > 0) return (InputValues){1, uses.steps};
  if (!uses.is_compared) return (InputValues){0, -1};
  return (InputValues){uses.tells_zero || uses.greatest == 0 ? 0 : 1, uses.greatest + 1};
}
