/* Metrics: a scalar expression is cut at the full reductions that depend on inputs.
 *
 * The values at the cuts are accumulators, which the host combines over batches; the expression
 * above them becomes the finish entry, in double. So accuracy, exp(loss) and sum(a) / sum(mask)
 * are exact over a whole data set where what is reduced belongs to single examples, which ops/flow.h
 * says of each node.
 *
 * All traces are cut in parallel; they must agree on the expression above the cuts.
 *
 * What cannot be cut, or reduces what mixes the examples of a batch, is no such expression. A loss
 * need not be one to be trained, nor a term of a loss to be reported, nor what
 * compares the examples of a batch in pairs, which has no meaning over a whole data set: it is
 * then averaged over the batches as a whole, and a warning says so, or per_batch(...) in the program, and none
 * does. Any other metric is refused. */
#include <math.h>
#include "elaborate/builtins/builtins.h"
#include "elaborate/core/emit.h"
#include "elaborate/core/report.h"
#include "elaborate/sections/gradient_norm.h"
#include "elaborate/sections/metrics.h"
#include "ops/flow.h"
#include "ops/op.h"
#include "support/names.h"

enum { MAX_TRACES = 4, CUT_DEPTH = 500 };

typedef struct Cut {
  Node *node[MAX_TRACES];
} Cut;

typedef struct Cutter {
  Elaborator *e;
  int trace_count;
  Trace *traces[MAX_TRACES]; /* 0: evaluation, 1: of a single example, then training */
  bool *depends[MAX_TRACES]; /* on inputs, by node id */
  Node **finish;             /* by node id of trace 0: what was built for it */
  Region region;             /* of the finish entry */
  const Metric *metric;
  const Flow *flow;     /* of the examples, by node id of trace 0 */
  const char *uncut;    /* why this metric cannot be cut; NULL: it can, so far */
  const Node *uncut_at; /* the part */
  const Flow *uncut_by; /* how the examples mix in it; NULL: they do not */
  bool has_examples;    /* it differs in training alone: single examples have a meaning */
  int parts;            /* accumulators of this metric */
  int depth;
  bool is_deep; /* `deep`, below CUT_DEPTH nodes, has to be cut first */
  Cut deep;
} Cutter;

/* A metric of the order of all examples is a scalar of `finish` as it is. */
static bool is_ranking(const Node *node) {
  return node->op == OP_SCALAR && module_is_ranking(node_string(node, ATTR_NAME));
}

static bool *find_dependent(Arena *arena, const Graph *graph) {
  bool *depends = ARENA_ARRAY(arena, bool, graph->next_id);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    depends[node->id] = node->op == OP_INPUT || is_ranking(node) || builtins_is_gradient_norm(node);
    for (int k = 0; k < node->operand_count; k++)
      depends[node->id] = depends[node->id] || depends[node->operands[k]->id];
  }
  return depends;
}

static bool has_one_element(const Node *node) { return shape_elements(node->type.shape) == 1; }

static const Flow *flow_of(const Cutter *c, const Node *node) { return &c->flow[node->id]; }

/* ---- what a node is to the cut ------------------------------------------------------------ */

static const struct {
  Op op;
  Combine combine;
} reductions[] = {{OP_REDUCE_MEAN, COMBINE_MEAN},
                  {OP_REDUCE_SUM, COMBINE_SUM},
                  {OP_REDUCE_MAX, COMBINE_MAX},
                  {OP_REDUCE_MIN, COMBINE_MIN}};

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

/* Whether examples mix in what `reduced` reduces; else it has an element for each of them. */
static const Flow *find_mixed(const Cutter *c, const Node *reduced) {
  for (int k = 0; k < reduced->operand_count; k++)
    if (flow_of(c, reduced->operands[k])->kind == FLOW_MIXED)
      return flow_of(c, reduced->operands[k]);
  return NULL;
}

static bool has_examples(const Cutter *c, const Node *node) {
  for (int k = 0; k < node->operand_count; k++)
    if (flow_of(c, node->operands[k])->kind == FLOW_SEPARATE) return true;
  return find_mixed(c, node);
}

/* How the host combines the scalar `node`; false when it is no reduction over the batch. *reduced
 * is the innermost one. */
