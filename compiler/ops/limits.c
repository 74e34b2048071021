/* Follows an input through casts and movement to the operators that use it as an index. */
#include "ops/limits.h"

#include <string.h>
#include "ops/op.h"
#include "ops/scan.h"

/* Values pass unchanged: movement of whole elements, and conversions between integers. */
static bool keeps_values(const Node *node) {
  if (op_info(node->op)->class->family == FAMILY_MOVEMENT) return true;
  if (node->op == OP_CHECK_INDEX) return true;
  return node->op == OP_CAST && dtype_is_int(node->type.dtype);
}

static bool is_zero(const Node *node) {
  while (node->op == OP_BROADCAST || node->op == OP_CAST) node = node->operands[0];
  return node->op == OP_CONSTANT && node_float(node, ATTR_VALUE) == 0;
}

/* x == constant, in either order; x carries the input. */
static bool match_comparison(const Node *node, const bool *carries, int64_t *constant) {
  if (node->op != OP_EQ) return false;
  for (int i = 0; i < 2; i++) {
    const Node *other = node->operands[1 - i];
    while (other->op == OP_BROADCAST || other->op == OP_CAST) other = other->operands[0];
    if (!carries[node->operands[i]->id] || other->op != OP_CONSTANT) continue;
    *constant = (int64_t)node_float(other, ATTR_VALUE);
    return true;
  }
  return false;
}

/* where(x == k, 0, x): x, but for one value. */
static bool match_exception(const Node *node, const bool *carries, int64_t *exception) {
  return node->op == OP_WHERE && carries[node->operands[2]->id] && is_zero(node->operands[1]) &&
         match_comparison(node->operands[0], carries, exception);
}

/* Another use as an index; what one use does not except is no exception. */
static void narrow(InputLimit *limit, int64_t bound, const InputLimit *use) {
  bool is_first = limit->bound == 0;
  bool agrees = use->has_exception &&
                (is_first || (limit->has_exception && limit->exception == use->exception));
  limit->has_exception = agrees;
  limit->exception = agrees ? use->exception : 0;
  if (is_first || bound < limit->bound) limit->bound = bound;
}

/* What is known of the nodes of a graph, by id. */
typedef struct Trace {
  bool *carries;    /* the input's values */
  InputLimit *seen; /* exceptions on the way */
} Trace;

static Trace trace_create(Arena *arena, const Graph *graph) {
  return (Trace){ARENA_ARRAY(arena, bool, graph->next_id),
                 ARENA_ARRAY(arena, InputLimit, graph->next_id)};
}

static void follow(Arena *arena, const Graph *graph, const char *input, Trace trace,
                   InputLimit *limit);

/* Into the body of a scan, whose results carry what its outputs do: noted at the scan's uses. */
static Trace follow_scan(Arena *arena, const Node *scan, const char *input, Trace outer,
                         InputLimit *limit) {
  Trace trace = trace_create(arena, scan->body);
  Node **arguments = scan_arguments(arena, scan->body, scan->operand_count);
  for (int i = 0; i < scan->operand_count; i++) {
    if (!arguments[i]) continue;
    trace.carries[arguments[i]->id] = outer.carries[scan->operands[i]->id];
    trace.seen[arguments[i]->id] = outer.seen[scan->operands[i]->id];
  }
  follow(arena, scan->body, input, trace, limit);
  return trace;
}

static void follow_operands(const Node *node, Trace trace, InputLimit *limit) {
  const OpClass *class = op_info(node->op)->class;
  for (int k = 0; k < node->operand_count; k++) {
    int operand = node->operands[k]->id;
    if (!trace.carries[operand]) continue;
    int64_t bound = class->index_bound ? class->index_bound(node, k) : 0;
    if (bound > 0) narrow(limit, bound, &trace.seen[operand]);
    if (!keeps_values(node)) continue;
    trace.carries[node->id] = true;
    trace.seen[node->id] = trace.seen[operand];
  }
}

static void follow(Arena *arena, const Graph *graph, const char *input, Trace trace,
                   InputLimit *limit) {
  Trace *bodies = ARENA_ARRAY(arena, Trace, graph->next_id); /* by id of a scan */
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    int64_t exception;
    if (node->op == OP_INPUT)
      trace.carries[node->id] = !strcmp(node_string(node, ATTR_NAME), input);
    if (node->body) bodies[node->id] = follow_scan(arena, node, input, trace, limit);
    const Node *scan = node->op == OP_SCAN_RESULT ? node->operands[0] : NULL;
    if (scan) {
      const Node *from = scan->body->outputs.items[node_int(node, ATTR_INDEX)].node;
      trace.carries[node->id] = bodies[scan->id].carries[from->id];
      trace.seen[node->id] = bodies[scan->id].seen[from->id];
    }
    if (!node->body && !scan) follow_operands(node, trace, limit);
    if (!match_exception(node, trace.carries, &exception)) continue;
    trace.carries[node->id] = true;
    trace.seen[node->id] = (InputLimit){.has_exception = true, .exception = exception};
  }
}

InputLimit graph_input_limit(Arena *arena, const Graph *graph, const char *input) {
  InputLimit limit = {0};
  follow(arena, graph, input, trace_create(arena, graph), &limit);
  return limit;
}
