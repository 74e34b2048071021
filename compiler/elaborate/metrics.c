/* Metrics: a scalar expression is cut at the full reductions that depend on inputs.
 *
 * The values at the cuts are accumulators, which the host combines over batches; the expression
 * above them becomes the finish entry, in double. So accuracy, exp(loss) and sum(a) / sum(mask)
 * are exact over a whole data set. Whether a reduction runs over the batch is seen from two
 * elaborations: its operand has `batch` times as many elements as the one of the program with a
 * batch of one.
 *
 * All walks are cut in parallel; they must agree on the expression above the cuts.
 *
 * What cannot be cut, or has reductions that would see parts of a batch (coupling.c), is no such
 * expression. A loss need not be one to be trained, nor a part of a loss to be reported, nor what
 * compares the examples of a batch in pairs, which has no meaning over a whole data set: it is
 * then averaged over the batches as a whole, and a warning says so. Any other metric is refused. */
#include "elaborate/train.h"

#include <math.h>
#include "ops/op.h"
#include "support/names.h"

enum { MAX_WALKS = 4, CUT_DEPTH = 500 };

typedef struct Cutter {
  Elaborator *e;
  int walk_count;
  Walk *walks[MAX_WALKS];    /* 0: evaluation, 1: of a single example, then training */
  bool *depends[MAX_WALKS];  /* on inputs, by node id */
  Node **finish;             /* by node id of walk 0: what was built for it */
  Room room;                 /* of the finish entry */
  const Metric *metric;
  const Coupling *coupling;  /* of this metric's graph: coupling.c */
  const char *uncut;         /* why this metric cannot be cut; NULL: it can, so far */
  const Node *uncut_at, *uncut_by; /* the part; what joins the examples in it or NULL */
  bool has_examples;         /* it differs in training alone: single examples have a meaning */
  int parts;                 /* accumulators of this metric */
  int depth;
} Cutter;

typedef struct Cut {
  Node *node[MAX_WALKS];
} Cut;

static bool *find_dependent(Arena *arena, const Graph *graph) {
  bool *depends = ARENA_ARRAY(arena, bool, graph->next_id);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    depends[node->id] = node->op == OP_INPUT;
    for (int k = 0; k < node->operand_count; k++)
      depends[node->id] = depends[node->id] || depends[node->operands[k]->id];
  }
  return depends;
}

static bool has_one_element(const Node *node) { return shape_elements(node->type.shape) == 1; }

/* Whether the tensor has an element for each example of the batch. */
static bool carries_batch(const Cutter *c, const Node *node, const Node *single) {
  return shape_elements(node->type.shape) ==
         c->e->module->run.batch * shape_elements(single->type.shape);
}

/* ---- what a node is to the cut ------------------------------------------------------------ */

static const struct {
  Op op;
  Combine combine;
} reductions[] = {{OP_REDUCE_MEAN, COMBINE_MEAN}, {OP_REDUCE_SUM, COMBINE_SUM},
                  {OP_REDUCE_MAX, COMBINE_MAX},   {OP_REDUCE_MIN, COMBINE_MIN}};

static bool find_reduction(const Node *node, Combine *combine) {
  for (int i = 0; i < 4; i++)
    if (reductions[i].op == node->op) {
      *combine = reductions[i].combine;
      return true;
    }
  return false;
}

static bool is_movement(const Node *node) {
  return op_info(node->op)->class->family == FAMILY_MOVEMENT && node->operand_count == 1 &&
         (node->op == OP_RESHAPE || node->op == OP_TRANSPOSE);
}

/* Reductions compose: a mean or sum over what is left of a mean or sum over the batch is linear in
 * it, a maximum of maxima is the maximum. */
static bool compose(Combine outer, Combine inner, Combine *combine) {
  bool linear = (outer == COMBINE_MEAN || outer == COMBINE_SUM) &&
                (inner == COMBINE_MEAN || inner == COMBINE_SUM);
  *combine = inner;
  return linear || outer == inner;
}

/* How the host combines the scalar `node`; false when it is no reduction over the batch. *reduced
 * is the innermost one. */
static bool find_combine(const Cutter *c, const Node *node, const Node *single, Combine *combine,
                         const Node **reduced) {
  *reduced = node;
  if (node->op == OP_CONTRACT && single->op == OP_CONTRACT) {
    *combine = COMBINE_SUM;
    return carries_batch(c, node->operands[0], single->operands[0]) &&
           carries_batch(c, node->operands[1], single->operands[1]);
  }
  if (!find_reduction(node, combine) || single->op != node->op) return false;
  while (!carries_batch(c, node->operands[0], single->operands[0])) {
    do {
      node = node->operands[0];
      single = single->operands[0];
    } while (is_movement(node) && single->op == node->op);
    Combine inner;
    if (!find_reduction(node, &inner) || single->op != node->op ||
        !compose(*combine, inner, combine))
      return false;
  }
  *reduced = node;
  return true;
}