static bool find_combine(const Cutter *c, const Node *node, const Node *single, Combine *combine,
                         const Node **reduced) {
  *reduced = node;
  if (node->op == OP_CONTRACT && single->op == OP_CONTRACT) {
    *combine = COMBINE_SUM;
    return has_examples(c, node);
  }
  if (!find_reduction(node, combine) || single->op != node->op) return false;
  while (!has_examples(c, node)) {
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
    return combine == COMBINE_SUM && !find_mixed(c, reduced);
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
    bool scales =
        node->op == OP_DIV ? value == one * batch : fabs(value * batch - one) <= 1e-12 * fabs(one);
    return scales && is_linear_sum(c, node->operands[1 - i], single->operands[1 - i], 0);
  }
  return false;
}

/* ---- accumulators ------------------------------------------------------------------------- */

/* A reduction of 16 bits as one that is not rounded: reports are of all bits. */
static Node *without_rounding(Elaborator *e, Node *node) {
  Combine combine;
  if (!dtype_is_half(node->type.dtype)) return node;
  if (!find_reduction(node, &combine) && !is_movement(node)) return emit_cast(e, node, DTYPE_F32);
  Node *operand = without_rounding(e, node->operands[0]);
  return operand ? emit_node(e, node->op, 1, &operand, node->attribute_count, node->attributes)
                 : NULL;
}

static Node *as_scalar(Cutter *c, int trace, Node *node) {
  Elaborator *e = c->e;
  Trace *outer = e->trace;
  e->trace = c->traces[trace];
  e->region = &e->trace->region;
  Node *scalar = without_rounding(e, node);
  if (scalar) scalar = emit_reshape(e, scalar, shape_scalar());
  e->trace = outer;
  e->region = &c->region;
  return scalar;
}

/* `values`: of the node that the cut is at, by trace. */
static Node *add_values(Cutter *c, const Cut *cut, const Cut *values, Combine combine) {
  bool is_whole = cut->node[0] == c->metric->node;
  const char *name = is_whole ? c->metric->name : name_printf("%s.%d", c->metric->name, c->parts++);
  for (int i = 0; i < c->trace_count; i++) {
    Node *node = as_scalar(c, i, values->node[i]);
    if (!node) return NULL;
    graph_add_output(c->traces[i]->region.graph, (Output){.kind = OUTPUT_ACCUMULATOR,
                                                          .combine = combine,
                                                          .name = name,
                                                          .node = node,
                                                          .span = c->metric->span});
  }
  return emit_scalar(c->e, name);
}

static Node *add_accumulator(Cutter *c, const Cut *cut, Combine combine) {
  return add_values(c, cut, cut, combine);
}

