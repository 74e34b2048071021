/* Rewrites of single nodes, and what rules share.
 *
 * A rule looks at a node, its operands and perhaps theirs, and returns the node that replaces it
 * (an existing one, or one built with the maker, all in the same graph), or NULL.  rules.def lists
 * them.
 *
 * What a rule may assume and change.  Values are not assumed finite: x * 0 and x - x stay, since
 * NaN and infinity make them NaN.  The sign of a zero and which NaN it is are not observed.  Sums
 * and products are not reassociated.  Powers by the small constants of pow_constant() become
 * products and roots, at most two roundings from the power (at -inf, x ^ 0.5 becomes NaN).
 * Integers wrap. */
#ifndef NNC_PASSES_RULES_RULES_H
#define NNC_PASSES_RULES_RULES_H

#include "graph/module.h"
#include "ops/make.h"
#include "ops/op.h"

typedef struct Rewrite {
  Maker maker;
  bool keeps_stops; /* the graph is still to be differentiated: stop_gradient means something */
} Rewrite;

typedef Node *RuleApply(const Rewrite *rewrite, Node *node);

typedef struct Rule {
  const char *name;
  Op op; /* OP_COUNT: any */
  RuleApply *apply;
  const char *text; /* "x + 0 -> x" */
} Rule;

extern const Rule rule_table[];
extern const int rule_count;

/* By the first rule that fits; NULL when none does. */
Node *rules_apply(const Rewrite *rewrite, Node *node);
/* Whether the graph holds a gradient that the differentiate pass will expand. */
bool rules_need_stops(const Graph *graph);

/* A host scalar as a leaf, f64[]. */
Node *rules_make_scalar(const Maker *maker, const char *name);
/* The node, with operands looked up in `map`, in terms of operators that have kernels; NULL when
 * it is such already. */
Node *rules_expand(const Maker *maker, const Node *node, const NodeMap *map);

/* The operator attention in the place of `node`, which ends one that is written out; NULL when it does not.
 * `uses`: of the nodes of its graph; `map`: what they have become (attention.c). The module's
 * target has kernels for it, which may be too slow. */
Node *rules_recognize_attention(const Maker *maker, const Node *node, const NodeMap *map,
                                const int *uses, const Module *module);

/* In the place of `node`, whose operands are of the same graph: the product that it is an affine function of by
 * channel, times one vector plus another (affine.c); NULL where it is none, or has no more operations now. */
Node *rules_join_affine(const Maker *maker, Node *node);

/* Max pooling by the places of its maxima (pool.c). */

/* Whether `node` is an adjoint that needs of its operand 0 where the maxima are, and could be told. */
bool rules_needs_maxima(const Node *node);
/* Whether the maxima that the adjoint needs are the values of `node`. */
bool rules_finds_maxima(const Node *node, const Node *adjoint);
/* The places of the maxima that are the values of `maxima`. */
Node *rules_make_places(const Maker *maker, const Node *maxima);
/* The value of `adjoint`, of another graph, by places and by what its operand 1 has become. */
Node *rules_adjoint_by_places(const Maker *maker, const Node *adjoint, Node *places, Node *dy);

/* The slice of `whole` that is `part`, one of the values that it joins; NULL where it joins none (movement.c). */
Node *rules_slice_of_part(const Maker *maker, Node *whole, const Node *part);

/* Adjoints of convolutions by parts of their channels (parts.c). */

/* Whether `node` is a part of one. */
bool rules_takes_part(const Node *node);
/* Whether `whole`, which so many read part by part and nothing else, is better computed so. */
bool rules_gains_by_parts(const Node *whole, int parts);
/* The part that is `slice`, of another graph, by what the operands of its whole have become. */
Node *rules_make_part(const Maker *maker, const Node *slice, const NodeMap *map);

/* The node has the same value in all elements, known now. */
bool match_constant(const Node *node, double *value);
bool match_value(const Node *node, double value);

/* Movement that runs axes backwards and nothing else: x[:, ::-1] (reversal.c). */

/* Whether `node` is one of its operand, and of which axes. */
bool reversal_match(const Node *node, bool axes[MAX_RANK]);
/* Of the marked axes of `x`; x itself where none is. */
Node *reversal_make(const Maker *maker, Node *x, const bool axes[MAX_RANK]);
/* Whether `sequence` is seen to run backwards through another along its axis 0; and that other. */
bool reversal_is_seen(const Node *sequence);
Node *reversal_source(const Maker *maker, const Node *sequence);

/* What the steps of a scan compute one by one, computed for all of them at once (all_steps.c). */

/* Whether `node`, of a body, can be computed so; `stacked`: by operand, its values differ from step
 * to step. */
bool all_steps_can(const Node *node, int64_t length, const bool *stacked);
/* The stack [length, ...] of the node's values; `operands`: stacks where `stacked` says so, else
 * the one value of all steps. */
Node *all_steps_make(const Maker *maker, const Node *node, int64_t length, Node *const *operands,
                     const bool *stacked);

#define RULE(op, function, text) RuleApply rule_##function;
#include "passes/rules/rules.def"
#undef RULE

#endif