/* What joins the examples of a batch in what `reduced` reduces. */
static Coupling find_mixed(const Cutter *c, const Node *reduced) {
  for (int k = 0; k < reduced->operand_count; k++)
    if (c->coupling[reduced->operands[k]->id].by) return c->coupling[reduced->operands[k]->id];
  return (Coupling){0};
}

/* ---- means by hand ------------------------------------------------------------------------ */

static bool is_constant(const Node *node, const Node *single, double *value, double *one) {
  if (node->op != OP_CONSTANT || single->op != OP_CONSTANT) return false;
  *value = node_float(node, ATTR_VALUE);
  *one = node_float(single, ATTR_VALUE);
  return true;
}

/* A sum over the examples times a constant, or a sum of such. */
static bool is_linear_sum(const Cutter *c, const Node *node, const Node *single, int depth) {
  if (node->op != single->op || depth > 8) return false;
  Combine combine;
  const Node *reduced;
  if (find_combine(c, node, single, &combine, &reduced))
    return combine == COMBINE_SUM && !find_mixed(c, reduced).by;
  double value, one;
  Node *const *x = node->operands, *const *y = single->operands;
  switch (node->op) {
    case OP_NEG: return is_linear_sum(c, x[0], y[0], depth + 1);
    case OP_ADD:
    case OP_SUB:
      return is_linear_sum(c, x[0], y[0], depth + 1) && is_linear_sum(c, x[1], y[1], depth + 1);
    case OP_MUL:
      if (is_constant(x[0], y[0], &value, &one) && value == one)
        return is_linear_sum(c, x[1], y[1], depth + 1);
      /* fall through */
    case OP_DIV:
      return is_constant(x[1], y[1], &value, &one) && value == one &&
             is_linear_sum(c, x[0], y[0], depth + 1);
    default: return false;
  }
}

/* sum(...) / batch: a mean over the examples written by hand, in evaluation a mean as well. */
static bool is_hand_mean(const Cutter *c, const Node *node, const Node *single) {
  double value, one, batch = (double)c->e->module->run.batch;
  if (node->op != single->op || (node->op != OP_DIV && node->op != OP_MUL)) return false;
  for (int i = node->op == OP_DIV ? 1 : 0; i < 2; i++) {
    if (!is_constant(node->operands[i], single->operands[i], &value, &one) || value == one)
      continue;
    bool scales = node->op == OP_DIV ? value == one * batch
                                     : fabs(value * batch - one) <= 1e-12 * fabs(one);
    return scales && is_linear_sum(c, node->operands[1 - i], single->operands[1 - i], 0);
  }
  return false;
}

/* ---- accumulators ------------------------------------------------------------------------- */

static Node *as_scalar(Cutter *c, int walk, Node *node) {
  if (node->type.shape.rank == 0) return node;
  Elaborator *e = c->e;
  Walk *outer = e->walk;
  e->walk = c->walks[walk];
  e->room = &e->walk->room;
  Node *scalar = emit_reshape(e, node, shape_scalar());
  e->walk = outer;
  e->room = &c->room;
  return scalar;
}

static Node *add_accumulator(Cutter *c, const Cut *cut, Combine combine) {
  bool is_whole = cut->node[0] == c->metric->node;
  const char *name = is_whole ? c->metric->name
                              : name_printf("%s.%d", c->metric->name, c->parts++);
  for (int i = 0; i < c->walk_count; i++) {
    Node *node = as_scalar(c, i, cut->node[i]);
    if (!node) return NULL;
    graph_add_output(c->walks[i]->room.graph,
                     (Output){.kind = OUTPUT_ACCUMULATOR, .combine = combine, .name = name,
                              .node = node, .span = c->metric->span});
  }
  return emit_scalar(c->e, name);
}

/* ---- the cut ------------------------------------------------------------------------------ */

static Node *cut_node(Cutter *c, Cut cut);

/* The metric cannot be cut at `node`; report_uncut() says so. */
static Node *leave_uncut(Cutter *c, const Node *node, const char *why) {
  c->uncut = why;
  c->uncut_at = node;
  c->uncut_by = NULL;
  return NULL;
}

static bool depends_on(Arena *arena, const Graph *graph, const Node *root, const Node *part) {
  bool *needed = ARENA_ARRAY(arena, bool, graph->next_id);
  needed[root->id] = true;
  for (int i = root->id; i > part->id; i--) {
    const Node *node = graph->nodes.items[i];
    for (int k = 0; needed[i] && k < node->operand_count; k++)
      needed[node->operands[k]->id] = true;
  }
  return needed[part->id];
}