static Node *add_gradient_norm(Cutter *c, const Cut *cut) {
  Cut norms = {0};
  for (int i = 0; i < c->trace_count; i++)
    norms.node[i] = gradient_norm_value(c->e, c->traces[i], cut->node[i]);
  return add_values(c, cut, &norms, COMBINE_STEPS);
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

/* Marks the operands of `node` whose terms are terms of it: through signs, sums and constant factors. */
static void mark_terms(const Cutter *c, const Node *node, bool *is_term) {
  Node *const *x = node->operands;
  if (node->rule || node->op == OP_NEG || node->op == OP_CAST || node->op == OP_STOP_GRADIENT ||
      is_movement(node) || node->op == OP_ADD || node->op == OP_SUB)
    is_term[x[0]->id] = true;
  if (node->op == OP_ADD || node->op == OP_SUB) is_term[x[1]->id] = true;
  if (node->op != OP_MUL && node->op != OP_DIV) return;
  for (int i = node->op == OP_DIV ? 1 : 0; i < 2; i++) {
    bool is_factor = !c->depends[0][x[i]->id] && flow_of(c, x[i])->kind == FLOW_NONE;
    bool is_zero = x[i]->op == OP_CONSTANT && node_float(x[i], ATTR_VALUE) == 0;
    if (is_factor && !is_zero) is_term[x[1 - i]->id] = true;
  }
}

/* Whether `part` is a term of the sum `whole`. */
static bool is_term(const Cutter *c, const Node *whole, const Node *part) {
  const Graph *graph = c->traces[0]->region.graph;
  bool *terms = ARENA_ARRAY(c->e->arena, bool, graph->next_id);
  terms[whole->id] = true;
  for (int i = graph->nodes.count - 1; i >= 0; i--) {
    const Node *node = graph->nodes.items[i];
    if (node == part) return terms[node->id];
    if (terms[node->id]) mark_terms(c, node, terms);
  }
  return false;
}

/* Whether means over batches are what can be had: of a loss, its terms, and of pairs. */
static bool is_for_batches(const Cutter *c, const Node *metric) {
  const Flow *flow = flow_of(c, metric);
  if (c->metric->is_loss || (flow->kind == FLOW_MIXED && flow->cause == CAUSE_PAIRS)) return true;
  const Metrics *metrics = &c->traces[0]->train->metrics;
  for (int i = 0; i < metrics->count; i++) {
    const Node *loss = metrics->items[i].is_loss ? metrics->items[i].node : NULL;
    if (loss && is_term(c, loss, metric)) return true;
  }
  return false;
}

static const char *advise(const Flow *mixed) {
  if (mixed) return metrics_mixing_advice(mixed);
  return "a metric is a scalar expression over full reductions: mean(...), sum(...), max(...), "
         "min(...); a number for each class is taken by a loop: "
         "for c in 0..classes { p = mean(label == c); ... }";
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
  if (c->uncut_by) metrics_note_mixing(c->e, d, c->uncut_by);
  if (!is_for_batches) diag_help(d, "%s", advise(c->uncut_by));
}

static bool traces_agree(const Cutter *c, const Cut *cut) {
  const Node *first = cut->node[0];
  for (int i = 1; i < c->trace_count; i++) {
    const Node *other = cut->node[i];
    if (other->op != first->op || other->operand_count != first->operand_count ||
        c->depends[i][other->id] != c->depends[0][first->id])
      return false;
  }
  return true;
}

static Cut cut_operand(const Cutter *c, const Cut *cut, int k) {
  Cut operand = {0};
  for (int i = 0; i < c->trace_count; i++) operand.node[i] = cut->node[i]->operands[k];
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
  if (node->op != OP_CAST) return emit_node(c->e, node->op, node->operand_count, operands, 0, NULL);
  DType from = node->operands[0]->type.dtype, to = node->type.dtype;
  if (to == DTYPE_BOOL || (dtype_is_float(from) && dtype_is_int(to)))
    return leave_uncut(c, node, "it converts a result to an integer");
  return emit_cast(c->e, operands[0], DTYPE_F64);
}

/* ---- shares -------------------------------------------------------------------------------- */

/* Single floats count to here. */
#define MOST_COUNTED 0x1p24

/* Whether it is the mean of truth values, which are whole when they are added up. */
static bool is_share(const Node *node) {
  if (node->op != OP_REDUCE_MEAN || dtype_is_half(node->operands[0]->type.dtype)) return false;
  const Node *x = node->operands[0];
  if ((double)shape_elements(x->type.shape) > MOST_COUNTED) return false;
  while (x->op == OP_CAST || is_movement(x)) {
    if (dtype_is_half(x->type.dtype)) return false;
    x = x->operands[0];
  }
  return x->type.dtype == DTYPE_BOOL;
}

/* How many elements of it an example has, where that is so in all traces; 0: no share, or of less than examples. */
static int64_t find_share(const Cutter *c, const Cut *cut) {
  int64_t each = 0;
  for (int i = 0; i < c->trace_count; i++) {
    if (!is_share(cut->node[i])) return 0;
    int64_t elements = shape_elements(cut->node[i]->operands[0]->type.shape);
    int64_t batch = i == 1 ? 1 : c->e->module->run.batch;
    if (elements % batch != 0 || (i > 0 && elements / batch != each)) return 0;
    each = elements / batch;
  }
  return each;
}

/* Such a mean over a data set is exact: whole numbers are added up, and divided once. */
static Node *add_share(Cutter *c, const Cut *cut, int64_t each) {
  Elaborator *e = c->e;
  Cut counts = {0};
  for (int i = 0; i < c->trace_count; i++) {
    Trace *outer = e->trace;
    const Node *mean = cut->node[i];
    e->trace = c->traces[i];
    e->region = &e->trace->region;
    counts.node[i] =
        emit_node(e, OP_REDUCE_SUM, 1, mean->operands, mean->attribute_count, mean->attributes);
    e->trace = outer;
    e->region = &c->region;
    if (!counts.node[i]) return NULL;
  }
  Node *share = add_values(c, cut, &counts, COMBINE_COUNTS);
  if (!share || each == 1) return share;
  return emit_binary(e, OP_DIV, share, emit_constant(e, (double)each, type_scalar(DTYPE_F64)));
}

/* The reduction as an accumulator, unless what it reduces mixes the examples of a batch. */
static Node *cut_reduction(Cutter *c, const Cut *cut, const Node *reduced, Combine combine) {
  const Flow *mixed = find_mixed(c, reduced);
  if (mixed) {
    leave_uncut(c, reduced,
                arena_printf(c->e->arena, "it reduces what %s", metrics_mixing_text(mixed)));
    c->uncut_by = mixed;
    return NULL;
  }
  int64_t each = combine == COMBINE_MEAN ? find_share(c, cut) : 0;
  return each > 0 ? add_share(c, cut, each) : add_accumulator(c, cut, combine);
}

/* What no input decides: the value of any batch, unless it follows the batch itself. */
static Node *cut_independent(Cutter *c, const Cut *cut) {
  const Flow *flow = flow_of(c, cut->node[0]);
  if (flow->kind != FLOW_SIZED) return add_accumulator(c, cut, COMBINE_LAST);
  leave_uncut(c, cut->node[0],
              flow->cause == CAUSE_PLACE ? "it counts the places in a batch"
                                         : "it depends on the size of a batch");
  c->uncut_by = flow;
  return NULL;
}

/* Whether all traces have per_batch(...) here. */
static bool is_per_batch(const Cutter *c, const Cut *cut) {
  for (int i = 0; i < c->trace_count; i++) {
    const Trace *trace = c->traces[i];
    bool found = false;
    for (int k = 0; k < trace->per_batch.count && !found; k++)
      found = trace->per_batch.items[k] == cut->node[i];
    if (!found) return false;
  }
  return true;
}

static Node *cut_new(Cutter *c, const Cut *cut) {
  Node *node = cut->node[0];
  if (builtins_is_gradient_norm(node)) return add_gradient_norm(c, cut);
  if (is_per_batch(c, cut)) return add_accumulator(c, cut, COMBINE_BATCHES);
  if (is_ranking(node)) return emit_scalar(c->e, node_string(node, ATTR_NAME));
  const Node *reduced;
  double value, one;
  if (is_constant(node, cut->node[1], &value, &one) && value != one)
    return leave_uncut(c, node,
                       "it uses the batch size beside reductions, which run over the whole set");
  if (node->op == OP_CONSTANT)
    return emit_constant(c->e, node_float(node, ATTR_VALUE),
                         type_scalar(node->type.dtype == DTYPE_BOOL ? DTYPE_BOOL : DTYPE_F64));
  if (!traces_agree(c, cut)) {
    c->has_examples = true;
    return leave_uncut(c, node, "training and evaluation compute it differently");
  }
  if (!has_one_element(node) || !has_one_element(cut->node[1]))
    return leave_uncut(c, node, "it is not a scalar");
  FlowKind kind = flow_of(c, node)->kind;
  if (!c->depends[0][node->id] && (kind == FLOW_NONE || kind == FLOW_SIZED))
    return cut_independent(c, cut);
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
  for (int i = 0; i < c->trace_count; i++) cut.node[i] = value_of(cut.node[i]);
  const Node *node = cut.node[0];
  if (c->finish[node->id]) return c->finish[node->id];
  if (c->depth == CUT_DEPTH) {
    c->is_deep = true;
    c->deep = cut;
    return NULL;
  }
  c->depth++;
  Node *result = cut_new(c, &cut);
  c->depth--;
  c->finish[node->id] = result;
  return result;
}

/* An expression may be a chain of any length: what lies too deep is cut before what is above it, so
 * that recursion stays short. */
static Node *cut_expression(Cutter *c, Cut root) {
  VEC(Cut) waiting = {0};
  vec_push(c->e->arena, &waiting, root);
  Node *node = NULL;
  while (waiting.count > 0 && !c->uncut) {
    c->is_deep = false;
    node = cut_node(c, waiting.items[waiting.count - 1]);
    if (c->is_deep) vec_push(c->e->arena, &waiting, c->deep);
    else waiting.count--;
  }
  return c->uncut ? NULL : node;
}

static bool find_cut(const Cutter *c, const Metric *metric, Cut *cut) {
  for (int i = 0; i < c->trace_count; i++) {
    const Metrics *metrics = &c->traces[i]->train->metrics;
    cut->node[i] = NULL;
    for (int k = 0; k < metrics->count; k++)
      if (metrics->items[k].name == metric->name) cut->node[i] = metrics->items[k].node;
    if (!cut->node[i]) return false;
  }
  return true;
}

/* After a cut that failed: the whole metric is one accumulator. */
static Node *cut_nowhere(Cutter *c, const Cut *cut, const int *output_counts) {
  for (int i = 0; i < c->trace_count; i++)
    c->traces[i]->region.graph->outputs.count = output_counts[i];
  c->finish = ARENA_ARRAY(c->e->arena, Node *, c->traces[0]->region.graph->next_id);
  return add_accumulator(c, cut, c->has_examples ? COMBINE_MEAN : COMBINE_BATCHES);
}

static void build_metric(Cutter *c, const Metric *metric) {
  Elaborator *e = c->e;
  Cut cut;
  int output_counts[MAX_TRACES];
  c->metric = metric;
  c->parts = c->depth = 0;
  c->uncut = NULL;
  c->has_examples = false;
  e->at = metric->span;
  e->frame->label = metric->name;
  if (!find_cut(c, metric, &cut)) return;
  for (int i = 0; i < c->trace_count; i++)
    output_counts[i] = c->traces[i]->region.graph->outputs.count;
  Node *node = cut_expression(c, cut);
  if (c->uncut) {
    bool is_reported = is_for_batches(c, cut.node[0]);
    report_uncut(c, is_reported);
    node = is_reported ? cut_nowhere(c, &cut, output_counts) : NULL;
  }
  if (!node) return;
  node = emit_cast(e, node, DTYPE_F64);
  emit_output(e, OUTPUT_SCALAR, metric->name, node, metric->span);
  vec_push(e->arena, &e->module->metrics, ((MetricInfo){metric->name, metric->span}));
}

/* The flow of examples to all metrics, in the graph of the evaluation. */
static const Flow *find_flow(const Cutter *c) {
  const Metrics *metrics = &c->traces[0]->train->metrics;
  Node **roots = ARENA_ARRAY(c->e->arena, Node *, metrics->count + 1);
  Node **single = ARENA_ARRAY(c->e->arena, Node *, metrics->count + 1);
  int count = 0;
  for (int i = 0; i < metrics->count; i++) {
    Cut cut;
    if (!find_cut(c, &metrics->items[i], &cut)) continue;
    roots[count] = cut.node[0];
    single[count++] = cut.node[1];
  }
  const Graph *graph = c->traces[0]->region.graph;
  return flow_find(c->e->arena, graph, c->e->module->run.batch,
                   counterparts_find(c->e->arena, graph, count, roots, single));
}

static int64_t count_losses(const Metrics *metrics) {
  int64_t count = 0;
  for (int i = 0; i < metrics->count; i++) count += metrics->items[i].is_loss;
  return count > 1 ? count : 0;
}

void metrics_build(Elaborator *e, Trace *eval, Trace *eval_one, Trace *train, Trace *accumulate) {
  Cutter c = {.e = e, .traces = {eval, eval_one, train, accumulate}};
  c.trace_count = accumulate ? 4 : 3;
  for (int i = 0; i < c.trace_count; i++)
    c.depends[i] = find_dependent(e->arena, c.traces[i]->region.graph);
  c.flow = find_flow(&c);
  c.finish = ARENA_ARRAY(e->arena, Node *, eval->region.graph->next_id);
  c.region = region_create(e->arena, entry_name(ENTRY_FINISH), 0);
  c.region.is_host_only = true;
  e->module->run.losses = count_losses(&eval->train->metrics);
  e->trace = eval;
  e->region = &c.region;
  const Metrics *metrics = &eval->train->metrics;
  for (int i = 0; i < metrics->count; i++) build_metric(&c, &metrics->items[i]);
  e->module->entries[ENTRY_FINISH] = c.region.graph;
  e->region = &eval->region;
}
