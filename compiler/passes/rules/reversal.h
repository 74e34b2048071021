/* Movement that runs axes backwards and nothing else: x[:, ::-1]. */
#ifndef NNC_PASSES_RULES_REVERSAL_H
#define NNC_PASSES_RULES_REVERSAL_H

#include "ops/make.h"

/* Whether `node` is one of its operand, and of which axes. */
bool reversal_match(const Node *node, bool axes[MAX_RANK]);
/* Of the marked axes of `x`; x itself where none is. */
Node *reversal_make(const Maker *maker, Node *x, const bool axes[MAX_RANK]);
/* Whether `sequence` is seen to run backwards through another along its axis 0; and that other. */
bool reversal_is_seen(const Node *sequence);
Node *reversal_source(const Maker *maker, const Node *sequence);

#endif
