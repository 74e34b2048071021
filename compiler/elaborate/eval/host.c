/* The host graph: schedules as scalars in double, computed before each step.
 *
 * An application of a schedule is elaborated once, into an output of the host graph; each graph
 * that uses it has a `scalar` leaf of that name. Inside the host graph schedules use each other
 * directly. */
#include "elaborate/core/emit.h"
#include "elaborate/core/report.h"
#include "elaborate/eval/call.h"
#include "elaborate/eval/convert.h"
#include "elaborate/eval/evaluate.h"
#include "support/names.h"

static const char *const ambient_names[] = {"t", "epoch", "steps", "steps_per_epoch"};
enum { AMBIENT_COUNT = sizeof ambient_names / sizeof ambient_names[0] };

void evaluate_ambient(Elaborator *e, Symbol ambient[4]) {
  for (int i = 0; i < AMBIENT_COUNT; i++) {
    Node *leaf = emit_scalar(e, ambient_names[i]);
    ambient[i] = (Symbol){.name = name_intern(ambient_names[i]),
                          .kind = SYMBOL_AMBIENT,
                          .value = value_tensor(e, leaf)};
  }
}

/* The value of the schedule in the current region, which is the host's. */
static Node *run_schedule(Elaborator *e, const Deferred *deferred) {
  Symbol ambient[AMBIENT_COUNT];
  evaluate_ambient(e, ambient);
  Frame *frame = call_definer(e, deferred, AMBIENT_COUNT, ambient, deferred->function->name);
  if (!frame) return NULL;
  int errors = e->errors;
  evaluate_block(e, frame->stmts);
  Node *node = NULL;
  if (frame->returned.count == 1)
    node = convert_tensor(e, frame->returned.items[0], DTYPE_F64, deferred->span);
  else if (e->errors == errors)
    report_error(e, deferred->function->stmt->function.name.span,
                 "the schedule '%s' must return one number", deferred->function->name);
  call_leave(e, frame);
  if (!node) return NULL;
  node = emit_cast(e, node, DTYPE_F64);
  if (node && node->type.shape.rank == 0) return node;
  if (node)
    report_error(e, deferred->span, "the schedule '%s' must give a number, not %s",
                 deferred->function->name, type_text(e->arena, node->type));
  return NULL;
}

static const void *schedule_identity(const Deferred *deferred) {
  return deferred->expr ? (const void *)deferred->expr : (const void *)deferred->function->stmt;
}

static const char *scalar_name(Elaborator *e, const char *wanted) {
  const char *name = name_intern(wanted);
  for (int k = 1; graph_find_output(e->host.graph, OUTPUT_SCALAR, name); k++)
    name = name_printf("%s.%d", wanted, k);
  for (int i = 0; i < AMBIENT_COUNT; i++)
    if (name == name_intern(ambient_names[i])) name = name_printf("%s.schedule", wanted);
  return name;
}

static const char *find_scalar(const Elaborator *e, const Deferred *deferred) {
  for (int i = 0; i < e->scalars.count; i++)
    if (e->scalars.items[i].identity == schedule_identity(deferred) &&
        e->scalars.items[i].path == deferred->path)
      return e->scalars.items[i].name;
  return NULL;
}

Node *evaluate_schedule(Elaborator *e, Deferred *deferred, const char *name) {
  if (e->region->is_host_only) return run_schedule(e, deferred);
  const char *known = find_scalar(e, deferred);
  if (known) return emit_scalar(e, known);
  Context outer = region_enter(e, &e->host);
  e->default_float = DTYPE_F64;
  Node *node = run_schedule(e, deferred);
  const char *scalar = scalar_name(e, name ? name : deferred->function->name);
  if (node) emit_output(e, OUTPUT_SCALAR, scalar, node, deferred->span);
  region_leave(e, outer);
  if (!node) return NULL;
  HostScalar entry = {schedule_identity(deferred), deferred->path, scalar};
  vec_push(e->arena, &e->scalars, entry);
  return emit_scalar(e, scalar);
}

/* The output that is a scalar as it stands: by its name, or an option under another one. */
static const char *find_output(const Elaborator *e, Value value) {
  Graph *host = e->host.graph;
  const Node *node = value_is_tensor(value) ? value.tensor.node : NULL;
  if (!node || node->op != OP_SCALAR) return NULL;
  const char *known = node_string(node, ATTR_NAME);
  if (graph_find_output(host, OUTPUT_SCALAR, known)) return known;
  for (int i = 0; i < host->outputs.count; i++) {
    const Node *other = host->outputs.items[i].node;
    if (other->op == OP_SCALAR && node_string(other, ATTR_NAME) == known)
      return host->outputs.items[i].name;
  }
  return NULL;
}

const char *evaluate_host_scalar(Elaborator *e, Value value, const char *wanted, Span at) {
  const char *known = find_output(e, value);
  if (known) return known;
  Context outer = region_enter(e, &e->host);
  e->default_float = DTYPE_F64;
  e->at = at;
  Node *copy = emit_cast(e, convert_tensor(e, value, DTYPE_F64, at), DTYPE_F64);
  const char *name = scalar_name(e, wanted);
  if (copy) emit_output(e, OUTPUT_SCALAR, name, copy, at);
  region_leave(e, outer);
  return copy ? name : NULL;
}