/* Whether means over batches are what can be had: of a loss, its parts, and of pairs. */
static bool is_for_batches(const Cutter *c, const Node *metric) {
  if (c->metric->is_loss || c->coupling[metric->id].is_pair) return true;
  const Metrics *metrics = &c->walks[0]->train->metrics;
  for (int i = 0; i < metrics->count; i++)
    if (metrics->items[i].is_loss && metrics->items[i].node &&
        depends_on(c->e->arena, c->walks[0]->room.graph, metrics->items[i].node, metric))
      return true;
  return false;
}

static void report_uncut(Cutter *c, bool is_for_batches) {
  const char *name = c->metric->name;
  Diagnostic *d =
    is_for_batches
      ? report_warning(c->e, c->metric->span, "reports of '%s' will be means over batches: %s",
                       name, c->uncut)
      : report_error(c->e, c->metric->span, "'%s' cannot be computed over a whole data set: %s",
                     name, c->uncut);
  report_note_tensor(c->e, d, "this part", c->uncut_at);
  if (c->uncut_by) report_note_tensor(c->e, d, "what it depends on", c->uncut_by);
  if (is_for_batches) return;
  if (c->uncut_by && c->uncut_by->op == OP_CONSTANT)
    diag_help(d, "divide behind the reduction, sum(x) / batch; by grad(sum(y), x) each example has "
                 "the gradient of its own y");
  else if (c->uncut_by)
    diag_help(d, "write it with reductions of single examples: mean(x * x) - mean(x) ^ 2 for "
                 "mean((x - mean(x)) ^ 2)");
  else
    diag_help(d, "a metric is a scalar expression over full reductions: mean(...), sum(...), "
                 "max(...), min(...); a number for each class is taken by a loop: "
                 "for c in 0..classes { p = mean(label == c); ... }");
}

static bool walks_agree(const Cutter *c, const Cut *cut) {
  const Node *first = cut->node[0];
  for (int i = 1; i < c->walk_count; i++) {
    const Node *other = cut->node[i];
    if (other->op != first->op || other->operand_count != first->operand_count ||
        c->depends[i][other->id] != c->depends[0][first->id])
      return false;
  }
  return true;
}

static Cut cut_operand(const Cutter *c, const Cut *cut, int k) {
  Cut operand = {0};
  for (int i = 0; i < c->walk_count; i++) operand.node[i] = cut->node[i]->operands[k];
  return operand;
}

/* Elementwise on scalars: the same operator in double. */
static Node *cut_elementwise(Cutter *c, const Cut *cut) {
  Node *node = cut->node[0];
  Node *operands[3];
  for (int k = 0; k < node->operand_count; k++) {
    operands[k] = cut_node(c, cut_operand(c, cut, k));
    if (!operands[k]) return NULL;
  }
  if (node->op == OP_STOP_GRADIENT) return operands[0];
  if (node->op != OP_CAST) return emit(c->e, node->op, node->operand_count, operands, 0, NULL);
  DType from = node->operands[0]->type.dtype, to = node->type.dtype;
  if (to == DTYPE_BOOL || (dtype_is_float(from) && dtype_is_int(to)))
    return leave_uncut(c, node, "it converts a result to an integer");
  return emit_cast(c->e, operands[0], DTYPE_F64);
}

/* The reduction as an accumulator, unless what it reduces mixes the examples of a batch. */
static Node *cut_reduction(Cutter *c, const Cut *cut, const Node *reduced, Combine combine) {
  Coupling mixed = find_mixed(c, reduced);
  if (mixed.by) {
    leave_uncut(c, reduced, mixed.is_pair
                ? "it reduces what compares the examples of a batch with each other"
                : mixed.by->op == OP_CONSTANT
                ? "it reduces what depends on the size of a batch"
                : "it reduces what another reduction over the batch has a part in");
    c->uncut_by = mixed.by;
    return NULL;
  }
  return add_accumulator(c, cut, combine);
}

