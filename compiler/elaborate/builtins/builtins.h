/* The functions of the language, as tables by signature, and their binding to names. */
#ifndef NNC_ELABORATE_BUILTINS_H
#define NNC_ELABORATE_BUILTINS_H

#include "elaborate/core/elaborator.h"

extern const Builtin builtins_math[], builtins_shape[], builtins_reduce[], builtins_window[],
    builtins_schedule[], builtins_gradient[], builtins_follow[], builtins_classified[],
    builtins_ranked[], builtins_units[], builtins_per_batch[], builtins_gradient_norm[],
    builtins_ranges[];
#define BUILTIN(family, call, data, name, formals, doc)                                            \
  { name, name "(" formals ")", doc, call, data, family }

void builtins_bind(Elaborator *e);
/* The i-th table and its family; NULL at the end. */
const Builtin *builtins_table(int i);
extern const Builtin builtins_words[]; /* no functions: words.c */
/* Argument `i` as a tensor, as one of `rank` axes; NULL, false after an error. */
Node *builtins_tensor(Elaborator *e, const Bound *bound, int i);
bool builtins_axis(Elaborator *e, const Bound *bound, int i, int rank, int *axis);
/* Arguments `i` and i + 1 as tensors of one type and shape; false after an error. */
bool builtins_unify(Elaborator *e, const Bound *bound, int i, Node **x, Node **y);
/* Operand `i` has a type that the builtin does not take; NULL. */
Node *builtins_refuse_type(Elaborator *e, const Bound *bound, int i, const Node *x);
Value builtins_einsum(Elaborator *e, const Bound *bound);
/* Whether what plateaus follow exists, once all metrics and data sets are known. */
void builtins_check_plateaus(Elaborator *e);
/* What metrics of the order of a set need as results of evaluation; whether they are metrics alone. */
void builtins_add_ranked(Trace *eval, Trace *eval_one);
void builtins_check_ranked(Elaborator *e);
/* Whether metrics alone are computed of norms of gradients. */
void builtins_check_gradient_norms(Elaborator *e);
/* False, and reported: it is used where no metric is. */
bool builtins_refuse_gradient_norm(Elaborator *e, Span at);
/* Whether the node is what `gradient_norm` gives. */
bool builtins_is_gradient_norm(const Node *node);
/* The scores and labels of classes as results of evaluation, where they are known, after those. */
void builtins_add_classified(Elaborator *e, Trace *eval, Trace *eval_one);

#endif