static Node *cut_new(Cutter *c, const Cut *cut) {
  Node *node = cut->node[0];
  const Node *reduced;
  double value, one;
  if (is_constant(node, cut->node[1], &value, &one) && value != one)
    return leave_uncut(c, node, "it uses the batch size beside reductions, which run over the "
                       "whole set");
  if (node->op == OP_CONSTANT)
    return emit_constant(c->e, node_float(node, ATTR_VALUE),
                         type_scalar(node->type.dtype == DTYPE_BOOL ? DTYPE_BOOL : DTYPE_F64));
  if (!walks_agree(c, cut)) {
    c->has_examples = true;
    return leave_uncut(c, node, "training and evaluation compute it differently");
  }
  if (!has_one_element(node) || !has_one_element(cut->node[1]))
    return leave_uncut(c, node, "it is not a scalar");
  if (!c->depends[0][node->id]) return add_accumulator(c, cut, COMBINE_LAST);
  Combine combine;
  if (find_combine(c, node, cut->node[1], &combine, &reduced))
    return cut_reduction(c, cut, reduced, combine);
  if (is_hand_mean(c, node, cut->node[1])) return add_accumulator(c, cut, COMBINE_MEAN);
  if (op_is_elementwise(node->op)) return cut_elementwise(c, cut);
  bool passes = is_movement(node) || node->op == OP_BROADCAST || node->op == OP_SLICE ||
                find_reduction(node, &combine);
  if (passes && has_one_element(node->operands[0])) return cut_node(c, cut_operand(c, cut, 0));
  return leave_uncut(c, node, "it is not a reduction over the examples");
}

/* A gradient of one's own says nothing of the value. */
static Node *value_of(Node *node) {
  while (node->rule) node = node->operands[0];
  return node;
}

static Node *cut_node(Cutter *c, Cut cut) {
  for (int i = 0; i < c->walk_count; i++) cut.node[i] = value_of(cut.node[i]);
  const Node *node = cut.node[0];
  if (c->finish[node->id]) return c->finish[node->id];
  if (c->depth++ > CUT_DEPTH) return leave_uncut(c, node, "its expression is too deep");
  Node *result = cut_new(c, &cut);
  c->depth--;
  c->finish[node->id] = result;
  return result;
}

static bool find_cut(const Cutter *c, const Metric *metric, Cut *cut) {
  for (int i = 0; i < c->walk_count; i++) {
    const Metrics *metrics = &c->walks[i]->train->metrics;
    cut->node[i] = NULL;
    for (int k = 0; k < metrics->count; k++)
      if (metrics->items[k].name == metric->name) cut->node[i] = metrics->items[k].node;
    if (!cut->node[i]) return false;
  }
  return true;
}

/* After a cut that failed: the whole metric is one accumulator. */
static Node *cut_nowhere(Cutter *c, const Cut *cut, const int *output_counts) {
  for (int i = 0; i < c->walk_count; i++)
    c->walks[i]->room.graph->outputs.count = output_counts[i];
  c->finish = ARENA_ARRAY(c->e->arena, Node *, c->walks[0]->room.graph->next_id);
  return add_accumulator(c, cut, c->has_examples ? COMBINE_MEAN : COMBINE_BATCHES);
}

static void build_metric(Cutter *c, const Metric *metric) {
  Elaborator *e = c->e;
  Cut cut;
  int output_counts[MAX_WALKS];
  c->metric = metric;
  c->parts = c->depth = 0;
  c->uncut = NULL;
  c->has_examples = false;
  e->at = metric->span;
  e->frame->label = metric->name;
  if (!find_cut(c, metric, &cut)) return;
  for (int i = 0; i < c->walk_count; i++)
    output_counts[i] = c->walks[i]->room.graph->outputs.count;
  c->coupling = find_coupling(e->arena, c->walks[0]->room.graph, cut.node[0], cut.node[1],
                              e->module->run.batch);
  Node *node = cut_node(c, cut);
  if (c->uncut) {
    bool is_reported = is_for_batches(c, cut.node[0]);
    report_uncut(c, is_reported);
    node = is_reported ? cut_nowhere(c, &cut, output_counts) : NULL;
  }
  if (!node) return;
  node = emit_cast(e, node, DTYPE_F64);
  graph_add_output(c->room.graph, (Output){.kind = OUTPUT_SCALAR, .name = metric->name,
                                           .node = node, .span = metric->span});
  vec_push(e->arena, &e->module->metrics, ((MetricInfo){metric->name, metric->span}));
}

void metrics_build(Elaborator *e, Walk *eval, Walk *eval_one, Walk *train, Walk *accumulate) {
  Cutter c = {.e = e, .walks = {eval, eval_one, train, accumulate}};
  c.walk_count = accumulate ? 4 : 3;
  for (int i = 0; i < c.walk_count; i++)
    c.depends[i] = find_dependent(e->arena, c.walks[i]->room.graph);
  c.finish = ARENA_ARRAY(e->arena, Node *, eval->room.graph->next_id);
  c.room = room_create(e->arena, entry_name(ENTRY_FINISH), 0);
  c.room.is_host_only = true;
  e->walk = eval;
  e->room = &c.room;
  const Metrics *metrics = &eval->train->metrics;
  for (int i = 0; i < metrics->count; i++) build_metric(&c, &metrics->items[i]);
  e->module->entries[ENTRY_FINISH] = c.room.graph;
  e->room = &eval->room;
}
